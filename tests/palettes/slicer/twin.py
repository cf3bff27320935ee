"""Brute force: filter the trace by key, run the inner query alone on each part, and merge by position."""

from typing import Any

from millstream.palettes.slicer import ALL, Keys


def parts(trace: list[Any], by: Any) -> dict[Any, list[tuple[int, Any]]]:
    """Return the positions and events of each key, in the order of its first event."""
    found: dict[Any, list[tuple[int, Any]]] = {}
    for position, event in enumerate(trace):
        key = by(event)
        if key is ALL:
            keys = list(found)
        else:
            keys = [] if key is None else list(dict.fromkeys(key)) if isinstance(key, Keys) else [key]
        for k in keys:
            found.setdefault(k, []).append((position, event))
    return found


def alone(inner: Any, part: list[tuple[int, Any]]) -> list[tuple[float, Any]]:
    """Return the outputs of a query on some events, each with the position that caused it."""
    out: list[Any] = []
    found: list[tuple[float, Any]] = []
    run = inner.into(out)
    for position, event in part:
        run.push(event)
        found += [(position, y) for y in out]
        out.clear()
    run.end()
    return found + [(float("inf"), y) for y in out]


def slices(inner: Any, trace: list[Any], by: Any) -> list[tuple[Any, Any]]:
    """Return (key, output) for every output of every part, sorted by position."""
    found = [(p, k, y) for k, part in parts(trace, by).items() for p, y in alone(inner, part)]
    found.sort(key=lambda entry: entry[0])
    order: dict[Any, list[Any]] = {}
    for position, event in enumerate(trace):
        key = by(event)
        order[position] = list(dict.fromkeys(key)) if isinstance(key, Keys) else []
    found.sort(key=lambda e: (e[0], order[e[0]].index(e[1]) if e[1] in order.get(e[0], []) else 0))
    return [(k, y) for _, k, y in found]


def snapshots(pairs_at: list[list[tuple[Any, Any]]]) -> list[dict[Any, Any]]:
    """Return the last output of every key after each event, given the outputs of each event."""
    shown: dict[Any, Any] = {}
    out = []
    for pairs in pairs_at:
        shown = {**shown, **dict(pairs)}
        out.append(shown)
    return out
