"""The six first-order properties of the DejaVu challenge, on traces of our own.

Formulas and generators are those of the first-order palette (`millstream.palettes.fol.challenge`); here
stands what each formula means, as a search through the whole trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Final

from millstream.palettes.fol import Verdicts
from millstream.palettes.fol.challenge import ENDINGS, MAKERS, PROPERTIES
from millstream.processors import Apply, Query

from .logs import Log
from .parts import Parts, lent
from .problem import Event, Path, Problem, Verdict, Wrong, first_false

if TYPE_CHECKING:
    from millstream.concurrency import ThreadManager

Trace = Sequence[Event]

TITLES: Final = {
    "access": "only a user who is logged in accesses a file that is open",
    "file": "only an open file is closed",
    "fifo": "what enters first leaves first, everything once",
    "locks": "nobody sleeps with a lock, takes one that is taken, or gives back what is not held",
    "cycles": "no two locks are taken in both orders",
    "races": "variables that are written and shared are always used under a common lock",
}

ARGUMENTS: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "access": {
        **{"login": (str,), "logout": (str,), "open": (str,), "close": (str,)},
        "access": (str, str),
    },
    "file": {"open": (str, str), "close": (str,)},
    "fifo": {"enter": (str,), "exit": (str,)},
    "locks": {"acq": (str, str), "rel": (str, str), "sleep": (str,)},
    "cycles": {"acq": (str, str), "rel": (str, str)},
    "races": {"acq": (str, str), "rel": (str, str), "read": (str, str), "write": (str, str)},
}


# What the formulas mean: each function says whether event i of a trace is right


def since(trace: Trace, i: int, begin: Event, stop: Event) -> bool:
    """Tell whether `begin` has happened up to event i, and `stop` has not happened since then."""
    for event in reversed(trace[: i + 1]):
        if event[: len(begin)] == begin:
            return True
        if event == stop:
            return False
    return False


def holds(trace: Trace, i: int, thread: str, lock: str) -> bool:
    """Tell whether a thread has a lock after event i."""
    return since(trace, i, ("acq", thread, lock), ("rel", thread, lock))


def access(trace: Trace, i: int) -> bool:
    """Look back for the login and for the opening."""
    if trace[i][0] != "access":
        return True
    _, u, f = trace[i]
    return since(trace, i, ("login", u), ("logout", u)) and since(trace, i, ("open", f), ("close", f))


def file(trace: Trace, i: int) -> bool:
    """Look back for the opening, in whatever mode."""
    name, f = trace[i][:2]
    return name != "close" or since(trace, i - 1, ("open", f), ("close", f))


def fifo(trace: Trace, i: int) -> bool:
    """Compare an event with all before it."""
    before = trace[:i]
    name, x = trace[i]
    if (name, x) in before:
        return False
    if name == "enter":
        return True
    earlier = before[: before.index(("enter", x))] if ("enter", x) in before else None
    return earlier is not None and all(("exit", y) in before for n, y in earlier if n == "enter")


def locks(trace: Trace, i: int) -> bool:
    """Try every lock and every thread."""
    name, t, *rest = trace[i]
    taken = {e[1:] for e in trace[:i] if e[0] == "acq"}
    if name == "sleep":
        return not any(holds(trace, i, t, lock) for thread, lock in taken if thread == t)
    if name == "acq":
        return not any(holds(trace, i - 1, s, lock) for s, lock in taken if lock == rest[0])
    return holds(trace, i - 1, t, rest[0])


def cycles(trace: Trace, i: int) -> bool:
    """Try every other lock that is held, and every event where the two were taken the other way round."""
    name, t1, l2 = trace[i]
    held = {e[2] for e in trace[:i] if e[0] == "acq" and holds(trace, i - 1, t1, e[2])}
    return name != "acq" or not any(
        e[0] == "acq" and e[2] in held and holds(trace, k - 1, e[1], l2) for k, e in enumerate(trace[:i])
    )


def races(trace: Trace, i: int) -> bool:
    """Try every pair of threads that have used a variable, one of them writing."""
    uses = [(k, *e) for k, e in enumerate(trace[: i + 1]) if e[0] in ("read", "write")]
    every = {e[2] for e in trace[: i + 1] if e[0] == "acq"}

    def always(thread: str, x: str) -> set[str]:
        mine = [k for k, _, t, y in uses if (t, y) == (thread, x)]
        return {lock for lock in every if all(holds(trace, k, thread, lock) for k in mine)}

    return all(
        always(t1, x) & always(t2, y)
        for _, _, t1, x in uses
        for _, name, t2, y in uses
        if name == "write" and x == y
    )


RIGHT: Final[dict[str, Callable[[Trace, int], Any]]] = {
    **{"access": access, "file": file, "fifo": fifo},
    **{"locks": locks, "cycles": cycles, "races": races},
}


def brute(name: str, events: Iterable[Any]) -> Verdict:
    """Return the first event that is not right."""
    trace = [tuple(event) for event in events]
    return next((i for i in range(len(trace)) if not RIGHT[name](trace, i)), None)


# The problems


def query(name: str) -> Query:
    """Return the formula as a query, false where it is violated."""
    return Verdicts(PROPERTIES[name])


def check(name: str, events: Iterable[Any]) -> Verdict:
    """Return the first violation."""
    return first_false(query(name)(events))


def make(name: str, events: int, random: Random, fault: str | None) -> Iterator[Any]:
    """Yield a correct trace; a faulty one violates the property with its last event."""
    ending = ENDINGS[name] if fault else []
    yield from islice(MAKERS[name](events, random), events - len(ending))
    yield from ending[:-1]
    yield from map(Wrong, ending[-1:])


# Several workers: each looks at some of the values over which the formula's variables range

KEYS: Final[dict[str, dict[str, int | None]]] = {
    "access": {"login": None, "logout": None, "open": None, "close": None, "access": 1},
    "file": {"open": 1, "close": 1},
    "locks": {"acq": 2, "rel": 2, "sleep": None},
    "races": {"acq": None, "rel": None, "read": 2, "write": 2},
}


def versions(name: str) -> dict[str, Any]:
    """Return the versions for several workers and for Spark.

    Two properties compare all values with each other (what enters with what has entered, locks with locks)
    and do not fall into parts: one worker reads the log ahead of the monitor, and Spark has one part.
    """
    keys = KEYS.get(name, dict.fromkeys(ARGUMENTS[name]))
    parts = Parts(Log(ARGUMENTS[name]), keys, partial(query, name))
    return {"workers": parts if name in KEYS else partial(read_ahead, name), "spark": parts.on_spark}


def read_ahead(name: str, path: Path, manager: ThreadManager | None = None) -> Verdict:
    """Return the verdict on a log that a worker reads while the monitor runs here."""
    from millstream.concurrency import PullGroup

    with lent(manager) as manager, open(path, encoding="utf-8") as lines:
        reading = PullGroup(Apply(Log(ARGUMENTS[name]).event), manager)
        return first_false((reading | query(name))(filter(str.strip, lines)))


def problem(name: str) -> Problem:
    """Return one of the six."""
    return Problem(
        name=name,
        title=f"DejaVu: {name}",
        says=TITLES[name],
        make=partial(make, name),
        faults={"ending": "the last event violates the property"},
        format=Log(ARGUMENTS[name]),
        query=partial(query, name),
        check=partial(check, name),
        brute=partial(brute, name),
        versions=versions(name),
    )


PROBLEMS: Final = {name: problem(name) for name in PROPERTIES}
