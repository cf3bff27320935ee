"""`millstream run`: formats, pipes, growing files, and how it ends."""

import gzip
import json
import os
import pty
import signal
import subprocess

import pytest

CSV = "kind,c\ntemp,3\nhum,4\ntemp,5\n"
FORMS = {
    "t.csv": CSV,
    "t.jsonl": '{"kind": "temp", "c": 3}\n{"kind": "hum", "c": 4}\n{"kind": "temp", "c": 5}\n',
    "t.xml": '<t><e kind="temp"><c>3</c></e><e kind="hum"/>\n<e kind="temp"><c>5</c></e></t>',
}


@pytest.mark.parametrize("name", FORMS)
def test_run_reads_the_format_that_the_name_says(millstream, write, name):
    assert millstream("run", "query.py", write(name, FORMS[name])).stdout == "3\n8\n"


def test_run_reads_gzip_and_parquet(millstream, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write(CSV)
    table = pa.table({"kind": ["temp", "hum", "temp"], "c": [3, 4, 5]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert millstream("run", "query.py", "t.csv.gz").stdout == "3\n8\n"
    assert millstream("run", "query.py", "t.parquet").stdout == "3\n8\n"


def test_run_reads_logs_and_xml_without_a_root(millstream, write):
    write("names.py", "from millstream.processors import Apply, X\nnames = Apply(X[0])\n")
    assert millstream("run", "names.py", write("a.log", "login,ann\nread,1\n")).stdout == "login\nread\n"
    messages = write("m.xml", "<m><c>1</c></m>\n<m><c>2</c></m>")
    write("all.py", "from millstream.processors import Passthrough\nquery = Passthrough()\n")
    failed = millstream("run", "all.py", messages, status=2)
    assert "has several outermost elements; say which are events, as in tag='m'" in failed.stderr
    assert millstream("run", "all.py", messages, "--tag", "m").stdout == "{'c': 1}\n{'c': 2}\n"


def test_run_query_from_a_module_and_text_left_alone(millstream, write):
    write("shop.py", "from millstream.processors import Apply, E\nhot = Apply(E.c)\n")
    assert (
        millstream("run", "shop:hot", write("t.csv", CSV), "--text", "--to", "json").stdout
        == '"3"\n"4"\n"5"\n'
    )


def test_run_several_outputs_and_inputs(millstream, write):
    assert millstream("run", "query.py:both", write("t.csv", CSV), "--to", "json").stdout.splitlines() == [
        '1: {"kind": "temp", "c": 3}',
        '0: {"kind": "hum", "c": 4}',
        '1: {"kind": "temp", "c": 5}',
    ]
    write("sums.py", "from millstream.processors import Apply, E, Y\nsums = Apply(E.c + Y.c)\n")
    assert millstream("run", "sums.py", "t.csv", "t.csv").stdout == "6\n8\n10\n"
    failed = millstream("run", "sums.py", "t.csv", status=2)
    assert "the query has 2 inputs, but 1 traces are given" in failed.stderr


def test_run_json_writes_what_json_does_not_know(millstream, write):
    write(
        "verdicts.py",
        "from millstream.palettes.ltl import Monitor\nfrom millstream.processors import Apply, X\n"
        "query = Monitor(\"G (kind == 'temp')\") | Apply(lambda v: {'verdict': v, 'seen': {1}})\n",
    )
    out = millstream("run", "verdicts.py", write("t.csv", CSV), "--to", "json").stdout.splitlines()
    assert json.loads(out[1]) == {"verdict": "FALSE", "seen": [1]}


def test_run_from_a_pipe_prints_each_output_at_once(start):
    process = start("run", "query.py", stdin=subprocess.PIPE)
    process.stdin.write("kind,c\ntemp,3\n")
    process.stdin.flush()
    assert process.stdout.readline() == "3\n"
    process.stdin.write("temp,4\n")
    process.stdin.close()
    process.stdin = None
    assert process.communicate()[0] == "7\n"
    assert process.returncode == 0


def test_run_follows_a_growing_file_until_interrupted(start, tmp_path):
    path = tmp_path / "grows.csv"
    path.write_text("kind,c\ntemp,3\nte")
    process = start("run", "query.py", "grows.csv", "--follow")
    assert process.stdout.readline() == "3\n"
    with path.open("a") as file:
        file.write("mp,4\n")
    assert process.stdout.readline() == "7\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate() == ("", "")
    assert process.returncode == 130


def test_run_into_a_closed_pipe_is_not_an_error(start):
    process = start("run", "query.py", stdin=subprocess.PIPE)
    process.stdin.write("kind,c\ntemp,3\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write("temp,4\n" * 1000)
    process.stdin.close()
    assert process.stderr.read() == ""
    assert process.wait() == 141


def test_run_limit_stops_reading(start):
    process = start("run", "query.py", "--limit", "1", stdin=subprocess.PIPE)
    process.stdin.write("kind,c\ntemp,3\n")
    process.stdin.flush()
    assert process.wait() == 0
    assert process.stdout.read() == "3\n"


def test_run_says_what_failed_after_printing_what_came_before(millstream, write):
    write("t.csv", "kind,c\ntemp,3\ntemp,four\ntemp,5\n")
    failed = millstream("run", "query.py", "t.csv", status=2)
    assert failed.stdout == "3\n"
    assert failed.stderr.startswith(
        "millstream: Cumulate(add) failed on 'four' at input event 1 (counted from 0), place 2:Cumulate: Type"
    )
    assert "Traceback" not in failed.stderr
    assert "--debug" in failed.stderr
    assert "Traceback" in millstream("run", "query.py", "t.csv", "--debug", status=2).stderr
    assert "Traceback" in millstream("--debug", "run", "query.py", "t.csv", status=2).stderr
    skipped = millstream("run", "query.py", "t.csv", "--skip-errors")
    assert skipped.stdout == "3\n8\n"
    assert skipped.stderr.startswith("skipped: Cumulate(add) failed on 'four'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.py"], "there is no file nothing.py"),
        (["query.py", "nothing.csv"], "nothing.csv: No such file or directory"),
        (["query.py:hot"], "query.py has no 'hot'; the queries in it: query, both"),
        (["two.py"], "two.py has several queries; name one: two.py:a, two.py:b"),
        (["none.py"], "none.py has no query; assign one to a name, as in: query = Filter(X > 3)"),
        (["none.py:os"], "none.py:os is not a query but <module 'os'"),
        (["absent.module:x"], "there is neither a file nor a module 'absent.module'"),
        (["broken.py"], "NameError: name 'Filter' is not defined"),
        (["missing.py"], "No module named 'nowhere'"),
        (["query.py", "-", "--follow"], "--follow is for files"),
        (["query.py", "short.csv"], "millstream: short.csv, line 2: 1 values for 2 columns\n"),
        (["query.py", "bad.jsonl"], "bad.jsonl, line 2: not JSON"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_run_errors_name_what_is_wrong(millstream, write, arguments, message):
    write("two.py", "from millstream.processors import Count\na = Count()\nb = Count()\n")
    write("none.py", "import os\n")
    write("broken.py", "query = Filter(3)\n")
    write("missing.py", "import nowhere\n")
    write("short.csv", "kind,c\ntemp\n")
    write("bad.jsonl", '{"kind": "hum"}\n{\n')
    failed = millstream("run", *arguments, status=2)
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr


def test_run_threads_gives_the_same_and_explains(millstream, write):
    write(
        "slow.py",
        "from millstream.processors import Apply, E\n"
        "def work(c):\n    return sum(range(c % 7 + 3000))\n"
        "query = Apply(E.c) | Apply(work)\n",
    )
    write("many.csv", "c\n" + "".join(f"{n}\n" for n in range(3000)))
    plain = millstream("run", "slow.py", "many.csv")
    fast = millstream("run", "slow.py", "many.csv", "--threads", "2", "--explain")
    assert fast.stdout == plain.stdout
    assert fast.stderr.startswith("Apply(E.c) | Apply(work): stateless,")
    failed = millstream("run", "query.py:both", "many.csv", "--threads", "2", status=2)
    assert "--threads is for queries with one input and one output" in failed.stderr


def test_run_columns_gives_the_same_and_explains(millstream, write):
    write("t.csv", CSV)
    done = millstream("run", "query.py", "t.csv", "--columns", "--explain")
    assert done.stdout == "3\n8\n"
    assert done.stderr.splitlines()[0].split() == ["0:Filter", "Filter(E.kind", "==", "'temp')", "NumPy"]
    assert millstream("run", "query.py", write("t.jsonl", FORMS["t.jsonl"]), "--columns").stdout == "3\n8\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--columns", "--threads", "2"], "choose one of --threads and --columns"),
        (["--columns", "-t", "log"], "--columns reads CSV, JSON lines and Parquet files that are complete"),
        (["--key", "c"], "--key and --order-by are for --spark; a query has Slice and Reorder"),
        (["--spark", "--key", "kind"], "--spark needs --order-by COLUMN"),
        (["--spark", "-t", "xml"], "--spark reads CSV, JSON lines and Parquet files that are complete"),
    ],
    ids=" ".join,
)
def test_run_refuses_ways_that_do_not_fit(millstream, write, options, message):
    assert message in millstream("run", "query.py", write("t.csv", CSV), *options, status=2).stderr


