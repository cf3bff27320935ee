"""What is kept of pending positions: a few numbers however long the trace, or one for each run that waits."""

import pickle

import pytest

from millstream.palettes.ltl import Monitor, Verdicts

LENGTHS = (1000, 5000, 20_000)


def waiting(n):
    """Every second event asks, none answers."""
    return ({"a": i % 2 == 0, "b": False} for i in range(n))


def sizes(query, lengths=LENGTHS):
    """Sizes of the saved state after so many events."""
    run = query.into(lambda verdict: None)
    found = []
    for i, event in enumerate(waiting(max(lengths)), 1):
        run.push(event)
        if i in lengths:
            found.append(len(pickle.dumps(run.save())))
    return found


@pytest.mark.parametrize(
    "query",
    [
        Verdicts("G (a -> F b)"),
        Verdicts("G (a -> F b)", earliest=True),
        Verdicts("F b"),
        Verdicts("F G a | X F b"),
        Verdicts("G (a -> F[0,500] b)"),
        Verdicts("a -> F[3,500] b"),
        Verdicts("a U[2,100000] b"),
        Verdicts("O[3,100000] a"),
        Monitor("G (a -> F b)"),
        Monitor("G (a -> F[0,500] b)"),
    ],
    ids=repr,
)
def test_memory_is_flat(query):
    small, *large = sizes(query)
    assert all(size <= small + 16 for size in large)


@pytest.mark.parametrize("earliest", [False, True])
def test_memory_of_alternating_positions_is_a_number_for_each_run(earliest):
    query = Verdicts("a -> F b", earliest=earliest)
    small, _, large = sizes(query)
    assert large - small <= 10 * (LENGTHS[-1] - LENGTHS[0])
    run = query.into(lambda verdict: None)
    run.push_all(waiting(LENGTHS[-1]))
    run.push({"a": False, "b": True})
    run.push({"a": True, "b": False})
    assert len(pickle.dumps(run.save())) < small


def test_memory_of_alternating_positions_below_globally_is_flat():
    small, *_, large = sizes(Verdicts("G (a -> F b) & F (a -> F b)"))
    assert large <= small + 16
