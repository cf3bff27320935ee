"""The states of a deterministic automaton at every position of a batch, by NumPy.

Going from state to state is one step after the other, but most automata that monitors and protocols are made
of forget: an event leads every state to the same one (a reset), or leaves every state alone, or ends it all
(a state that is never left), or turns the states in the one way that all events of a third kind do. The last
reset, and the number of turns since, then tell the state, and a batch costs a few passes. Other automata are
followed from all their states at once, in many stretches of the batch side by side (the maps of stretches
compose: Ladner and Fischer, "Parallel prefix computation", Journal of the ACM, 1980).
"""

from __future__ import annotations

import numpy as np
from attrs import define, field

from .column import Array
from .loops import loops

#: following more states than this from everywhere at once costs more than one step after the other
MANY = 12
#: tables of so many entries stay in the cache
PACKED = 1 << 15


@define(eq=False)
class Automaton:
    """A complete table: ``table[s, v]`` is the state after symbol v in state s.

    >>> flip = Automaton(np.array([[0, 1], [1, 0]]))
    >>> flip.states(0, np.array([1, 0, 1, 1])).tolist()
    [1, 1, 0, 1]
    """

    table: Array
    #: the table in bytes, with rows of 2 to the `shift`, if it is small enough for the compiled loop
    packed: Array | None = field(init=False, default=None)
    shift: int = field(init=False, default=0)
    #: for each symbol where it leads all states that go on (-1: it is no reset), and whether it is a turn;
    #: None if there are turns of several kinds
    _resets: Array | None = field(init=False)
    _turns: Array = field(init=False)
    #: where states are after 0, 1, 2... turns, and from which number on that repeats itself
    _powers: Array = field(init=False)
    _repeats: int = field(init=False, default=0)
    #: whether every symbol is a reset or a turn, and a second turn in a row changes nothing
    _always: bool = field(init=False, default=False)
    #: states that are never left, and states that are not entered again, such as the first one
    _final: Array = field(init=False)
    _passing: Array = field(init=False)

    def __attrs_post_init__(self) -> None:
        count, width = self.table.shape
        self.shift = max(0, (width - 1).bit_length())
        if count << self.shift <= PACKED and count <= 256 >= width:
            packed = np.zeros((count, 1 << self.shift), np.uint8)
            packed[:, :width] = self.table
            self.packed = packed.ravel()
        states = np.arange(len(self.table))
        self._final = (self.table == states[:, None]).all(axis=1)
        self._passing = np.zeros(len(states), bool)
        while True:
            entered = np.isin(states, self.table[~self._passing])
            if (self._passing == ~entered).all():
                break
            self._passing = ~entered
        self._resets = self._forgetful()

    def _forgetful(self) -> Array | None:
        same = np.arange(len(self.table))
        resets, turn = np.full(self.table.shape[1], -1), same
        self._turns = np.zeros(len(resets), bool)
        for v, column in enumerate(self.table.T):
            going = ~self._final & ~self._passing & ~self._final[column]
            moved = np.where(going, column, same)
            if (moved == same).all():
                continue
            if len(set(moved[going].tolist())) == 1:
                resets[v] = moved[going][0]
                continue
            if self._turns.any() and (moved != turn).any():
                return None
            turn, self._turns[v] = moved, True
        self._raise(turn, resets)
        return resets

    def _raise(self, turn: Array, resets: Array) -> None:
        """Note the powers of the turn, until they repeat themselves."""
        powers = [np.arange(len(turn))]
        while True:
            following = turn.take(powers[-1])
            again = next((k for k, p in enumerate(powers) if (p == following).all()), None)
            if again is not None:
                break
            powers.append(following)
        self._powers, self._repeats = np.array(powers), again
        self._always = bool(((resets >= 0) | self._turns).all()) and len(powers) == 2 and again == 1

    def outputs(self, start: int, symbols: Array, says: Array) -> tuple[Array, int]:
        """Return what the state after each symbol says, by a table of bytes, and the last state."""
        compiled = loops(len(symbols)) if self.packed is not None else None
        if compiled is not None:
            found, symbols = np.empty(len(symbols), np.uint8), np.ascontiguousarray(symbols, np.uint8)
            return found, compiled.follow(self.packed, self.shift, start, symbols, says, found)
        states = self.states(start, symbols)
        return says.take(states), int(states[-1]) if len(states) else start

    def states(self, start: int, symbols: Array) -> Array:
        """Return the state after each symbol."""
        if not len(symbols):
            return np.zeros(0, np.intp)
        if self._final[start]:
            return np.full(len(symbols), start)
        if self._passing[start]:
            after = int(self.table[start, symbols[0]])
            return np.concatenate([[after], self.states(after, symbols[1:])])
        if self._resets is not None:
            return self._by_last_change(start, symbols)
        if len(self.table) <= MANY and len(symbols) >= 256:
            return self._side_by_side(start, symbols)
        return self._one_by_one(start, symbols)

    def _by_last_change(self, start: int, symbols: Array) -> Array:
        assert self._resets is not None
        found: Array
        targets = self._resets.take(symbols)
        changed = targets >= 0
        places = changed.nonzero()[0]
        last = np.concatenate([[start], targets.take(places)])
        since = changed.cumsum(dtype=np.int32)  # how many resets there have been: which one was the last
        if self._always:
            found = self._powers[-1].take(last).take(since)
            found[places] = last[1:]
        else:
            found = last.take(since)
            if self._turns.any():
                found = self._turned(found, symbols, places, since)
        if not self._final.any():
            return found
        before = np.concatenate([[start], found[:-1]])
        after = self.table.ravel().take(before * self.table.shape[1] + symbols)
        ended = self._final.take(after)
        first = int(ended.argmax())
        if ended[first]:
            found[first:] = after[first]
        return found

    def _turned(self, found: Array, symbols: Array, places: Array, since: Array) -> Array:
        """Return the states after the turns that have come since the last reset."""
        turns = self._turns.take(symbols).cumsum()
        turns -= np.concatenate([[0], turns.take(places)]).take(since)
        length, first = len(self._powers), self._repeats
        if length - first == 1:
            turns = np.minimum(turns, length - 1)
        else:
            turns = np.where(turns < length, turns, first + (turns - first) % (length - first))
        result: Array = self._powers.ravel().take(turns * self._powers.shape[1] + found)
        return result

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
