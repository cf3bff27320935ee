"""When kernels use compiled loops: if numba is there, and so much has been computed that loading it pays.

Importing numba and its code takes most of a second, and compiling some seconds, once for a machine. NumPy
does a few million rows in less. What comes out is the same, so a process may change over in the middle.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from .column import Array

#: rows that kernels with a loop have computed by NumPy before it is worth while to load numba
ENOUGH = 1 << 24
#: bytes from which on the system gives memory page by page
LARGE = 1 << 17
_computed = 0


def loops(rows: int = 0) -> Any:
    """Return the compiled loops for a kernel that has so many rows to do, None if NumPy should do it.

    Kernels for which it would not pay to load numba give no rows.
    """
    global _computed
    if _computed < ENOUGH:
        _computed += rows
        return None
    return _native()


@cache
def _native() -> Any:
    if find_spec("numba") is None:
        return None
    try:
        from . import native
    except (ImportError, RuntimeError) as error:  # made for another NumPy; nowhere to keep what it compiles
        logging.getLogger(__name__).warning("columns do without numba: %s: %s", type(error).__name__, error)
        return None
    return native


def room(length: int, dtype: Any) -> Array:
    """Return an array to be filled; Arrow keeps the memory of large ones, which NumPy would give back."""
    size: int = length * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.empty(length, dtype)
    found: Array = np.frombuffer(pa.allocate_buffer(size), dtype)
    return found


def tidy(data: Array) -> Array:
    """Return data as compiled loops take them: one after the other, where the machine wants them."""
    return data if data.flags.c_contiguous and data.flags.aligned else np.require(data, None, ["C", "A"])
