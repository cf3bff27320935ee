"""`millstream check`: verdicts, exit statuses, the first violation and why; and the palettes agree."""

import signal
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.cli.judging import Counted, Judge, Reading
from millstream.palettes import fol
from millstream.palettes.ltl import Monitor, Verdicts, parse
from millstream.palettes.ltl.strategies import formulas, traces

TRACE = "req,ok\n1,0\n0,1\n1,0\n0,0\n"
ACCESS = "login,ann\nopen,x\naccess,ann,x\naccess,bob,x\n"
FILES = "open,1\nopen,2\nclose,1\n"


@pytest.mark.parametrize(
    ("formula", "options", "status", "lines"),
    [
        ("F ok", [], 0, ["holds: F ok (2 events)"]),
        ("!req | !ok", [], 0, ["holds: !req | !ok (4 events)"]),
        (
            "G (req -> F ok)",
            [],
            1,
            [
                "violated: G (req -> F ok) (4 events)",
                "at event 2 (counted from 0): {'req': 1, 'ok': 0}",
                "because !ok at 2..3",
                "        req at 2 (the trace ends)",
            ],
        ),
        (
            "G (req -> F ok)",
            ["--open"],
            2,
            ["unknown: G (req -> F ok) (4 events; later events may decide it)"],
        ),
        (
            "G (req -> X ok)",
            ["--open"],
            1,
            [
                "violated: G (req -> X ok) (4 events)",
                "at event 2 (counted from 0): {'req': 1, 'ok': 0}",
                "because req at 2",
                "        !ok at 3",
            ],
        ),
        (
            "ok -> Y ok",
            [],
            1,
            [
                "violated: ok -> Y ok (2 events)",
                "at event 1 (counted from 0): {'req': 0, 'ok': 1}",
                "because !ok at 0",
                "        ok at 1",
            ],
        ),
        (
            "X X X X true",
            [],
            1,
            [
                "violated: X X X X true (4 events)",
                "at event 0 (counted from 0): {'req': 1, 'ok': 0}",
                "because the trace ends here",
            ],
        ),
        ("X X X X true", ["--open"], 0, ["holds: X X X X true (1 event)"]),
    ],
)
def test_check_verdict_status_and_reasons(millstream, write, formula, options, status, lines):
    done = millstream("check", formula, write("t.csv", TRACE), *options, status=status)
    assert done.stdout.splitlines() == lines
    assert done.stderr == ""


def test_check_predicates_on_a_log(millstream, write):
    done = millstream("check", "access(u, f) -> [login(u), logout(u))", write("a.csv", ACCESS), status=1)
    assert done.stdout.splitlines() == [
        "violated: access(u, f) -> [login(u), logout(u)) (4 events)",
        "at event 3 (counted from 0): ('access', 'bob', 'x')",
        'because [u=\'bob\', f=\'x\'] !login("bob") at 0..3; !logout("bob") at 0..3; access("bob", "x") at 3',
    ]


def test_check_predicates_about_the_future(millstream, write):
    done = millstream("check", "G (open(f) -> F close(f))", write("f.csv", FILES), status=1)
    assert done.stdout.splitlines() == [
        "violated: G (open(f) -> F close(f)) (3 events)",
        "at event 1 (counted from 0): ('open', 2)",
        "because [f=2] !close(2) at 1..2; open(2) at 1 (the trace ends)",
    ]


def test_check_names_of_events_in_a_log_or_a_column(millstream, write):
    assert "holds" in millstream("check", "open U close", write("f.log", FILES)).stdout
    write("k.jsonl", '{"do": "open", "f": 1}\n{"do": "close", "f": 2, "mode": ""}\n')
    assert "holds" in millstream("check", "open U close", "k.jsonl", "--kind", "do").stdout
    done = millstream("check", "close(f) -> O open(f)", "k.jsonl", "--kind", "do", status=1)
    assert "because [f=2]" in done.stdout
    declared = ["--kind", "do", "--predicate", "open(f)", "--predicate", "close(f)"]
    assert millstream("check", "close(f) -> O open(f)", "k.jsonl", *declared, status=1).stdout == done.stdout


