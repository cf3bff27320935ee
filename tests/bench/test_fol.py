"""The speed of first-order monitoring on the six challenge properties, and how it grows with the log.

Nothing here asserts a time: the figures are printed, and the verdicts are checked. Logs are CSV text, so that
reading them is part of the figure; the naive form for ACCESS is what one would write by hand.
"""

from time import process_time

import pytest

from millstream.palettes.fol import Monitor, Verdicts, read_log
from millstream.palettes.fol.challenge import PROPERTIES, log

SIZES = (25_000, 50_000)
LINES = {(name, n): [",".join(e) for e in log(name, n)] for name in PROPERTIES for n in SIZES}

pytestmark = [
    pytest.mark.bench,
    pytest.mark.benchmark(timer=process_time, disable_gc=False, min_rounds=3, max_time=0.5),
]


def by_hand(lines):
    """Check ACCESS with two sets."""
    users, files = set(), set()
    for event in read_log(lines):
        match event:
            case ["login", u]:
                users.add(u)
            case ["logout", u]:
                users.discard(u)
            case ["open", f]:
                files.add(f)
            case ["close", f]:
                files.discard(f)
            case ["access", u, f]:
                yield u in users and f in files
                continue
        yield True


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PROPERTIES)
def test_property_speed(benchmark, name, size):
    benchmark.group = f"fol {name}"
    benchmark.extra_info.update(events=size)
    lines = LINES[name, size]
    assert benchmark(lambda: list(Verdicts(PROPERTIES[name])(read_log(lines))).index(False)) == size - 1


@pytest.mark.parametrize("size", SIZES)
def test_access_by_hand_speed(benchmark, size):
    benchmark.group = "fol access"
    benchmark.extra_info.update(events=size)
    lines = LINES["access", size]
    assert benchmark(lambda: list(by_hand(lines)).index(False)) == size - 1


@pytest.mark.parametrize("size", SIZES)
def test_monitor_speed(benchmark, size):
    benchmark.group = "fol future"
    events = [(kind, i) for i in range(size // 5) for kind in ("open", "close")]
    benchmark.extra_info.update(events=len(events))
    query = Monitor("G (open(f) -> F close(f))", at_end=True)
    assert list(benchmark(lambda: list(query(events))))[-1].name == "TRUE"
