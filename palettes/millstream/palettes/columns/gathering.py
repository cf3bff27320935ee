"""Gathered: small batches put together, since a batch costs some time beside that of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from attrs import field, frozen

from millstream.processors import Source
from millstream.processors.errors import at_least


@frozen(eq=False)
class Gathered(Source):
    """The batches of a reader, or of any iterable of record batches, small ones put together.

    What comes out of a columnar query does not depend on it, but its source is read ahead: for batches that
    need not be waited for. Before a batch of another schema, and before a failure of the source, what has
    been gathered is given.

    Parameters
    ----------
    batches
        The record batches.
    rows
        How many rows there may be in a batch that is put together.

    Examples
    --------
    >>> small = [pa.record_batch({"n": [k, k]}) for k in range(3)]
    >>> [batch.to_pydict() for batch in Gathered(small, rows=4)]
    [{'n': [0, 0, 1, 1]}, {'n': [2, 2]}]
    """

    batches: Any
    rows: int = field(default=1 << 16, validator=at_least(1))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        count = 0
        try:
            for batch in self.batches:
                if held and (count + batch.num_rows > self.rows or not batch.schema.equals(held[0].schema)):
                    yield from _together(held)
                    held, count = [], 0
                held.append(batch)
                count += batch.num_rows
        except Exception:
            yield from _together(held)
            raise
        yield from _together(held)


def _together(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if len(batches) <= 1:
        return batches
    found: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return found