@pytest.mark.slow
@pytest.mark.spark
def test_run_on_spark_for_each_key(millstream, write):
    write(
        "rule.py",
        "from millstream.palettes.ltl import Monitor\nfrom millstream.processors import Apply\n"
        "def name(verdict):\n    return verdict.name.lower()\n"
        'query = Monitor("G ok") | Apply(name)\n',
    )
    write("s.csv", "user,t,ok\nann,1,true\nann,3,false\nbob,2,true\n")
    done = millstream(
        "run", "rule.py", "s.csv", "--spark", "--key", "user", "--order-by", "t", "--to", "json"
    )
    assert [tuple(json.loads(line).values()) for line in done.stdout.splitlines()] == [
        ("ann", 1, "unknown"),
        ("bob", 2, "unknown"),
        ("ann", 3, "false"),
    ]


def test_run_without_a_portion_says_what_to_install(millstream, write):
    """A portion that is not installed: hidden from the program by an entry of None."""
    write("hides.py", "import sys\nsys.modules['millstream.concurrency'] = None\nfrom query import query\n")
    write("none.py", "import sys\nsys.modules['numpy'] = None\nfrom query import query\n")
    write("t.csv", CSV)
    assert millstream("run", "none.py", "t.csv", "--columns", status=2).stderr == (
        "millstream: millstream.palettes.columns needs numpy: pip install 'millstream[columns]'\n"
    )
    failed = millstream("run", "hides.py", "t.csv", "--threads", "2", status=2)
    assert failed.stderr == (
        "millstream: millstream.concurrency is not part of this installation: pip install 'millstream'\n"
    )


