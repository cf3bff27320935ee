"""`Envoy`: the stateful processor that Spark pickles, and what it keeps in the state store.

At the start of a stream Spark unpickles it in a Python of its own beside the driver, only to ask what state
it has. That Python gets nothing of what `ship` has sent, and would spend a second on imports. So this class
travels by value, and brings what needs millstream as bytes, which are unpacked where rows come.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

#: the names of the state variables
INDEX, SLOTS = "index", "slots"
INDEXED = T.StructType().add("wake", "long").add("slots", "binary")


def records_type(key: T.StructType) -> T.StructType:
    """Return the type of a slot in the store."""
    return T.StructType().add("made_by", "string").add("records", "binary").add("key", key)


class Envoy(StatefulProcessor):
    """Declares the state, and leaves the rest to the host that it unpacks.

    Parameters
    ----------
    make_host
        Makes a `Host` of the store, the index and the slots.
    key
        The columns of the key.
    """

    def __init__(self, make_host: Callable[[Any, Any, Any], Any], key: T.StructType) -> None:
        self.packed: bytes = cloudpickle.dumps(make_host)  # type: ignore[no-untyped-call]
        self.key = key
        self.host: Any = None

    def init(self, handle: Any) -> None:
        """Declare the state."""
        index = handle.getValueState(INDEX, INDEXED)
        self.store = handle, index, handle.getMapState(SLOTS, "slot int", records_type(self.key))

    def unpacked(self) -> Any:
        """Return the host."""
        if self.host is None:
            self.host = pickle.loads(self.packed)(*self.store)
        return self.host

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        given: Iterator[Row] = self.unpacked().take(key, rows, timerValues.getCurrentWatermarkInMs())
        return given

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        given: Iterator[Row] = self.unpacked().turn(key, {}, timerValues.getCurrentWatermarkInMs())
        return given


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
