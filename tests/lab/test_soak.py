"""The mixture of the soak: bounded, and everything in it speaks."""

from itertools import islice
from random import Random

import pytest

from millstream.lab.soak import Kept, events, queries


@pytest.mark.parametrize("name", queries())
def test_soak_query_is_bounded_and_speaks(name):
    query, kept = queries()[name], Kept()
    assert not query.memory()
    query.into(kept.sink(name)).push_all(sorted(islice(events(Random(1)), 10_000), key=lambda e: e["time"]))
    assert kept.counts[name]


def test_soak_users_do_not_come_back():
    seen = [event["user"] for event in islice(events(Random(1)), 60_000)]
    assert not set(seen[:1000]) & set(seen[-1000:])
