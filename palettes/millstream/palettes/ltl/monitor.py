"""`Monitor`: one verdict per event about the whole trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from attrs import field

from millstream.processors import Inline, ParameterError, Uniform, configuration, processor, state, transient
from millstream.processors.memory import Growth

from .automaton import Automaton, automaton_of
from .engines import FAR, compact, rules
from .explain import explainer
from .letters import Leaves, branch, shared
from .machine import Machine, State
from .parser import parse
from .progress import at_end, deadline, elapse
from .residual import Done
from .tableau import BUDGET
from .verdict import Verdict
from .verdicts import rebuilt

SEMANTICS: Final = {"ltl3": "ltl3", "rv-ltl": "rv", "ltlf": "ltlf"}


def _budget(value: Any) -> int:
    """Check the budget, before it is used to build the first state."""
    if type(value) is not int or value < 0:
        raise ParameterError(f"Monitor: budget must be a whole number from 0 on, got {value!r}")
    return value


@processor
class Monitor(Uniform):
    """Say after each event what is known about the formula at the first position.

    Parameters
    ----------
    formula : str or Formula
        The formula.
    atoms : dict, optional
        What each atom means: a function of the event or an expression. Without it, an atom is the event's
        field of that name.
    semantics : str
        ``"ltl3"``: TRUE or FALSE as soon as no continuation can change it, else UNKNOWN.
        ``"rv-ltl"``: the same, but PRESUMABLY_TRUE or PRESUMABLY_FALSE, as if the trace ended here.
        ``"ltlf"``: the verdict of the finite trace read so far; the last one is the verdict of the trace.
    time : function or expression, optional
        The time of an event; bounds then count time. Without it, bounds count positions.
    budget : int
        Work that the automaton may cost, in operations; the default is a few seconds. A formula whose
        automaton needs more is rewritten with each event instead; ``0`` does so always.
    explain : bool
        FALSE says why in ``because``. Keeps events until there is a verdict.

    Notes
    -----
    Propositional formulas become a deterministic automaton, built as events demand, that anticipates: ``F a
    & G !a`` is FALSE after the first event whatever it is. With quantifiers, times, very long bounds or an
    automaton beyond the budget the formula is rewritten with each event instead; verdicts are right, but one
    that only insight could give early may come later.

    Examples
    --------
    >>> events = [{"status": "OK"}, {"status": "DEAD"}, {"status": "OK"}]
    >>> list(Monitor("G !(status == 'DEAD')")(events))
    [UNKNOWN, FALSE, FALSE]
    >>> from millstream.processors import X
    >>> list(Monitor("a U b", atoms={"a": X == "a", "b": X == "b"}, semantics="rv-ltl")("aaba"))
    [PRESUMABLY_FALSE, PRESUMABLY_FALSE, TRUE, TRUE]

    References
    ----------
    Bauer, Leucker, Schallhart, *Runtime verification for LTL and TLTL*, ACM TOSEM 20(4), 2011.
    """

    formula: Any = field(converter=parse)
    atoms: Any = field(default=None, kw_only=True)
    semantics: str = field(default="ltl3", kw_only=True)
    time: Any = field(default=None, kw_only=True)
    budget: int = field(default=BUDGET, kw_only=True, converter=_budget)
    explain: bool = field(default=False, kw_only=True)
    compact: Machine | None = transient()
    valuation: Any = transient()
    rules: Any = transient()
    explainer: Any = transient()
    #: where the machine is, or history and remainder of the progression
    now: Any = state(of=lambda self: self.fresh())
    #: if the verdict is explained: the events until there is one, then the verdict
    why: Any = state(of=lambda self: [] if self.explain else None)

    def __attrs_post_init__(self) -> None:
        if self.semantics not in SEMANTICS:
            known = ", ".join(SEMANTICS)
            raise ParameterError(f"Monitor: semantics must be one of {known}, got {self.semantics!r}")
        if self.explain:
            self.explainer = explainer("Monitor", self.formula, self.atoms, self.time)

    def machine(self) -> Machine:
        """Return the lazily built deterministic automaton that this monitor walks."""
        if self.compact is None:
            raise ParameterError(
                f"Monitor: {self.formula!r} has no small automaton (quantifiers, times, bounds beyond "
                f"{FAR}, several long bounds, too many atoms, or more work than budget={self.budget})"
            )
        return self.compact

    def automaton(self) -> Automaton:
        """Return the whole minimal automaton.

        >>> len(Monitor("G (a -> F b)", semantics="rv-ltl").automaton().verdicts)
        2
        """
        return automaton_of(self.machine(), SEMANTICS[self.semantics])

    def fresh(self) -> Any:
        """Return the state before the first event; the formula is compiled once, slices ask often."""
        if self.valuation is not None and self.compact is not None:
            return self.compact.start()
        if self.rules is not None:
            return [self.rules.fresh(), None]
        self.compact = compact(self.formula, self.time, FAR, self.semantics == "ltlf", self.budget)
        if self.compact is not None:
            leaves = Leaves("Monitor", self.atoms)
            self.valuation = leaves.function(leaves.valuation(self.compact.letters))
            return self.compact.start()
        self.rules = rules("Monitor", self.formula, self.atoms, self.time)
        return [self.rules.fresh(), None]

    def step(self, event: Any) -> Verdict:
        if isinstance(self.why, Verdict):
            return self.why
        if self.valuation is not None:
            self.now = self.now.step(self.valuation(event))
            verdict: Verdict = getattr(self.now, SEMANTICS[self.semantics])
        else:
            verdict = self.rewrite(event)
        return verdict if self.why is None else self.reasoned(event, verdict)

    def rewrite(self, event: Any) -> Verdict:
        """Read an event by progression."""
        history, residual = self.now
        if isinstance(residual, Done):
            return Verdict.of(residual.parts[0])
        moment = self.rules.moment(history, event)
        whole = moment.value(self.rules.formula, (), True)
        residual = whole if residual is None else moment.progress(residual)
        moment.close()
        self.now = [history, residual]
        return self.judge(residual)

    def judge(self, residual: Any) -> Verdict:
        """Return the verdict if this remains to be shown."""
        if isinstance(residual, Done) or self.semantics == "ltlf":
            return Verdict.of(at_end(residual))
        if self.semantics == "ltl3":
            return Verdict.UNKNOWN
        return Verdict.PRESUMABLY_TRUE if at_end(residual) else Verdict.PRESUMABLY_FALSE

    def due(self) -> Any:
        """Return when the passing of time alone may change the verdict; reasons need the next event."""
        if self.time is None or self.rules is None or self.explain or self.now[1] is None:
            return None
        return deadline(self.now[1])

    def pass_time(self, now: Any) -> None:
        """Give the verdict if it changes because no event at or before `now` will come."""
        history, residual = self.now
        self.now = [history, after := elapse(residual, now)]
        if (verdict := self.judge(after)) != self.judge(residual):
            self.emit(verdict)

    def reasoned(self, event: Any, verdict: Verdict) -> Verdict:
        """Return the verdict, with reasons if it is false for good."""
        self.why.append(event)
        if not verdict.decided or self.semantics == "ltlf":
            return verdict
        self.explainer.show(self.why)
        because = self.explainer.because(0) if verdict == Verdict.FALSE else ()
        self.why = reasoned = Verdict(verdict.name, because)
        return reasoned

    def grow(self, event: Any) -> State:
        """Return the next state when it is reached by this event for the first time."""
        return self.now.step(self.valuation(event))  # type: ignore[no-any-return]

    def inline(self) -> Inline | None:
        if self.time is not None:
            return None  # it may emit when time passes
        if self.explain or self.compact is None:
            return super().inline()
        leaves = Leaves("Monitor", self.atoms, event="{0}", written="{{{}}}")
        reads, tests = shared([leaves.leaf(f) for f in self.compact.letters], "{0}", "{{k{}}}")
        return Inline(
            do=(
                *reads,
                "{y0} = {me}.now",
                "{y0} = " + branch(tests, "{y0}"),
                "if {y0} is None: {y0} = {me}.grow({0})",
                "{me}.now = {y0}",
            ),
            out=("{y0}." + SEMANTICS[self.semantics],),
            names={**leaves.names, **{f"k{i}": None for i in range(len(reads))}},
        )

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return any event, and a verdict."""
        return (None,), (Verdict,)

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))

    def growth(self) -> Growth | None:
        """Return what explanations keep."""
        if not self.explain:
            return None
        return Growth("all events, to explain the verdict", "explain=False")
