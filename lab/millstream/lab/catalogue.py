"""Which experiments there are: those of our own modules, of installed packages, and of files that are named.

A module takes part by having experiments at its top level; nothing is registered by running code. Packages
announce theirs as entry points in the group ``millstream.lab`` (their value is a module's name).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from .experiment import Experiment

#: our own modules with experiments, in the order in which they are listed
MODULES = (
    "millstream.lab.crv.table_1",
    "millstream.lab.crv.speed",
    "millstream.lab.engine",
    "millstream.lab.papers.correlation",
    "millstream.lab.papers.detection",
    "millstream.lab.papers.workers",
    "millstream.lab.papers.office",
    "millstream.lab.papers.ordering",
    "millstream.lab.soak",
    "millstream.lab.bench",
)


def modules(more: Iterable[str] = ()) -> list[str]:
    """Return the names of all modules with experiments; `more` are modules or Python files."""
    installed = [point.value for point in entry_points(group="millstream.lab")]
    return list(dict.fromkeys((*MODULES, *installed, *more)))


def load(module: str) -> ModuleType:
    """Import a module by its name, or by the path of its file."""
    if not module.endswith(".py"):
        return import_module(module)
    path = Path(module).resolve()
    name = f"millstream_lab_file_{path.stem}"
    if name in sys.modules and sys.modules[name].__file__ == str(path):
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"no experiments at {path}: there is no such file")
    loaded = module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def experiments(names: Iterable[str]) -> dict[str, Experiment]:
    """Return the experiments of some modules by name.

    >>> "engine" in experiments(["millstream.lab.engine"])
    True
    """
    found: dict[str, Experiment] = {}
    for name in names:
        for value in vars(load(name)).values():
            if not isinstance(value, Experiment):
                continue
            if found.setdefault(value.name, value) is not value:
                raise ValueError(f"two experiments are called {value.name!r}; the second is in {name}")
            value.home = value.home or name
    return found


def available(names: Iterable[str]) -> tuple[dict[str, Experiment], dict[str, str]]:
    """Return the experiments by name, and why modules whose requirements are not installed are left out."""
    present, absent = [], {}
    for name in names:
        try:
            load(name)
            present.append(name)
        except ImportError as failure:
            absent[name] = str(failure)
    return experiments(present), absent


def choose(known: dict[str, Experiment], patterns: Sequence[str]) -> list[Experiment]:
    """Return the experiments whose names match, in order; everything when no pattern is given.

    >>> choose({}, ["crv*"])
    Traceback (most recent call last):
    LookupError: no experiment matches 'crv*'; there are: none
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise LookupError(f"no experiment matches {pattern!r}; there are: {', '.join(known) or 'none'}")
    return [e for name, e in known.items() if not patterns or any(fnmatchcase(name, p) for p in patterns)]
