"""Logs and XML snapshots: what is read, and what is refused."""

import gzip
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millstream.lab.crv import game, pingus
from millstream.lab.crv.log_columns import Block, blocks
from millstream.lab.crv.logs import Log
from millstream.lab.crv.pingus import Pingu, PingusXml, messages, parse, parse_carefully, statuses, write

LOG = Log({"bid": (str, int), "endOfDay": ()})
WALKER = Pingu(7, "WALKER", 1.5, 2.0, -0.5, 0.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bid,i7", "line 2: expected bid,str,int, got 'bid,i7'"),
        ("bid,i7,x", "line 2: expected bid,str,int, got 'bid,i7,x'"),
        ("endOfDay,1", "line 2: expected endOfDay, got 'endOfDay,1'"),
        ("steal,i7", "line 2: expected one of bid, endOfDay, got 'steal,i7'"),
    ],
)
def test_log_names_the_line_that_is_wrong_after_those_before_it(line, message):
    events = LOG.parse(["bid,i7,30", line])
    assert next(events) == ("bid", "i7", 30)
    with pytest.raises(ValueError, match=message):
        next(events)


def test_log_passes_over_blank_lines():
    assert list(LOG.parse(["", "endOfDay", "", "bid,a,1"])) == [("endOfDay",), ("bid", "a", 1)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"bid,i7,30\nbit,i7,31\n", "expected one of bid, endOfDay, got 'bit'"),
        (b"sold,i7\n", "expected one of bid, endOfDay, got 'sold'"),
        (b"endOfDays\n", "expected one of bid, endOfDay, got 'endOfDays'"),
    ],
)
def test_columns_refuse_other_events(text, message):
    with pytest.raises(ValueError, match=message):
        Block.of(text, ["bid", "endOfDay"])


def test_columns_refuse_what_is_no_number():
    block = Block.of(b"bid,i7,-30\nbid,i8,3x\n", ["bid"])
    assert block.numbers(2, np.array([True, False])).tolist() == [-30]
    with pytest.raises(ValueError, match="expected a whole number, got '3x'"):
        block.numbers(2, np.array([True, True]))


def test_columns_pass_over_blank_lines_and_a_missing_end(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"\nbid,a,1\n\nendOfDay\nbid,b,2")
    assert [k for block in blocks(path, ["bid", "endOfDay"]) for k in block.kinds.tolist()] == [0, 1, 0]


figures = st.builds(
    Pingu,
    id=st.integers(0, 999),
    status=st.sampled_from(("WALKER", "BASHER")),
    **dict.fromkeys(("x", "y", "vx", "vy"), st.floats(allow_nan=False, allow_infinity=False)),
)


@given(st.lists(figures, max_size=4))
def test_fast_and_careful_reading_agree(snapshot):
    text = write(snapshot)
    assert parse(text) == tuple(snapshot)
    assert statuses(text) == [row[:2] for row in parse_carefully(text)]
    assert statuses(text) == [(str(p.id), p.status) for p in snapshot]


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("<id>7</id>", "<id>7</id><!-- <id>8</id> -->"),
        lambda t: t.replace("<id>7</id>\n  <status>WALKER</status>", "<status>WALKER</status><id> 7 </id>"),
        lambda t: t.replace("<character>", '<character team="red">'),
        lambda t: t.replace("WALKER", "WALK&#69;R"),
        lambda t: t.replace("WALKER", "<![CDATA[WALKER]]>"),
    ],
    ids=["comment", "order", "attribute", "reference", "cdata"],
)
def test_unusual_message_is_read_by_the_parser(change):
    text = change(write([WALKER]))
    assert text != write([WALKER])
    assert parse(text) == (WALKER,)
    assert statuses(text) == [("7", "WALKER")]


BOMB = """<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
OUTSIDE = """<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/hostname">]>"""


@pytest.mark.parametrize("declaration", [BOMB, OUTSIDE], ids=["explosion", "external"])
@pytest.mark.parametrize("read", [parse, statuses])
def test_declared_entities_are_refused(declaration, read):
    with pytest.raises(ValueError, match="a message must not have a document type declaration"):
        read(declaration + write([WALKER]).replace("WALKER", "&a;"))


def test_undeclared_entity_is_an_error():
    with pytest.raises(ValueError, match="not a well-formed message: undefined entity"):
        parse(write([WALKER]).replace("WALKER", "&a;"))


def test_character_without_a_field_is_named():
    with pytest.raises(ValueError, match="a character lacks status, velocity/x"):
        parse(write([WALKER]).replace("<status>WALKER</status>", "").replace("<x>-0.5</x>", ""))


def test_messages_come_in_blocks_of_any_length(tmp_path, monkeypatch):
    path = tmp_path / "game.xml"
    snapshots = list(game.make(20, random.Random(1), None))
    path.write_text("<trace>\n" + "".join(map(write, snapshots)) + "</trace>\n")
    for block in (7, 1000, 100_000):
        monkeypatch.setattr(pingus, "BLOCK", block)
        assert list(PingusXml().read(path)) == snapshots


def test_packed_file_is_read(tmp_path):
    path = tmp_path / "game.xml.gz"
    with gzip.open(path, "wt") as file:
        file.write(write([WALKER]))
    assert list(PingusXml().read(path)) == [(WALKER,)]


def test_file_cut_off_gives_its_whole_messages_first(tmp_path):
    path = tmp_path / "game.xml"
    path.write_text(write([WALKER]) + write([WALKER])[:-20])
    found = messages(path)
    assert parse(next(found)) == (WALKER,)
    with pytest.raises(ValueError, match=r"game\.xml: the file ends within a message"):
        next(found)


def test_message_without_end_is_not_collected_for_ever(tmp_path, monkeypatch):
    path = tmp_path / "game.xml"
    path.write_text("<message>" + "x" * 5000)
    monkeypatch.setattr(pingus, "BLOCK", 100)
    monkeypatch.setattr(pingus, "LONGEST", 1000)
    with pytest.raises(ValueError, match="a message has more than 1000 bytes"):
        next(messages(path))
