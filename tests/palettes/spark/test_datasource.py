"""The format millstream: traces in files, and queries on them, read by Spark."""

import gzip

import pytest

from millstream.lab.crv.pingus import Pingu, PingusXml
from millstream.palettes.fol import Verdicts
from millstream.palettes.fol.challenge import PROPERTIES
from millstream.palettes.spark import packed, register
from millstream.processors import Apply, QueryError

LINES = ["login,ann", "open,notes", "access,ann,notes", "logout,ann", "access,ann,notes"]


@pytest.fixture(scope="module")
def logs(spark, tmp_path_factory):
    register(spark)
    folder = tmp_path_factory.mktemp("logs")
    (folder / "a.csv").write_text("\n".join(LINES) + "\n")
    with gzip.open(folder / "b.csv.gz", "wt") as file:
        file.write('say,"a, b"\n\nlogin,bob\n')
    return folder


def read(spark, **options):
    return spark.read.format("millstream").options(**options)


def test_logs_are_rows(spark, logs):
    rows = read(spark).load(str(logs)).orderBy("file", "position").collect()
    names = [str(logs / "a.csv")] * 5 + [str(logs / "b.csv.gz")] * 2
    assert [row.file for row in rows] == names
    assert [[row.name, *row.args] for row in rows] == [
        *(x.split(",") for x in LINES),
        ["say", "a, b"],
        ["login", "bob"],
    ]
    assert [row.position for row in rows][:3] == [0, 10, 21]


def test_logs_take_the_columns_that_are_asked_for(spark, logs):
    typed = read(spark).schema("position long, name string, user string, file string")
    (row,) = typed.load(str(logs / "a.csv")).where("name = 'login'").collect()
    assert row == (0, "login", "ann", str(logs / "a.csv"))
    spare = read(spark).schema("name string, first string, second string").load(str(logs / "a.csv"))
    assert spare.collect()[1:3] == [("open", "notes", None), ("access", "ann", "notes")]


def test_queries_are_data_sources(spark, logs):
    access = Verdicts(PROPERTIES["access"])
    (logs / "c.csv").write_text("\n".join(LINES[:3]) + "\n")
    result = read(spark, query=packed(access), returns="boolean").load(str(logs / "[ac].csv"))
    assert result.where("not output").select("position").collect() == [(4,)]
    assert result.count() == 8


def test_pingus_snapshots_are_rows_and_events(spark, logs, tmp_path):
    figures = [
        [Pingu(k, "WALKER" if k else "BASHER", 1.0 * n, 2.0, 0.5, 0.0) for k in range(2)] for n in range(4)
    ]
    PingusXml().write(tmp_path / "game.xml", figures)
    rows = read(spark, trace="pingus").load(str(tmp_path / "game.xml"))
    assert rows.selectExpr("position", "characters[1].x", "size(characters)").collect() == [
        (n, 1.0 * n, 2) for n in range(4)
    ]
    walkers = Apply(lambda snapshot: sum(p.status == "WALKER" for p in snapshot))
    counts = read(spark, trace="pingus", query=packed(walkers), returns="int").load(str(tmp_path))
    assert [row.output for row in counts.collect()] == [1] * 4


def test_logs_are_followed_as_they_grow(spark, logs, tmp_path):
    log = tmp_path / "logs" / "live.csv"
    log.parent.mkdir()
    log.write_text("a,1\nb,2\nunfin")

    def step():
        lines = spark.readStream.format("millstream").load(str(log.parent))
        writer = lines.writeStream.format("json").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
        out = spark.read.json(str(tmp_path / "out"))
        return [(row.name, *row.args) for row in out.orderBy("file", "position").collect()]

    assert step() == [("a", "1"), ("b", "2")]
    with log.open("a") as file:
        file.write("ished,3\n")
    (log.parent / "other.csv").write_text("c,4\n")
    assert step() == [("a", "1"), ("b", "2"), ("unfinished", "3"), ("c", "4")]


def test_the_format_says_what_is_wrong(spark, logs):
    wrong = {
        "trace must be 'log' or 'pingus', got 'xes'": {"trace": "xes"},
        "the option query must be made with packed": {"query": "Count()"},
        "say with the option returns what type the outputs": {"query": packed(Apply(len))},
    }
    for message, options in wrong.items():
        with pytest.raises(Exception, match=message):
            read(spark, **options).load(str(logs))
    with pytest.raises(Exception, match="there is no file"):
        read(spark).load(str(logs / "none.csv")).collect()
    with pytest.raises(QueryError, match="expected a query"):
        packed(3)
