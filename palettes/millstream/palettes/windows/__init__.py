"""Windows: queries over stretches of a stream, by number of events, by event time, or by sessions."""

from .monoid import Monoid, associative, is_associative
from .session import SessionWindow
from .timed import TimeWindow
from .triggers import AfterCount, AfterTime, Pane
from .window import Tumbling, Window

__all__ = [
    "AfterCount",
    "AfterTime",
    "Monoid",
    "Pane",
    "SessionWindow",
    "TimeWindow",
    "Tumbling",
    "Window",
    "associative",
    "is_associative",
]
