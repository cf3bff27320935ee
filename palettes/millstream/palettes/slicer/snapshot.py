"""Snapshot: an immutable mapping of which a changed copy costs little.

A trie over the bits of the keys' hashes (Bagwell, "Ideal hash trees", EPFL, 2001), in the shape that suits
Python: inner nodes are lists of 32 children, leaves are small dicts. A changed copy shares everything but the
path to one leaf, and that path is copied by `list.copy` and `dict.copy`, in C. With 10,000 keys this is three
copies of some 10 to 32 entries, where a copy of the whole dict would be one of 10,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

BITS, MASK = 5, 31
#: a leaf with more entries becomes an inner node, unless the hash has no more bits
LEAF, DEPTH = 16, 12
Node = Any  # a list of nodes, or a dict


class Snapshot(Mapping[Any, Any]):
    """An immutable mapping; `set` and `without` return changed copies.

    >>> one = Snapshot({"a": 1})
    >>> two = one.set("b", 2)
    >>> one, two == {"a": 1, "b": 2}, two.without("a")
    (Snapshot({'a': 1}), True, Snapshot({'b': 2}))
    """

    __slots__ = ("_root", "_size")
    _root: Node
    _size: int

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        given = dict(items)
        self._root, self._size = _split(given, 0), len(given)

    def set(self, key: Any, value: Any) -> Snapshot:
        """Return a copy in which the key has the value."""
        bits, path, node = hash(key), [], self._root
        while node.__class__ is list:
            path.append(node)
            node = node[bits & MASK]
            bits >>= BITS
        leaf = node.copy()
        leaf[key] = value
        grown = len(leaf) - len(node)
        if grown and len(leaf) > LEAF:
            leaf = _split(leaf, len(path))
        made = _new(Snapshot)
        made._root, made._size = _above(path, hash(key), leaf), self._size + grown
        return made

    def without(self, key: Any) -> Snapshot:
        """Return a copy that does not have the key, or itself if there is no such key."""
        bits, path, node = hash(key), [], self._root
        while node.__class__ is list:
            path.append(node)
            node = node[bits & MASK]
            bits >>= BITS
        if key not in node:
            return self
        leaf = node.copy()
        del leaf[key]
        made = _new(Snapshot)
        made._root, made._size = _above(path, hash(key), leaf), self._size - 1
        return made

    def __getitem__(self, key: Any) -> Any:
        bits, node = hash(key), self._root
        while node.__class__ is list:
            node = node[bits & MASK]
            bits >>= BITS
        return node[key]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        nodes = [self._root]
        while nodes:
            node = nodes.pop()
            if node.__class__ is list:
                nodes.extend(reversed(node))
            else:
                yield from node

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Snapshot({dict(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Snapshot, (dict(self),)  # the hash of a text differs from process to process


_new = object.__new__


def _above(path: list[Node], bits: int, node: Node) -> Node:
    """Return copies of the inner nodes on the path to a node, the last of which has it as a child."""
    while path:
        above = path.pop().copy()
        above[bits >> BITS * len(path) & MASK] = node
        node = above
    return node


def _split(leaf: dict[Any, Any], depth: int) -> Node:
    """Return a dict as a leaf, or as an inner node if it has too many entries."""
    if len(leaf) <= LEAF or depth >= DEPTH:
        return leaf
    parts: list[dict[Any, Any]] = [{} for _ in range(MASK + 1)]
    for key, value in leaf.items():
        parts[hash(key) >> BITS * depth & MASK][key] = value
    return [_split(part, depth + 1) for part in parts]
