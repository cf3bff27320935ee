"""Nothing that is read can crash, hang or blow up what reads it, and it is always said what is wrong."""

import subprocess
import sys
from itertools import repeat

import pytest

from millstream.palettes.ltl import Monitor, parse
from millstream.processors import (
    Apply,
    CsvRows,
    E,
    Filter,
    JsonLines,
    MillstreamError,
    StreamError,
    X,
    XmlElements,
    as_function,
)

from .targets import TARGETS
from .throwing import FEW, MEMORY, inputs, peak, throw


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_hostile_inputs_are_refused_with_words(target):
    for good in target.good:
        throw(target, iter([good]))
    taken, refused = throw(target, inputs(target, FEW, seed=11))
    assert taken + refused == FEW
    assert refused or not target.allowed


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_hostile_inputs_in_great_number(target):
    before = peak()
    throw(target, inputs(target, target.many, seed=12))
    assert peak() - before < MEMORY


def test_hostile_inputs_are_more_than_a_million_in_all():
    assert sum(target.many for target in TARGETS) > 1_000_000


DEEP = 100_000
LAUGHS = b"".join(b"<!ENTITY a%d '%s'>" % (k, (b"&a%d;" % (k - 1)) * 10 if k else b"ha") for k in range(12))


@pytest.mark.parametrize(
    "text",
    [
        "(" * DEEP + "a" + ")" * DEEP,
        "!" * DEEP + "a",
        "X " * DEEP + "a",
        "a & " * DEEP + "a",
        "a -> " * DEEP + "a",
        "G (" * DEEP,
        "F[0," + "9" * DEEP + "] a",
        "x == '" + "y" * DEEP,
        "a" * DEEP,
    ],
    ids=lambda t: t[:6],
)
def test_hostile_formulas_of_great_length(text):
    said = ""
    try:
        parse(text)
    except MillstreamError as error:
        said = str(error)
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", b"[" * DEEP, "line 1: not JSON"),
        ("a.jsonl", b'{"a":' * DEEP, "line 1: not JSON"),
        ("a.csv", b"a,b\n1," + b"x" * (1 << 20), "field"),
        ("a.csv", b"\xff\xfe\x00", "is not utf-8 text"),
        ("a.xml", b"<!DOCTYPE l [" + LAUGHS + b"]><t><e>&a11;</e></t>", "line 1"),
        ("a.xml", b"<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><t><e>&x;</e></t>", "line 1"),
        ("a.xml", b"<t>" + b"<e>" * 100, "ends inside"),
    ],
    ids=lambda v: repr(v[:12]),
)
def test_hostile_traces_are_refused(name, content, said, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    reader = {".jsonl": JsonLines, ".csv": CsvRows, ".xml": XmlElements}[path.suffix]
    with pytest.raises(ValueError, match=said) as caught:
        list(reader(path))
    assert len(str(caught.value)) < 1000


def test_hostile_depth_of_xml_does_not_end_the_process(tmp_path):
    path = tmp_path / "deep.xml"
    path.write_bytes(b"<t><e>" + b"<a>" * 200_000 + b"</a>" * 200_000 + b"</e></t>")
    code = "import sys\nfrom millstream.processors import XmlElements\n"
    code += (
        "try: print(len(list(XmlElements(sys.argv[1]))))\nexcept ValueError as error: print(str(error)[:200])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout


EVIL = "__import__('os').system('false') or 1"
TEXTS = (EVIL, "a'] or x['", "'''", '\\"', "{0}", "\n")


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_hostile_texts_in_expressions_stay_texts(text):
    assert as_function(E[text])({text: 7}) == 7
    assert as_function(text == X)(text) is True
    assert as_function(X + text)("a") == "a" + text


@pytest.mark.parametrize("value", [*TEXTS, "\x00", "a" * 10_000_000], ids=lambda v: repr(v[:12]))
def test_hostile_values_of_events_stay_values(value):
    events = [{"kind": value}, {"kind": "b"}]
    assert list((Filter(E.kind == value) | Apply(E.kind))(events)) == [value]
    assert [str(v) for v in Monitor("G kind == 'b'")(events)] == ["FALSE", "FALSE"]


def test_hostile_event_in_an_error_is_shortened():
    with pytest.raises(StreamError) as caught:
        list(Apply(X + 1)(["a" * 10_000_000]))
    assert len(str(caught.value)) < 1000


class Unprintable:
    """An event whose text cannot be had."""

    def __repr__(self):
        raise RuntimeError("no")


def test_hostile_event_without_a_text_still_gives_an_error():
    with pytest.raises(StreamError, match="Unprintable whose repr fails"):
        list(Apply(X + 1)([Unprintable()]))


def test_hostile_endless_source_does_not_fill_memory():
    before = peak()
    for taken, _ in enumerate(Filter(X > 1)(repeat(2))):
        if taken == 200_000:
            break
    assert peak() - before < MEMORY
