"""Which items of an event a Python function reads, found in its bytecode.

Columns that nobody reads need not be shuffled and made Python objects. A function tells what it reads if its
argument occurs only as ``event["name"]``; any other use, and anything this file does not know, may read all.
"""

from __future__ import annotations

import dis
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import islice
from types import FunctionType
from typing import Any

#: functions that see the variables of their caller
PEEKING = {"locals", "vars", "eval", "exec", "dir"}


def items_read(function: Any) -> set[str] | None:
    """Return the keys of the only argument that a function reads, None if it may read any.

    >>> sorted(items_read(lambda e: e["price"] * e["n"] if e["n"] > 1 else 0))
    ['n', 'price']
    >>> items_read(lambda e: len(e)), items_read(lambda e, n=1: e["price"]), items_read(print)
    (None, None, None)
    """
    if type(function) is not FunctionType or not _is_plain(function):
        return None
    (argument,), found = function.__code__.co_varnames[:1], set()
    steps = [i for i in dis.get_instructions(function) if i.opname not in ("CACHE", "EXTENDED_ARG")]
    for n, step in enumerate(steps):
        if step.argval == argument or (isinstance(step.argval, tuple) and argument in step.argval):
            name = _item(*islice(steps, n, n + 3)) if n + 3 <= len(steps) else None
            if name is None:
                return None
            found.add(name)
    return found


def _is_plain(function: FunctionType) -> bool:
    """Return whether a function has one argument, which it neither hands to an inner function nor hides."""
    code = function.__code__
    one = code.co_argcount == 1 and not code.co_kwonlyargcount
    variable = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)
    return one and not variable and not code.co_cellvars and not PEEKING & set(code.co_names)


def _item(load: dis.Instruction, key: dis.Instruction, get: dis.Instruction) -> str | None:
    """Return the name in ``argument["name"]``, None if these instructions are something else."""
    loads = load.opname in ("LOAD_FAST", "LOAD_FAST_BORROW") and key.opname == "LOAD_CONST"
    gets = get.opname == "BINARY_SUBSCR" or (get.opname == "BINARY_OP" and get.argrepr == "[]")
    return key.argval if loads and gets and isinstance(key.argval, str) else None
