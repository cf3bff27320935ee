"""Files as streams of batches and of rows; bad files."""

import gzip

import pyarrow as pa
import pytest

from millstream.palettes.columns import BadLine, ReadError, columnar, read_csv
from millstream.processors import Apply, Cumulate, E, Filter, Tap

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
