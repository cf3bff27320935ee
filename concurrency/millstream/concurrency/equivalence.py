"""assert_equivalent: that two queries give the same, for those who parallelise their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from millstream.processors import Query, StreamError
from millstream.processors.errors import shorten


def assert_equivalent(first: Query, second: Query, traces: Iterable[Sequence[Any]]) -> None:
    """Raise AssertionError unless two queries of one input give the same on every trace, pushed and pulled.

    A failure counts as an output: it must come at the same place, at the same position and for the same
    reason.

    >>> from millstream.processors import Apply, X
    >>> assert_equivalent(Apply(X + X), Apply(X * 2), [[1, 2], [3]])
    >>> assert_equivalent(Apply(X + 1), Apply(X * 2), [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    AssertionError: pulled, trace 0, output 1: 3 and 4
    """
    for k, trace in enumerate(traces):
        for how, run in (("pulled", _pulled), ("pushed", _pushed)):
            _compare(f"{how}, trace {k}", run(first, trace), run(second, trace))


def _compare(where: str, one: list[Any], other: list[Any]) -> None:
    for n, (x, y) in enumerate(zip(one, other, strict=False)):
        assert x == y, f"{where}, output {n}: {shorten(x)} and {shorten(y)}"
    assert len(one) == len(other), f"{where}: {len(one)} and {len(other)} outputs"


def _pulled(query: Query, trace: Sequence[Any]) -> list[Any]:
    streams = query(trace)
    out: list[Any] = []
    for stream in streams if query.arity[1] > 1 else (streams,):
        try:
            for y in stream:
                out.append(y)
        except StreamError as error:
            out.append(("failed", error.position, error.reason))
    return out


def _pushed(query: Query, trace: Sequence[Any]) -> list[Any]:
    outs: list[list[Any]] = [[] for _ in range(query.arity[1])]
    try:
        with query.into(*outs) as run:
            run.push_all(trace)
    except StreamError as error:
        outs.append([("failed", error.position, error.reason)])
    return [y for out in outs for y in out]
