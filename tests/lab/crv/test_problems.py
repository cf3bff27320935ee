"""Every generator against its property's definition, and the query against the same definition."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.lab.crv import PROBLEMS
from millstream.lab.crv.auction_traces import COMPETITION, counts
from millstream.lab.crv.injection import CleanUses
from millstream.processors.errors import ParameterError
from millstream.processors.testing import check_processor

from .strategies import TRACES

ALL = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
FAULTY = pytest.mark.parametrize(
    ("problem", "fault"),
    [(p, fault) for p in PROBLEMS.values() for fault in p.faults],
    ids=lambda x: getattr(x, "name", x),
)
#: definitions that look through the trace again and again
LENGTHS = {"races": (30, 70), "cycles": (60, 130)}


def lengths(problem):
    return LENGTHS.get(problem.name, (60, 211, 600))


@ALL
def test_valid_trace_satisfies_the_definition(problem):
    for length in lengths(problem):
        for seed in range(3):
            trace = problem.trace(length, seed)
            events = list(trace)
            assert len(events) == length
            assert trace.violation is None
            assert problem.brute(events) is None
            assert problem.check(events) is None


@FAULTY
def test_faulty_trace_violates_at_the_stated_event(problem, fault):
    for length in lengths(problem):
        for seed in range(3):
            trace = problem.trace(length, seed, fault)
            stated = trace.violation
            assert stated is not None
            assert problem.brute(trace) == stated
            assert problem.check(trace) == stated


@pytest.mark.parametrize("name", TRACES)
def test_query_follows_the_definition(name):
    problem = PROBLEMS[name]

    @settings(max_examples=75, deadline=None)
    @given(TRACES[name])
    def compare(events):
        assert problem.check(events) == problem.brute(events)

    compare()


@ALL
def test_trace_is_made_anew_and_the_same(problem):
    trace = problem.trace(100, seed=5)
    assert list(trace) == list(trace)
    assert list(trace) != list(problem.trace(100, seed=6))


@ALL
def test_trace_survives_its_file(problem, tmp_path):
    path = tmp_path / "trace"
    trace = problem.trace(150, seed=1)
    assert trace.write(path) == 150
    assert list(problem.format.read(path)) == list(trace)
    assert problem.verdict("query", path) is None


def test_trace_of_an_unknown_size_or_fault_is_refused():
    with pytest.raises(ParameterError, match="iterators: fault must be one of unasked, empty, got 'late'"):
        PROBLEMS["iterators"].trace(10, fault="late")
    with pytest.raises(ParameterError, match=r"auction: size must be a number or one of .*, got 'huge'"):
        PROBLEMS["auction"].trace("huge")
    with pytest.raises(ParameterError, match=r"iterators: version must be one of query.*, got 'gpu'"):
        PROBLEMS["iterators"].verdict("gpu", "x")


@pytest.mark.parametrize("length", [60, 1000, 4321, 50_000])
def test_auction_has_the_stated_counts(length):
    assert Counter(event[0] for event in PROBLEMS["auction"].trace(length)) == Counter(counts(length))


def test_auction_has_the_competitions_proportions():
    assert counts(sum(COMPETITION.values())) == COMPETITION


@pytest.mark.slow
def test_auction_of_the_competitions_size_has_its_counts():
    found = Counter(event[0] for event in PROBLEMS["auction"].trace("competition"))
    assert found == Counter(COMPETITION)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "length"), [("candidates", 978_000), ("injection", 9_400_000)])
def test_trace_of_the_competitions_size_has_its_length(name, length):
    assert sum(1 for _ in PROBLEMS[name].trace("competition")) == length


def test_clean_uses_obeys_the_laws():
    names = st.sampled_from("abc")
    check_processor(
        CleanUses(),
        st.one_of(
            st.tuples(st.sampled_from(("input", "sanitise", "use")), names),
            st.tuples(st.just("derive"), names, names),
        ),
        max_examples=30,
    )