def test_run_shows_progress_on_a_terminal_only(start, write, tmp_path):
    write(
        "impatient.py",
        "from millstream.cli import progress\nprogress.PATIENCE = -1\nfrom query import query\n",
    )
    write("t.csv", CSV)
    main, terminal = pty.openpty()
    process = start("run", "impatient.py", "t.csv", stderr=terminal)
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(main, 1000):
            shown += chunk
    except OSError:  # how a pseudo-terminal says that the other side is gone
        pass
    os.close(main)
    assert process.communicate()[0] == "3\n8\n"
    assert b"27/27 bytes" in shown
    assert start("run", "impatient.py", "t.csv").communicate() == ("3\n8\n", "")


def test_run_watch_shows_each_processor(millstream, write):
    done = millstream("run", "query.py", write("t.csv", CSV), "--watch")
    assert done.stdout == "3\n8\n"
    lines = [line.split() for line in done.stderr.splitlines()]
    assert lines[0][:2] == ["3", "events,"]
    assert [line[:3] for line in lines[2:]] == [
        ["0:Filter", "3", "2"],
        ["1:Apply", "2", "2"],
        ["2:Cumulate", "2", "2"],
    ]


def test_run_watch_is_for_runs_event_by_event(millstream, write):
    failed = millstream("run", "query.py", write("t.csv", CSV), "--watch", "--columns", status=2)
    assert "--watch shows a run event by event" in failed.stderr
