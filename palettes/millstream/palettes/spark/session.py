"""A Spark session on this machine, and what to install when Spark cannot start."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import millstream
from millstream.processors import MillstreamError

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
JAVA = (
    "Spark needs Java 17 or newer, which was found neither in JAVA_HOME nor on the PATH. Install a whole "
    "runtime (Spark 4 uses the module jdk.incubator.vector, which trimmed ones lack): "
    "`apt install openjdk-17-jre-headless` on Debian and Ubuntu, `brew install openjdk@17` on macOS, or a "
    "build from https://adoptium.net"
)


def find_java() -> str:
    """Return the path of the Java that Spark would start; say what to install if there is none."""
    home = os.environ.get("JAVA_HOME")
    at_home = Path(home, "bin", "java") if home else None
    found = str(at_home) if at_home is not None and at_home.exists() else shutil.which("java")
    if found is None:
        raise MillstreamError(JAVA)
    return found


def local_session(workers: int = 2, **settings: Any) -> SparkSession:
    """Return a quiet session on this machine: no web page, bound to loopback, a shuffle partition a worker.

    An existing session is returned as it is.

    Parameters
    ----------
    workers
        How many tasks run at once.
    settings
        Further settings, with ``__`` for a dot: ``spark__driver__memory="4g"``.
    """
    running: SparkSession | None = SparkSession.getActiveSession()
    if running is not None:
        return running
    find_java()
    python = os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else the first python3 on the PATH
    chosen: dict[str, Any] = {
        **(_ready_workers() if python == sys.executable else {}),
        "spark.app.name": "millstream",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(workers),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        # on a busy machine a Python worker takes longer to start than the 15 seconds that Spark waits
        "spark.python.authenticate.socketTimeout": "120s",
        **{name.replace("__", "."): str(value) for name, value in settings.items()},
    }
    builder = SparkSession.builder.master(f"local[{workers}]").config(map=chosen)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _ready_workers() -> dict[str, str]:
    """Return the settings with which Python workers begin with millstream imported, from where it is here."""
    folders = dict.fromkeys(str(Path(place).parent) for place in millstream.__path__)
    inherited = os.environ.get("PYTHONPATH")
    return {
        "spark.python.daemon.module": "millstream.palettes.spark.daemon",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([*folders, *([inherited] if inherited else [])]),
    }
