"""The six properties of the first-order runtime verification challenge, and logs to try them on.

The properties are those that DejaVu and MonPoly were compared on (Reger and Rydeheard in RV-CuBES; Havelund,
Peled, Ulus, *DejaVu: a monitoring tool for first-order temporal logic*, MT@CPSWeek 2018). The logs here are
our own: seeded, of any length, correct until their last event, which violates the property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random
from typing import Final

Event = tuple[str, ...]

PROPERTIES: Final = {
    "access": "access(u, f) -> [login(u), logout(u)) & [open(f), close(f))",
    "file": "close(f) -> exists m: Y [open(f, m), close(f))",
    "fifo": """forall x: (enter(x) -> !Y O enter(x)) & (exit(x) -> !Y O exit(x)) & (exit(x) -> Y O enter(x))
        & forall y: (exit(y) & O (enter(y) & Y O enter(x))) -> Y O exit(x)""",
    "locks": """forall t: forall l: (sleep(t) -> ![acq(t, l), rel(t, l)))
        & (acq(t, l) -> !(exists s: Y [acq(s, l), rel(s, l)))) & (rel(t, l) -> Y [acq(t, l), rel(t, l)))""",
    "cycles": """forall t1: forall t2: forall l1: forall l2: (Y [acq(t1, l1), rel(t1, l1)) & acq(t1, l2))
        -> !Y O (Y [acq(t2, l2), rel(t2, l2)) & acq(t2, l1))""",
    "races": """forall t1: forall t2: forall x: (O (read(t1, x) | write(t1, x)) & O write(t2, x)) -> exists l:
        H ((read(t1, x) | write(t1, x)) -> [acq(t1, l), rel(t1, l)))
        & H ((read(t2, x) | write(t2, x)) -> [acq(t2, l), rel(t2, l)))""",
}


def _access(n: int, random: Random) -> Iterator[Event]:
    names = count()
    users: list[str] = []
    files: list[str] = []
    while True:
        pool, begin, stop = random.choice(((users, "login", "logout"), (files, "open", "close")))
        if users and files and random.random() < 0.4:
            yield "access", random.choice(users), random.choice(files)
        elif len(pool) > n // 8 or (pool and random.random() < 0.4):
            i = random.randrange(len(pool))
            pool[i], pool[-1] = pool[-1], pool[i]
            yield stop, pool.pop()
        else:
            pool.append(str(next(names)))
            yield begin, pool[-1]


def _file(n: int, random: Random) -> Iterator[Event]:
    names = count()
    files: list[str] = []
    while True:
        if files and random.random() < 0.4:
            yield "close", files.pop(random.randrange(len(files)))
        else:
            files.append(str(next(names)))
            yield "open", files[-1], random.choice(("read", "write"))


def _fifo(n: int, random: Random) -> Iterator[Event]:
    entered = left = 0
    while True:
        if left < entered and random.random() < 0.3:
            yield "exit", str(left)
            left += 1
        else:
            yield "enter", str(entered)
            entered += 1


def _locks(n: int, random: Random) -> Iterator[Event]:
    held: dict[str, list[str]] = {}
    free = [str(i) for i in range(max(50, n // 20))]
    while True:
        thread = str(random.randrange(20))
        mine = held.setdefault(thread, [])
        if not mine and random.random() < 0.2:
            yield "sleep", thread
        elif mine and (random.random() < 0.5 or len(mine) > 5 or not free):
            free.append(mine.pop())
            yield "rel", thread, free[-1]
        elif free:
            mine.append(free.pop(random.randrange(len(free))))
            yield "acq", thread, mine[-1]


def _cycles(n: int, random: Random) -> Iterator[Event]:
    """Take locks in ascending order and release them again, thread by thread."""
    while True:
        thread = str(random.randrange(20))
        mine = sorted(random.sample(range(max(20, n // 100)), random.randrange(1, 5)))
        yield from (("acq", thread, str(lock)) for lock in mine)
        yield from (("rel", thread, str(lock)) for lock in reversed(mine))


def _races(n: int, random: Random) -> Iterator[Event]:
    """Use each variable under its own lock, perhaps together with others."""
    while True:
        thread, x = str(random.randrange(max(4, n // 500))), random.randrange(10)
        others = random.sample(range(10, 20), random.randrange(2))
        mine = [str(lock) for lock in (x, *others)]
        yield from (("acq", thread, lock) for lock in mine)
        yield random.choice(("read", "write")), thread, f"x{x}"
        yield from (("rel", thread, lock) for lock in mine)


MAKERS: Final[dict[str, Callable[[int, Random], Iterator[Event]]]] = {
    "access": _access,
    "file": _file,
    "fifo": _fifo,
    "locks": _locks,
    "cycles": _cycles,
    "races": _races,
}

#: what makes each property fail, after a correct log; the values occur nowhere else
ENDINGS: Final[dict[str, list[Event]]] = {
    "access": [("open", "f"), ("login", "u"), ("logout", "u"), ("access", "u", "f")],
    "file": [("open", "f", "read"), ("close", "f"), ("close", "f")],
    "fifo": [("enter", "a"), ("enter", "b"), ("exit", "b")],
    "locks": [("acq", "t", "m"), ("acq", "s", "m")],
    "cycles": [
        *(("acq", "s", "a"), ("acq", "s", "b"), ("rel", "s", "b"), ("rel", "s", "a")),
        *(("acq", "t", "b"), ("acq", "t", "a")),
    ],
    "races": [
        ("acq", "s", "a"),
        ("read", "s", "z"),
        ("rel", "s", "a"),
        ("acq", "t", "b"),
        ("write", "t", "z"),
    ],
}


def log(name: str, events: int, seed: int = 0) -> list[Event]:
    """Return a log of a property that is violated by its last event and by none before.

    >>> log("fifo", 5)
    [('enter', '0'), ('enter', '1'), ('enter', 'a'), ('enter', 'b'), ('exit', 'b')]
    """
    ending = ENDINGS[name]
    maker = MAKERS[name](events, Random(seed))
    return [*(next(maker) for _ in range(events - len(ending))), *ending]
