"""What a Python function reads of an event: if it is said, no other item is needed."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.palettes.spark.reading import items_read

scale = 3


def branching(event):
    if event["kind"] == "buy" and event["n"] > scale:
        return [event["n"] * k for k in range(2)]
    return event["kind"]


def assigned(event):
    event = {"kind": event["kind"]}
    return event


def kept(event):
    event["seen"] = True
    return event["kind"]


def guarded(event):
    try:
        return event["kind"]
    except KeyError:
        return None


def yielding(event):
    yield event["kind"]


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        (lambda e: e["kind"], {"kind"}),
        (lambda e: e["a"]["b"], {"a"}),
        (lambda e: 1, set()),
        (branching, {"kind", "n"}),
        (guarded, {"kind"}),
        (yielding, {"kind"}),
    ],
)
def test_function_tells_what_it_reads(function, fields):
    assert items_read(function) in (fields, None)  # None: a Python whose instructions are not known
    assert items_read(lambda e: e["kind"]) == {"kind"}


NAME = "kind"


@pytest.mark.parametrize(
    "function",
    [
        lambda e: e,
        lambda e: e[NAME],
        lambda e: (e or {})["kind"],
        lambda e: e.get("kind"),
        lambda e: "kind" in e and e["kind"],
        lambda e: [e["kind"] for _ in range(2) if e],
        lambda e: (lambda: e["kind"])(),
        lambda e: (e["kind"], locals()),
        lambda *e: e["kind"],
        lambda e, f=None: e["kind"],
        lambda **e: e["kind"],
        lambda e: e["kind":],
        lambda e: e[0],
        assigned,
        kept,
        len,
        str.upper,
        partial(branching),
        type("Callable", (), {"__call__": lambda self, e: e["kind"]})(),
    ],
)
def test_function_that_may_read_more_says_nothing(function):
    assert items_read(function) is None


PARTS = st.sampled_from(
    [
        "e['a']",
        "e['b']",
        "len(e)",
        "e.get('c', 0)",
        "(e if e['a'] else {'b': 1})['b']",
        "e['a'] + e['c']",
        "2",
    ]
)
EXPRESSIONS = st.recursive(
    PARTS,
    lambda inner: st.tuples(inner, inner, inner).map(
        lambda p: f"({p[0]} + {p[1]} if {p[2]} else [{p[1]} for _ in range(2)][-1])"
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), min_size=3))
def test_items_that_are_not_read_can_be_left_out(text, event):
    function = eval(f"lambda e: {text}")
    read = items_read(function)
    if read is not None:
        assert function({name: event[name] for name in read}) == function(event)
