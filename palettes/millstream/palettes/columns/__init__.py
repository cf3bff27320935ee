"""Columns: the same query over record batches of Arrow, computed by NumPy."""

try:
    import numpy as _numpy  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        f"millstream.palettes.columns needs {_error.name}: pip install 'millstream[columns]'",
        name=_error.name,
    ) from _error

from .batches import BatchError
from .columnar import Columnar, ColumnarRun, columnar
from .csvfiles import BadLine, read_csv
from .explaining import Explanation, Part
from .files import read_frame, read_ipc, read_json, read_parquet
from .gathering import Gathered
from .logs import read_log
from .program import NotColumnarError
from .reading import Batches, ReadError, Rows
from .writing import Sink, sink, to_pandas, to_polars, write_csv, write_ipc, write_json, write_parquet

__all__ = [
    "BadLine",
    "BatchError",
    "Batches",
    "Columnar",
    "ColumnarRun",
    "Explanation",
    "Gathered",
    "NotColumnarError",
    "Part",
    "ReadError",
    "Rows",
    "Sink",
    "columnar",
    "read_csv",
    "read_frame",
    "read_ipc",
    "read_json",
    "read_log",
    "read_parquet",
    "sink",
    "to_pandas",
    "to_polars",
    "write_csv",
    "write_ipc",
    "write_json",
    "write_parquet",
]