def test_check_time_and_a_formula_from_a_file(millstream, write):
    write("late.ltl", "G (req -> F[0,5] ok)  # within five seconds\n")
    write("t.csv", "t,req,ok\n0,true,false\n4,false,false\n9,false,true\n")
    done = millstream("check", "@late.ltl", "t.csv", "--time", "t", status=1)
    assert done.stdout.splitlines()[1:] == [
        "at event 0 (counted from 0): {'t': 0, 'req': True, 'ok': False}",
        "because !ok at 0..1",
        "        req at 0",
    ]


def test_check_from_a_pipe_explains_too(millstream):
    done = millstream("check", "G !req", stdin=TRACE, status=1)
    assert done.stdout.splitlines()[-1] == "because req at 0"
    assert millstream("check", "G !req", "-q", stdin=TRACE, status=1).stdout == ""


def test_check_of_nothing_is_unknown(millstream):
    assert "unknown: G a (0 events" in millstream("check", "G a", stdin="", status=2).stdout
    assert "unknown: p(x) (0 events" in millstream("check", "p(x)", stdin="", status=2).stdout


def test_check_follows_until_decided(start, tmp_path):
    path = tmp_path / "grows.csv"
    path.write_text("req,ok\n1,0\n")
    process = start("check", "F ok", "grows.csv", "-f")
    with path.open("a") as file:
        file.write("0,1\n")
    assert process.communicate()[0] == "holds: F ok (2 events)\n"
    assert process.returncode == 0
    violated = start("check", "--follow", "--debug", "G req", "grows.csv").communicate()[0]
    assert violated.startswith("violated: G req (2 events)")


def test_check_interrupted_says_how_far_it_came(start):
    process = start("check", "--debug", "G a", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    process.stdin.write("a\n" + "1\n" * 100_000)  # more than a pipe holds: it must have begun to read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1].startswith("stopped: no verdict after ")
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["G (a -> F"], "line 1, column 10: expected a formula, got the end of the text"),
        (
            ["G missing"],
            "event 0 (counted from 0) has no field 'missing': {'req': 1, 'ok': 0}; if a column names",
        ),
        (["G req", "--predicate", "p(x)"], "--predicate needs --kind"),
        (["G req", "--kind", "k", "--predicate", "p"], "expected name(column, ...), got 'p'"),
        (["G missing", "--kind", "do"], "has no field 'do'"),
        (["G req", "--speed", "3"], "No such option '--speed'"),
        (["@nothing.ltl"], "nothing.ltl: No such file or directory"),
    ],
)
def test_check_errors_have_status_two(millstream, arguments, message):
    failed = millstream("check", arguments[0], "-", *arguments[1:], stdin=TRACE, status=2)
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr


# the judge, against the palettes' definitions


@given(formulas(limit=2, max_leaves=4), traces(min_size=1, max_size=6))
def test_judge_agrees_with_finite_traces(formula, trace):
    outcome = Judge(formula, Reading())(Counted(trace, again=True))
    judge = Judge(formula, Reading())
    if judge.every:
        verdicts = list(Verdicts(judge.body, at_end="finite")(trace))
        assert outcome.verdict == ("holds" if all(verdicts) else "violated")
        if outcome.position is not None:
            assert not verdicts[outcome.position]
            assert outcome.event == trace[outcome.position]
    else:
        *_, last = Monitor(formula, semantics="ltlf")(trace)
        assert outcome.verdict == ("holds" if last else "violated")


@given(st.lists(st.tuples(st.sampled_from(["open", "close"]), st.integers(0, 2)), min_size=1, max_size=8))
def test_judge_agrees_with_first_order(log):
    past = Judge(parse("close(f) -> O open(f)"), Reading(named=True))(Counted(log, again=False))
    assert (past.verdict == "holds") == all(fol.Verdicts("close(f) -> O open(f)")(log))
    future = Judge(parse("G (open(f) -> F close(f))"), Reading(named=True))(Counted(log, again=False))
    left = {
        x for x in (0, 1, 2) if (("open", x) in log and ("close", x) not in log[log.index(("open", x)) :])
    }
    late = {x for name, x in log if name == "open" and ("close", x) not in log[_last(log, ("open", x)) :]}
    assert (future.verdict == "holds") == (not left | late)
    if future.position is not None:
        assert log[future.position][0] == "open"
        assert log[future.position][1] in left | late


def _last(log, event):
    return len(log) - 1 - log[::-1].index(event)
