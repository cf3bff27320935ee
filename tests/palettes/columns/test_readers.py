"""Files as streams of batches and of rows; bad files."""

import gzip

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millstream.palettes.columns import (
    BadLine,
    ReadError,
    columnar,
    read_csv,
    read_frame,
    read_ipc,
    read_json,
    read_log,
    read_parquet,
    sink,
    to_pandas,
    to_polars,
    write_csv,
    write_ipc,
    write_json,
    write_parquet,
)
from millstream.palettes.ltl import Monitor
from millstream.palettes.slicer import Slice
from millstream.processors import Apply, Count, Cumulate, E, Filter, Tap

LINES = [f"{'temp' if k % 2 else 'wind'},{k}" for k in range(3000)]
TEXT = "\n".join(["kind,celsius", *LINES, ""])
ROWS = [{"kind": line.split(",")[0], "celsius": int(line.split(",")[1])} for line in LINES]


@pytest.fixture
def readings(tmp_path):
    path = tmp_path / "readings.csv"
    path.write_text(TEXT)
    return path


def test_read_csv_gives_several_batches_and_their_rows(readings):
    source = read_csv(readings, block=4096)
    assert len(list(source)) > 3
    assert list(source.rows()) == ROWS
    assert list(source.rows()) == ROWS


def test_read_csv_pipes_into_a_columnar_query(readings):
    from operator import add

    query = Filter(E.kind == "temp") | Apply(E.celsius) | Cumulate(add)
    last = list(read_csv(readings, block=4096) | columnar(query) | Tap(len))[-1]
    assert last.column("value")[-1].as_py() == list(query(ROWS))[-1]


def test_read_csv_unpacks(readings, tmp_path):
    packed = tmp_path / "readings.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert list(read_csv(packed).rows()) == ROWS


def test_read_csv_options(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("1;x\n;y\n")
    (batch,) = read_csv(path, header=False, names=["n", "s"], delimiter=";", types={"n": float})
    assert batch.to_pydict() == {"n": [1.0, None], "s": ["x", "y"]}
    (batch,) = read_csv(path, header=False, delimiter=";", columns=["f1"])
    assert batch.to_pydict() == {"f1": ["x", "y"]}


def test_read_csv_tells_progress(readings):
    told = []
    for _ in read_csv(readings, block=4096, progress=lambda done, size: told.append((done, size))):
        pass
    assert told[-1] == (len(TEXT), len(TEXT))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) > 3


def test_read_csv_names_the_bad_line_and_delivers_what_came_before(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["a,b", *["1,2"] * 2000, "1,2,3", ""]))
    got = []
    with pytest.raises(ReadError, match=r"bad\.csv, line 2002: 3 values for 2 columns: '1,2,3'; correct it"):
        got.extend(read_csv(path, block=1024).rows())
    assert len(got) > 1000


def test_read_csv_leaves_bad_lines_out(tmp_path):
    path, bad = tmp_path / "bad.csv", []
    path.write_text("a,b\n1,2\n1,2,3\n4\n5,6\n")
    assert list(read_csv(path, on_error="skip").rows()) == [{"a": 1, "b": 2}, {"a": 5, "b": 6}]
    assert list(read_csv(path, on_error=bad).rows()) == [{"a": 1, "b": 2}, {"a": 5, "b": 6}]
    assert bad == [BadLine(3, "1,2,3", "3 values for 2 columns"), BadLine(4, "4", "1 values for 2 columns")]


def test_read_csv_names_a_value_of_another_type(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["a", *["1"] * 2000, "x", ""]))
    with pytest.raises(
        ReadError, match=r"line 2002, column 1: expected int64, got an invalid value 'x'; types"
    ):
        list(read_csv(path, block=1024))


