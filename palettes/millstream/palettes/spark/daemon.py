"""The process that Python workers are forked from, with what they need imported already.

Spark starts it instead of its own (``spark.python.daemon.module``), as ``python -m``. A worker that is forked
from Spark's own daemon spends a second or two on imports before its first event, and so does each one that
takes the place of a worker whose query has failed. A fork loses threads; the only one that is started by what
is imported here is Arrow's allocator's, which knows about forks.
"""

import pandas  # noqa: F401 (Spark imports it where a query is hosted with it)
from pyspark.daemon import manager

if __name__ == "__main__":
    manager()
