"""The binary search tree of arrived events that methods 1 and 2 share.

Nodes are numbers into parallel lists (an arena), not linked objects: nothing recurses when a degenerate tree
of thousands of nodes is copied or pickled, and freed nodes are reused. Node 0 is "no node". Each node carries
a *readiness table*: bit k says that stream k has shown an event at least as new as this one. The paper's
parent link is not needed, because insertion and extraction walk down with an explicit stack.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field

#: (time, arrival number, stream number, event)
Entry = tuple[float, int, int, Any]


@define
class Arena:
    """Tree nodes as parallel lists."""

    entry: list[Any] = field(factory=lambda: [None])
    table: list[int] = field(factory=lambda: [0])
    #: the streams that existed when the node was made: the size of its readiness table
    known: list[int] = field(factory=lambda: [0])
    left: list[int] = field(factory=lambda: [0])
    right: list[int] = field(factory=lambda: [0])
    free: list[int] = field(factory=list)
    root: int = 0
    #: nodes looked at while inserting (Figure 5)
    visited: int = 0

    def __len__(self) -> int:
        """Return the number of nodes in the tree."""
        return len(self.entry) - 1 - len(self.free)

    def copy(self) -> Arena:
        """Return an independent copy; entries are shared."""
        twin = Arena(list(self.entry), root=self.root, visited=self.visited)
        twin.table, twin.known, twin.free = list(self.table), list(self.known), list(self.free)
        twin.left, twin.right = list(self.left), list(self.right)
        return twin

    def node(self, entry: Entry, streams: int) -> int:
        """Make a node for an entry while `streams` streams exist; its own stream is ready."""
        if self.free:
            node = self.free.pop()
            self.entry[node], self.table[node], self.known[node] = entry, 1 << entry[2], (1 << streams) - 1
            self.left[node] = self.right[node] = 0
            return node
        self.entry.append(entry)
        self.table.append(1 << entry[2])
        self.known.append((1 << streams) - 1)
        self.left.append(0)
        self.right.append(0)
        return len(self.entry) - 1

    def is_ready(self, node: int, active: int, mask: int = 0) -> bool:
        """Tell whether every active stream that the node knows has its bit set, here or in the mask."""
        return not active & self.known[node] & ~(self.table[node] | mask)

    def forget(self, stream: int) -> None:
        """Clear a stream's bit everywhere, so that no node knows of it."""
        keep = ~(1 << stream)
        self.table = [bits & keep for bits in self.table]
        self.known = [bits & keep for bits in self.known]

    def detach(self, node: int, out: list[Entry]) -> int:
        """Send a node and its left subtree to `out`, in order; return its right child, its successor."""
        left, right, entry, free = self.left, self.right, self.entry, self.free
        rest = right[node]
        right[node] = 0
        stack: list[int] = []
        while node or stack:
            while node:
                stack.append(node)
                node = left[node]
            node = stack.pop()
            out.append(entry[node])
            entry[node] = None
            free.append(node)
            node = right[node]
        return rest

    def flush(self) -> list[Entry]:
        """Empty the tree, in order."""
        out: list[Entry] = []
        while self.root:
            self.root = self.detach(self.root, out)
        return out
