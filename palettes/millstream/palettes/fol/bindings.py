"""One automaton state for each binding, in a tree with a branch for any other value.

A fork is ``[level, cases, other]``: the variable it asks for, a branch for each value that has one of its
own, and the branch of all other values; a leaf is a state. Trees are changed in place. Where an event says
nothing about a branch and no state that occurs would move, the branch is not touched; for that, `counts`
tells how often each state occurs. A leaf that comes to equal that of the other values is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define, field

from .tries import Fork

Tree = Any
Path = tuple[tuple[int, Any], ...]


@define
class Step:
    """One event moving a tree on."""

    counts: dict[Any, int]
    #: the letters under which no state moves; None if some would
    still: int | None
    #: bindings whose state has become a violation
    bad: list[Path] = field(factory=list)

    def move(self, tree: Tree, letters: Any, path: Path = ()) -> Tree:
        """Return the tree after the event."""
        if letters == self.still:
            return tree
        mine = tree[0] if isinstance(tree, list) else None
        theirs = letters.level if isinstance(letters, Fork) else None
        level = min((t for t in (mine, theirs) if t is not None), default=None)
        if level is None:
            return self.leaf(tree, letters, path)
        if mine != level:
            tree = [level, {}, tree]
        cases, rest = (letters.cases, letters.other) if theirs == level else ({}, letters)
        touched = list(cases) if rest == self.still else list(dict.fromkeys((*tree[1], *cases)))
        branches = tree[1]
        for value in touched:
            before = branches[value] if value in branches else self.copy(tree[2])
            branches[value] = self.move(before, cases.get(value, rest), (*path, (level, value)))
        tree[2] = self.move(tree[2], rest, path)
        self.drop(tree, touched)
        return tree if branches else tree[2]

    def drop(self, tree: Tree, touched: list[Any]) -> None:
        """Drop branches that have become like the other values'."""
        other = tree[2]
        for value in touched:
            if tree[1][value] is other:
                del tree[1][value]
                self.count(other, -1)

    def leaf(self, leaf: Any, letters: int, path: Path) -> Any:
        """Return the next state of one binding."""
        following = leaf.step(letters)
        if following is not leaf:
            self.count(leaf, -1)
            self.count(following, 1)
            if following.verdict is False:
                self.bad.append(path)
        return following

    def copy(self, tree: Tree) -> Tree:
        """Return a copy of a branch, for a value that had none of its own."""
        if isinstance(tree, list):
            return [tree[0], {k: self.copy(v) for k, v in tree[1].items()}, self.copy(tree[2])]
        self.count(tree, 1)
        return tree

    def count(self, leaf: Any, change: int) -> None:
        """Count a state in or out."""
        n = self.counts.get(leaf, 0) + change
        if n:
            self.counts[leaf] = n
        else:
            del self.counts[leaf]


def leaves(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all bindings and their states; a variable without a value stands for any other."""
    if isinstance(tree, list):
        for value, case in tree[1].items():
            yield from leaves(case, (*path, (tree[0], value)))
        yield from leaves(tree[2], path)
    else:
        yield path, tree
