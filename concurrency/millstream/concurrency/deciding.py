"""Deciding: a query that measures itself on its first events, then hands those parts over that pay.

Nothing is run twice, and nothing is read ahead: the first events go through the stages of the query one by
one, with a clock beside them. Then `choose` says what becomes of each stage, and the states move over. The
query that was chosen takes the place of this processor, in pull and in push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as chained
from typing import Any

from attrs import field

from millstream.processors import Processor, Query, chain, processor, state, transient
from millstream.processors.elsewhere import apart, save_at_home, together
from millstream.processors.graph import Graph
from millstream.processors.pull import pull
from millstream.processors.states import copied

from .adopting import adopted
from .measuring import Sample, Stages
from .nonblocking import followed
from .stages import place_of

State = tuple[Any, ...]
#: the name for a stage that stays what it is
LEFT = "as it is"
#: events to measure at least and at most, and the seconds after which there are enough
FEWEST, MOST, ENOUGH = 8, 64, 0.02


class Decided:
    """What was decided, for all runs of a query; None as long as nothing is. It is built once."""

    def __init__(self) -> None:
        self.choices: tuple[str, ...] | None = None
        self.built: dict[tuple[str, ...], Graph] = {}

    def __repr__(self) -> str:
        return "Decided()"


class Held:
    """The state of a query that is decided upon: its form, and the values, or the owner who has them."""

    def __init__(self, form: tuple[str, ...] | None = None, values: State | None = None) -> None:
        self.form, self.values = form, values
        self.owner: Deciding | None = None

    def __copy__(self) -> Held:
        values = self.values if self.owner is None else self.owner.inner.take()
        return Held(self.form, None if values is None else copied(values))

    def __reduce__(self) -> Any:
        copy = self.__copy__()
        return Held, (copy.form, copy.values)


@processor
class Deciding(Processor):
    """Run a chain of stages; after the first events, those that pay are replaced by what hands them over.

    Parameters
    ----------
    query
        The chain.
    stages
        Its parts, which follow each other.
    choose
        Called once with a `Sample` for each stage, it returns a name for what each becomes.
    build
        Called with the number of a stage and such a name, it returns what it becomes.
    """

    query: Query
    stages: tuple[Query, ...]
    choose: Callable[[Sequence[Sample]], tuple[str, ...]]
    build: Callable[[int, str], Query]
    decided: Decided = field(factory=Decided)
    #: what takes events: the stages, or the chosen query, with the state that is in it
    inner: Any = transient()
    form: Any = transient()
    entry: Callable[[Any], None] = transient()
    current: Held | None = transient()
    held: Held = state(of=lambda self: Held())

    def step(self, x: Any) -> None:
        """Take an event."""
        if self.current is not self.held:
            self._let_in(self.held)
        self.entry(x)

    def successor(self) -> Callable[[Any], None] | None:
        """Return what takes events instead of this processor, once that is decided."""
        current = self.current
        return None if current is None or current is not self.held or current.form is None else self.entry

    def _measured(self, x: Any) -> None:
        """Take an event through the stages; decide if enough of them have been measured."""
        self.inner.entry(x)
        self._decide(self.held)

    def _let_in(self, held: Held) -> None:
        """Move the state that is in place out, and the other one in."""
        if self.current is not None:
            self.current.values, self.current.owner = self.inner.take(), None
        values = held.values
        if held.form is None and values is None:
            held.form = self.decided.choices
        if self.inner is None or self.form != held.form:
            self._wire(held.form)
        self.inner.give(self.inner.fresh() if values is None else values)
        held.values, held.owner, self.current = None, self, held
        self.entry = self._measured if held.form is None else self.inner.entry

    def _wire(self, form: tuple[str, ...] | None) -> None:
        self.form = form
        self.inner = Stages(self.stages, self.emit) if form is None else self._chosen(form).into(self.emit)

    def _chosen(self, form: tuple[str, ...]) -> Graph:
        built = self.decided.built
        if form not in built:
            left = set(form) == {LEFT}
            built[form] = (
                self.query if left else chain(self.build(k, name) for k, name in enumerate(form))
            ).graph
        return built[form]

    # -- deciding

    def _decide(self, held: Held) -> None:
        """Go over to what has been decided, if it has."""
        if self.decided.choices is None:
            samples = self.inner.samples
            spent, count = sum(sum(s.seconds) for s in samples), len(samples[0].events)
            if count < MOST and (count < FEWEST or spent < ENOUGH):
                return
            self.decided.choices = self.choose(samples)
        form, parts = self.decided.choices, self.inner.parts()
        moved = [
            values if name == LEFT else adopted(self.build(k, name), values)
            for k, (name, values) in enumerate(zip(form, parts, strict=True))
        ]
        held.form, held.values, held.owner, self.current = form, tuple(chained(*moved)), None, None
        self.inner = None
        self._let_in(held)

    def end(self) -> None:
        """End what takes events."""
        if self.current is not self.held:
            self._let_in(self.held)
        self.inner.finish()

    # -- state

    def elsewhere(self) -> Query:
        """Return the query."""
        return self.query

    def bring_back(self) -> State:
        """Wait for everything that is under way, emit it, and return the query's state."""
        if self.current is not self.held:
            self._let_in(self.held)
        if self.form is not None:
            return save_at_home(self.inner, self._chosen(self.form)).values
        return together(self.query, self.stages, self.inner.parts())

    def go_on(self, values: State) -> None:
        """Go on with a state of the query; the next events are measured."""
        self.held = Held(None, apart(self.query, self.stages, values))

    def explained(self, limit: int) -> Processor:
        """Return the query for traced events."""
        return followed(self.query, limit)

    # -- pull

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        """Yield outputs."""
        return chained.from_iterable(self.batches(*inputs))

    def batches(self, *inputs: Iterator[Any]) -> Iterator[Iterable[Any]]:
        """Yield the outputs of the first events, and then those of the chosen query, all at once."""
        (events,) = inputs
        out: list[Any] = []
        self.emit = out.append
        count = 0
        if self.decided.choices is not None:
            self.held = Held(self.decided.choices)
        while self.held.form is None or self.wiring.options.tolerant:
            try:
                for event in events:
                    count += 1
                    self._tried(event)
                    break
                else:
                    self.end()
                    return
            finally:
                yield out.copy()
                out.clear()
        if self.held.owner is not None:
            self.held.values = self.inner.take()
        yield self._rest(events, self.held, count)

    def _tried(self, event: Any) -> None:
        """Take an event; if failures are survived, survive one."""
        try:
            self.step(event)
        except Exception as error:
            if not self.wiring.options.tolerant:
                raise
            self.wiring.note(place_of(self), error, (event,))

    def _rest(self, events: Iterator[Any], held: Held, count: int) -> Iterator[Any]:
        return pull(self._chosen(held.form or ()), [events], begun=(count, held.values))[0]
