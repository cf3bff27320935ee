"""Composite events: expressions of event types, detected in one pass over a stream."""

from millstream.processors import allow_in_states

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

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.cep.occurrence", "Extreme", "_restored")
