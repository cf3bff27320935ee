"""A description of the machine that figures were measured on."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

PACKAGES = ("millstream", "numpy", "pandas", "pyarrow", "pyspark")


def describe() -> dict[str, Any]:
    """Describe this machine: processor, cores, memory, system, Python and packages.

    >>> describe()["cores"] >= 1
    True
    """
    found = {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory GB": round(psutil.virtual_memory().total / 1e9, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {sys.version.split()[0]}",
        "other load at the start": round(psutil.cpu_percent(interval=0.2) / 100, 2),
    }
    return found | {name: v for name in PACKAGES if (v := _version(name))}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether two descriptions are of the same machine with the same software."""
    return all(one.get(k) == other.get(k) for k in (one | other) if k != "other load at the start")


def _processor() -> str:
    """Return the processor's name; Linux tells it in a file only."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
