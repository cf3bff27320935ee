"""A standalone Spark cluster on loopback, real processes that can be killed."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyspark

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
ENVIRONMENT = {
    **os.environ,
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Process:
    """A program and its children, in a process group of their own."""

    def __init__(self, command, output, **streams):
        self.log = open(output, "ab")  # noqa: SIM115 (closed when it is killed)
        self.process = subprocess.Popen(
            list(map(str, command)), env=ENVIRONMENT, stderr=self.log, start_new_session=True, text=True,
            **{"stdout": self.log, **streams},
        )  # fmt: skip

    def kill(self) -> None:
        """Kill it and all its children, without a warning."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.log.close()


class Cluster:
    """A master and workers; `with Cluster(folder, workers=2) as cluster`."""

    def __init__(self, folder: Path, workers: int) -> None:
        folder.mkdir()
        self.folder, port = folder, free_port()
        self.url = f"spark://127.0.0.1:{port}"
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        master = [SPARK_CLASS, "org.apache.spark.deploy.master.Master", *place, "--port", port]
        self.master = Process(master, folder / "master.log")
        self.workers = [self.start_worker(k) for k in range(workers)]

    def start_worker(self, number: int) -> Process:
        size = ["--cores", "1", "--memory", "600m", "--work-dir", self.folder / f"work{number}"]
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        command = [SPARK_CLASS, "org.apache.spark.deploy.worker.Worker", *place, *size, self.url]
        return Process(command, self.folder / f"worker{number}.log")

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_) -> None:
        for process in [*self.workers, self.master]:
            process.kill()
