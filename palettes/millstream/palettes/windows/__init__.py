"""Windows: queries over stretches of a stream, by number of events, by event time, or by sessions."""

from .monoid import Monoid, associative
from .window import Tumbling, Window

__all__ = ["Monoid", "Tumbling", "Window", "associative"]
