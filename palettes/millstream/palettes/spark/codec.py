"""How a query's state becomes bytes in a checkpoint, and back.

The bytes are a pickle, read as `millstream.processors.codec` reads states: only objects of kinds on its list
are made, so that a checkpoint is data and not a program. Its own reader checks more, at 50 to 170 us
a state; here every key is read in every micro-batch, so Python's reader in C is used, and restricted to the
list. Each state also carries the format and numbers for the query and the columns: a checkpoint of another
query, of other columns or another version of millstream is refused in words and not read.
"""

from __future__ import annotations

import io
import pickle
import re
import zlib
from typing import Any

from millstream.processors import Query, QueryError
from millstream.processors.codec import StateError, _is_allowed

FORMAT = 2


class _Reader(pickle.Unpickler):
    """Makes only objects of the kinds that are allowed in states."""

    def find_class(self, module: str, name: str) -> Any:
        if not _is_allowed(module, name):
            raise StateError(
                f"the state holds {module}.{name}, which is not allowed in states; if its objects are data, "
                f"say so where it is defined: allow_in_states({module!r}, {name!r})"
            )
        return super().find_class(module, name)


def dump_state(state: Any) -> bytes:
    """Return a state as bytes.

    >>> load_state(dump_state({"a": (1, None)}))
    {'a': (1, None)}
    """
    try:
        return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise StateError(
            f"the state cannot be stored: {type(error).__name__}: {error}; events and values that a query "
            "keeps must be data, of classes that stand in modules of their own"
        ) from error


def load_state(saved: bytes) -> Any:
    """Return the state that `dump_state` made these bytes of.

    >>> load_state(dump_state(print))
    Traceback (most recent call last):
    millstream.processors.codec.StateError: the state holds builtins.print, which is not allowed in states...
    """
    return _Reader(io.BytesIO(saved)).load()


def maker(query: Query, columns: str) -> str:
    """Return what a state is marked with: the format, and numbers that tell query and columns from others.

    >>> from millstream.processors import Count, Filter, X
    >>> maker(Count(), "a int"), maker(Filter(X > 1) | Count(), "") == maker(Filter(X > 2) | Count(), "")
    ('2:4bb853f6:2952057d', False)
    """
    graph = query.graph
    text = repr((graph.nodes, graph.edges, graph.entries, graph.exits))
    return f"{FORMAT}:{_number(re.sub(r' at 0x[0-9a-f]+', '', text))}:{_number(columns)}"


def _number(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def check_maker(theirs: str, query: Query, columns: str) -> None:
    """Raise a `QueryError` that says why a state cannot be continued with this query on these columns."""
    ours = maker(query, columns)
    if ours == theirs:
        return
    before, now = theirs.split(":"), ours.split(":")
    if before[0] != now[0]:
        raise QueryError(
            f"the checkpoint holds states in format {before[0]}, this millstream reads format {FORMAT}; "
            "continue with the version that wrote it, or begin with a new checkpoint"
        )
    if before[1] != now[1]:
        raise QueryError(
            f"the checkpoint holds states of another query than {query!r}, or of another version of it; "
            "continue with the query that wrote it, or begin with a new checkpoint"
        )
    raise QueryError(
        f"the checkpoint was written when the stream had other columns than now ({columns}); "
        "select the columns that it had, or begin with a new checkpoint"
    )
