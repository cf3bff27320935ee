"""Windows: flat cost for folds, and against replay; all figures of one table are of one run.

Nothing here asserts a time: the figures are printed beside the goals, and the results are checked.
"""

import operator
from collections import deque
from operator import add

import pytest

from millstream.lab.measure import best, rate, table
from millstream.palettes.windows import Tumbling, Window
from millstream.palettes.windows.sliding import SlidingFold
from millstream.palettes.windows.sums import SlidingSum
from millstream.processors import Cumulate, Filter, X

pytestmark = pytest.mark.bench
EVENTS = list(range(100_000))


def drain(query, events):
    deque(query(events), maxlen=0)


def push(query, events):
    query.into(deque(maxlen=0).append).push_all(events)


def plain_replay(inner, width, events):
    """The loop that one would write: keep the events, run the query again on each window."""
    held, out, given = deque(maxlen=width), [], []
    run = inner.into(given)
    for x in events:
        held.append(x)
        if len(held) == width:
            run.give(run.fresh())
            for y in held:
                run.entry(y)
            out.append(given[-1])
            given.clear()
    return out


def test_fold_windows_cost_the_same_at_any_width(capsys):
    widths = (10, 100, 1000, 10_000)
    rows = [("fold", *(f"width {w}" for w in widths), "slowest/fastest (goal 1.5)")]
    for name, inner in (("sum", Cumulate(add)), ("max", Cumulate(max))):
        queries = [Window(inner, w) for w in widths]
        times = best([lambda q=q: drain(q, EVENTS) for q in queries], 5)
        rows.append((name, *(rate(len(EVENTS) / t) for t in times), f"{max(times) / min(times):.2f}"))
    with capsys.disabled():
        print("\n" + table(rows))


def test_sums_of_ints_against_two_stacks(capsys):
    rows = [("width", "int pull", "int push", "float pull", "float push  (sum / two stacks)")]
    floats = [float(x) for x in EVENTS]
    for width in (10, 1000):
        forms = [
            lambda k=kind, r=run, e=events, w=width: r(k(add, w), e)
            for events in (EVENTS, floats)
            for run in (drain, push)
            for kind in (SlidingFold, SlidingSum)
        ]
        times = best(forms, 5)
        ratios = [f"{stacks / own:.2f}" for stacks, own in zip(times[::2], times[1::2], strict=True)]
        rows.append((str(width), *ratios))
    with capsys.disabled():
        print("\n" + table(rows))


def test_fold_windows_against_replay(capsys):
    inner, few = Cumulate(add), EVENTS[:2000]
    fast, exact = Window(inner, 1000), Window(inner, 1000, exact=True)
    assert list(fast(few)) == list(exact(few)) == plain_replay(inner, 1000, few)
    forms = [lambda: drain(fast, EVENTS), lambda: plain_replay(inner, 1000, few), lambda: drain(exact, few)]
    quick, plain, own = best(forms, 3)
    per_event, windows = quick / len(EVENTS), len(few) - 999
    with capsys.disabled():
        print(f"\nfold at width 1000 against the plain loop: {plain / windows / per_event:.0f}x (goal 500)")
        print(f"fold at width 1000 against exact=True: {own / windows / per_event:.0f}x")


def test_generic_windows_against_the_plain_loop(capsys):
    rows = [("width", "Window", "plain loop", "Window/plain (goal 1)")]
    inner = Cumulate(operator.sub)
    for width in (10, 100, 1000):
        events = EVENTS[: 200_000 // width + width]
        query = Window(inner, width)
        assert list(query(events)) == plain_replay(inner, width, events)
        forms = [lambda q=query, e=events: drain(q, e), lambda w=width, e=events: plain_replay(inner, w, e)]
        times = best(forms, 5)
        rows.append((str(width), *(rate(len(events) / t) for t in times), f"{times[1] / times[0]:.2f}"))
    with capsys.disabled():
        print("\n" + table(rows))


def test_queries_with_few_states_do_not_replay(capsys):
    query, events = Window(Filter(X % 7 == 0), 1000), EVENTS[:5000]
    expected = plain_replay(Filter(X % 7 == 0), 1000, events[:1500])
    assert list(query(events[:1500])) == expected
    ours, plain = best(
        [lambda: drain(query, events), lambda: plain_replay(Filter(X % 7 == 0), 1000, events[:1500])], 2
    )
    with capsys.disabled():
        print(f"\nfew states, width 1000, against the plain loop: {plain / 501 / (ours / 5000):.0f}x")


def test_tumbling_windows(capsys):
    fold, query = Tumbling(Cumulate(add), 100), Tumbling(Cumulate(operator.sub), 100)
    times = best([lambda: drain(fold, EVENTS), lambda: drain(query, EVENTS)], 3)
    with capsys.disabled():
        print("\ntumbling, fold and any query: " + ", ".join(rate(len(EVENTS) / t) for t in times))
