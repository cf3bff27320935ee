"""Experiments: their points, what they refuse, and claims without figures."""

import pytest

from millstream.lab import Missing, Rows, claim, experiment


def measured(trial, n=0, form=""):
    """Measure."""


def test_points_are_all_combinations_in_order():
    made = experiment(parameters={"n": [1, 2], "form": ["a", "b"]})(measured)
    assert [tuple(p.values()) for p in made.points()] == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_points_may_be_listed():
    made = experiment(parameters=[{"n": 1, "form": "a"}, {"n": 5}], quick=[{"n": 1}])(measured)
    assert made.points() == [{"n": 1, "form": "a"}, {"n": 5}]
    assert made.points(quick=True) == [{"n": 1}]


def test_experiment_without_parameters_has_one_point():
    assert experiment()(measured).points() == [{}]


def test_quick_overrides_only_what_it_names():
    made = experiment(parameters={"n": [1, 2], "form": ["a"]}, quick={"n": [1]})(measured)
    assert made.points(quick=True) == [{"n": 1, "form": "a"}]


def test_quick_none_leaves_the_experiment_out():
    assert experiment(parameters={"n": [1]}, quick=None)(measured).points(quick=True) == []


def test_parameter_that_the_function_does_not_take_is_refused():
    with pytest.raises(TypeError, match="experiment measured: its function takes no parameter 'm'"):
        experiment(parameters={"m": [1]})(measured)


def test_parameter_that_no_database_keeps_is_refused():
    with pytest.raises(TypeError, match=r"parameter n must be a number, a text.*got \[1\]"):
        experiment(parameters={"n": [[1]]})(measured)


def test_title_and_text_come_from_the_docstring():
    made = experiment("other")(measured)
    assert (made.name, made.title) == ("other", "Measure")


def test_claim_without_figures_is_not_tried_and_others_still_are():
    made = experiment()(measured)
    made.claim(lambda rows: claim("first", rows.one(n=9)["Hz"] > 1))
    made.claim(lambda rows: [claim("second", True), claim("third", False)])
    assert [c.outcome for c in made.claims(Rows([{"n": 1}]))] == ["not tried", "confirmed", "NOT confirmed"]


def test_table_without_figures_is_left_out():
    made = experiment()(measured)
    made.table("has")(lambda rows: [{"n": 1}])
    made.table("has not")(lambda rows: [rows.one(n=9)])
    assert made.made(Rows()) == {"has": [{"n": 1}]}


def test_two_tables_of_one_name_are_refused():
    made = experiment()(measured)
    made.table("same")(list)
    with pytest.raises(ValueError, match="experiment measured: there are two named 'same'"):
        made.table("same")


def test_rows_that_are_not_unique_are_refused():
    with pytest.raises(LookupError, match="2 rows with n=1, expected one: name more of their values"):
        Rows([{"n": 1, "m": 1}, {"n": 1, "m": 2}]).one(n=1)


def test_ratio_of_a_figure_that_is_missing_says_so():
    with pytest.raises(Missing, match="no 'Hz' in the row"):
        Rows([{"n": 1}, {"n": 2, "Hz": 3}]).ratio("Hz", {"n": 2}, {"n": 1})


def test_name_that_is_no_file_name_is_refused():
    with pytest.raises(ValueError, match=r"an experiment's name is made of letters.*got '../up'"):
        experiment("../up")(measured)


def test_claim_and_table_that_fail_say_so_where_they_are_read():
    made = experiment()(measured)

    @made.claim
    def broken(rows):
        """Nothing is divided by zero."""
        return claim("never made", 1 / 0)

    made.table("broken")(lambda rows: [1 / 0])
    rows = Rows([{"n": 1}])
    (said,) = made.claims(rows)
    assert (said.what, said.holds) == ("Nothing is divided by zero.", None)
    assert said.ours == "ZeroDivisionError: division by zero"
    assert made.made(rows) == {
        "broken": [{"this table cannot be made": "ZeroDivisionError: division by zero"}]
    }
