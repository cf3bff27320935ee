"""The engine and the general-purpose processors of millstream."""

from .apply import Apply, Constant, Fork, Passthrough, Switch, Tap
from .checkpoint import Checkpoint
from .clock import Clock, SystemClock, VirtualClock
from .codec import StateError, allow_in_states, decode, encode
from .compiling import as_function, source
from .cumulate import Count, Cumulate
from .elements import XmlElements
from .errors import (
    BufferFullError,
    ClosedError,
    MillstreamError,
    ParameterError,
    QueryError,
    StreamError,
)
from .explanation import Explanation
from .expressions import E, Expression, X, Y, call, if_else, is_in
from .filter import Filter
from .follow import FollowLines
from .graph import Graph, Group, Port, Wire, chain, connect
from .lineage import Lineage
from .lists import FindPattern, Pack, ResetLast, RunOn, Unpack
from .memory import Growth, Memory
from .processor import (
    MISSING,
    Inline,
    Processor,
    Router,
    Uniform,
    configuration,
    processor,
    state,
    transient,
)
from .pump import Pump
from .push import Run
from .query import Query, as_query
from .routing import Divert, Multiplex, Splice
from .sinks import FileSink, as_sink
from .sources import CsvRows, FromQueue, JsonLines, Lines, Source, Ticks
from .states import Mutable, Saved
from .statistics import Flow, Statistics
from .timed import Timed
from .trimming import Decimate, DetectEnd, Freeze, Insert, KeepLast, Prefix, Stutter, Trim
from .wiring import DeadLetter

__all__ = [
    "MISSING",
    "Apply",
    "BufferFullError",
    "Checkpoint",
    "Clock",
    "ClosedError",
    "Constant",
    "Count",
    "CsvRows",
    "Cumulate",
    "DeadLetter",
    "Decimate",
    "DetectEnd",
    "Divert",
    "E",
    "Explanation",
    "Expression",
    "FileSink",
    "Filter",
    "FindPattern",
    "Flow",
    "FollowLines",
    "Fork",
    "Freeze",
    "FromQueue",
    "Graph",
    "Group",
    "Growth",
    "Inline",
    "Insert",
    "JsonLines",
    "KeepLast",
    "Lineage",
    "Lines",
    "Memory",
    "MillstreamError",
    "Multiplex",
    "Mutable",
    "Pack",
    "ParameterError",
    "Passthrough",
    "Port",
    "Prefix",
    "Processor",
    "Pump",
    "Query",
    "QueryError",
    "ResetLast",
    "Router",
    "Run",
    "RunOn",
    "Saved",
    "Source",
    "Splice",
    "StateError",
    "Statistics",
    "StreamError",
    "Stutter",
    "Switch",
    "SystemClock",
    "Tap",
    "Ticks",
    "Timed",
    "Trim",
    "Uniform",
    "Unpack",
    "VirtualClock",
    "Wire",
    "X",
    "XmlElements",
    "Y",
    "allow_in_states",
    "as_function",
    "as_query",
    "as_sink",
    "call",
    "chain",
    "configuration",
    "connect",
    "decode",
    "encode",
    "if_else",
    "is_in",
    "processor",
    "source",
    "state",
    "transient",
]
