"""Deciding: a query that measures itself on its first events, then hands those parts over that pay.

Nothing is run twice, and nothing is read ahead: the first events go through the query with a clock beside
it. If it is too cheap for any worker, that is all. If not, the next ones go through its stages, one by one;
then `choose` says what becomes of each, and the states move over. What takes the events from there on takes
the place of this processor, in pull and in push: later events do not pay for the measuring of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain as chained
from time import perf_counter, thread_time
from typing import Any

from attrs import field

from millstream.processors import (
    DeadLetter,
    Processor,
    Query,
    StreamError,
    chain,
    processor,
    state,
    transient,
)
from millstream.processors.elsewhere import apart, save_at_home, together
from millstream.processors.graph import Graph
from millstream.processors.pull import pull
from millstream.processors.query import OnError
from millstream.processors.states import copied

from .adopting import adopted
from .manager import CHEAP
from .measuring import Sample, Stages
from .nonblocking import followed
from .stages import place_of

State = tuple[Any, ...]
#: the name for a stage that stays what it is
LEFT = "as it is"
#: the form of a query that is measured as a whole, and of one whose stages are measured; then come the names
WHOLE, APART = None, ()
Form = tuple[str, ...] | None
#: events after which it is looked whether these are enough, the most, and the seconds that are enough
FEWEST, MOST, ENOUGH = 8, 64, 0.02


class Decided:
    """What was decided, for all runs of a query; None as long as nothing is. It is built once."""

    def __init__(self) -> None:
        self.choices: Form = None
        self.built: dict[tuple[str, ...], Graph] = {}

    def __repr__(self) -> str:
        return "Decided()"


class Held:
    """The state of a query that is decided upon: its form, and the values, or the owner who has them."""

    def __init__(self, form: Form = WHOLE, values: State | None = None) -> None:
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
        Called once, with True and a `Sample` of the whole if that is cheap, else with False and a `Sample`
        for each stage; it returns a name for what each becomes.
    build
        Called with the number of a stage and such a name, it returns what it becomes.
    """

    query: Query
    stages: tuple[Query, ...]
    choose: Callable[[bool, Sequence[Sample]], tuple[str, ...]]
    build: Callable[[int, str], Query]
    decided: Decided = field(factory=Decided)
    #: what takes events: the stages, or the chosen query, with the state that is in it
    inner: Any = transient()
    form: Any = transient()
    entry: Callable[[Any], None] = transient()
    current: Held | None = transient()
    #: in pull: the events taken, and whether these were all
    count: int = field(default=0, init=False)
    ended: bool = field(default=False, init=False)
    held: Held = state(of=lambda self: Held())

    def step(self, x: Any) -> None:
        """Take an event."""
        if self.current is not self.held:
            self._let_in(self.held)
        self.entry(x)

    def successor(self) -> Callable[[Any], None] | None:
        """Return what takes events instead of this processor, once that is decided."""
        if not self.held.form:
            return None
        if self.current is not self.held:
            self._let_in(self.held)
        return self.entry

    def _measured(self, x: Any) -> None:
        """Take an event through the stages; decide if enough of them have been measured."""
        self.inner.entry(x)
        self._decide(self.held)

    def _let_in(self, held: Held) -> None:
        """Move the state that is in place out, and the other one in."""
        if self.current is not None:
            self.current.values, self.current.owner = self.inner.take(), None
        values = held.values
        if held.form is WHOLE and values is None:
            held.form = self.decided.choices
        if not held.form and self._tolerant:  # failures cost more than anything else: nothing is measured
            if values is not None:
                values = together(self.query, self.stages, values) if held.form is APART else values[0]
            held.form = (LEFT,) * len(self.stages)
        if self.inner is None or self.form != held.form:
            self._wire(held.form)
        self.inner.give(self.inner.fresh() if values is None else values)
        held.values, held.owner, self.current = None, self, held
        self.entry = self.inner.entry if held.form else self._measured

    def _wire(self, form: Form) -> None:
        self.form = form
        if form:
            on_error: OnError = self._survived if self._tolerant else "raise"
            self.inner = self._chosen(form).into(self.emit, on_error=on_error)
        else:
            whole = form is WHOLE  # the question is only whether it is cheap, so the cheaper clock will do
            clock = perf_counter if whole else thread_time
            self.inner = Stages((self.query,) if whole else self.stages, self.emit, clock)

    def _chosen(self, form: tuple[str, ...]) -> Graph:
        built = self.decided.built
        if form not in built:
            left = set(form) == {LEFT}
            built[form] = (
                self.query if left else chain(self.build(k, name) for k, name in enumerate(form))
            ).graph
        return built[form]

    @property
    def _tolerant(self) -> bool:
        """Whether the run survives failures; so does what is run here, then."""
        return self.wiring is not None and bool(self.wiring.options.tolerant)

    def _survived(self, letter: DeadLetter) -> None:
        error = letter.error
        place = f"{self.name} > {error.place}"
        moved = StreamError(error.processor, place, error.event, self.wiring.position(), error.reason)
        moved.__cause__ = error.__cause__
        self.wiring.survive(place_of(self), moved, letter.events)

    # -- deciding

    def _decide(self, held: Held) -> None:
        """Go over to what has been decided, if it has."""
        samples, form = self.inner.samples, self.decided.choices
        if form is None:
            count = len(samples[0].events)
            if count < MOST and (count % FEWEST or sum(sum(s.seconds) for s in samples) < ENOUGH):
                return
            if self.form is WHOLE and samples[0].cost >= CHEAP:
                form = APART
            else:
                form = self.decided.choices = self.choose(self.form is WHOLE, samples)
        held.form, held.values, held.owner, self.current = form, self._moved(form), None, None
        self.inner = None

    def _moved(self, form: tuple[str, ...]) -> State:
        """Return the state of what has been measured, as that of another form."""
        parts: Sequence[State] = self.inner.parts()
        if self.form is WHOLE and (form is APART or set(form) != {LEFT}):
            parts = apart(self.query, self.stages, parts[0])
        if form is APART:
            return tuple(parts)
        if set(form) == {LEFT}:
            return parts[0] if self.form is WHOLE else together(self.query, self.stages, parts)
        built = [
            values if name == LEFT else adopted(self.build(k, name), values)
            for k, (name, values) in enumerate(zip(form, parts, strict=True))
        ]
        return tuple(chained(*built))

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
        if self.form:
            return save_at_home(self.inner, self._chosen(self.form)).values
        if self.form is WHOLE:
            return tuple(self.inner.parts()[0])
        return together(self.query, self.stages, self.inner.parts())

    def go_on(self, values: State) -> None:
        """Go on with a state of the query; the next events are measured."""
        self.held = Held(WHOLE, (values,))

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
        yield from self._first(events, self.wiring.options.tolerant)
        if not self.ended:
            yield self._rest(events)

    def opening(self, events: Iterator[Any]) -> Generator[Any, None, State | None]:
        """Yield the outputs of the first events; return the state if the query stays what it is.

        If it does not, yield those of the chosen query, too.
        """
        for outputs in self._first(events, False):
            yield from outputs
        if not self.ended and set(self.held.form or ()) == {LEFT}:
            return self._taken_out()
        if not self.ended:
            yield from self._rest(events)
        return None

    def _first(self, events: Iterator[Any], tolerant: bool) -> Iterator[list[Any]]:
        """Yield what each event gives until it is decided; all of them if failures are survived."""
        out: list[Any] = []
        self.emit = out.append
        if self.decided.choices is not None:
            self.held = Held(self.decided.choices)
        while not self.held.form or tolerant:
            try:
                for event in events:
                    self.count += 1
                    self.step(event)
                    break
                else:
                    self.ended = True
                    self.end()
                    return
            finally:
                yield out.copy()
                out.clear()

    def _taken_out(self) -> State | None:
        if self.held.owner is not None:
            self.held.values = self.inner.take()
        return self.held.values

    def _rest(self, events: Iterator[Any]) -> Iterator[Any]:
        chosen = self._chosen(self.held.form or ())
        return pull(chosen, [events], begun=(self.count, self._taken_out()))[0]
