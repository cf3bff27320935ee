"""Dirty strings by columns: every access to a string finds the write before it, and dirt spreads in rounds.

Each event reads a string (``use``, the source of ``derive``) or writes one (``input``, ``sanitise``, the
target of ``derive``). With the accesses of a block sorted by string, the write before an access is to its
left. What that write left behind is known at once, or follows from an earlier derivation: as many rounds as
the longest chain of derivations in the block.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from attrs import define, field
from numpy.typing import NDArray

from .log_columns import Block, Ints, blocks, sort_stably
from .problem import Path, Verdict

EVENTS: Final = ("input", "derive", "sanitise", "use")
INPUT, DERIVE, SANITISE, USE = range(4)

Bools = NDArray[np.bool_]


@define
class Strings:
    """The strings that are dirty between two blocks; numbers for strings hold in one block only."""

    dirty: set[str] = field(factory=set)
    position: int = 0

    def read(self, block: Block) -> Verdict:
        """Return the position of the first use of a dirty string in a block; None if there is none."""
        kinds = block.kinds
        derives = kinds == DERIVE
        sources, targets = block.column(1, np.ones(len(kinds), bool)), block.column(2, derives)
        texts = pa.concat_arrays([sources, targets]).dictionary_encode()
        codes = texts.indices.to_numpy()
        before = self.known(texts.dictionary)
        wrong, after = spread(kinds, codes[: len(kinds)], codes[len(kinds) :], before)
        self.change(texts.dictionary, before, after)
        start, self.position = self.position, self.position + len(kinds)
        return None if wrong is None else start + wrong

    def known(self, texts: Any) -> Bools:
        """Return which of the texts are dirty."""
        if not self.dirty:
            return np.zeros(len(texts), bool)
        return np.array([text in self.dirty for text in texts.to_pylist()], bool)

    def change(self, texts: Any, before: Bools, after: Bools) -> None:
        """Note which texts have become dirty or clean."""
        self.dirty.update(texts.take(pa.array(np.flatnonzero(after & ~before))).to_pylist())
        self.dirty.difference_update(texts.take(pa.array(np.flatnonzero(before & ~after))).to_pylist())


def spread(kinds: NDArray[np.int8], string: Any, target: Any, dirty: Bools) -> tuple[Verdict, Bools]:
    """Return the first use of a dirty string, and which strings are dirty afterwards.

    Parameters
    ----------
    kinds, string
        The events and their first strings, as numbers.
    target
        The second strings of derivations.
    dirty
        Which strings were dirty before.

    Examples
    --------
    >>> derive_and_use = np.array([DERIVE, SANITISE, USE], np.int8)
    >>> spread(derive_and_use, np.array([0, 0, 1]), np.array([1]), np.array([True, False]))
    (2, array([False,  True]))
    """
    n, derives = len(kinds), kinds == DERIVE
    # one access for each event, and a second one for the target of a derivation
    event = np.repeat(np.arange(n), 1 + derives)
    second = np.zeros(len(event), bool)
    second[1:] = event[1:] == event[:-1]
    code = string[event]
    code[second] = target
    writes = (kinds[event] == INPUT) | (kinds[event] == SANITISE) | second
    before = write_before(code, writes)
    # what each access leaves behind; the place after the last one stands for "nothing in this block"
    left = np.zeros(len(event) + 1, bool)
    left[:-1] = kinds[event] == INPUT
    targets = np.flatnonzero(second)
    sources = targets - 1
    given = ((before[sources] < 0) & dirty[code[sources]]) | ((before[targets] < 0) & dirty[code[targets]])
    while not np.array_equal(now := given | left[before[sources]] | left[before[targets]], left[targets]):
        left[targets] = now
    uses = np.flatnonzero(kinds[event] == USE)
    wrong = uses[np.where(before[uses] < 0, dirty[code[uses]], left[before[uses]])]
    after = dirty.copy()
    after[code[writes]] = left[:-1][writes]
    return (int(event[wrong[0]]) if len(wrong) else None), after


def write_before(code: Any, writes: Bools) -> Ints:
    """Return for each access the place of the last write of its string before it, -1 if there is none.

    >>> write_before(np.array([7, 7, 8, 7]), np.array([True, False, False, True])).tolist()
    [-1, 0, -1, 0]
    """
    sort = sort_stably(code)
    ordered, place = code[sort], np.arange(len(code))
    begins = np.ones(len(code), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    begin = np.maximum.accumulate(np.where(begins, place, 0))
    last = np.maximum.accumulate(np.where(writes[sort], place, -1))
    previous = np.concatenate(([-1], last[:-1]))
    found = np.empty(len(code), np.int64)
    found[sort] = np.where(previous >= begin, sort[previous], -1)
    return found


def by_columns(path: Path) -> Verdict:
    """Return the verdict on a log."""
    strings = Strings()
    for block in blocks(path, EVENTS):
        found = strings.read(block)
        if found is not None:
            return found
    return None
