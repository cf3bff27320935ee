"""The testing kit: what it says when a query does something else, and the plug-in in a real pytest."""

import os
import subprocess
import sys
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.processors import Apply, Count, Cumulate, Divert, Filter, KeepLast, Uniform, X, Y, processor
from millstream.processors.testing import Marbles, assert_marbles, assert_trace, check_processor
from millstream.processors.testing.strategies import timed_traces


def message(check, *arguments, **options):
    with pytest.raises(AssertionError) as caught:
        check(*arguments, **options)
    return str(caught.value).splitlines()


def test_assert_trace_compares_every_output():
    assert_trace(Divert(X > 2), [1, 3, 2, 4], [[1, 2], [3, 4]])
    assert_trace(Apply(X + Y), [[1, 2], [10, 20]], [11, 22])
    assert_trace(lambda x: x / 10, [1, 2], [pytest.approx(0.1), pytest.approx(0.2)])


def test_assert_trace_shows_what_is_missing_and_what_is_too_much():
    assert message(assert_trace, Filter(X > 1), [1, 2, 3], [2]) == [
        "push: Filter(X > 1) gives other outputs than expected, first at position 1:",
        "  output  after input  expected   got",
        "  0       1            2          2",
        "! 1       2            (nothing)  3",
    ]
    assert message(assert_trace, KeepLast(), "ab", "bb")[2:] == [
        "  0       end          'b'       'b'",
        "! 1                    'b'       (nothing)",
    ]


def test_assert_trace_shows_the_neighbourhood_of_the_first_difference():
    lines = message(assert_trace, Count(), range(100), [*range(1, 50), 0, *range(51, 101)])
    assert lines[0] == "push: Count() gives other outputs than expected, first at position 49:"
    assert lines[2].split() == ["46", "46", "47", "47"]
    assert lines[5].split() == ["!", "49", "49", "0", "50"]
    assert lines[-1] == "  ... and 42 more"


def test_assert_trace_says_which_output_and_how_many_are_wanted():
    lines = message(assert_trace, Divert(X > 2), [1, 3], [[1], [2]])
    assert lines[0].endswith("first at position 0 of output 1:")
    with pytest.raises(ValueError, match="expected 2 traces of outputs, got 1"):
        assert_trace(Divert(X > 2), [1, 3], [[1]])


def test_assert_trace_looks_at_pull_too():
    @processor
    class Odd(Uniform):
        def step(self, x):
            return x

        def iterate(self, events):
            return (-x for x in events)

    assert message(assert_trace, Odd(), [1], [1])[0].startswith("pull: Odd() gives other outputs")


def test_marbles_parse_and_print():
    text = "a-(b7)-|"
    marbles = Marbles.parse(text)
    assert marbles.moments == (("a",), (), ("b", 7), (), (Marbles.parse("|").moments[0][0],))
    assert str(marbles) == text
    assert marbles.end == 4
    assert Marbles.parse("t f", {"t": True, "f": False}).moments == ((True,), (False,))


@pytest.mark.parametrize(
    ("text", "problem"),
    [("a(b", "not closed"), ("a)b", r"unexpected '\)' at 1"), ("((", r"unexpected '\('"), ("(-)", "within")],
)
def test_marbles_refuse_what_they_cannot_read(text, problem):
    with pytest.raises(ValueError, match=problem):
        Marbles.parse(text)


def test_marbles_say_when_outputs_come():
    assert_marbles(Cumulate(max), "13-2|", "13-3|")
    assert_marbles(Apply(X + Y), ["1-2-|", "--34|"], "--46|")
    assert_marbles(Divert(X == "a"), "abca", ["-bc-", "a--a"])
    assert_marbles(Apply(lambda x: 10 // x), "50", "2#")
    assert_marbles(KeepLast(), "ab", "--")


def test_marbles_show_all_diagrams_aligned():
    assert message(assert_marbles, KeepLast(), "ab-|", "--b|") == [
        "KeepLast() gives other marbles than expected:",
        "  input     ab-|",
        "  expected  --b|",
        "  got       ---(b|)",
    ]
    assert message(assert_marbles, Apply(X * 10), "12", "t-", {"t": 10})[1:] == [
        "  input     12",
        "  expected  t-",
        "  got       t<20>",
    ]
    with pytest.raises(ValueError, match="has 1 inputs and 1 outputs, got 2 and 1 diagrams"):
        assert_marbles(Count(), ["a", "b"], "1")


def test_marbles_move_a_clock(virtual_clock):
    times = Apply(lambda _: int(virtual_clock.now()))
    assert_marbles(times, "a-a", "1-3", clock=virtual_clock)
    assert virtual_clock.now() == 3


def test_check_processor_names_the_broken_law():
    @processor
    class Counts(Uniform):
        seen: ClassVar[list] = []

        def step(self, x):
            self.seen.append(x)  # not declared as state
            return len(self.seen)

    with pytest.raises(AssertionError, match="deterministic: expected"):
        check_processor(Counts(), st.integers(), pickles=False)


@given(timed_traces(st.integers(), delay=4))
def test_timed_traces_arrive_within_their_delay(trace):
    newest = 0
    for time, _ in trace:
        assert time >= newest - 4
        newest = max(newest, time)


TESTS = """
from hypothesis import strategies as st
from millstream.processors import Count, Decimate, Ticks, Trim

def test_trace(assert_trace):
    assert_trace(Trim(1), "abc", "bc")

def test_marbles(assert_marbles):
    assert_marbles(Decimate(2), "ab-c|", "a--c|")

def test_clock(virtual_clock):
    assert list(Ticks(2.0, limit=2, clock=virtual_clock)) == [2.0, 4.0]
    assert virtual_clock.now() == 4.0

def test_laws(check_processor):
    check_processor(Trim(1), st.integers(), max_examples=3)

def test_wrong(assert_trace):
    assert_trace(Count(), "ab", [1, 3])
"""


def run_pytest(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_plugin_gives_fixtures_to_any_test(tmp_path):
    (tmp_path / "test_mine.py").write_text(TESTS)
    done = run_pytest(tmp_path)
    assert "1 failed, 4 passed" in done.stdout, done.stdout
    assert "push: Count() gives other outputs than expected, first at position 1:" in done.stdout


def test_plugin_imports_nothing_before_a_test_asks(tmp_path):
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\ndef test_nothing():\n    assert 'millstream.pytest_plugin' in sys.modules\n"
        "    assert not {'millstream.processors'} & set(sys.modules)\n"
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
