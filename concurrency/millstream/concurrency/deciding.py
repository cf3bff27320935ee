"""Deciding: a query that measures itself on its first events, then hands those parts over that pay.

Nothing is run twice, and nothing is read ahead: the first events go through the stages of the query one by
one, with a clock beside them. Then `choose` says what becomes of each stage, and the states move over. In
pull the query that was chosen takes the place of this processor; in push it is called by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain as chained
from time import thread_time
from typing import Any

from attrs import define, field

from millstream.processors import Processor, Query, Run, chain, processor, state, transient
from millstream.processors.pull import pull
from millstream.processors.states import copied

from .line import Line
from .machines import machine_of
from .nonblocking import followed
from .spread import Spread
from .stages import place_of

State = tuple[Any, ...]
#: the name for a stage that stays what it is
LEFT = "as it is"
#: events to measure at least and at most, and the seconds after which there are enough
FEWEST, MOST, ENOUGH = 8, 64, 0.02


@define
class Sample:
    """What a stage was given while it was measured, what it gave, and the seconds of each time."""

    events: list[Any] = field(factory=list)
    outputs: list[Any] = field(factory=list)
    seconds: list[float] = field(factory=list)

    @property
    def cost(self) -> float:
        """Return the seconds that an event takes, without the longest of twenty times: those were disturbed.

        >>> Sample(list(range(40)), [], [1e-6] * 38 + [1.0] * 2).cost
        1e-06
        """
        usual = sorted(self.seconds)[: len(self.seconds) - len(self.seconds) // 20]
        share = len(self.events) / max(1, len(self.seconds))
        return sum(usual) / max(1, len(usual)) / max(1.0, share)


class Decided:
    """What was decided, for all runs of a query; None as long as nothing is."""

    def __init__(self) -> None:
        self.choices: tuple[str, ...] | None = None

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

    def _measured(self, x: Any) -> None:
        """Take an event through the stages; decide if enough of them have been measured."""
        self.inner.entry(x)
        self._decide(self.held)

    def _let_in(self, held: Held) -> None:
        """Move the state that is in place out, and the other one in."""
        if self.current is not None:
            self.current.values, self.current.owner = self.inner.take(), None
        if self.inner is None or self.form != held.form:
            self._wire(held.form)
        values = held.values
        self.inner.give(self.inner.fresh() if values is None else values)
        held.values, held.owner, self.current = None, self, held
        self.entry = self._measured if held.form is None else self.inner.entry

    def _wire(self, form: tuple[str, ...] | None) -> None:
        self.form = form
        self.inner = Stages(self.stages, self.emit) if form is None else self._chosen(form).into(self.emit)

    def _chosen(self, form: tuple[str, ...]) -> Query:
        if set(form) == {LEFT}:
            return self.query
        return chain(self.build(k, name) for k, name in enumerate(form))

    # -- deciding

    def _decide(self, held: Held) -> None:
        """Go over to what has been decided, if it has."""
        if self.decided.choices is None:
            samples = self.inner.samples
            spent, count = sum(sum(s.seconds) for s in samples), len(samples[0].events)
            if count < MOST and (count < FEWEST or spent < ENOUGH):
                return
            self.decided.choices = self.choose(samples)
        form, parts, samples = self.decided.choices, self.inner.parts(), self.inner.samples
        moved = [
            adopted(self.build(k, name), name, values, samples[k].events)
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
        return pull(self._chosen(held.form or ()).graph, [events], begun=(count, held.values))[0]


@cache
def clock() -> float:
    """Return the seconds that looking at the clock takes."""
    return min(-(thread_time() - thread_time()) for _ in range(100))


class Stages:
    """A run of stages, each measured by itself; has what a run has for those who host it."""

    def __init__(self, stages: Sequence[Query], sink: Callable[[Any], Any]) -> None:
        self.samples = [Sample() for _ in stages]
        self._outs: list[list[Any]] = [[] for _ in stages]
        self._runs: list[Run] = [q.into(out) for q, out in zip(stages, self._outs, strict=True)]
        self._sink = sink

    def entry(self, x: Any) -> None:
        """Take an event through all stages."""
        self._through([x], 0)

    def _through(self, events: list[Any], k: int) -> None:
        """Give events to a stage, and what it gives to the next; what comes before a failure goes on too."""
        if k == len(self._runs):
            for y in events:
                self._sink(y)
            return
        sample, entry, out = self.samples[k], self._runs[k].entry, self._outs[k]
        sample.events += events
        begun = thread_time()
        try:
            for event in events:
                entry(event)
        finally:
            sample.seconds.append(max(0.0, thread_time() - begun - clock()))
            given, out[:] = out.copy(), []
            sample.outputs += given
            self._through(given, k + 1)

    def finish(self) -> None:
        """End the stages, one after the other."""
        for k, (run, out) in enumerate(zip(self._runs, self._outs, strict=True)):
            run.finish()
            given, out[:] = out.copy(), []
            self._through(given, k + 1)

    def parts(self) -> list[State]:
        """Return the state of each stage."""
        return [run.take() for run in self._runs]

    def take(self) -> State:
        """Return the states of all stages."""
        return tuple(self.parts())

    def give(self, values: State) -> None:
        """Put the states of all stages in."""
        for run, part in zip(self._runs, values, strict=True):
            run.give(part)

    def fresh(self) -> State:
        """Return initial states of all stages."""
        return tuple(run.fresh() for run in self._runs)


def adopted(built: Query, name: str, values: State, events: Sequence[Any]) -> State:
    """Return the state of what takes the place of a stage that has this state after these events."""
    node: Any = built
    if name == "PullGroup":
        return (Line(values=values),)
    if name == "Pipeline":
        seen = (node.known.length or 1) - 1
        return (Line(before=tuple(events[len(events) - seen :]) if seen else ()),)
    if name == "ParallelSlice":
        return (Spread(values=_as_slices(node, values), count=len(events)),)
    if name == "ChunkedMonitor":
        machine = machine_of(node.inner)
        assert machine is not None
        now = machine.start
        for event in events:
            now = machine.advance(event, [now])[0][0]
        return Line(), now
    return values


def _as_slices(node: Any, values: State) -> State:
    """Return the state of a slice as the state of `Slices`, which keeps every slice's state as a tuple."""
    from millstream.palettes.slicer.slices import Slices

    s = node.slice
    plain = s.into()
    plain.give(values)
    held: Any = plain.processors[0]
    run = Slices(s.by, s.inner, s.keep, s.snapshot, s.collect, s.until).into()
    slices: Any = run.processors[0]
    run.give(run.fresh())
    single = not isinstance(held, Slices) and len(s.inner.into().fresh()) == 1
    slices.states = {key: (v,) if single else v for key, v in held.states.items()}
    if hasattr(held, "shown"):
        slices.shown = held.shown
    return run.take()
