"""Monitors as explicit automata: complete, minimal, drawable, and composable piece by piece.

A trace cut into pieces can be read by many workers: each piece becomes a `Summary`, the map from the state
before it to the state after it. Summaries compose associatively, so they can be folded in any grouping.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from attrs import field, frozen

from millstream.processors import ParameterError

from .base import Formula
from .machine import Machine, State
from .verdict import Verdict

LARGEST: Final = 100_000


@frozen
class Summary:
    """What a piece of a trace does: ``to[s]`` is the state after it if ``s`` is the state before.

    >>> Summary((1, 1, 2)).then(Summary((0, 2, 2)))
    Summary(to=(2, 2, 2))
    """

    to: tuple[int, ...]

    def then(self, other: Summary) -> Summary:
        """Return the summary of this piece followed by another one."""
        return Summary(tuple(other.to[s] for s in self.to))


@frozen
class Automaton:
    """A complete deterministic automaton; state 0 is the initial one.

    ``table[s][v]`` is the state after an event whose valuation is ``v``: bit k says whether ``letters[k]``
    holds.
    """

    letters: tuple[Formula, ...]
    table: tuple[tuple[int, ...], ...] = field(repr=False)
    verdicts: tuple[Verdict, ...]

    def valuation(self, *holding: Formula) -> int:
        """Return the valuation in which exactly these letters hold."""
        return sum(1 << k for k, letter in enumerate(self.letters) if letter in holding)

    def run(self, valuations: Iterable[int], state: int = 0) -> int:
        """Return the state after a sequence of valuations."""
        for v in valuations:
            state = self.table[state][v]
        return state

    def identity(self) -> Summary:
        """Return the summary of an empty piece."""
        return Summary(tuple(range(len(self.table))))

    def summary(self, valuations: Iterable[int]) -> Summary:
        """Return the summary of a piece of a trace; states that have met are followed once."""
        where = list(range(len(self.table)))
        into = list(where)  # initial state -> index of the class it has melted into
        for v in valuations:
            where = [self.table[s][v] for s in where]
            if len(set(where)) < len(where):
                classes = {s: k for k, s in enumerate(dict.fromkeys(where))}
                into = [classes[where[k]] for k in into]
                where = list(classes)
        return Summary(tuple(where[k] for k in into))

    def minimised(self) -> Automaton:
        """Return the smallest automaton that gives the same verdicts (Moore's algorithm)."""
        block = _numbered(v.name for v in self.verdicts)
        while True:
            finer = _numbered((block[s], tuple(block[t] for t in row)) for s, row in enumerate(self.table))
            if finer == block:
                break
            block = finer
        first = {b: s for s, b in reversed(list(enumerate(block)))}
        table = tuple(tuple(block[t] for t in self.table[first[b]]) for b in range(len(first)))
        return Automaton(self.letters, table, tuple(self.verdicts[first[b]] for b in range(len(first))))

    def edges(self) -> list[tuple[int, int, str]]:
        """Return ``(from, to, condition)``, parallel edges joined."""
        joined: dict[tuple[int, int], list[int]] = {}
        for s, row in enumerate(self.table):
            for v, t in enumerate(row):
                joined.setdefault((s, t), []).append(v)
        return [(s, t, self._condition(vs)) for (s, t), vs in joined.items()]

    def _condition(self, valuations: list[int]) -> str:
        if len(valuations) == 1 << len(self.letters):
            return "true"
        return _disjunction(valuations, self.letters)

    def dot(self) -> str:
        """Return the picture as Graphviz text."""
        lines = [f'  {s} [label="{v.name}"];' for s, v in enumerate(self.verdicts)]
        lines += [f"  {s} -> {t} [label={_quoted(c)}];" for s, t, c in self.edges()]
        return "\n".join(["digraph {", "  start [shape=point]; start -> 0;", *lines, "}"])

    def mermaid(self) -> str:
        """Return the picture as Mermaid text."""
        lines = [f"  s{s} : {v.name}" for s, v in enumerate(self.verdicts)]
        lines += [f"  s{s} --> s{t} : {c.replace(':', ' ')}" for s, t, c in self.edges()]
        return "\n".join(["stateDiagram-v2", "  [*] --> s0", *lines])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _disjunction(valuations: list[int], letters: tuple[Formula, ...]) -> str:
    """Return a short condition: valuations are merged into cubes where they differ in one letter only."""
    found = {(v, 0) for v in valuations}  # (value, letters that do not matter)
    primes: set[tuple[int, int]] = set()
    while found:
        merged, used = set(), set()
        for v, free in found:
            for k in range(len(letters)):
                other = v ^ 1 << k, free
                if not free >> k & 1 and other in found:
                    merged.add((v & ~(1 << k), free | 1 << k))
                    used |= {(v, free), other}
        primes |= found - used
        found = merged
    chosen = _cover(primes, set(valuations))
    texts = []
    for v, free in chosen:
        parts = [f"{'' if v >> k & 1 else '!'}{x!r}" for k, x in enumerate(letters) if not free >> k & 1]
        texts.append(" & ".join(parts))
    return " | ".join(texts)


def _cover(primes: set[tuple[int, int]], left: set[int]) -> list[tuple[int, int]]:
    """Choose cubes greedily until all valuations are covered."""
    chosen = []
    order = sorted(primes, key=lambda p: (-p[1].bit_count(), p))
    for v, free in order:
        mine = {w for w in left if w & ~free == v}
        if mine:
            chosen.append((v, free))
            left = left - mine
    return chosen


def _numbered(keys: Iterable[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def automaton_of(machine: Machine, verdict: str) -> Automaton:
    """Return the minimal automaton of a machine, exploring all its states."""
    if len(machine.letters) > 10:
        raise ParameterError(
            f"automaton: at most 10 atoms can be tabulated, the formula has {len(machine.letters)}"
        )
    width = 1 << len(machine.letters)
    numbers: dict[State, int] = {machine.start(): 0}
    queue, table = deque(numbers), []  # type: deque[State], list[tuple[int, ...]]
    while queue:
        row = []
        state = queue.popleft()
        for v in range(width):
            following = state.step(v)
            if following not in numbers:
                numbers[following] = len(numbers)
                queue.append(following)
            row.append(numbers[following])
        table.append(tuple(row))
        if len(numbers) > LARGEST:
            raise ParameterError(f"automaton: more than {LARGEST} states")
    verdicts = [getattr(s, verdict) for s in numbers]
    # the first state's own verdict is never given: let it equal a state that goes on alike
    verdicts[0] = next(
        (v for v, row in zip(verdicts[1:], table[1:], strict=True) if row == table[0]), verdicts[0]
    )
    return Automaton(machine.letters, tuple(table), tuple(verdicts)).minimised()
