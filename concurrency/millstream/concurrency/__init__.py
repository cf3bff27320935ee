"""Concurrency: phased execution."""

from .crew import Crew
from .failures import CancelledError, RemoteError, RemoteTraceback, WorkerDiedError
from .machines import ChunkedMonitor
from .manager import ManagerStatistics, ThreadManager
from .nonblocking import NonBlockingProcessor
from .numbering import Numbering, number
from .parallel_slice import ParallelSlice
from .phased import PhasedGraph, by_time
from .phased_state import Phase, PhasedState, Task
from .phases import Phases
from .pipeline import Pipeline
from .pull_group import PullGroup
from .specification import Specification, from_toml, from_xml, load_specification
from .vertices import Vertex

__all__ = [
    "CancelledError",
    "ChunkedMonitor",
    "Crew",
    "ManagerStatistics",
    "NonBlockingProcessor",
    "Numbering",
    "ParallelSlice",
    "Phase",
    "PhasedGraph",
    "PhasedState",
    "Phases",
    "Pipeline",
    "PullGroup",
    "RemoteError",
    "RemoteTraceback",
    "Specification",
    "Task",
    "ThreadManager",
    "Vertex",
    "WorkerDiedError",
    "by_time",
    "from_toml",
    "from_xml",
    "load_specification",
    "number",
]