def test_read_csv_says_that_a_file_is_cut_off(tmp_path):
    path = tmp_path / "cut.csv.gz"
    packed = gzip.compress("\n".join(["a", *map(str, range(400_000)), ""]).encode())
    path.write_bytes(packed[: len(packed) // 2])
    got = []
    with pytest.raises(ReadError, match=r"cut\.csv\.gz: the file ends in the middle"):
        got.extend(read_csv(path, block=1 << 14).rows())
    assert len(got) > 1000


def test_readers_say_what_is_wrong_with_their_parameters(tmp_path):
    with pytest.raises(ReadError, match=r"nothing\.csv: cannot be read"):
        list(read_csv(tmp_path / "nothing.csv"))
    with pytest.raises(ReadError, match="types: 'a' must be an Arrow type, the name of one, or int"):
        read_csv("x.csv", types={"a": "number"})
    with pytest.raises(ValueError, match="on_error must be 'raise', 'skip' or a sink"):
        read_csv("x.csv", on_error="ignore")


def test_types_may_be_given_by_arrow(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    for kind in (pa.int8(), "int8"):
        assert next(iter(read_csv(path, types={"a": kind}))).schema.types == [pa.int8()]


TABLE = pa.table(
    {"n": list(range(1000)), "s": [f"t{k % 7}" for k in range(1000)], "f": [k / 4 for k in range(1000)]}
)
WRITERS = {
    "csv": (write_csv, read_csv),
    "json": (write_json, read_json),
    "parquet": (write_parquet, read_parquet),
    "ipc": (write_ipc, read_ipc),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_what_is_written_is_read_again(kind, tmp_path):
    write, read = WRITERS[kind]
    path = tmp_path / f"table.{kind}"
    assert write(TABLE.to_batches(max_chunksize=300), path) == 1000
    told = []
    assert pa.Table.from_batches(read(path, progress=lambda *done: told.append(done))) == TABLE
    assert list(read(path).rows()) == TABLE.to_pylist()
    assert told
    with sink(path, kind) as put:
        run = columnar(Filter(E.n < 10)).into(put)
        for batch in TABLE.to_batches(max_chunksize=300):
            run.push(batch)
    assert [row["n"] for row in read(path).rows()] == list(range(10))


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "ipc"])
def test_verdicts_and_pairs_are_written(kind, tmp_path):
    write, read = WRITERS[kind]
    path = tmp_path / f"out.{kind}"
    write(columnar(Monitor("G (n < 5)"))(TABLE.to_batches()), path)
    read_again = list(read(path).rows())
    assert read_again[5] == ("FALSE" if kind in ("parquet", "ipc") else {"value": "FALSE"})
    write(columnar(Slice(E.s, Count()))(TABLE.to_batches()), path)


@pytest.mark.parametrize("kind", ["parquet", "ipc", "ipc stream"])
def test_a_file_that_is_cut_off_says_so(kind, tmp_path):
    path = tmp_path / "whole"
    if kind == "ipc stream":
        with pa.ipc.new_stream(str(path), TABLE.schema) as writer:
            for batch in TABLE.to_batches(max_chunksize=300):
                writer.write_batch(batch)
    else:
        WRITERS[kind][0](TABLE.to_batches(max_chunksize=300), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    got = []
    with pytest.raises(ReadError, match=r"whole: no .* file, or one that ends in the middle"):
        got.extend((read_parquet if kind == "parquet" else read_ipc)(path))
    assert bool(got) == (kind == "ipc stream")  # the other two have their table of contents at the end


def test_read_json_names_the_bad_line(tmp_path):
    path, bad = tmp_path / "a.jsonl", []
    path.write_text("\n".join(['{"a": 1}'] * 500 + ["{oops}", '{"a": 2}', '{"a": "x"}', ""]))
    got = []
    with pytest.raises(ReadError, match=r"a\.jsonl, line 501: .* in '\{oops\}'; give types"):
        got.extend(read_json(path, block=256).rows())
    assert len(got) > 400
    assert len(list(read_json(path, block=256, on_error=bad).rows())) == 501
    assert [(b.line, b.text) for b in bad] == [(501, "{oops}"), (503, '{"a": "x"}')]
    with pytest.raises(ReadError, match="line 501"):
        list(read_json(path))


def test_read_log_reads_names_and_arguments(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"open,ann,f1\r\n\nclose,f1\nx,,3")
    assert list(read_log(path).rows()) == [
        {"name": "open", "arg1": "ann", "arg2": "f1"}, {"name": "close", "arg1": "f1", "arg2": None},
        {"name": "x", "arg1": "", "arg2": "3"},
    ]  # fmt: skip
    with pytest.raises(ReadError, match="event 0 of the block at line 1: 2 arguments, expected at most 1"):
        list(read_log(path, args=["user"]))
    with pytest.raises(ReadError, match=r"column 'arg2': .*; leave it a text"):
        list(read_log(path, types={"arg2": int}))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.text("ab ü", max_size=4), min_size=1, max_size=4), min_size=1), st.integers(8, 60)
)
def test_read_log_agrees_with_splitting(tmp_path_factory, events, block):
    path = tmp_path_factory.mktemp("logs") / "log"
    lines = [",".join(event) for event in events]
    path.write_text("\n".join(lines))
    expected = [line.split(",") for line in lines if line]
    got = [list(row.values()) for row in read_log(path, args=["a", "b", "c"], block=block).rows()]
    assert got == [e + [None] * (4 - len(e)) for e in expected]


def test_frames_of_pandas_and_polars_are_read_and_made():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for frame in (
        pandas.DataFrame({"a": [1, 2, 3]}),
        polars.DataFrame({"a": [1, 2, 3]}),
        pa.table({"a": [1, 2, 3]}),
    ):
        source = read_frame(frame, batch=2)
        assert [b.num_rows for b in source] == [2, 1]
        assert list(source.rows()) == [{"a": 1}, {"a": 2}, {"a": 3}]
        doubled = columnar(Apply(E.a * 2))(source)
        assert to_pandas(doubled)["value"].tolist() == [2, 4, 6]
        assert to_polars(columnar(Apply(E.a * 2))(source))["value"].to_list() == [2, 4, 6]
    with pytest.raises(
        ValueError, match="read_frame: expected a frame of pandas or Polars or a table of Arrow, got 3"
    ):
        read_frame(3)


def test_a_bar_shows_progress(readings, capsys):
    assert len(list(read_csv(readings, progress=True).rows())) == 3000
    assert "readings.csv" in capsys.readouterr().err
