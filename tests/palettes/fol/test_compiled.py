"""Which formulas are compiled, and that events touch only what they are about."""

import pytest

from millstream.palettes.fol import Verdicts
from millstream.palettes.fol.challenge import PROPERTIES

COMPILED = [
    *PROPERTIES.values(),
    "get(x) -> O[0,5] put(x)",
    "[open(f), close(f) | end) -> true",
    "Y Y p(x) -> O q(x)",
    "O p(x) -> exists y: O q(x, y)",
    "p(x) & Y O q(x, y) & x < y -> O r(y)",
]
GENERAL = ["p(x) -> O[2,5] q(x)", "H p(x)", "p(x) S q(y)"]


@pytest.mark.parametrize("formula", COMPILED)
def test_formula_is_compiled(formula):
    assert Verdicts(formula, over="all").fallback == ""


@pytest.mark.parametrize("formula", GENERAL)
def test_formula_is_left_to_the_general_evaluator(formula):
    assert Verdicts(formula, over="all").fallback


def test_tables_are_shared_between_renamed_operators():
    query = Verdicts("(p(x) -> O q(x)) & (r(y) -> O q(y))")
    assert sorted(query.tables) == ["T0"]


def test_rows_leave_with_the_operator():
    out = []
    run = Verdicts("access(u) -> [login(u), logout(u))").into(out)
    for user in range(1000):
        run.push(("login", user))
        run.push(("logout", user))
    assert run.processors[0].tables == {"T0": set()}


def test_pairs_are_not_written_out():
    run = Verdicts(PROPERTIES["fifo"]).into([])
    run.push_all([("enter", i) for i in range(2000)])
    assert sum(len(table) for table in run.processors[0].tables.values()) <= 5 * 2000


def test_source_has_no_data():
    source = Verdicts("""p("quote \\" and newline") & q(x) -> O r(x, "'''")""").source
    assert "quote" not in source
    assert "'''" not in source
