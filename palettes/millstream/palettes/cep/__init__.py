"""Composite events: expressions of event types, detected in one pass over a stream."""

from .detector import Detector, GrowingMemoryWarning
from .expressions import Event
from .language import (
    any_of,
    aperiodic,
    aperiodic_star,
    before,
    between,
    both,
    either,
    first,
    lacking,
    last,
    on,
    periodic,
    plus,
    repeated,
    sequence,
    without,
)
from .modes import Mode
from .occurrence import Occurrence

__all__ = [
    "Detector",
    "Event",
    "GrowingMemoryWarning",
    "Mode",
    "Occurrence",
    "any_of",
    "aperiodic",
    "aperiodic_star",
    "before",
    "between",
    "both",
    "either",
    "first",
    "lacking",
    "last",
    "on",
    "periodic",
    "plus",
    "repeated",
    "sequence",
    "without",
]
