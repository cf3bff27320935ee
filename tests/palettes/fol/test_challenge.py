"""The six challenge properties fail at exactly the planted event."""

import pytest

from millstream.palettes.fol import Verdicts, Violations, read_log
from millstream.palettes.fol.challenge import PROPERTIES, log

#: for fifo and access, a log may be made to fail in more ways
VARIANTS = {
    "access": [[("login", "u"), ("open", "f"), ("close", "f"), ("access", "u", "f")], [("access", "u", "f")]],
    "file": [[("close", "f")]],
    "fifo": [[("exit", "a")], [("enter", "a"), ("enter", "a")]],
    "locks": [[("acq", "t", "m"), ("sleep", "t")], [("rel", "t", "m")]],
}


@pytest.mark.parametrize("over", ["seen", "all"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PROPERTIES)
def test_property_fails_at_the_planted_event_only(name, seed, over):
    events = log(name, 400, seed)
    assert list(Verdicts(PROPERTIES[name], over=over)(events)) == [True] * 399 + [False]


@pytest.mark.parametrize(("name", "ending"), [(n, e) for n, endings in VARIANTS.items() for e in endings])
def test_property_fails_in_other_ways(name, ending):
    events = [*log(name, 200)[:150], *ending]
    assert list(Verdicts(PROPERTIES[name])(events)) == [True] * (len(events) - 1) + [False]


def test_violation_names_the_threads_of_a_race():
    *_, last = Violations(PROPERTIES["races"])(log("races", 200))
    assert last.position == 199
    assert {(b["t1"], b["t2"]) for b in last.bindings} == {("s", "t")}


def test_violation_of_a_race_stays():
    events = [*log("races", 200), ("acq", "t", "c"), ("rel", "t", "c")]
    assert [v.position for v in Violations(PROPERTIES["races"])(events)] == [199, 200, 201]


def test_read_log_reads_plain_and_packed_files(tmp_path):
    import gzip

    text = "login,ann\n\naccess,ann,f\n"
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    expected = [["login", "ann"], ["access", "ann", "f"]]
    assert list(read_log(tmp_path / "a.csv")) == list(read_log(str(tmp_path / "a.csv.gz"))) == expected
    assert list(Verdicts("access(u, f) -> O login(u)")(read_log(tmp_path / "a.csv"))) == [True, True]
