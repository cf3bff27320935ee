"""The engine and the general-purpose processors of millstream."""

from .apply import Apply, Constant, Fork, Passthrough, Switch, Tap
from .cumulate import Count, Cumulate
from .errors import (
    BufferFullError,
    ClosedError,
    MillstreamError,
    ParameterError,
    QueryError,
    StreamError,
)
from .expressions import E, X, Y, as_function, call, if_else, is_in
from .filter import Filter
from .graph import Graph, Group, Port, Wire, chain, connect
from .lists import FindPattern, Pack, ResetLast, RunOn, Unpack
from .processor import MISSING, Inline, Processor, Router, Uniform, processor, state, transient
from .push import Run, Statistics
from .query import Query, as_query
from .routing import Divert, Multiplex, Splice
from .states import Saved
from .trimming import Decimate, DetectEnd, Freeze, Insert, KeepLast, Prefix, Stutter, Trim
from .wiring import DeadLetter
