"""Time synchronisation of event streams that arrive with delays, and repair of order inside one stream."""

from millstream.processors import allow_in_states

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

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.timesync.arena", "Arena")
allow_in_states("millstream.palettes.timesync.core", "SyncCore")
allow_in_states("millstream.palettes.timesync.heads")
allow_in_states("millstream.palettes.timesync.methods")
allow_in_states("millstream.palettes.timesync.reorder", "ReorderBuffer")
allow_in_states("millstream.palettes.timesync.streams", "StreamTable")
