"""The states of a deterministic automaton at every position of a batch, by NumPy.

Going from state to state is one step after the other, but most automata that monitors and protocols are made
of forget: an event leads every state to the same one, or leaves every state alone, or ends it all (a state
that is never left). Then the state after an event is told by the last event that changed anything, and a
batch costs a few passes. Other automata are followed from all their states at once, in many stretches of the
batch side by side (the maps of stretches compose: Ladner and Fischer, "Parallel prefix computation", Journal
of the ACM, 1980).
"""

from __future__ import annotations

import numpy as np
from attrs import define, field

from .column import Array

#: following more states than this from everywhere at once costs more than one step after the other
MANY = 12


@define(eq=False)
class Automaton:
    """A complete table: ``table[s, v]`` is the state after symbol v in state s.

    >>> flip = Automaton(np.array([[0, 1], [1, 0]]))
    >>> flip.states(0, np.array([1, 0, 1, 1])).tolist()
    [1, 1, 0, 1]
    """

    table: Array
    #: for each symbol: where it leads states that go on (-1: nowhere else), or None if that differs
    _resets: Array | None = field(init=False)
    _final: Array = field(init=False)

    def __attrs_post_init__(self) -> None:
        states = np.arange(len(self.table))
        self._final = (self.table == states[:, None]).all(axis=1)
        self._resets = self._forgetful()

    def _forgetful(self) -> Array | None:
        resets = np.full(self.table.shape[1], -1)
        for v, column in enumerate(self.table.T):
            going = ~self._final & ~self._final[column]
            sources, targets = going.nonzero()[0], column[going]
            if (sources == targets).all():
                continue
            if len(set(targets.tolist())) > 1:
                return None
            resets[v] = targets[0]
        return resets

    def states(self, start: int, symbols: Array) -> Array:
        """Return the state after each symbol."""
        if not len(symbols):
            return np.zeros(0, np.intp)
        if self._final[start]:
            return np.full(len(symbols), start)
        if self._resets is not None:
            return self._by_last_change(start, symbols)
        if len(self.table) <= MANY and len(symbols) >= 256:
            return self._side_by_side(start, symbols)
        return self._one_by_one(start, symbols)

    def _by_last_change(self, start: int, symbols: Array) -> Array:
        assert self._resets is not None
        targets = self._resets.take(symbols)
        places = (targets >= 0).nonzero()[0]
        counts = np.diff(places, prepend=0, append=len(symbols))
        found = np.repeat(np.concatenate([[start], targets.take(places)]), counts)
        if not self._final.any():
            return found
        before = np.concatenate([[start], found[:-1]])
        after = self.table.ravel().take(before * self.table.shape[1] + symbols)
        ended = self._final.take(after)
        first = int(ended.argmax())
        if ended[first]:
            found[first:] = after[first]
        return found

    def _one_by_one(self, start: int, symbols: Array) -> Array:
        rows, found, state = self.table.tolist(), [], start
        for v in symbols.tolist():
            state = rows[state][v]
            found.append(state)
        return np.array(found, np.intp)

    def _side_by_side(self, start: int, symbols: Array) -> Array:
        """Return the states by following all states through stretches of the batch, side by side."""
        size, (count, width) = len(symbols), self.table.shape
        length = max(8, int(np.sqrt(size) / 4))
        stretches = -(-size // length)
        padded = np.zeros(stretches * length, np.intp)
        padded[:size] = symbols
        columns = padded.reshape(stretches, length).T.copy()
        flat, current = self.table.ravel(), np.repeat(np.arange(count), stretches).reshape(count, stretches)
        passed = np.empty((length, count, stretches), np.intp)
        for k in range(length):
            current = flat.take(current * width + columns[k])
            passed[k] = current
        ends, begins, state = current.T.tolist(), [], start
        for k in range(stretches):
            begins.append(state)
            state = ends[k][state]
        found = passed[:, begins, np.arange(stretches)]
        return found.T.ravel()[:size]
