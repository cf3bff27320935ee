"""Concurrency: phased execution."""

from .numbering import Numbering, number
from .phased import PhasedGraph, by_time
from .phased_state import Phase, PhasedState, Task
from .phases import Phases
from .specification import Specification, from_toml, from_xml, load_specification
from .vertices import Vertex

__all__ = [
    "Numbering",
    "Phase",
    "PhasedGraph",
    "PhasedState",
    "Phases",
    "Specification",
    "Task",
    "Vertex",
    "by_time",
    "from_toml",
    "from_xml",
    "load_specification",
    "number",
]
