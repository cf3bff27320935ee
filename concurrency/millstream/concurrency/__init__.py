"""Queries on several workers: wrappers, a planner, phased execution. Nothing else in millstream needs it.

`ThreadManager` lends workers: threads, processes or interpreters, never more than its limit.
`NonBlockingProcessor`, `PullGroup`, `Pipeline`, `ParallelSlice`, `ChunkedMonitor` wrap a query and use what
is lent. `parallelize` places such wrappers, `assert_equivalent` compares two queries. `PhasedGraph`
correlates streams in phases, several of them in flight.
"""

from millstream.processors import allow_in_states

from .crew import Crew
from .equivalence import assert_equivalent
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
from .planner import Decision, Parallelized, Plan, parallelize
from .pull_group import PullGroup
from .specification import Specification, from_toml, from_xml, from_yaml, load_specification
from .vertices import Vertex

__all__ = [
    "CancelledError",
    "ChunkedMonitor",
    "Crew",
    "Decision",
    "ManagerStatistics",
    "NonBlockingProcessor",
    "Numbering",
    "ParallelSlice",
    "Parallelized",
    "Phase",
    "PhasedGraph",
    "PhasedState",
    "Phases",
    "Pipeline",
    "Plan",
    "PullGroup",
    "RemoteError",
    "RemoteTraceback",
    "Specification",
    "Task",
    "ThreadManager",
    "Vertex",
    "WorkerDiedError",
    "assert_equivalent",
    "by_time",
    "from_toml",
    "from_xml",
    "from_yaml",
    "load_specification",
    "number",
    "parallelize",
]

# what the states of these wrappers are made of, besides plain values
allow_in_states("millstream.concurrency.chunks", "Chunk", "Failed")
allow_in_states("millstream.concurrency.deciding", "Held")
allow_in_states("millstream.concurrency.line", "Line")
allow_in_states("millstream.concurrency.shared", "Team", "_team")
allow_in_states("millstream.concurrency.machines", "Piece")
allow_in_states("millstream.concurrency.spread", "Spread")
