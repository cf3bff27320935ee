"""The smart office is reproducible, and its lattices have the sizes of the paper."""

from millstream.lab.papers.smart_office import Office, measured, size_of_all


def test_office_is_reproducible():
    assert Office(hours=1, seed=4).readings() == Office(hours=1, seed=4).readings()


def test_readings_arrive_out_of_order_but_all_are_processed():
    office = Office(hours=2, delay=60.0)
    readings = office.readings()
    assert [r.made for r in readings] != sorted(r.made for r in readings)
    assert len(readings) == 3 * 120


def test_average_size_is_near_that_of_the_paper():
    assert 23 <= measured(Office(hours=4, seed=1), 4)["S"] <= 30


def test_most_true_verdicts_are_physically_true():
    row = measured(Office(hours=4, seed=2, delay=5.0), 4)
    assert row["false"] <= 10
    assert row["Prob_det"] > 0.85


def test_size_grows_with_the_window_and_with_the_number_of_processes():
    widths = [measured(Office(hours=1.0, seed=1), w)["S"] for w in (1, 2, 4)]
    processes = [measured(Office(n, 1.0, seed=1), 4)["S"] for n in (2, 3, 4)]
    assert widths == sorted(widths)
    assert processes == sorted(processes)


def test_window_is_smaller_than_the_whole_lattice():
    office = Office(hours=1.0, seed=1)
    assert measured(office, 4)["S"] < size_of_all(office) / 10
