"""A false verdict says why."""

from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor, Verdict, Verdicts, why
from millstream.palettes.ltl.strategies import formulas, traces
from millstream.processors import E, X

KINDS = {"req": X == "r", "ok": X == "o"}


def reasons(verdict):
    return [str(w) for w in verdict.because]


def test_explain_missed_deadline():
    verdicts = list(Verdicts("req -> F[0,2] ok", atoms=KINDS, explain=True)("rxxo"))
    assert verdicts == [Verdict.FALSE, Verdict.TRUE, Verdict.TRUE, Verdict.TRUE]
    assert reasons(verdicts[0]) == ["!ok at 0..2", "req at 0"]


def test_explain_monitor_is_sticky():
    verdicts = list(Monitor("G (ok -> Y req)", atoms=KINDS, explain=True)("roxoo"))
    assert [v.name for v in verdicts] == ["UNKNOWN"] * 3 + ["FALSE"] * 2
    assert reasons(verdicts[3]) == reasons(verdicts[4]) == ["!req at 2", "ok at 3"]


def test_explain_binding():
    trace = [{"items": [1, 2], "x": 1}, {"items": [], "x": 3}]
    (verdict, *_) = Verdicts("forall i in items: F[0,1] (x == i)", explain=True)(trace)
    assert reasons(verdict) == ["!x == $i at 0..1 [i=2]"]


def test_explain_times():
    trace = [{"a": False, "t": 0}, {"a": False, "t": 4}, {"a": True, "t": 9}]
    (verdict, *_) = Verdicts("F[0,5] a", time=E.t, explain=True)(trace)
    assert reasons(verdict) == ["!a at 0..1"]


@settings(deadline=None)
@given(formulas(limit=3), traces(max_size=8))
def test_explain_names_leaves_as_they_were(formula, trace):
    for verdict in Verdicts(formula, explain=True)(trace):
        for w in verdict.because:
            assert all(trace[i][w.leaf.name] == w.holds for i in range(w.first, w.last + 1))


def test_explain_only_when_asked():
    (verdict,) = Monitor("a")([{"a": False}])
    assert verdict.because == ()


def test_explain_what_did_not_happen_before_the_end():
    verdicts = list(Verdicts("req -> F ok", atoms=KINDS, explain=True, at_end="finite")("roxrx"))
    assert list(map(str, verdicts[3].because)) == ["!ok at 3..4", "req at 3"]


@given(formulas(past=True, limit=2), traces(min_size=1, max_size=6), st.data())
def test_explain_with_a_changed_trace_that_keeps_the_reasons(formula, trace, data):
    """The reasons force the verdict: whatever else is changed in the trace, it stays."""
    *_, wanted = Monitor(formula, semantics="ltlf")(trace)
    found = why(formula, trace, ended=True)
    fixed = {(w.leaf.name, i) for w in found for i in range(w.first, w.last + 1)}
    changed = [
        {n: e[n] if (n, i) in fixed else data.draw(st.booleans()) for n in e} for i, e in enumerate(trace)
    ]
    assert list(Monitor(formula, semantics="ltlf")(changed))[-1] == wanted
