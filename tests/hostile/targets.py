"""What reads something that it did not write: formulas, traces, states, specifications."""

from __future__ import annotations

import tempfile
from pathlib import Path

from millstream.palettes.columns import columnar, read_csv
from millstream.palettes.fol import Verdicts as FirstOrder
from millstream.palettes.ltl import parse
from millstream.processors import (
    Apply,
    Checkpoint,
    Count,
    CsvRows,
    E,
    FileSink,
    Filter,
    JsonLines,
    MillstreamError,
    Pack,
    XmlElements,
    decode,
    encode,
)
from millstream.processors.testing import Marbles

from .throwing import Target

FOLDER = Path(tempfile.mkdtemp(prefix="hostile-"))


def in_file(data: bytes, name: str) -> Path:
    path = FOLDER / name
    path.write_bytes(data)
    return path


def formula(data: bytes) -> None:
    repr(parse(data.decode("utf-8", "replace")))


def first_order(data: bytes) -> None:
    FirstOrder(data.decode("utf-8", "replace"))


def csv_rows(data: bytes) -> None:
    list(CsvRows(in_file(data, "a.csv")))


def json_lines(data: bytes) -> None:
    list(JsonLines(in_file(data, "a.jsonl")))


def xml(data: bytes) -> None:
    list(XmlElements(in_file(data, "a.xml"), tag="e"))


def csv_batches(data: bytes) -> None:
    list(columnar(Filter(E.a > 1) | Apply(E.b))(read_csv(in_file(data, "b.csv"))))


def state(data: bytes) -> None:
    decode(data, Pack())


def checkpoint(data: bytes) -> None:
    out = FOLDER / "out.txt"
    out.write_bytes(b"1\n2\n3\n")
    Checkpoint(in_file(data, "job.state")).run("abcd", Count(), FileSink(out))


def marbles(data: bytes) -> None:
    Marbles.parse(data.decode("utf-8", "replace"))


def good_state() -> bytes:
    run = Pack().into()
    return encode(run.save(), Pack())


def good_checkpoint() -> bytes:
    job = Checkpoint(FOLDER / "good.state", every=2)
    (FOLDER / "good").mkdir(exist_ok=True)
    job.run("abc", Count(), FileSink(FOLDER / "good" / "out.txt"), ends=False)
    return job.path.read_bytes()


FORMULAS = [
    b"G (a -> F[0,5] b)", b"!(kind == 'read') W (kind == \"login\")", b"p S[1,3] q & O r | H (x.y + 2 < 3.5)",
    b"forall c in characters: c.status == 'BASHER' -> F c.status == 'WALKER'", b"[p, q) <-> Y a",
    b"forall u: forall f: access(u, f) -> [login(u), logout(u)) & [open(f), close(f))",
]  # fmt: skip
CSV = [b"a,b\n1,2\n3,x\n5,6\n", b'a,b\n"q""uoted",1\n2,"two\nlines"\n', b"a,b\n2.5,\n,\n"]

TARGETS = [
    Target("formula", formula, FORMULAS, (MillstreamError,)),
    Target("first-order formula", first_order, FORMULAS[-1:], (MillstreamError,)),
    Target("CSV rows", csv_rows, CSV, (ValueError, MillstreamError)),
    Target(
        "JSON lines", json_lines, [b'{"a": [1, 2.5, null]}\n{"b": "\\u00e9"}\n', b'"x"\n\n3\n'], (ValueError,)
    ),
    Target(
        "XML", xml, [b"<t><e k='1'><x>2</x></e>\n<e/></t>", b"<?xml version='1.0'?><e>a&amp;b</e><e/>"],
        (ValueError,),
    ),
    Target("CSV batches", csv_batches, CSV, (ValueError, MillstreamError)),
    Target("state", state, [good_state()], (MillstreamError,)),
    Target("checkpoint", checkpoint, [good_checkpoint()], (MillstreamError,)),
    Target("marbles", marbles, [b"a-(bc)|", b"1 - 2 --- x|"], (ValueError,)),
]  # fmt: skip
