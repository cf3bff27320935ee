"""`ship`: workers that have nothing of millstream installed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from millstream.palettes.spark.shipping import make_archive
from millstream.processors import QueryError

#: on Connect, a stream runs in a session of its own, which does not have what was sent to the first one
STREAM = {
    "classic": "stream: [('ann', 1.0, 1), ('ann', 2.0, 2)]",
    "connect": "stream: without what was shipped True",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STREAM)
def test_workers_without_millstream_run_what_was_shipped(tmp_path, kind):
    (tmp_path / "greetings").mkdir()
    (tmp_path / "greetings" / "__init__.py").write_text("def polite(e):\n    return 'Hello, ' + e['user']\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    script = Path(__file__).with_name("bare_worker.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path, kind], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.splitlines() == [
        "before: True",
        "after: [('ann', 1, 'UNKNOWN'), ('ann', 2, 'FALSE'), ('bob', 1, 'UNKNOWN')]",
        "own: ['Hello, ann', 'Hello, bob']",
        "trace: 2",
        "udf: [('ann', 'FALSE'), ('bob', 'UNKNOWN')]",
        "sql: [('ann', 'FALSE'), ('bob', 'UNKNOWN')]",
        STREAM[kind],
    ], done.stderr[-3000:]


def test_archive_has_entries_for_directories(tmp_path):
    make_archive(tmp_path / "a.zip", ("millstream",))
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = archive.namelist()
    wanted = {
        "millstream/",
        "millstream/palettes/",
        "millstream/palettes/ltl/",
        "millstream/processors/query.py",
    }
    assert wanted <= set(names)
    assert len(names) == len(set(names))
    assert not [name for name in names if "__pycache__" in name]


def test_unknown_package_is_named(tmp_path):
    with pytest.raises(QueryError, match="there is no package 'nowhere' to send"):
        make_archive(tmp_path / "a.zip", ("nowhere",))
