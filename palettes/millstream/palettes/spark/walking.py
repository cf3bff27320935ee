"""Finite automata over arrays of letters: what a stretch does to every state, and the states on the way.

A stretch is cut into blocks that are walked side by side, one NumPy operation for the k-th letter of all
blocks and all states; the maps of the blocks are then put together in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

Array = Any  # numpy.typing would be needed for more


@frozen(eq=False)
class Walker:
    """An automaton as an array: ``table[s][v]`` is the state after letter v in state s."""

    table: Sequence[Sequence[int]]
    _flat: Array = field(init=False)
    _width: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        states = np.arange(len(self.table))[:, None]
        #: one more letter, which changes nothing, to fill up the last block
        whole = np.hstack([np.array(self.table).reshape(len(self.table), -1), states])
        object.__setattr__(self, "_flat", whole.ravel())
        object.__setattr__(self, "_width", whole.shape[1])

    def summary(self, letters: Array) -> tuple[int, ...]:
        """Return for each state the one after these letters.

        >>> Walker([[0, 1], [1, 1]]).summary(np.array([0, 1, 0]))
        (1, 1)
        """
        now = np.arange(len(self.table))
        blocks = self._blocks(letters)
        current = np.tile(now, (len(blocks), 1))
        for column in blocks.T:
            current = self._flat[current * self._width + column[:, None]]
        for step in current:
            now = step[now]
        return tuple(now.tolist())

    def states(self, letters: Array, before: int) -> Array:
        """Return the state after each letter.

        >>> Walker([[0, 1], [1, 1]]).states(np.array([0, 1, 0]), 0).tolist()
        [0, 1, 1]
        """
        blocks = self._blocks(letters)
        count, length = blocks.shape
        current = np.tile(np.arange(len(self.table)), (count, 1))
        seen = np.empty((length, count, len(self.table)), dtype=np.int32)
        for k, column in enumerate(blocks.T):
            seen[k] = current = self._flat[current * self._width + column[:, None]]
        entries = np.empty(count, dtype=np.int64)
        for b in range(count):
            entries[b] = before
            before = int(current[b, before])
        return seen[:, np.arange(count), entries].T.ravel()[: len(letters)]

    def _blocks(self, letters: Array) -> Array:
        """Return the letters as rows, the last one filled up with the letter that changes nothing."""
        length = max(1, int(len(letters) ** 0.5))
        count = -(-len(letters) // length)
        filled = np.full(count * length, self._width - 1, dtype=np.int64)
        filled[: len(letters)] = letters
        return filled.reshape(count, length)
