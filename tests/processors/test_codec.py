"""Saved states as bytes: what comes back, and what hostile bytes can do (nothing)."""

import collections
import datetime
import decimal
import fractions
import json
import operator
import pickle
import uuid
import zoneinfo

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.ltl import Monitor
from millstream.palettes.windows import Window
from millstream.processors import Count, Cumulate, KeepLast, Pack, StateError, Trim, decode, encode
from millstream.processors.codec import FORMAT, MAGIC, _digest, _Reader, pack, unpack
from millstream.processors.states import Saved

QUERY = Pack()


@attrs.frozen
class Reading:
    value: int


def packed(*values, query=QUERY) -> bytes:
    return encode(Saved(query.graph.fingerprint, (0,), False, values), query)


def forged(body: bytes, query=QUERY, **changes) -> bytes:
    """Bytes with a correct first line: what somebody can write who knows the format."""
    header = {
        "format": FORMAT,
        "version": "0.1.0",
        "query": query.graph.fingerprint,
        "text": "",
        "length": len(body),
        "digest": _digest(body),
    }
    return MAGIC + json.dumps(header | changes).encode() + b"\n" + body


class Calls:
    """Pickles as a call of anything."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


PLAIN = [
    None, True, 0, 2**80, -1.5, float("inf"), 1 + 2j, "é", b"\x00", (1, (2,)), [1, [2]], {"a": {1: 2}},
    {1, 2}, frozenset({3}), range(4), collections.deque([1], maxlen=2), collections.OrderedDict(a=1),
    collections.Counter("aab"), datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), datetime.timedelta(1),
    datetime.datetime(2026, 1, 2, tzinfo=zoneinfo.ZoneInfo("UTC")), decimal.Decimal("1.20"),
    fractions.Fraction(1, 3), uuid.UUID(int=5),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_codec_returns_plain_values(value):
    (found,) = decode(packed(value), QUERY).values
    assert found == value
    assert type(found) is type(value)


def test_codec_keeps_what_is_shared():
    inner = [1]
    first, second = decode(packed(inner, {"a": inner}), QUERY).values
    assert second["a"] is first


def test_codec_continues_a_run_elsewhere():
    query = Window(Cumulate(operator.add), 3)
    first, second = [], []
    run = query.into(first)
    run.push_all(range(5))
    other = query.into(second)
    other.load(decode(encode(run.save(), query), query))
    run.push_all(range(5, 9))
    other.push_all(range(5, 9))
    assert second == first[3:]


def test_codec_refuses_classes_of_events_unless_allowed():
    data = packed(Reading(3))
    with pytest.raises(StateError, match=r"holds .*Reading, which is not allowed .* allow=\[Reading\]"):
        decode(data, QUERY)
    assert decode(data, QUERY, allow=[Reading]).values == (Reading(3),)


def test_codec_says_what_cannot_be_written():
    with pytest.raises(StateError, match=r"state of Pack\(.*\) cannot be written: .* must pickle"):
        packed(lambda: None)


@pytest.mark.parametrize(
    "attack",
    [
        Calls(print, "x"), Calls(eval, "1"), Calls(exec, "1"), Calls(getattr, "", "upper"),
        Calls(__import__, "os"), Calls(operator.attrgetter, "x"), Calls(bytearray, 10**12),
        Calls(fractions.Fraction, "1e999999999"), Calls(open, "/tmp/x", "w"),
    ],
    ids=lambda a: a.call[0].__name__,
)  # fmt: skip
def test_codec_calls_nothing_that_is_not_allowed(attack):
    with pytest.raises(StateError, match="not allowed"):
        decode(packed(attack), QUERY)


def test_codec_does_not_call_what_the_query_mentions():
    query = KeepLast() | print
    data = packed(print, query=query)
    assert decode(data, query).values == (print,)
    with pytest.raises(StateError, match=r"calls .*print.*, which is not allowed"):
        decode(packed(Calls(print, "x"), query=query), query)


@pytest.mark.parametrize(
    "body",
    [
        b"cos\nsystem\n(S'true'\ntR.",  # instructions of the first protocols
        b"\x80\x04r\xff\xff\xff\xff.",  # a memory index that would take gigabytes
        b"\x80\x05\x96" + (2**40).to_bytes(8, "little") + b".",  # a byte array of a terabyte
        b"\x80\x04\x8d" + (2**40).to_bytes(8, "little") + b"x.",  # a text of a terabyte
        b"\x80\x04P1\n.",  # a persistent reference
        b"\x80\x04.",
        b"",
        b"\x80\x04]" + b"(" * 100_000 + b".",
    ],
)
def test_codec_refuses_instructions_that_it_does_not_write(body):
    with pytest.raises(StateError):
        decode(forged(body), QUERY)


@given(st.data())
@settings(max_examples=100)
def test_codec_changed_bytes_are_refused_or_harmless(data):
    body = bytearray(packed([1, {"a": (2, 3)}], collections.deque("ab"), fractions.Fraction(1, 2)))
    body = body[body.index(b"\n") + 1 :]
    for _ in range(data.draw(st.integers(1, 4))):
        spot = data.draw(st.integers(0, len(body) - 1))
        body[spot : spot + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    try:
        saved = decode(forged(bytes(body)), QUERY)
    except StateError:
        return
    assert isinstance(saved, Saved)


@given(st.binary(max_size=60))
def test_codec_other_bytes_are_refused(data):
    with pytest.raises(StateError, match="not a state of millstream"):
        decode(data, QUERY)


@pytest.mark.parametrize("line", [b"", b"[]", b"{", b"1" * 5000, b"[" * 4000])
def test_codec_damaged_first_line_is_refused(line):
    with pytest.raises(StateError, match="not a state of millstream"):
        decode(MAGIC + line + b"\n", QUERY)


def test_codec_state_of_another_query_is_named():
    with pytest.raises(StateError, match=r"saved by another query: 'Trim\(2\)', not by Trim\(3\)"):
        decode(encode(Trim(2).into().save(), Trim(2)), Trim(3))


def test_codec_other_version_is_named():
    with pytest.raises(StateError, match=r"written by millstream 7\.1 \(format 9\), this is .* begin anew"):
        decode(forged(b"", format=9, version="7.1"), QUERY)


def test_codec_cut_off_bytes_are_noticed():
    with pytest.raises(StateError, match=r"damaged: \d+ bytes where \d+ were written"):
        decode(packed(1)[:-3], QUERY)


def test_codec_state_inside_a_forged_one_is_checked():
    body = pickle.dumps(Saved(1, (0,), False, ()), protocol=4)
    with pytest.raises(StateError, match="not a state of Pack"):
        decode(forged(body), QUERY)


def test_codec_formulas_come_back_as_formulas():
    query = Monitor("G (a -> F b)")
    run = query.into()
    run.push({"a": True, "b": False})
    found = decode(encode(run.save(), query), query)
    other = query.into(out := [])
    other.load(found)
    other.push({"a": False, "b": True})
    assert [str(v) for v in out] == ["UNKNOWN"]


def test_codec_tuples_of_great_depth_are_refused():
    deep = b"\x80\x04}(" + b")" + b"\x85" * 1_000_000 + b"Nu."
    with pytest.raises(StateError, match="tuples within tuples"):
        unpack(deep, Count())


@pytest.mark.parametrize("value", [(1, "r", b"q", 2.5, -(10**40)), {"a": [None, True, {3}]}, ("x" * 300,)])
def test_codec_both_readers_agree(value):
    body = pack(value, Count())
    assert unpack(body, Count()) == _Reader(body, Count(), ()).load() == value


@pytest.mark.parametrize("put", [b"r\xff\xff\xff\x7f", b"p99999999999\n", b"q\x01"])
def test_codec_memory_is_not_asked_for_by_the_bytes(put):
    with pytest.raises(StateError, match="unknown instruction"):
        unpack(b"\x80\x04N" + put + b".", Count())
