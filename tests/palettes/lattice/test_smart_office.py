"""The smart office is reproducible, and its lattices have the sizes of the paper."""

from millstream.lab.papers.smart_office import Office, claims, figure_4, figure_5, figure_6, measured, table_2


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
    widths = [row["S"] for row in figure_4(1.0, (1, 2, 4))]
    processes = [row["S"] for row in table_2(1.0, (2, 3, 4))]
    assert widths == sorted(widths)
    assert processes == sorted(processes)


def test_claims_that_do_not_reproduce_are_said_plainly():
    rows = claims(
        figure_4(1.0, (1, 4, 10)), figure_5(1.0, (0, 5)), figure_6(1.0, (2, 6)), table_2(1.0, (2, 3))
    )
    said = {row["claim"]: row["reproduced"] for row in rows}
    assert said["Fig. 4: Perc_det rises from w = 1 to w = 4"] == "NO"
    assert said["Fig. 4: S at w = 4 (fitted)"] == "yes"
    assert said["Table 2: S beside the paper's, n from 7"] == "not tried"
