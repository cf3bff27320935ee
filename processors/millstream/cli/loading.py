"""From what the user typed to a query: a Python file, `file.py:name`, or `module:name`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from click.shell_completion import CompletionItem

from millstream.processors import Query
from millstream.processors.errors import shorten

#: the modules made from files, which nobody else can import by name
LOADED: list[ModuleType] = []


class QueryType(click.ParamType):  # type: ignore[type-arg]
    """A query, as a Python file, `file.py:name` or `module:name`."""

    name = "query"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Query:
        """Load the query."""
        return value if isinstance(value, Query) else load_query(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete file names."""
        return [CompletionItem(incomplete, type="file")]


def load_query(text: str) -> Query:
    """Return the query that a text names.

    >>> load_query("millstream.processors:Passthrough")
    Passthrough()
    """
    place, name = split(text)
    module = load_file(Path(place)) if is_file(place) else load_module(place)
    if not name:
        return only_query(module, text)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = ", ".join(queries(module)) or "none"
            raise click.UsageError(f"{place} has no {name!r}; the queries in it: {known}")
        found = getattr(found, part)
    return as_query(found, text)


def split(text: str) -> tuple[str, str]:
    """Return the file or module, and the name in it, if one is given.

    >>> split("a/query.py:hot"), split("query.py"), split("shop.queries:hot"), split("C:/query.py")
    (('a/query.py', 'hot'), ('query.py', ''), ('shop.queries', 'hot'), ('C:/query.py', ''))
    """
    place, colon, name = text.rpartition(":")
    if not colon or not name.replace(".", "").isidentifier() or name.endswith(".py"):
        return text, ""
    return place, name


def is_file(place: str) -> bool:
    """Return whether a place is a file rather than a module."""
    return place.endswith(".py") or os.sep in place or os.path.exists(place)


def load_file(path: Path) -> ModuleType:
    """Run a Python file as a module; what stands beside it can be imported."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    # Registered under its own name, so that what it defines can be pickled and sent to workers.
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    LOADED.append(module)
    return module


def load_module(name: str) -> ModuleType:
    """Import a module; what stands in the current folder can be imported."""
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise click.UsageError(
            f"there is neither a file nor a module {name!r}; give query.py, query.py:name or module:name"
        ) from None


def queries(module: ModuleType) -> dict[str, Query]:
    """Return the queries that a module holds by name."""
    return {k: v for k, v in vars(module).items() if isinstance(v, Query) and not k.startswith("_")}


def only_query(module: ModuleType, text: str) -> Query:
    """Return the query of a file that names none: the one called `query`, or the only one."""
    found = queries(module)
    if "query" in found:
        return found["query"]
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise click.UsageError(f"{text} has no query; assign one to a name, as in: query = Filter(X > 3)")
    raise click.UsageError(
        f"{text} has several queries; name one: " + ", ".join(f"{text}:{n}" for n in found)
    )


def as_query(found: Any, text: str) -> Query:
    """Return a query, or what a class or function without parameters makes."""
    if not isinstance(found, Query) and callable(found):
        found = found()
    if not isinstance(found, Query):
        raise click.UsageError(f"{text} is not a query but {shorten(found)}")
    return found
