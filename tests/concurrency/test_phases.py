"""The scheduler against the listings, on random graphs and random schedules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.concurrency.numbering import informed, is_restricted, number
from millstream.concurrency.phases import Phases
from millstream.processors import QueryError

from .listing import Listing, defined_sets

#: a graph with the S(v) that Figure 2 prints, numbered as in its part (b) and as in its part (a)
FIGURE_2B = [(1, 4), (2, 4), (3, 5), (5, 6), (4, 7), (6, 7)]
FIGURE_2A = [(1, 5), (2, 5), (3, 4), (4, 6), (5, 7), (6, 7)]


@st.composite
def graphs(draw, most=9):
    """Draw a graph: its vertices in a random order, and edges from earlier to later ones."""
    names = draw(st.permutations(range(draw(st.integers(1, most)))))
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    return sorted(names), draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []


def test_numbering_of_the_paper():
    assert is_restricted(7, FIGURE_2B)
    assert number(range(1, 8), FIGURE_2B).m == (3, 3, 4, 5, 5, 6, 7, 7)


def test_numbering_of_the_paper_that_is_sorted_but_not_restricted():
    assert informed(2, 7, FIGURE_2A) == {1, 2, 3, 5}
    assert not is_restricted(7, FIGURE_2A)
    assert is_restricted(7, renumbered(number(range(1, 8), FIGURE_2A), FIGURE_2A))


def renumbered(numbering, edges):
    return [(numbering.index[a], numbering.index[b]) for a, b in edges]


@given(graphs())
def test_numbering_is_restricted(graph):
    vertices, edges = graph
    numbering, size = number(vertices, edges), len(vertices)
    numbered = renumbered(numbering, edges)
    assert is_restricted(size, numbered)
    for v in range(size + 1):
        assert set(numbering.s(v)) == informed(v, size, numbered)
        assert v == 0 or numbering.m[v - 1] <= numbering.m[v]
        assert v == size or v < numbering.m[v]
    assert numbering.m[size] == numbering.size == size


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "a")], "a phased graph has no cycles, but there is one through some of 'a', 'b'"),
        ([("a", "z")], "an edge names 'z', which is not a vertex"),
    ],
)
def test_numbering_refuses(edges, message):
    with pytest.raises(QueryError) as refused:
        number("ab", edges)
    assert str(refused.value) == message


@given(graphs(), st.data())
def test_phases_agree_with_the_listings_after_every_step(graph, data):
    vertices, edges = graph
    numbering = number(vertices, edges)
    numbered = renumbered(numbering, edges)
    phases, listing = Phases(numbering.m), Listing(numbering.m)
    queue = []
    for _ in range(data.draw(st.integers(1, 40))):
        if queue and not (phases.started < 6 and data.draw(st.booleans())):
            v, p = queue.pop(data.draw(st.integers(0, len(queue) - 1)))
            after = [b for a, b in numbered if a == v]
            sent = data.draw(st.lists(st.sampled_from(after), unique=True)) if after else []
            queue += phases.finish(v, p, sent)
            listing.finish(v, p, sent)
        elif phases.started < 6:
            queue += phases.start()
            listing.start()
        check_agreement(phases, listing, queue)


def check_agreement(phases, listing, queue):
    assert (phases.partial, phases.full, phases.ready) == defined_sets(listing)
    assert (listing.partial, listing.full, listing.ready) == defined_sets(listing)
    assert phases.ready == set(queue)
    assert len(set(queue)) == len(queue)
    assert [phases.x(p) for p in range(listing.p_max + 1)] == [listing.x[p] for p in range(listing.p_max + 1)]
    done = [p for p in range(1, listing.p_max + 1) if listing.x[p] == listing.size]
    assert done == list(range(1, phases.completed + 1))
    assert phases.in_flight == listing.p_max - len(done)


@given(graphs(), st.integers(1, 5), st.data())
def test_phases_run_every_informed_pair_exactly_once(graph, count, data):
    vertices, edges = graph
    numbering = number(vertices, edges)
    numbered = renumbered(numbering, edges)
    phases, ran = Phases(numbering.m), []
    queue = [pair for _ in range(count) for pair in phases.start()]
    expected = {(v, p) for v in numbering.s(0) for p in range(1, count + 1)}
    while queue:
        v, p = queue.pop(data.draw(st.integers(0, len(queue) - 1)))
        ran.append((v, p))
        sent = [b for a, b in numbered if a == v]
        expected |= {(w, p) for w in sent}
        queue += phases.finish(v, p, sent)
    assert len(ran) == len(expected)
    assert set(ran) == expected
    assert phases.completed == count
    for v in range(1, numbering.size + 1):
        assert [p for w, p in ran if w == v] == sorted(p for w, p in ran if w == v)


def test_phases_refuse_a_pair_that_is_not_ready():
    phases = Phases([1, 2, 2])
    phases.start()
    with pytest.raises(ValueError, match="vertex 2 is not ready in phase 1"):
        phases.finish(2, 1)
