"""`Verdicts`: the verdicts of a formula at all positions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import repeat
from typing import Any

from attrs import field

from millstream.processors import Processor, processor, state, transient
from millstream.processors.errors import ParameterError
from millstream.processors.processor import configuration

from . import engines
from .base import Formula
from .explain import explainer
from .parser import parse
from .verdict import Verdict

ENDS = (None, "finite", "weak", "strong")


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
        (``"weak"``), or false (``"strong"``).
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
    """

    formula: Formula = field(converter=parse)
    atoms: Any = field(default=None, kw_only=True)
    time: Any = field(default=None, kw_only=True)
    earliest: bool = field(default=False, kw_only=True)
    at_end: str | None = field(default=None, kw_only=True)
    explain: bool = field(default=False, kw_only=True)
    engine: Any = transient()
    explainer: Any = transient()
    pending: Any = state(of=lambda self: self.compiled().fresh(), copy=deepcopy)
    #: if verdicts are explained: the events so far, and the next position to get a verdict
    kept: list[Any] = state(of=lambda self: [])
    told: int = state(0)

    def __attrs_post_init__(self) -> None:
        if self.at_end not in ENDS:
            raise ParameterError(f"Verdicts: at_end must be one of {ENDS}, got {self.at_end!r}")
        if self.explain:
            self.explainer = explainer("Verdicts", self.formula, self.atoms, self.time)

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
        if self.at_end is not None:
            left = self.engine.end(self.pending)
            self.tell(left if self.at_end == "finite" else list(self.presumed(left)))

    def presumed(self, left: Iterable[Any]) -> Iterator[Any]:
        """Replace the verdicts of open positions by the chosen one."""
        value = self.at_end == "weak"
        for one, other in left:
            yield (one, value) if self.earliest else (value, other)

    def tell(self, runs: Any) -> None:
        """Emit what an engine gave."""
        emit = self.emit
        if self.explain:
            self.tell_why(runs)
        elif self.earliest:
            for pair in runs:
                emit(pair)
        else:
            for value, count in runs:
                for _ in repeat(None, count):
                    emit(value)

    def tell_why(self, runs: Any) -> None:
        """Emit verdicts with their reasons."""
        self.explainer.show(self.kept)
        for one, other in runs:
            if self.earliest:
                self.emit((one, self.reasoned(one, other)))
                continue
            for _ in range(other):
                self.emit(self.reasoned(self.told, one))
                self.told += 1

    def reasoned(self, position: int, value: bool) -> Verdict:
        """Return a verdict; a false one says why."""
        return Verdict.TRUE if value else Verdict("FALSE", self.explainer.because(position))

    def iterate(self, *inputs: Iterator[Any]) -> Iterator[Any]:
        if self.earliest or self.explain:
            return self.slowly(inputs[0])
        return self.quickly(inputs[0])

    def quickly(self, events: Iterator[Any]) -> Iterator[bool]:
        """Pull through the engine's own loop."""
        yield from self.engine.iterate(self.pending, events)
        if self.at_end is not None:
            for value, count in self.engine.end(self.pending):
                yield from repeat(value if self.at_end == "finite" else self.at_end == "weak", count)

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

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))
