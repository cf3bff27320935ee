"""From a formula and events to a verdict, and to the first violation with its reasons.

A formula with future operators is judged at the first event, any other at every event, as if it began with
`G`. Formulas with predicates go to the fol palette, others to ltl. Only when a formula is violated are the
events read a second time, up to there, to say where and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import more_itertools
from attrs import define, field, frozen

from millstream.palettes import fol, ltl
from millstream.palettes.ltl import Formula
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.walk import free_variables, subformulas, substitute
from millstream.processors import E

HOLDS: Final = "holds"
VIOLATED: Final = "violated"
UNKNOWN: Final = "unknown"
#: how many violating bindings are shown
SHOWN: Final = 3


@frozen
class Outcome:
    """What was found, after how many events, and for a violation where, what and why."""

    verdict: str
    count: int
    position: int | None = None
    event: Any = None
    reasons: tuple[str, ...] = ()
    ended: bool = False


@frozen
class Reading:
    """How events are read as names and arguments; without `kind`, they are `(name, arg, ...)` if `named`."""

    named: bool = False
    kind: str | None = None
    predicates: dict[str, list[str]] | None = None
    time: str | None = None

    def atoms(self, formula: Formula) -> dict[str, Any] | None:
        """Return what bare names mean: fields of the event, or events of that name."""
        if not self.named and self.kind is None:
            return None
        names = {f.name for f in subformulas(formula) if isinstance(f, fm.Atom)}
        key: Any = 0 if self.kind is None else self.kind
        return {name: E[key] == name for name in names}

    def options(self) -> dict[str, Any]:
        """Return what the fol palette is told about events."""
        if self.kind is None:
            return {}
        if self.predicates is not None:
            return {"kind": self.kind, "predicates": self.predicates}
        return {"kind": self.kind, "args": self.arguments}

    def arguments(self, event: Any) -> list[Any]:
        """Return all other fields that are not empty."""
        return [value for name, value in event.items() if name != self.kind and value not in ("", None)]

    def pair(self, event: Any) -> tuple[Any, ...]:
        """Return an event as name and arguments."""
        if self.kind is None:
            return tuple(event)
        name = event[self.kind]
        fields = (self.predicates or {}).get(name)
        return (name, *(self.arguments(event) if fields is None else [event[f] for f in fields]))


@define
class Counted:
    """Events, counted as they go by; kept if they cannot be read again."""

    events: Iterable[Any]
    again: bool
    count: int = 0
    last: Any = None
    #: whether there are no more
    ended: bool = False
    kept: list[Any] = field(factory=list)

    def __iter__(self) -> Iterator[Any]:
        for event in self.events:
            self.count, self.last = self.count + 1, event
            if not self.again:
                self.kept.append(event)
            yield event
        self.ended = True

    def seen(self) -> list[Any]:
        """Return the events that have gone by."""
        return list(islice(self.events, self.count)) if self.again else self.kept


@define
class Judge:
    """Judges one formula on one trace.

    Parameters
    ----------
    formula
        The formula.
    reading
        How events are read.
    more
        Whether the trace may go on after the last event; then what is open at its end stays unknown.
    """

    formula: Formula
    reading: Reading
    more: bool = False
    body: Formula = field(init=False)
    every: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        always = isinstance(self.formula, fm.G) and self.formula.bounds is None
        self.body = self.formula.operand if always else self.formula  # type: ignore[attr-defined]
        self.every = always or not is_future(self.formula)

    def __call__(self, events: Counted) -> Outcome:
        """Read events until there is a verdict."""
        if not is_first_order(self.formula):
            return self.propositional(events)
        return self.future(events) if is_future(self.body) or not self.every else self.past(events)

    def propositional(self, events: Counted) -> Outcome:
        """Judge by the verdict of the first position, known as early as the formula allows."""
        whole = fm.G(self.body) if self.every else self.formula
        time = self.reading.time
        options: dict[str, Any] = {"atoms": self.reading.atoms(whole), "time": time and E[time]}
        verdict = ltl.Verdict.UNKNOWN
        if self.more:
            for verdict in ltl.Monitor(whole, **options)(events):
                if verdict.decided:
                    break
        elif any(isinstance(f, fm.Quantifier) for f in subformulas(whole)):
            verdict = more_itertools.last(ltl.Monitor(whole, semantics="ltlf", **options)(events), verdict)
        else:
            for value in ltl.Verdicts(whole, at_end="finite", **options)(events):
                verdict = ltl.Verdict.of(value)
                break
        return self.outcome(verdict, events, lambda: where(whole, events.seen(), events.ended, **options))

    def outcome(self, verdict: Any, events: Counted, why: Callable[[], Where]) -> Outcome:
        """Return the outcome for a verdict about the trace."""
        if verdict.name == "UNKNOWN":
            return Outcome(UNKNOWN, events.count)
        return why().violated(events.count) if not verdict else Outcome(HOLDS, events.count)

    def past(self, events: Counted) -> Outcome:
        """Judge at every event, by tables of bindings."""
        options = {**self.reading.options(), "time": self.reading.time}
        for found in fol.Violations(self.body, **options)(events):
            trace = events.seen()
            *_, explained = fol.Violations(self.body, explain=True, **options)(trace)
            reasons = (*map(str, explained.because[:SHOWN]), *rest(len(explained.because) - SHOWN))
            return Where(trace, found.position, reasons).violated(events.count)
        return Outcome(UNKNOWN if self.more or not events.count else HOLDS, events.count)

    def future(self, events: Counted) -> Outcome:
        """Judge by one automaton state for each binding."""
        whole = fm.G(self.body) if self.every else self.formula
        verdict, read = ltl.Verdict.UNKNOWN, self.reading.pair
        # at the end of the trace one more verdict comes, that of the finite trace
        for verdict in fol.Monitor(whole, at_end=not self.more)(map(read, events)):
            if verdict.name == "FALSE":
                break
        if not events.count:
            return Outcome(UNKNOWN, 0)
        trace = list(map(read, events.seen())) if verdict.name == "FALSE" else []
        return self.outcome(verdict, events, lambda: where_for(whole, trace, events.ended, verdict.because))


@frozen
class Where:
    """The first position at which a formula fails on a trace, and why."""

    trace: list[Any]
    position: int
    reasons: tuple[str, ...]
    ended: bool = False

    def violated(self, count: int) -> Outcome:
        """Return this as an outcome."""
        return Outcome(VIOLATED, count, self.position, self.trace[self.position], self.reasons, self.ended)


def where(formula: Formula, trace: list[Any], ended: bool, **options: Any) -> Where:
    """Return where and why a formula fails on a trace that has ended, or that was read until it failed."""
    position = 0
    if isinstance(formula, fm.G) and formula.bounds is None:
        formula = formula.operand
        way: dict[str, Any] = {"at_end": "finite"} if ended else {"earliest": True}
        verdicts = ltl.Verdicts(formula, **way, **options)(trace)
        position = min(p for p, verdict in (enumerate(verdicts) if ended else verdicts) if not verdict)
    found = ltl.why(formula, trace, position, **options)
    ending = ended and not found
    if ending:
        found = ltl.why(formula, trace, position, ended=True, **options)
    return Where(trace, position, tuple(map(str, found)), ending)


def where_for(formula: Formula, trace: list[Any], ended: bool, bindings: Sequence[Any]) -> Where:
    """Return where and why a formula fails for the first of the bindings that violate it."""
    binding = bindings[0].binding
    formula = without_forall(formula)
    for name in sorted(free_variables(formula)):
        formula = substitute(formula, name, binding.get(name, _AnyOther()))
    atoms = {f.name: E[0] == f.name for f in subformulas(formula) if isinstance(f, fm.Atom)} or None
    found = where(formula, trace, ended, atoms=atoms)
    values = ", ".join(f"{name}={value!r}" for name, value in binding.items())
    first = "; ".join(found.reasons)
    reasons = (f"[{values}] {first}" if binding else first, *rest(len(bindings) - 1))
    return Where(trace, found.position, reasons, found.ended)


class _AnyOther:
    """A value that no event has."""

    def __repr__(self) -> str:
        return "any other value"


def rest(count: int) -> tuple[str, ...]:
    """Return a line about bindings that are not shown."""
    return (f"... and for {count} more",) if count > 0 else ()


def without_forall(formula: Formula) -> Formula:
    """Return what a formula says about its outer variables."""
    while isinstance(formula, fm.ForAll) and formula.domain is None:
        formula = formula.body
    return formula


def is_future(formula: Formula) -> bool:
    """Return whether a formula speaks of what comes later."""
    return any(isinstance(f, fm.FUTURE) for f in subformulas(formula))


def is_first_order(formula: Formula) -> bool:
    """Return whether a formula is about the values seen: predicates, quantifiers without a domain."""
    found = subformulas(formula)
    quantifiers = [f for f in found if isinstance(f, fm.Quantifier)]
    if any(f.domain is None for f in quantifiers) or free_variables(formula):
        return True
    return any(isinstance(f, fm.Predicate) for f in found) and not quantifiers
