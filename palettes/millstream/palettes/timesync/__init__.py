"""Time synchronisation of event streams that arrive with delays, and repair of order inside one stream."""

from .controls import AddStream, RemoveStream, Tick
from .core import SyncCore
from .reorder import Reorder, ReorderBuffer
from .streams import StreamTable
from .synchronizer import Synchronizer

__all__ = [
    "AddStream",
    "RemoveStream",
    "Reorder",
    "ReorderBuffer",
    "StreamTable",
    "SyncCore",
    "Synchronizer",
    "Tick",
]
