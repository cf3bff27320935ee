"""Every processor of the palette obeys the laws of processors."""

import pytest

from millstream.palettes.fol import Facts, Monitor, Verdicts, Violations
from millstream.palettes.fol.strategies import events
from millstream.processors.testing import check_processor

QUERIES = [
    Verdicts("p(x) -> [q(x), t)"),
    Verdicts("r(x, y) -> exists z: Y O r(y, z)"),
    Verdicts("O p(x) & O q(y) -> exists z: H (p(x) -> [r(x, z), q(z))) & O r(y, z)"),
    Verdicts("q(y) & O (p(y) & Y O p(x)) -> Y O q(x)", over="all"),
    Verdicts("p(x) -> O[0,2] q(x)"),
    Verdicts("p(x) S q(y)"),
    Verdicts("p(x) -> O q(x)", explain=True),
    Violations("O p(x) -> O q(x)"),
    Monitor("G (p(x) -> !q(x) U r(x, y))", at_end=True),
    Facts("forall x: p(x) -> exists y: r(x, y)"),
]


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_laws(query):
    check_processor(query, events(), max_examples=10)
