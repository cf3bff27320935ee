"""Queries on Spark: the same query object over DataFrames, per key or over one trace, in batch or streaming.

The README beside this file says which function to use when.
"""

from importlib.util import find_spec

# not imported here: pandas takes half a second, and few processes need it
if _missing := [name for name in ("numpy", "pandas", "pyarrow", "pyspark") if find_spec(name) is None]:
    raise ImportError(
        f"millstream.palettes.spark needs {_missing[0]}, which is not installed; "
        "install it with: pip install 'millstream[spark]'"
    )

from .batch import BatchPlan, explain, monitor, plan_batch
from .datasource import packed, register
from .events import as_column, batch_events, column_values, row_event
from .frames import dataframe
from .schema import infer_type, spark_type
from .session import find_java, local_session
from .shipping import ship
from .source import source
from .state import read_state, saved_state
from .stream import monitor_stream
from .trace import monitor_trace
from .udf import MonitorUdf, monitor_udf

__all__ = [
    "BatchPlan",
    "MonitorUdf",
    "as_column",
    "batch_events",
    "column_values",
    "dataframe",
    "explain",
    "find_java",
    "infer_type",
    "local_session",
    "monitor",
    "monitor_stream",
    "monitor_trace",
    "monitor_udf",
    "packed",
    "plan_batch",
    "read_state",
    "register",
    "row_event",
    "saved_state",
    "ship",
    "source",
    "spark_type",
]
