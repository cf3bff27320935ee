"""What reads something that it did not write: formulas, traces, states, specifications."""

from __future__ import annotations

import io
import json
import tempfile
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from millstream.palettes.columns import columnar, read_csv, read_ipc, read_json, read_log, read_parquet
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
    X,
    XmlElements,
    as_function,
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


QUERY = columnar(Filter(E.a > 1) | Apply(E.b))


def csv_batches(data: bytes) -> None:
    list(QUERY(read_csv(in_file(data, "b.csv"))))


def json_batches(data: bytes) -> None:
    list(read_json(in_file(data, "b.jsonl")).rows())


def log_batches(data: bytes) -> None:
    list(read_log(in_file(data, "b.log")).rows())


def parquet_batches(data: bytes) -> None:
    list(read_parquet(in_file(data, "b.parquet")).rows())


def arrow_batches(data: bytes) -> None:
    list(read_ipc(in_file(data, "b.arrow")).rows())


def expression(data: bytes) -> None:
    """A text from outside as a field name and as a constant: found and compared, never part of a program."""
    text = data.decode("utf-8", "replace")
    query = Filter(text == E[text]) | Apply(E[text] + text)
    assert list(query([{text: text}, {text: "other"}])) == [text + text]
    assert as_function(text + X)(text) == text + text


def sealed(magic: bytes, body: bytes, **told: object) -> bytes:
    """Return bytes with a first line that is right, so that what comes behind it is read at all."""
    digest = blake2b(body, digest_size=16).hexdigest()
    return magic + json.dumps({**told, "length": len(body), "digest": digest}).encode() + b"\n" + body


def state(data: bytes) -> None:
    decode(data, Pack())


def state_inside(data: bytes) -> None:
    header = json.loads(STATES[0].partition(b"\n")[0].removeprefix(b"millstream state "))
    decode(sealed(b"millstream state ", data, **{**header, "query": Pack().graph.fingerprint}), Pack())


def checkpoint(data: bytes) -> None:
    out = FOLDER / "out.txt"
    out.write_bytes(b"1\n2\n3\n")
    Checkpoint(in_file(data, "job.state")).run("abcd", Count(), FileSink(out))


def checkpoint_inside(data: bytes) -> None:
    outputs = [["out.txt", 6]]
    checkpoint(sealed(b"millstream checkpoint ", data, format=1, outputs=outputs))


def marbles(data: bytes) -> None:
    Marbles.parse(data.decode("utf-8", "replace"))


def good_states() -> list[bytes]:
    states = []
    for events in ([], [1, "a", 2.5, None], [{"a": (1, {2}), "b": [b"x", 10**30]}, frozenset("xy")]):
        run = Pack().into()
        run.push_all(events)
        states.append(encode(run.save(), Pack()))
    return states


def good_checkpoint() -> bytes:
    job = Checkpoint(FOLDER / "good.state", every=2)
    (FOLDER / "good").mkdir(exist_ok=True)
    job.run("abc", Count(), FileSink(FOLDER / "good" / "out.txt"), ends=False)
    return job.path.read_bytes()


def table() -> pa.Table:
    return pa.table({
        "a": [1, 2, None, 4] * 5, "b": ["x", "yy", None, "z"] * 5, "c": [1.5, 2.0, 3.0, None] * 5,
        "d": [[1, 2], [], None, [3]] * 5, "e": [{"k": 1}, None, {"k": 2}, {"k": 3}] * 5,
    })  # fmt: skip


def good_parquet(compression: str, dictionary: bool) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table(), file, compression=compression, use_dictionary=dictionary, row_group_size=7)
    return file.getvalue()


def good_arrow(writer: object, compression: str | None) -> bytes:
    file = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with writer(file, table().schema, options=options) as out:
        out.write_table(table())
    return file.getvalue()


STATES = good_states()
BODIES = [s.partition(b"\n")[2] for s in STATES]
CHECKPOINT = good_checkpoint()
FORMULAS = [
    b"G (a -> F[0,5] b)", b"!(kind == 'read') W (kind == \"login\")", b"p S[1,3] q & O r | H (x.y + 2 < 3.5)",
    b"forall c in characters: c.status == 'BASHER' -> F c.status == 'WALKER'", b"[p, q) <-> Y a",
    b"forall u: forall f: access(u, f) -> [login(u), logout(u)) & [open(f), close(f))",
]  # fmt: skip
CSV = [b"a,b\n1,2\n3,x\n5,6\n", b'a,b\n"q""uoted",1\n2,"two\nlines"\n', b"a,b\n2.5,\n,\n"]

JSON = [b'{"a": [1, 2.5, null]}\n{"b": "\\u00e9"}\n', b'{"a": "x"}\n\n{"a": 3}\n']
XML = [b"<t><e k='1'><x>2</x></e>\n<e/></t>", b"<?xml version='1.0'?><e>a&amp;b</e><e/>"]
LOG = [b"access, u=1, f=2\nlogin, u=3, f=x\n", b'a, x="1, 2"\nb, x=\n']
PARQUET = [good_parquet(c, d) for c in ("none", "snappy", "zstd") for d in (True, False)]
ARROW = [good_arrow(w, c) for w in (pa.ipc.new_file, pa.ipc.new_stream) for c in (None, "zstd")]
REFUSED = (ValueError, MillstreamError)

TARGETS = [
    Target("formula", formula, FORMULAS, (MillstreamError,)),
    Target("first-order formula", first_order, FORMULAS[-1:], (MillstreamError,)),
    Target("expression", expression, [*FORMULAS, *CSV], ()),
    Target("marbles", marbles, [b"a-(bc)|", b"1 - 2 --- x|"], (ValueError,)),
    Target("CSV rows", csv_rows, CSV, REFUSED),
    Target("JSON lines", json_lines, JSON, (ValueError,)),
    Target("XML", xml, XML, (ValueError,)),
    Target("CSV batches", csv_batches, CSV, REFUSED, 40_000),
    Target("JSON batches", json_batches, JSON, REFUSED, 40_000),
    Target("log batches", log_batches, LOG, REFUSED, 40_000),
    Target("Parquet", parquet_batches, PARQUET, REFUSED, 60_000),
    Target("Arrow", arrow_batches, ARROW, REFUSED, 60_000),
    Target("state", state, STATES, (MillstreamError,)),
    Target("inside of a state", state_inside, BODIES, (MillstreamError,)),
    Target("checkpoint", checkpoint, [CHECKPOINT], (MillstreamError,), 40_000),
    Target(
        "inside of a checkpoint",
        checkpoint_inside,
        [CHECKPOINT.partition(b"\n")[2]],
        (MillstreamError,),
        40_000,
    ),
]
