"""Queries on Spark: the same query object over DataFrames, per key or over one trace, in batch or streaming.

The README beside this file says which function to use when.
"""

from importlib import import_module

try:
    for _name in ("numpy", "pandas", "pyarrow", "pyspark"):
        import_module(_name)
except ModuleNotFoundError as error:
    raise ImportError(
        f"millstream.palettes.spark needs {error.name}, which is not installed; "
        "install it with: pip install 'millstream[spark]'"
    ) from error

from .batch import BatchPlan, explain, monitor, plan_batch
from .events import as_column, batch_events, column_values, row_event
from .schema import infer_type, spark_type
from .session import find_java, local_session
from .shipping import ship
from .trace import monitor_trace
from .udf import MonitorUdf, monitor_udf

__all__ = [
    "BatchPlan",
    "MonitorUdf",
    "as_column",
    "batch_events",
    "column_values",
    "explain",
    "find_java",
    "infer_type",
    "local_session",
    "monitor",
    "monitor_trace",
    "monitor_udf",
    "plan_batch",
    "row_event",
    "ship",
    "spark_type",
]
