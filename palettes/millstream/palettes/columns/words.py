"""The bytes of texts as ints, eight in each: as such, short texts are compared and hashed by arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from .column import Array
from .loops import loops, tidy

WORD = 8
#: the first 0 to 8 bytes of a word
MASKS = np.array([(1 << 8 * k) - 1 for k in range(WORD + 1)], np.uint64)
#: texts of more bytes than this are not taken as words
LONGEST = 31


def laid_out(texts: pa.Array) -> tuple[Array, Array]:
    """Return where texts end, behind where the first one begins, and the bytes."""
    _, offsets, data = texts.buffers()
    kind: Any = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    ends = np.frombuffer(offsets, kind)[texts.offset : texts.offset + len(texts) + 1]
    return ends, np.frombuffer(b"" if data is None else data, np.uint8)


def bytes_of(texts: pa.Array, space: int) -> tuple[Array, Array]:
    """Return the ends and the bytes of nothing but these texts, with some space behind."""
    ends, data = laid_out(texts)
    begin, end = int(ends[0]), int(ends[-1])
    padded = np.zeros(end - begin + space, np.uint8)
    padded[: end - begin] = data[begin:end]
    return ends - begin if begin else ends, padded


def words_of(texts: pa.Array) -> list[Array] | None:
    """Return the words of texts, behind their lengths; None if one is too long.

    >>> [words.tolist() for words in words_of(pa.array(["a", ""]))]
    [[1, 0], [97, 0]]
    """
    ends, padded = bytes_of(texts, LONGEST + WORD + 1)
    lengths, size = ends[1:] - ends[:-1], int(ends[-1])
    longest = int(np.maximum.reduce(lengths))
    if longest > LONGEST:
        return None
    found, starts = [lengths.astype(np.uint64)], ends[:-1].astype(np.intp)
    for k in range(0, longest, WORD):
        words: Any = np.ndarray((size + 1 + longest - k,), "<u8", padded, k, strides=(1,))
        kept: Any = lengths if longest <= WORD else np.clip(lengths - k, 0, WORD)
        found.append(words.take(starts) & MASKS.take(kept))
    return found


def same(texts: pa.Array, text: str) -> Array | None:
    """Return which texts are a certain one, by a compiled loop; None if there is none, or it is too long."""
    word = text.encode(errors="surrogatepass")
    compiled = loops(len(texts)) if len(word) <= WORD else None
    if compiled is None or not len(texts):
        return None
    found = np.empty(len(texts), bool)
    value, mask = int.from_bytes(word, "little"), int(MASKS[len(word)])
    ends, data = laid_out(texts)
    if len(data) < int(ends[-1]) + WORD:
        ends, data = bytes_of(texts, WORD)
    compiled.equal(tidy(ends), data, value, mask, len(word), found)
    return found
