"""`Verdicts`: the verdicts of a formula at all positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from attrs import field

from millstream.processors import ParameterError, Processor, configuration, processor, state, transient
from millstream.processors.lineage import Answers, Tracker
from millstream.processors.memory import Growth

from . import engines
from . import formula as fm
from .explain import explainer
from .parser import parse
from .streams import StreamEngine
from .verdict import DECIDED, OPEN, Verdict, WeakStrong
from .walk import subformulas

#: at_end -> what stands for true, false and open
SAYS: dict[str | None, dict[bool | None, Any]] = {
    None: {True: True, False: False},
    "finite": {True: True, False: False},
    "weak": {True: True, False: False, None: True},
    "strong": {True: True, False: False, None: False},
    "both": {True: DECIDED[True], False: DECIDED[False], None: OPEN},
}


def rebuilt(cls: type[Any], parameters: dict[str, Any]) -> Any:
    """Return a processor from its configuration; how those with compiled parts are pickled."""
    return cls(**parameters)


@processor
class Verdicts(Processor):
    """Give the verdict of the formula at position 0, 1, 2..., each as soon as it and all older ones are
    known.

    Parameters
    ----------
    formula : str or Formula
        The formula.
    atoms : dict, optional
        What each atom means: a function of the event or an expression. Without it, an atom is the event's
        field of that name.
    time : function or expression, optional
        The time of an event; bounds then count time. Without it, bounds count positions.
    earliest : bool
        Give ``(position, verdict)`` at the first moment, out of order.
    at_end : str, optional
        What to say about positions that are still open when the trace ends: nothing, their ``"finite"``-trace
        verdict (and until then only verdicts that hold on every finite continuation too), true
        (``"weak"``), or false (``"strong"``). With ``"both"`` every verdict is a pair ``(weak, strong)``,
        whose sides differ for open positions only.
    explain : bool
        Give `Verdict` objects; a false one says why in ``because``. Keeps all events.

    Examples
    --------
    >>> from millstream.processors import X
    >>> kinds = {"request": X == "req", "granted": X == "ok"}
    >>> safe = Verdicts("request -> F[0,2] granted", atoms=kinds)
    >>> list(safe(["req", "x", "ok", "req", "x", "x", "x"]))
    [True, True, True, False, True, True, True]
    >>> list(Verdicts("F granted", atoms=kinds, at_end="finite")(["x", "ok", "x"]))
    [True, True, False]
    >>> [(v.weak, v.strong) for v in Verdicts("F granted", atoms=kinds, at_end="both")(["x", "ok", "x"])]
    [(True, True), (True, True), (True, False)]
    """

    formula: Any = field(converter=parse)
    atoms: Any = field(default=None, kw_only=True)
    time: Any = field(default=None, kw_only=True)
    earliest: bool = field(default=False, kw_only=True)
    at_end: str | None = field(default=None, kw_only=True)
    explain: bool = field(default=False, kw_only=True)
    engine: Any = transient()
    explainer: Any = transient()
    pending: Any = state(of=lambda self: self.compiled().fresh())
    #: if verdicts are explained: the events so far, and the next position to get a verdict
    kept: list[Any] = state(of=lambda self: [])
    told: int = state(0)

    def __attrs_post_init__(self) -> None:
        if self.at_end not in SAYS:
            raise ParameterError(f"Verdicts: at_end must be one of {tuple(SAYS)}, got {self.at_end!r}")
        if self.explain:
            self.explainer = explainer("Verdicts", self.formula, self.atoms, self.time)

    @property
    def says(self) -> dict[bool | None, Any]:
        """What stands for true, false and open."""
        return SAYS[self.at_end]

    def compiled(self) -> Any:
        """Return the engine that does the work."""
        if self.engine is None:
            make = engines.earliest if self.earliest else engines.in_order
            self.engine = make(self.formula, self.atoms, self.time, self.at_end == "finite")
        return self.engine

    def step(self, event: Any) -> None:
        if self.explain:
            self.kept.append(event)
        self.tell(self.engine.step(self.pending, event))

    def end(self) -> None:
        if self.at_end == "finite":
            self.tell(self.engine.end(self.pending), ended=True)
        elif self.at_end is not None:
            self.tell(self.engine.left(self.pending))

    def due(self) -> Any:
        """Return when the passing of time alone gives a verdict; only engines for verdicts in order tell."""
        if self.time is None or not isinstance(self.engine, StreamEngine):
            return None
        return self.engine.due(self.pending)

    def pass_time(self, now: Any) -> None:
        """Give the verdicts that follow from no event coming at or before `now`."""
        if isinstance(self.engine, StreamEngine):
            self.tell(self.engine.pass_time(self.pending, now))

    def tell(self, runs: Any, ended: bool = False) -> None:
        """Emit what an engine gave."""
        emit, says = self.emit, self.says
        if self.explain:
            self.tell_why(list(runs), ended)
        elif self.earliest:
            for position, value in runs:
                emit((position, says[value]))
        else:
            for value, count in runs:
                value = says[value]
                for _ in repeat(None, count):
                    emit(value)

    def tell_why(self, runs: list[tuple[Any, Any]], ended: bool) -> None:
        """Emit verdicts with their reasons."""
        if not all(run[1 if self.earliest else 0] for run in runs):
            self.explainer.show(self.kept, ended)
        for one, other in runs:
            if self.earliest:
                self.emit((one, self.reasoned(one, other)))
                continue
            for _ in range(other):
                self.emit(self.reasoned(self.told, one))
                self.told += 1

    def reasoned(self, position: int, value: bool | None) -> Verdict | WeakStrong:
        """Return a verdict; a false one says why."""
        said = self.says[value]
        if isinstance(said, WeakStrong):
            weak, strong = (self.verdict(position, side) for side in said)
            return WeakStrong(weak, strong)
        return self.verdict(position, said)

    def verdict(self, position: int, value: bool) -> Verdict:
        """Return a verdict; a false one says why."""
        return Verdict.TRUE if value else Verdict("FALSE", self.explainer.because(position))

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        if self.earliest or self.explain:
            return self.slowly(inputs[0])
        return self.quickly(inputs[0])

    def quickly(self, events: Iterator[Any]) -> Iterator[bool]:
        """Pull through the engine's own loop."""
        verdicts = self.engine.iterate(self.pending, events)
        yield from map(DECIDED.__getitem__, verdicts) if self.at_end == "both" else verdicts
        if self.at_end is not None:
            rest = self.engine.end if self.at_end == "finite" else self.engine.left
            for value, count in rest(self.pending):
                yield from repeat(self.says[value], count)

    def slowly(self, events: Iterator[Any]) -> Iterator[Any]:
        """Pull step by step."""
        out: list[Any] = []
        self.emit = out.append
        for event in events:
            self.step(event)
            yield from out
            out.clear()
        self.end()
        yield from out

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return any event, and a truth value or verdict, unless it comes as a pair."""
        paired = self.earliest or self.at_end == "both"
        return (None,), (None if paired else Verdict if self.explain else bool,)

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))

    def tracker(self, limit: int) -> Tracker | None:
        """Return the causes of the position that gets its verdict and of what came since, if that is all."""
        looks_back = any(
            isinstance(f, fm.Y | fm.O | fm.H | fm.S | fm.Span) for f in subformulas(self.formula)
        )
        return None if looks_back or self.earliest else Answers(limit)

    def growth(self) -> Growth | None:
        """Return what explanations keep, and bounds in time."""
        if self.explain:
            return Growth("all events, to explain verdicts", "explain=False")
        if self.time is not None:
            return Growth("the positions within bounds in time", "shorter bounds, or bounds in events")
        return None
