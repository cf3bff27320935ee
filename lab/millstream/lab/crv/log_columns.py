"""Logs straight into columns: blocks of ``name,arg1,arg2`` lines as arrays of numbers, with NumPy and Arrow.

Lines have as many arguments as their event needs, which readers of tables refuse. Here the separators of a
block are found all at once, fields are slices between them, and texts become numbers: the same text has the
same number in all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import define, field, frozen
from numpy.typing import NDArray

from .problem import Path

#: bytes read at once
BLOCK: Final = 1 << 20
COMMA, NEWLINE, MINUS, ZERO = b",\n-0"

Ints = NDArray[np.int64]


@define
class Names:
    """Numbers for texts, in the order in which they come.

    >>> names = Names()
    >>> names.of(pa.array(["b,", "a,", "b,"])).tolist(), names.of(pa.array(["c,", "a,"])).tolist()
    ([0, 1, 0], [2, 1])
    """

    known: dict[str, int] = field(factory=dict)

    def of(self, texts: Any) -> Ints:
        """Return the number of each text of an Arrow array."""
        found = texts.dictionary_encode()
        numbers: Ints = self.these(found.dictionary)[found.indices.to_numpy()]
        return numbers

    def these(self, texts: Any) -> Ints:
        """Return the number of each text of an Arrow array of few texts."""
        known = self.known
        return np.array([known.setdefault(text, len(known)) for text in texts.to_pylist()], np.int64)


@frozen
class Block:
    """Some lines of a log: which event each is, and its fields.

    Examples
    --------
    >>> block = Block.of(b"bid,i7,30\\nendOfDay\\nbid,i7,42\\n", ["bid", "endOfDay"])
    >>> block.kinds.tolist(), block.numbers(2, block.kinds == 0).tolist()
    ([0, 1, 0], [30, 42])
    """

    #: the bytes; where each field ends, and which fields begin a line
    data: NDArray[np.uint8]
    ends: Ints
    texts: Any
    first: Ints
    #: for each line the place of its event among the names
    kinds: NDArray[np.int8]

    @classmethod
    def of(cls, data: bytes, names: Sequence[str]) -> Block:
        """Return whole lines as a block."""
        raw = np.frombuffer(data, np.uint8)
        newline = raw == NEWLINE
        ends = np.flatnonzero(newline | (raw == COMMA))
        offsets = np.zeros(len(ends) + 1, np.int32)
        offsets[1:] = ends + 1
        # every text keeps the separator at its end, which thus has to be the same everywhere
        joined = pa.py_buffer(data.replace(b"\n", b","))
        texts = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), joined)
        last = np.flatnonzero(newline[ends])
        first = np.concatenate(([0], last[:-1] + 1)) if len(last) else np.empty(0, np.int64)
        first = first[(ends[first] > offsets[first]) | (first < last)]  # without blank lines
        return cls(raw, ends, texts, first, _kinds(raw, offsets[first], ends[first], names))

    def column(self, place: int, of: NDArray[np.bool_]) -> Any:
        """Return an argument of some of the lines as an Arrow array of texts; each ends in a comma."""
        return self.texts.take(pa.array(self.first[of] + place))

    def numbers(self, place: int, of: NDArray[np.bool_]) -> Ints:
        """Return an argument of some of the lines that is a number."""
        which = self.first[of] + place
        begin = np.where(which > 0, self.ends[which - 1] + 1, 0)
        length = self.ends[which] - begin
        negative = self.data[begin] == MINUS
        value = np.zeros(len(which), np.int64)
        for k in range(int(length.max(initial=0))):
            digit = self.data[np.minimum(begin + k, len(self.data) - 1)].astype(np.int64) - ZERO
            inside = (k < length) & ~(negative & (k == 0))
            if np.any(inside & ((digit < 0) | (digit > 9))):
                bad = np.flatnonzero(inside & ((digit < 0) | (digit > 9)))[0]
                text = self.texts[int(which[bad])].as_py()[:-1]
                raise ValueError(f"expected a whole number, got {text!r}")
            value = np.where(inside, value * 10 + digit, value)
        return np.where(negative, -value, value)


def _kinds(raw: Any, begin: Any, end: Any, names: Sequence[str]) -> NDArray[np.int8]:
    """Return which name stands between each begin and end: by its first letter, then letter by letter."""
    table = np.full(256, -1, np.int8)
    for k, name in enumerate(names):
        table[ord(name[0])] = k
    kinds: NDArray[np.int8] = table[raw[begin]]
    wrong = kinds < 0
    for k, name in enumerate(names):
        these = np.flatnonzero(kinds == k)
        bad = end[these] - begin[these] != len(name)
        for j, letter in enumerate(name.encode()):
            bad |= raw[begin[these] + j] != letter
        wrong[these[bad]] = True
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        text = raw[begin[k] : end[k]].tobytes().decode(errors="replace")
        raise ValueError(f"expected one of {', '.join(names)}, got {text!r}")
    return kinds


def sort_stably(numbers: Any) -> Ints:
    """Return the order that sorts small numbers, equal ones in the order in which they come.

    NumPy sorts 16 bits many times as fast as 64.

    >>> sort_stably(np.array([3, 1, 3, 1])).tolist()
    [1, 3, 0, 2]
    """
    small = numbers.max(initial=0) < 1 << 16
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")


def blocks(path: Path, names: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of a log."""
    rest = b""
    with open(path, "rb") as file:
        while data := file.read(BLOCK):
            data = rest + data
            cut = data.rfind(b"\n") + 1
            rest = data[cut:]
            if cut:
                yield Block.of(data[:cut], names)
    if rest:
        yield Block.of(rest + b"\n", names)
