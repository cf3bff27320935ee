"""Methods 1 and 2 of the paper: readiness tables in a binary tree (Sections IV.B and IV.C).

Both keep two invariants which make them correct. A node arrived before its descendants, so the root is the
oldest arrival and a timed-out event always lies on the right spine. A node's readiness holds for everything
to its left, so a ready node takes its whole left subtree along.
"""

from __future__ import annotations

from typing import Self

from attrs import define, field

from .arena import Arena, Entry
from .streams import StreamTable


@define
class TreeMethod:
    """What both methods share: extraction along the right spine (Algorithms 2 and 3)."""

    streams: StreamTable
    tree: Arena = field(factory=Arena)

    def __len__(self) -> int:
        """Return the number of events that wait."""
        return len(self.tree)

    def copy(self, streams: StreamTable) -> Self:
        """Return an independent copy over another table of streams."""
        return type(self)(streams, self.tree.copy())

    @property
    def visited(self) -> int:
        """Nodes looked at while inserting, so far."""
        return self.tree.visited

    def settle(self) -> list[Entry]:
        """Release ready events after the set of awaited streams has changed."""
        tree, active = self.tree, self.streams.active
        out: list[Entry] = []
        while tree.root and tree.is_ready(tree.root, active):
            tree.root = tree.detach(tree.root, out)
        return out

    def release(self, limit: float) -> list[Entry]:
        """Release the events up to the time of a spine node, ready or not (`IsSyncTimedOut`)."""
        tree = self.tree
        out: list[Entry] = []
        while tree.root and tree.entry[tree.root][0] <= limit:
            tree.root = tree.detach(tree.root, out)
        return out

    def flush(self) -> list[Entry]:
        """Release everything."""
        return self.tree.flush()

    def joined(self, number: int) -> None:
        """Nothing to do for a new stream: nodes carry the size of their own readiness tables."""

    def left(self, number: int) -> None:
        """Nothing to do for a stream that goes: its bit is masked."""

    def enabled(self, number: int) -> None:
        """Nothing to do for a stream that is awaited again: its bits were kept."""

    def reuse(self, number: int) -> bool:
        """Erase a removed stream from the readiness tables: its bit is given to another."""
        self.tree.forget(number)
        return True


@define
class AddThenProcess(TreeMethod):
    """Method 1: insert (Algorithm 1), then process the tree (Algorithm 2).

    An event that is ready stays until the root above it is ready, too.
    """

    def add(self, entry: Entry) -> list[Entry]:
        """Insert an entry and return what can be released."""
        tree = self.tree
        node = tree.node(entry, len(self.streams.names))
        if not tree.root:
            tree.root = node
        else:
            self._insert(node, entry[0], 1 << entry[2])
        return self.settle()

    def _insert(self, node: int, time: float, bit: int) -> None:
        tree = self.tree
        entries, table, left, right = tree.entry, tree.table, tree.left, tree.right
        here, visited = tree.root, 0
        while True:
            visited += 1
            if time < entries[here][0]:
                below = left
            else:
                table[here] |= bit
                below = right
            if not below[here]:
                below[here] = node
                break
            here = below[here]
        tree.visited += visited


@define
class AddAndProcess(TreeMethod):
    """Method 2: insertion and processing joined, with a readiness mask (Algorithm 4).

    Going left, the mask collects the readiness tables that the nodes below inherit; going right at a node
    which is not ready, checking stops, because nothing to its right can be ready.
    """

    def add(self, entry: Entry) -> list[Entry]:
        """Insert an entry and return what was released on the way."""
        tree, active = self.tree, self.streams.active
        node = tree.node(entry, len(self.streams.names))
        out: list[Entry] = []
        above, side, mask, check = self._walk(node, entry[0], 1 << entry[2], active, out)
        if check and tree.is_ready(node, active, mask):
            self._link(above, side, tree.detach(node, out))
        return out

    def _walk(
        self, node: int, time: float, bit: int, active: int, out: list[Entry]
    ) -> tuple[int, list[int], int, bool]:
        """Walk to the node's place and put it there; return its parent, its side, the mask and `canCheck`."""
        tree = self.tree
        entries, table, left, right = tree.entry, tree.table, tree.left, tree.right
        here, above, side, mask, check = tree.root, 0, left, 0, True
        while here:
            tree.visited += 1
            if time < entries[here][0]:
                if check:
                    mask |= table[here]
                above, side, here = here, left, left[here]
                continue
            table[here] |= bit
            if check and tree.is_ready(here, active, mask):
                here = tree.detach(here, out)
                self._link(above, side, here)
                continue
            check = False
            above, side, here = here, right, right[here]
        self._link(above, side, node)
        return above, side, mask, check

    def _link(self, above: int, side: list[int], node: int) -> None:
        if above:
            side[above] = node
        else:
            self.tree.root = node
