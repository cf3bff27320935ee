"""Consumption modes of operators that join an older entry with a newer one.

`waiting` holds the older ones in order of time. Each function returns the groups to be composed with the
newcomer, and removes what the mode uses up; only entries strictly older than the newcomer are looked at, and
those stand in front.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, takewhile

from ..modes import Mode
from ..occurrence import Entry
from .base import Fits, Waiting

Groups = list[list[Entry]]
Select = Callable[[Waiting, Entry, Fits | None], Groups]


def older(waiting: Waiting, newcomer: Entry) -> list[Entry]:
    """Return the entries strictly older than the newcomer."""
    time = newcomer[0]
    return list(takewhile(lambda a: a[0] < time, waiting))


def select_all(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return every entry that fits, on its own; use up nothing."""
    return [[a] for a in older(waiting, newcomer) if fits is None or fits(a, newcomer)]


def select_chronicle(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return the oldest entry that fits, and use it up."""
    time = newcomer[0]
    for k, a in enumerate(waiting):
        if not a[0] < time:
            break
        if fits is None or fits(a, newcomer):
            del waiting[k]
            return [[a]]
    return []


def select_recent(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return the newest entry if it fits; use up nothing."""
    for a in reversed(waiting):
        if a[0] < newcomer[0]:
            return [[a]] if fits is None or fits(a, newcomer) else []
    return []


def select_continuous(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return every entry that fits, on its own, and use them up."""
    candidates = older(waiting, newcomer)
    taken = [fits is None or bool(fits(a, newcomer)) for a in candidates]
    rest = [a for a, t in zip(candidates, taken, strict=True) if not t]
    rest += islice(waiting, len(candidates), None)
    waiting.clear()
    waiting.extend(rest)
    return [[a] for a, t in zip(candidates, taken, strict=True) if t]


def select_cumulative(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return every entry that fits, together, and use them up."""
    taken = [a for (a,) in select_continuous(waiting, newcomer, fits)]
    return [taken] if taken else []


def select_oldest(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return the oldest entry that fits; use up nothing."""
    found = (a for a in takewhile(lambda a: a[0] < newcomer[0], waiting) if fits is None or fits(a, newcomer))
    return [[a] for a in islice(found, 1)]


def select_together(waiting: Waiting, newcomer: Entry, fits: Fits | None) -> Groups:
    """Return every entry that fits, together; use up nothing."""
    taken = [a for (a,) in select_all(waiting, newcomer, fits)]
    return [taken] if taken else []


def keep_recent(waiting: Waiting, entry: Entry) -> None:
    """Add an entry where only the newest competes: it, and the newest that is strictly older."""
    while waiting and not waiting[-1][0] < entry[0]:
        waiting.pop()
    waiting.append(entry)
    if len(waiting) > 2:
        del waiting[0]


SELECT: dict[Mode, Select] = {
    Mode.ALL: select_all,
    Mode.CHRONICLE: select_chronicle,
    Mode.RECENT: select_recent,
    Mode.CONTINUOUS: select_continuous,
    Mode.CUMULATIVE: select_cumulative,
}

#: the same for operators in which something else than the newcomer uses entries up
OBSERVE: dict[Mode, Select] = {
    Mode.ALL: select_all,
    Mode.CHRONICLE: select_oldest,
    Mode.RECENT: select_recent,
    Mode.CONTINUOUS: select_all,
    Mode.CUMULATIVE: select_together,
}
