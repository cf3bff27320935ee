"""The keys of slices: each has a number, by which arrays hold what is known of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from attrs import define, field

from millstream.processors import Mutable

from ..column import Array, Column, of_arrow
from .texts import Texts

#: how far apart int keys may be for a table of their numbers
WIDEST = 1 << 21


@define
class Store(Mutable):
    """The keys known so far, each with a number, and the fold of each."""

    numbers: dict[Any, int] = field(factory=dict)
    values: Array = field(factory=lambda: np.zeros(0, np.int64))
    #: the numbers of keys that are ints not far apart, from the key `base` on; -1 where there is none
    table: Array = field(factory=lambda: np.zeros(0, np.int32))
    base: int = 0
    #: the numbers of keys that are short texts
    texts: Texts = field(factory=Texts)
    #: room for the compiled loop, -1 between batches
    scratch: Array = field(factory=lambda: np.zeros(0, np.int32))

    def __copy__(self) -> Store:
        copies = self.values.copy(), self.table.copy()
        return Store(dict(self.numbers), *copies, self.base, self.texts.copy(), self.scratch.copy())

    def commit(self, known: int, places: Array | None, changed: Array | None) -> None:
        """Forget the keys of a batch that was given up, and enter what the last batch has changed."""
        while len(self.numbers) > known:
            key, _ = self.numbers.popitem()
            if len(self.table):
                self.table[key - self.base] = -1
        if changed is None or places is None:
            return
        if len(self.values) < known or self.values.dtype != changed.dtype:
            room = np.zeros(max(known, 2 * len(self.values)), changed.dtype)
            room[: len(self.values)] = self.values
            self.values = room
        self.values[places] = changed


def numbered(keys: Column, store: Store) -> tuple[Array, int]:
    """Return the number of each row's key, and how many are known; new keys are added in order."""
    if not len(keys):
        return np.zeros(0, np.int32), len(store.numbers)
    if keys.kind == "i" and _tabulated(store, *keys.bounds):
        return _by_table(keys.data, store), len(store.numbers)
    array = keys.arrow()
    if keys.kind == "s" and pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if keys.kind == "s":
        found = store.texts.find(array, store.numbers)
        if found is not None:
            return _completed(found, array, store.numbers), len(store.numbers)
    encoded = array.dictionary_encode()
    texts = of_arrow(encoded.dictionary).pylist()
    numbers = store.numbers
    known = [numbers.setdefault(key, len(numbers)) for key in texts]
    return np.array(known, np.int32).take(encoded.indices.to_numpy()), len(numbers)


def _completed(found: Array, texts: pa.Array, numbers: dict[Any, int]) -> Array:
    """Return the numbers of texts, with new ones where there were none."""
    new = (found < 0).nonzero()[0]
    if len(new):
        keys = texts.take(pa.array(new)).to_pylist()
        found[new] = [numbers.setdefault(key, len(numbers)) for key in keys]
    return found


def _tabulated(store: Store, low: int, high: int) -> bool:
    """Return whether the table has room for keys from `low` to `high`, making it if it may."""
    if len(store.table):
        low, high = min(low, store.base), max(high, store.base + len(store.table) - 1)
        if store.base == low and len(store.table) == high - low + 1:
            return True
    elif not all(type(key) is int for key in store.numbers):
        return False
    elif store.numbers:
        low, high = min(low, *store.numbers), max(high, *store.numbers)
    if high - low >= WIDEST or not -(2**62) < low <= high < 2**62:
        store.table = store.table[:0]
        return False
    high = min(high + (high - low) // 2, low + WIDEST - 1)  # room for keys that are still to come
    store.table, store.base = np.full(high - low + 1, -1, np.int32), low
    for key, number in store.numbers.items():
        store.table[key - low] = number
    return True


def _by_table(keys: Array, store: Store) -> Array:
    places = keys - store.base
    found = store.table.take(places)
    new = (found < 0).nonzero()[0]
    if len(new):
        unknown, firsts = np.unique(keys.take(new), return_index=True)
        for key in unknown.take(firsts.argsort()).tolist():
            store.table[key - store.base] = store.numbers[key] = len(store.numbers)
        found = store.table.take(places)
    return found
