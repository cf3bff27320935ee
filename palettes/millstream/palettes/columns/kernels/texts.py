"""Short texts and their numbers in a hash table of NumPy: a batch is looked up by a few operations.

A text is taken as its length and ints of eight bytes (`words`). Its hash is the place at which its number is
kept, or one of the places behind it, if others were there first (linear probing). What is not found, and
texts that are too long, are looked up by Python.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import define, field

from ..column import Array
from ..words import words_of

#: odd numbers without a pattern, one for each word and one for the length
FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F],
    np.uint64,
)


def hashes(words: list[Array]) -> Array:
    """Return a hash of each text; words that are not there count as zeros."""
    found = words[0] * FACTORS[0]
    for word, factor in zip(words[1:], FACTORS[1:], strict=False):
        found += (word ^ (word >> np.uint64(29))) * factor
    result: Array = (found ^ (found >> np.uint64(32))) * FACTORS[0]
    return result


@define
class Texts:
    """The numbers of texts; the dict of all keys is kept elsewhere, and given to `find`."""

    #: how many keys of the dict are in here; -1 if they cannot be
    known: int = 0
    #: the words of the texts by number, and the numbers by hash, -1 where there is none
    words: list[Array] = field(factory=list)
    slots: Array = field(factory=lambda: np.full(1 << 10, -1, np.int32))

    def copy(self) -> Texts:
        """Return a copy that shares nothing."""
        return Texts(self.known, [w.copy() for w in self.words], self.slots.copy())

    def find(self, texts: pa.Array, numbers: dict[Any, int]) -> Array | None:
        """Return the number of each text, -1 where it is new; None if there are texts that are too long."""
        if self.known > len(numbers):
            self.known, self.slots = 0, np.full(1 << 10, -1, np.int32)
        if 0 <= self.known < len(numbers):
            self._learn(list(islice(numbers, self.known, None)))
        words = words_of(texts) if self.known >= 0 else None
        return None if words is None else self._look_up(words)

    def _places(self, words: list[Array]) -> Array:
        bits = np.uint64(65 - len(self.slots).bit_length())
        return (hashes(words) >> bits).astype(np.intp)

    def _look_up(self, words: list[Array]) -> Array:
        places = self._places(words)
        found = self.slots.take(places)
        wrong = self._differ(words, found)
        places = places.take(wrong)
        while len(wrong):  # another text is there: look behind it
            places = places + 1 & len(self.slots) - 1
            found[wrong] = now = self.slots.take(places)
            still = self._differ([w.take(wrong) for w in words], now)
            wrong, places = wrong.take(still), places.take(still)
        return found

    def _differ(self, words: list[Array], numbers: Array) -> Array:
        """Return where a number is that of another text."""
        wrong = np.zeros(len(numbers), bool)
        for mine, theirs in zip(self.words, words, strict=False):
            wrong |= mine.take(numbers) != theirs
        return (wrong & (numbers >= 0)).nonzero()[0]

    def _learn(self, keys: list[Any]) -> None:
        """Take in new keys, or give up if one is no short text."""
        texts = pa.array(keys, pa.string()) if all(type(key) is str for key in keys) else None
        words = None if texts is None else words_of(texts)
        if words is None:
            self.known, self.words, self.slots = -1, [], self.slots[:0]
            return
        first, self.known = self.known, self.known + len(keys)
        self._keep(words, first)
        if self.known * 4 > len(self.slots):
            self.slots = np.full(1 << (self.known * 8).bit_length(), -1, np.int32)
            words, first = [w[: self.known] for w in self.words], 0
        self._enter(words, np.arange(first, self.known, dtype=np.int32))

    def _keep(self, words: list[Array], first: int) -> None:
        for k in range(max(len(words), len(self.words))):
            if k == len(self.words):
                self.words.append(np.zeros(first, np.uint64))
            if len(self.words[k]) < self.known:
                room = np.zeros(2 * self.known, np.uint64)
                room[:first] = self.words[k][:first]
                self.words[k] = room
            self.words[k][first : self.known] = words[k] if k < len(words) else 0

    def _enter(self, words: list[Array], numbers: Array) -> None:
        places = self._places(words)
        while len(numbers):  # of those that want the same free place one gets it
            free = self.slots.take(places) < 0
            self.slots[places[free]] = numbers[free]
            left = (self.slots.take(places) != numbers).nonzero()[0]
            numbers, places = numbers.take(left), places.take(left) + 1 & len(self.slots) - 1
