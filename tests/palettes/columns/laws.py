"""What a columnar query owes to the event by event run: the same outputs, states and failures."""

import math
import random

import pyarrow as pa

from millstream.palettes.columns import BatchError, columnar
from millstream.palettes.columns.frame import of_batch
from millstream.palettes.ltl import Verdict
from millstream.processors import StreamError


def same(one, other):
    """Whether two results are the same; NaN is NaN, a number what it is worth, a verdict its name."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    if isinstance(other, Verdict):
        return getattr(one, "name", one) == other.name
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, float) and isinstance(other, float) and one == other == 0:
        return math.copysign(1, one) == math.copysign(1, other)
    return one == other


def cuts(length, chance):
    """Random batch boundaries, empty batches among them."""
    inner = sorted(chance.choices(range(length + 1), k=chance.randrange(5)))
    return list(zip([0, *inner], [*inner, length], strict=True))


def by_event(query, events):
    """The outputs of the event by event run, and the failure that ended it."""
    out = []
    run = query.into(out)
    try:
        run.push_all(events)
        run.end()
    except StreamError as error:
        return out, str(error)
    return out, None


def by_batch(query, batch, bounds, **options):
    """The outputs of the columnar run over slices of a batch, as events."""
    out = []
    run = columnar(query, **options).into(out)
    failure = None
    try:
        for begin, end in bounds:
            run.push(batch.slice(begin, end - begin))
        run.end()
    except BatchError:
        raise
    except StreamError as error:
        failure = str(error)
    return [event for b in out for event in of_batch(b).events()], failure


def has_arrow_type(events):
    """Whether one Arrow type has room for all of these."""
    try:
        pa.array(events)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return False
    if any(type(e) is int and not -(2**63) <= e < 2**63 for e in events):
        return False
    return not ({int, str, bool} & set(map(type, events)) and len(set(map(type, events))) > 1)


def check(query, batch, seed=0, states=True, **options):
    """All laws for one query on one batch, cut at random places.

    `states`: whether saved states print alike, are "equal" (dicts in another order), or may differ.
    """
    chance = random.Random(seed)
    events = of_batch(batch).events()
    bounds = cuts(len(events), chance)
    expected = by_event(query, events)
    try:
        got = by_batch(query, batch, bounds, **options)
    except BatchError:
        assert not has_arrow_type(expected[0]), expected
        return
    assert got[1] == expected[1], (got[1], expected[1])
    assert same(got[0], expected[0]), (got[0], expected[0])
    if expected[1] is None:
        check_switching(query, batch, events, bounds, expected[0], states, **options)


def check_switching(query, batch, events, bounds, expected, states, **options):
    """The saved state at each boundary is the same, and either kind of run goes on from it."""
    for _, cut in bounds:
        first, out = [], []
        rows = query.into(first)
        rows.push_all(events[:cut])
        columns = columnar(query, **options).into(out)
        for begin, end in bounds:
            if end <= cut:
                columns.push(batch.slice(begin, end - begin))
        saved, theirs = columns.save(), rows.save()
        assert saved.positions == theirs.positions
        if states == "equal":
            assert same(saved.values, theirs.values), (saved.values, theirs.values)
        elif states:
            assert repr(saved.values) == repr(theirs.values)
        head = [event for b in out for event in of_batch(b).events()]
        # from columns to rows
        rest = []
        other = query.into(rest)
        other.load(saved)
        other.push_all(events[cut:])
        other.end()
        assert same(head + rest, expected)
        # from rows to columns
        rest = []
        other = columnar(query, **options).into(rest)
        other.load(theirs)
        other.push(batch.slice(cut))
        other.end()
        assert same(first + [event for b in rest for event in of_batch(b).events()], expected)
