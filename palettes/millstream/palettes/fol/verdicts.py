"""`Verdicts` and `Violations`: first-order past formulas on a stream of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.verdict import Verdict
from millstream.palettes.ltl.verdicts import rebuilt
from millstream.processors import Inline, Processor, processor, state, transient
from millstream.processors.lineage import Tracker
from millstream.processors.memory import Growth
from millstream.processors.processor import configuration

from .because import Explanations, Witness, distinct
from .engine import is_bounded, program_of
from .program import Program, State
from .reading import Kept, declared, part_of, reader
from .related import Related


@processor
class _FirstOrder(Processor):
    formula: Any = field(converter=parse)
    predicates: Mapping[str, Any] | None = field(default=None, kw_only=True)
    kind: Any = field(default=None, kw_only=True)
    args: Any = field(default=None, kw_only=True)
    time: Any = field(default=None, kw_only=True)
    over: str = field(default="seen", kw_only=True)
    explain: bool = field(default=False, kw_only=True)
    program: Program = transient()
    read: Any = transient()
    clock: Any = transient()
    plain: bool = transient()
    tables: State = state(of=lambda self: self._program()[0].fresh())
    position: int = state(0)
    last: Any = state(None)
    #: the events so far, if violations are explained
    kept: list[Any] = state(of=lambda self: [])

    def __attrs_post_init__(self) -> None:
        self.program, _ = self._program()
        self.read = reader(self._owner(), self.predicates, self.kind, self.args)
        self.clock = None if self.time is None else part_of(self.time)
        self.plain = self.read is None and self.clock is None and not is_bounded(self.formula)

    def _owner(self) -> str:
        return type(self).__name__

    def _witnesses(self) -> bool:
        return True

    def _program(self) -> tuple[Program, str]:
        arity = declared(self._owner(), self.predicates)
        given = None if arity is None else tuple(sorted(arity.items()))
        return program_of(self._owner(), self.formula, self.over, given, self._witnesses())

    @property
    def fallback(self) -> str:
        """Why the formula is left to the general evaluator; empty if it is compiled."""
        return self._program()[1]

    @property
    def source(self) -> str:
        """The Python source that the formula was compiled to."""
        return self.program.source

    def run(self, event: Any) -> Any:
        """Read an event; return what the program says."""
        e = event if self.read is None else self.read(event)
        now = self.position if self.clock is None else self.ticked(event)
        try:
            step: Callable[..., Any] = self.program.steps.get(e[0], self.program.other)
        except (TypeError, LookupError):
            raise ValueError(
                f"an event must be a sequence (name, arg, ...), got {e!r}; or give kind and predicates"
            ) from None
        found = step(self.tables, e, event, now)
        self.position += 1
        if self.explain:
            kept = Kept(e)
            kept.raw = event
            self.kept.append(kept)
        return found

    def because(self, bindings: list[dict[str, Any]]) -> tuple[Witness, ...]:
        """Return why the formula is violated at the last event, for each violating binding."""
        return Explanations(self._owner(), self.formula, self.over, self.clock).because(self.kept, bindings)

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))

    def ticked(self, event: Any) -> Any:
        """Return the time of an event, which must not be before that of the last one."""
        now = self.clock(event)
        if self.last is not None and not now >= self.last:
            raise ValueError(
                f"events must come in order of time: {now!r} after {self.last!r}; sort them first"
            )
        self.last = now
        return now

    def tracker(self, limit: int) -> Tracker:
        """Return the causes of the event at hand and of those before it that share a value with it."""
        return Related(limit, self.read)

    def growth(self) -> Growth:
        """Return how the tables grow."""
        return Growth(
            "an entry for each combination of values that the formula must remember",
            "operators with bounds ([0,k]), or slices by a value with ttl=",
        )


@processor
class Verdicts(_FirstOrder):
    """Give for each event whether a first-order past formula holds there, for all bindings.

    Parameters
    ----------
    formula : str or Formula
        Past operators ``Y O H S [p, q)``, predicates ``access(u, f)``, quantifiers, comparisons.
    predicates : dict, optional
        For events that are not ``(name, arg, ...)``: the fields (names, functions or expressions) that give
        a predicate's arguments.
    kind : str, function or expression, optional
        What gives the name of such an event.
    args : function or expression, optional
        Instead of `predicates`, what gives all arguments of an event.
    time : str, function or expression, optional
        The time of an event; bounds then count time. Without it they count positions.
    over : str
        What quantifiers without ``in`` and free variables range over: the values ``"seen"`` as arguments of
        events up to now, or ``"all"`` values whatever, as in MonPoly and DejaVu. For formulas whose
        variables are restricted by predicates it is the same.
    explain : bool
        Give `Verdict` objects; a false one says in ``because`` which bindings violate the formula and why.
        Keeps all events.

    Examples
    --------
    >>> rule = "access(u, f) -> [login(u), logout(u)) & [open(f), close(f))"
    >>> log = [
    ...     ("login", "ann"),
    ...     ("open", "f"),
    ...     ("access", "ann", "f"),
    ...     ("logout", "ann"),
    ...     ("access", "ann", "f"),
    ... ]
    >>> list(Verdicts(rule)(log))
    [True, True, True, True, False]
    >>> print(list(Verdicts(rule, explain=True)(log))[-1].because[0])
    [u='ann', f='f'] !login("ann") at 3..4; logout("ann") at 3; access("ann", "f") at 4; !logout("ann") at 4
    >>> events = [{"do": "login", "user": "ann"}, {"do": "read", "user": "bob"}]
    >>> list(
    ...     Verdicts("read(u) -> O login(u)", kind="do", predicates={"login": ["user"], "read": ["user"]})(
    ...         events
    ...     )
    ... )
    [True, False]
    """

    def _witnesses(self) -> bool:
        return self.explain

    def step(self, event: Any) -> None:
        """Emit the verdict."""
        found = self.run(event)
        if not self.explain:
            self.emit(found)
        else:
            self.emit(Verdict("FALSE", self.because(found)) if found else Verdict.TRUE)

    def inline(self) -> Inline | None:
        """Return the step as source."""
        if self.explain or not self.plain:
            return None
        names = {"find": self.program.steps.get, "other": self.program.other}
        return Inline(out=("{find}({0}[0], {other})({me}.tables, {0}, {0}, None)",), names=names)


@frozen
class Violation:
    """A position at which a formula fails, the bindings for which it does, and why, if that was asked for."""

    position: int
    bindings: tuple[dict[str, Any], ...]
    because: tuple[Witness, ...] = field(default=(), repr=False)


@processor
class Violations(_FirstOrder):
    """Give a `Violation` for each event at which the formula fails. Parameters are those of `Verdicts`.

    Examples
    --------
    >>> log = [("open", "a"), ("open", "b"), ("close", "b"), ("end",)]
    >>> list(Violations("end -> ![open(f), close(f))")(log))
    [Violation(position=3, bindings=({'f': 'a'},))]
    """

    def step(self, event: Any) -> None:
        """Emit the bindings for which the formula fails, if there are any."""
        position = self.position
        found = self.run(event)
        if found:
            because = self.because(found) if self.explain else ()
            self.emit(Violation(position, tuple(distinct(found)), because))
