"""The nondeterministic automaton of a formula, built as far as it is looked at.

A `Spot` is what is known between two events: the remembered bits and the obligations for the next position.
Reading an event splits it into branches. A spot is *live* if some continuation fulfils its obligations: an
infinite one (it reaches a strongly connected part in which no until is postponed for ever) or, for finite
traces, one that can stop. Emptiness is decided once per spot, for all spots reachable from it together
(Tarjan's algorithm with the acceptance of generalised Büchi automata on transitions).

References: Gerth, Peled, Vardi, Wolper, *Simple on-the-fly automatic verification of linear temporal logic*,
1995; Bauer, Leucker, Schallhart, *Runtime verification for LTL and TLTL*, 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Final

from attrs import define, field, frozen

from .nnf import NO, YES, Both, Either, Lit, Mem, Next, Node, Release, Translation, Until, release, until

Spot = tuple[int, frozenset[Node]]

#: default of the work that an automaton may cost: a few seconds
BUDGET: Final = 100_000


class OvergrownError(ValueError):
    """An automaton is too large to be built."""


@frozen
class Branch:
    """A way to read an event: letters that must hold or not, where it leads, and the untils it postpones."""

    yes: int
    no: int
    to: Spot
    postponed: frozenset[Node]


@define
class _Partial:
    todo: list[Node]
    yes: frozenset[int] = frozenset()
    no: frozenset[int] = frozenset()
    later: frozenset[Node] = frozenset()
    postponed: frozenset[Node] = frozenset()

    def fork(self, *more: Node) -> _Partial:
        return _Partial([*self.todo, *more], self.yes, self.no, self.later, self.postponed)


@define
class Tableau:
    """Branches and liveness of spots, cached."""

    form: Translation
    finite: bool = False
    #: work that may be spent on splitting spots, and what has been spent
    budget: int = BUDGET
    spent: int = 0
    branches: dict[Spot, tuple[Branch, ...]] = field(factory=dict)
    alive: dict[Spot, bool] = field(factory=dict)
    #: obligations in the order in which they were met: what a spot costs must not depend on where objects lie
    rank: dict[Node, int] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for node in (*self.constraints(), Next(self.form.root, True), Next(self.form.negated, True)):
            self._rank(node)

    def origin(self, root: Node) -> Spot:
        """Return the spot before the first event, with one formula to fulfil."""
        return self.form.start, frozenset({Next(root, True), *self.constraints()})

    def constraints(self) -> Iterator[Node]:
        """Yield what hidden letters oblige to at every position."""
        for node in self.form.always:
            yield Next(release(NO, node, 0, None), False)

    @staticmethod
    def can_stop(spot: Spot) -> bool:
        """Return whether all obligations are met if the trace ends here."""
        return not any(node.parts[1] for node in spot[1])

    def expand(self, spot: Spot) -> tuple[Branch, ...]:
        """Return the branches of a spot."""
        found = self.branches.get(spot)
        if found is None:
            found = tuple(self._expand(spot))
            if not self.exhausted:
                self.branches[spot] = found
        return found

    @property
    def exhausted(self) -> bool:
        """Whether the budget is spent: nothing more is remembered, and every unknown spot counts as live."""
        return self.spent > self.budget

    def _expand(self, spot: Spot) -> Iterator[Branch]:
        memory, obligations = spot
        work = [_Partial([node.parts[0] for node in sorted(obligations, key=self._rank)])]
        most = self.spent + self.budget
        while work:
            part = work.pop()
            self.spent += 1
            if self.spent > most:
                raise OvergrownError(
                    f"one step of the automaton takes more than {self.budget} operations: "
                    "split the formula at its conjunctions into several"
                )
            if self._unfold(part, memory, work):
                yield from self._remember(part, memory)

    def _rank(self, node: Node) -> int:
        return self.rank.setdefault(node, len(self.rank))

    def _unfold(self, part: _Partial, memory: int, work: list[_Partial]) -> bool:
        """Work off what holds now; alternatives go to `work`. False if it cannot hold."""
        while part.todo:
            node = part.todo.pop()
            match node:
                case Lit():
                    letter, positive = node.parts
                    if letter in (part.no if positive else part.yes):
                        return False
                    if positive:
                        part.yes |= {letter}
                    else:
                        part.no |= {letter}
                case Mem():
                    if bool(memory >> node.parts[0] & 1) != node.parts[1]:
                        return False
                case Both():
                    part.todo += node.parts
                case Either():
                    work.append(part.fork(node.parts[0]))
                    part.todo.append(node.parts[1])
                case Next():
                    if node.parts[0] is not YES or node.parts[1]:
                        self._rank(node)
                        part.later |= {node}
                case Until():
                    self._until(part, node, work)
                case Release():
                    self._release(part, node, work)
                case _:
                    if node is NO:
                        return False
        return True

    @staticmethod
    def _until(part: _Partial, node: Node, work: list[_Partial]) -> None:
        a, b, low, high = node.parts
        if low == 0:
            work.append(part.fork(b))
        rest = until(a, b, max(low - 1, 0), None if high is None else high - 1)
        part.todo += (a, Next(rest, True))
        if high is None and low == 0:
            part.postponed |= {node}

    @staticmethod
    def _release(part: _Partial, node: Node, work: list[_Partial]) -> None:
        a, b, low, high = node.parts
        if low == 0:
            part.todo.append(b)
        work.append(part.fork(a))
        part.todo.append(Next(release(a, b, max(low - 1, 0), None if high is None else high - 1), False))

    def _remember(self, part: _Partial, memory: int) -> Iterator[Branch]:
        """Split a branch on the letters that the next memory depends on."""
        work = [(part.yes, part.no)]
        while work:
            yes, no = work.pop()
            following, open_letter = 0, None
            for k, (update, _) in enumerate(self.form.updates):
                value = evaluate(update, yes, no, memory)
                if value is None:
                    open_letter = next(x for x in letters_of(update) if x not in yes and x not in no)
                    break
                following |= value << k
            if open_letter is not None:
                work += [(yes | {open_letter}, no), (yes, no | {open_letter})]
                continue
            later = simplify(part.later)
            self.spent += 1
            yield Branch(mask(yes), mask(no), (following, later), part.postponed)

    def live(self, spot: Spot) -> bool:
        """Return whether some continuation fulfils the obligations; True if that is too much to find out."""
        if spot not in self.alive:
            if self.exhausted:
                return True
            from .emptiness import decide

            decide(self, spot)
        return self.alive[spot]

    def step(self, spots: Iterable[Spot], valuation: int) -> frozenset[Spot]:
        """Return the spots after an event, without those that oblige to more than another."""
        reached = {
            b.to for s in spots for b in self.expand(s) if b.yes & valuation == b.yes and not b.no & valuation
        }
        return weakest(reached)


def mask(letters: Iterable[int]) -> int:
    """Return the letters of the event as bits; hidden ones are left out."""
    return sum(1 << k for k in letters if k >= 0)


def weakest(spots: set[Spot]) -> frozenset[Spot]:
    """Return the spots whose obligations do not include all obligations of another one."""
    if len(spots) == 1:
        return frozenset(spots)
    return frozenset(s for s in spots if not any(t[0] == s[0] and t[1] < s[1] for t in spots))


def simplify(later: frozenset[Node]) -> frozenset[Node]:
    """Join obligations of which one implies the other: strong and weak ones, those with two deadlines."""
    if len(later) < 2:
        return later
    best: dict[object, Node] = {}
    for node in later:
        key = _family(node.parts[0])
        best[key] = _joined(node, best[key]) if key in best else node
    return frozenset(best.values())


def _family(body: Node) -> object:
    """Return what the bodies have in common that differ in their deadline only."""
    deadline = isinstance(body, Until | Release) and body.parts[2] == 0
    return (type(body), *body.parts[:2]) if deadline else body


def _joined(a: Node, b: Node) -> Node:
    """Return the obligation that means both: the stricter deadline, strong if one of them is."""
    bodies = sorted((a.parts[0], b.parts[0]), key=_deadline) if a.parts[0] is not b.parts[0] else [a.parts[0]]
    body = bodies[-1 if isinstance(bodies[0], Release) else 0]
    return Next(body, a.parts[1] or b.parts[1])


def _deadline(body: Node) -> float:
    return inf if body.parts[3] is None else body.parts[3]


def letters_of(node: Node) -> Iterator[int]:
    """Yield the letters of a formula about the present."""
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, Lit):
            yield n.parts[0]
        stack.extend(p for p in n.parts if isinstance(p, Node))


def evaluate(node: Node, yes: frozenset[int], no: frozenset[int], memory: int) -> bool | None:
    """Return the value of a formula about the present, None if the letters given do not decide it."""
    known: dict[Node, bool | None] = {}
    stack = [node]
    while stack:
        n = stack[-1]
        if isinstance(n, Both | Either):
            missing = [p for p in n.parts if p not in known]
            if missing:
                stack += missing
                continue
            values = [known[p] for p in n.parts]
            absorbing = isinstance(n, Either)
            known[n] = absorbing if absorbing in values else None if None in values else not absorbing
        elif isinstance(n, Lit):
            letter, positive = n.parts
            known[n] = positive if letter in yes else not positive if letter in no else None
        else:
            known[n] = bool(memory >> n.parts[0] & 1) == n.parts[1] if isinstance(n, Mem) else n.parts[0]
        stack.pop()
    return known[node]
