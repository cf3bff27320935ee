"""`Monitor`: formulas about the future, for all values; one automaton state for each binding.

All bindings walk the same automaton, that of the formula with its predicates as letters, and each is a
state in it (`bindings`). Values not seen yet have a state too, from which a new value starts. An event is a
small tree of letters that says which bindings it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.base import Formula
from millstream.palettes.ltl.machine import Machine, machine
from millstream.palettes.ltl.parser import parse
from millstream.palettes.ltl.terms import Const, Var
from millstream.palettes.ltl.verdict import Verdict
from millstream.palettes.ltl.verdicts import rebuilt
from millstream.palettes.ltl.walk import subformulas
from millstream.processors import Processor, processor, state, transient
from millstream.processors.errors import ParameterError
from millstream.processors.memory import Growth
from millstream.processors.processor import configuration

from .because import Witness
from .bindings import Path, Step, Tree, leaves
from .normal import arities, check_scopes, outer_variables
from .program import wrong_arity
from .reading import declared, reader
from .tries import Fork, apply, point


def followed(formula: str | Formula) -> Formula:
    """Return the formula of a monitor; raise if one automaton for all bindings cannot follow it."""
    result = parse(formula) if isinstance(formula, str) else formula
    check_scopes("Monitor", result)
    for f in subformulas(outer_variables(result)[1]):
        if isinstance(f, fm.Quantifier):
            hint = (
                "only leading forall can range over values"
                if f.domain is None
                else "see the ltl palette's Monitor"
            )
            raise ParameterError(f"Monitor: cannot follow {f!r} inside {result!r}: {hint}")
        if isinstance(f, fm.Test):
            raise ParameterError(f"Monitor: cannot compare, as in {f!r}; make it a predicate")
    return result


@processor
class Monitor(Processor):
    """Say after each event what is known about a formula at the first position, for all bindings.

    The verdict is FALSE as soon as no continuation can satisfy the formula for some binding, TRUE as soon
    as none can violate it for any, else UNKNOWN; FALSE names its bindings in ``because``. At the end of the
    trace, one more verdict comes for the finite trace if `at_end` is set.

    Parameters
    ----------
    formula : str or Formula
        Any temporal formula whose outer variables are free or bound by leading ``forall``; within, no
        further quantifiers. (For ``forall x in field``, see the Monitor of the ltl palette.)
    predicates, kind, args
        As for `Verdicts`.
    at_end : bool
        Whether to give the verdict of the finite trace at its end.

    Examples
    --------
    >>> log = [("open", "a"), ("open", "b"), ("close", "a"), ("read", "a")]
    >>> list(Monitor("G (close(f) -> G !read(f))")(log))
    [UNKNOWN, UNKNOWN, UNKNOWN, FALSE because [f='a']]
    >>> list(Monitor("G (open(f) -> F close(f))", at_end=True)(log))[-1].because[0].binding
    {'f': 'b'}
    """

    formula: Any = field(converter=followed)
    predicates: Mapping[str, Any] | None = field(default=None, kw_only=True)
    kind: Any = field(default=None, kw_only=True)
    args: Any = field(default=None, kw_only=True)
    at_end: bool = field(default=False, kw_only=True)
    outer: tuple[Var, ...] = transient()
    body: Formula = transient()
    machine: Machine = transient()
    read: Any = transient()
    #: the letters of each event name, by their bit
    named: dict[str, list[tuple[int, Formula]]] = transient()
    tree: Tree = state(of=lambda self: self.start())
    counts: dict[Any, int] = state(of=lambda self: {self.start(): 1})
    failed: Any = state(None)

    def __attrs_post_init__(self) -> None:
        self.outer, self.body = outer_variables(self.formula)
        arities("Monitor", self.formula, declared("Monitor", self.predicates))
        self.read = reader("Monitor", self.predicates, self.kind, self.args)
        self.machine = machine(self.body, self.at_end)
        self.named = {}
        for k, leaf in enumerate(self.machine.letters):
            assert isinstance(leaf, fm.Atom | fm.Predicate)
            self.named.setdefault(leaf.name, []).append((1 << k, leaf))

    def start(self) -> Any:
        """Return the state of all bindings before the first event."""
        return machine(outer_variables(self.formula)[1], self.at_end).start()

    def step(self, event: Any) -> None:
        """Move the touched bindings on and emit the verdict."""
        if self.failed is None:
            self.advance(event if self.read is None else self.read(event))
        self.emit(Verdict.UNKNOWN if self.failed is None else self.failed)

    def advance(self, e: Any) -> None:
        """Move on by one event."""
        quiet, letters = self.letters(e)
        still = all(s.step(quiet) is s for s in self.counts)
        step = Step(self.counts, quiet if still else None)
        self.tree = step.move(self.tree, letters)
        if not isinstance(self.tree, list) and self.tree.verdict is False:
            step.bad[:] = [()]
        if step.bad:
            self.failed = Verdict("FALSE", tuple(map(self.witness, step.bad)))
        elif not isinstance(self.tree, list) and self.tree.verdict is True:
            self.failed = Verdict.TRUE

    def witness(self, path: Path) -> Witness:
        """Return a binding by the names of its variables."""
        return Witness({self.outer[level].name: value for level, value in path})

    def letters(self, e: Any) -> tuple[int, Any]:
        """Return the event's letters for bindings it does not match, and the tree of its letters."""
        quiet = 0
        found: list[tuple[int, dict[int, Any]]] = []
        for bit, leaf in self.named.get(e[0], ()):
            binding = self.match(leaf, e)
            if binding:
                found.append((bit, binding))
            elif binding is not None:
                quiet |= bit
        if not found:
            return quiet, quiet
        if len(found) == 1 and len(found[0][1]) == 1:
            bit, binding = found[0]
            ((level, value),) = binding.items()
            return quiet, Fork(level, {value: bit | quiet}, quiet)
        tree: Any = quiet
        for bit, binding in found:
            tree = apply(lambda a, b, bit=bit: a | (bit if b else 0), tree, point(binding))
        return quiet, tree

    def match(self, leaf: Formula, e: Any) -> dict[int, Any] | None:
        """Return the values that make a predicate true for an event, None if there are none."""
        binding: dict[int, Any] = {}
        if isinstance(leaf, fm.Atom):
            return binding
        assert isinstance(leaf, fm.Predicate)
        if len(e) != len(leaf.args) + 1:
            wrong_arity(e, len(leaf.args))
        for arg, value in zip(leaf.args, e[1:], strict=True):
            if isinstance(arg, Const):
                if arg.value != value:
                    return None
            elif binding.setdefault(self.outer.index(arg), value) != value:
                return None
        return binding

    def __reduce__(self) -> Any:
        return rebuilt, (type(self), configuration(self))

    def growth(self) -> Growth:
        """Return how the tree grows."""
        return Growth(
            "a state for each combination of values that are not decided", "slices by a value with ttl="
        )

    def end(self) -> None:
        """Emit the verdict of the finite trace."""
        if not self.at_end:
            return
        if self.failed is None:
            bad = [self.witness(path) for path, s in leaves(self.tree) if not s.final]
            self.emit(Verdict("FALSE", tuple(bad)) if bad else Verdict.TRUE)
        else:
            self.emit(self.failed)
