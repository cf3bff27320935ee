"""What both engines share when they wire a plan: options, instances, and tracing a failure to its processor.

Nothing on the event path watches for failures. When one happens, the traceback is read: frames of generated
code tell the node by their line, frames of a processor's own methods by their ``self``. The innermost of them
in each wiring is the one that failed; wirings nested inside each other (a query inside a slice) give the
steps of the place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from types import FrameType, TracebackType
from typing import Any

from attrs import define, field, frozen

from .errors import ParameterError, QueryError, StreamError, shorten
from .plan import Plan
from .processor import Processor, Uniform, inline_form, instance
from .sinks import as_sink

log = logging.getLogger(__name__)


class Hole:
    """Stands where a skipped failure has left no event, so that streams stay aligned up to the next join."""

    def __repr__(self) -> str:
        return "HOLE"


HOLE = Hole()


@frozen
class DeadLetter:
    """What a sink given as ``on_error`` gets for a failure: the error and the failing processor's input."""

    error: StreamError
    events: tuple[Any, ...]


@frozen
class Options:
    """How a query is run."""

    on_error: Any = "raise"
    counting: bool = False
    capacity: int | None = None
    full: str = "error"

    def __attrs_post_init__(self) -> None:
        if isinstance(self.on_error, str) and self.on_error not in ("raise", "skip"):
            raise ParameterError(
                f"on_error must be 'raise', 'skip' or a sink for dead letters, got {self.on_error!r}"
            )
        if self.full not in ("error", "drop_newest", "drop_oldest"):
            raise ParameterError(f"full must be 'error', 'drop_newest' or 'drop_oldest', got {self.full!r}")
        if self.capacity is not None and self.capacity < 1:
            raise ParameterError(f"capacity must be an integer of at least 1, got {shorten(self.capacity)}")

    @property
    def tolerant(self) -> bool:
        """Whether failures are survived."""
        return not (isinstance(self.on_error, str) and self.on_error == "raise")


@define(eq=False)
class Wiring:
    """The instances of one wired plan."""

    plan: Plan
    lines: dict[int, int]
    options: Options
    nodes: list[Processor] = field(init=False)
    #: failures survived so far
    skipped: int = field(default=0, init=False)
    #: tells how many events an input has taken; set by the engine
    position: Callable[[], int | None] = field(default=lambda: None, init=False)
    names: dict[str, Any] = field(init=False)
    _letters: Callable[[Any], Any] | None = field(default=None, init=False)
    #: processors whose first failure has been logged
    _told: set[int] = field(factory=set, init=False)

    def __attrs_post_init__(self) -> None:
        self.nodes = [instance(n) for n in self.plan.graph.nodes]
        self.names = {"wiring": self, "HOLE": HOLE, "StreamError": StreamError, "__builtins__": __builtins__}
        if not isinstance(self.options.on_error, str):
            self._letters = as_sink(self.options.on_error)
        for n, node in enumerate(self.nodes):
            node.wiring = self
            form = inline_form(node)
            self.names[f"n{n}"] = node
            self.names[f"step_{n}"] = partial(_return, node) if isinstance(node, Uniform) else node.step
            if form is not None:
                self.names.update({f"{name}_{n}": value for name, value in form.names.items()})

    def run(self, code: Any) -> None:
        """Execute generated code in this wiring's names."""
        exec(code, self.names)

    def prepare(self) -> None:
        """Let every processor set up what it needs, once emit is in place."""
        for node in self.nodes:
            node.prepare()

    def note(self, node: int, error: Exception, events: tuple[Any, ...]) -> None:
        """Survive a failure: count it, and send it to the dead letters, or else say it once."""
        if self._letters is None and node in self._told:
            self.skipped += 1
            return
        inner = trace(error.__traceback__)[0][1:]
        failure = self.failure([(self, node), *inner], error, events)
        failure.__cause__ = error
        self.survive(node, failure, events)

    def survive(self, node: int, failure: StreamError, events: tuple[Any, ...]) -> None:
        """Do the same with a failure whose place is known."""
        self.skipped += 1
        if self._letters is not None:
            self._letters(DeadLetter(failure, events))
        elif node not in self._told:
            self._told.add(node)
            log.warning("skipped, as are further failures of this processor: %s", failure)

    def blame(self, error: BaseException, otherwise: int | None = None) -> StreamError:
        """Return the error that names the failing processor, `otherwise` if the traceback does not tell."""
        path, events = trace(error.__traceback__)
        if not path and otherwise is not None:
            path = [(self, otherwise)]
        return self.failure(path, error, events)

    def failure(self, path: Path, error: BaseException, events: tuple[Any, ...]) -> StreamError:
        """Return a `StreamError` for a path of nested failing nodes."""
        reason = f"{type(error).__name__}: {error}"
        event = ", ".join(shorten(e) for e in events)
        if not path:  # the source failed while it was asked for the event after the last one taken
            position = self.position()
            return StreamError(
                "the input", "input", event, position if position is None else position + 1, reason
            )
        last, node = path[-1]
        name = shorten(last.nodes[node]) if node >= 0 else f"sink {-1 - node}"
        place = " > ".join(w.plan.places[n] if n >= 0 else f"sink {-1 - n}" for w, n in path)
        return StreamError(name, place, event, self.position(), reason)


def _return(node: Uniform, *front: Any) -> None:
    """Run the step of a uniform processor that cannot be inlined because it may emit at its end."""
    result = node.step(*front)
    if node.arity[1] == 1:
        node.emit(result)
    else:
        node.emit(*result)


Path = list[tuple[Wiring, int]]


def trace(traceback: TracebackType | None) -> tuple[Path, tuple[Any, ...]]:
    """Return the failing node of each wiring along a traceback, outermost first, and the events it took."""
    found: dict[int, tuple[Wiring, int]] = {}
    events: tuple[Any, ...] = ()
    while traceback is not None:
        seen = _in_processor(traceback.tb_frame) or _in_region(traceback.tb_frame, traceback.tb_lineno)
        if seen is not None:
            wiring, node, front = seen
            found[id(wiring)] = wiring, node
            events = front or events
        traceback = traceback.tb_next
    return list(found.values()), events


def _in_processor(frame: FrameType) -> tuple[Wiring, int, tuple[Any, ...]] | None:
    """Return the node whose own method a frame is, and the front if that method takes one."""
    owner, code = frame.f_locals.get("self"), frame.f_code
    if not isinstance(owner, Processor) or owner.wiring is None:
        return None
    node = next(k for k, n in enumerate(owner.wiring.nodes) if n is owner)
    takes = code.co_name in ("step", "receive")
    names = code.co_varnames[1 : code.co_argcount] if takes else ()
    return owner.wiring, node, tuple(frame.f_locals[v] for v in names if v in frame.f_locals)


def _in_region(frame: FrameType, line: int) -> tuple[Wiring, int, tuple[Any, ...]] | None:
    """Return the node that a line of generated code belongs to, and the front that it reads."""
    wiring = frame.f_globals.get("wiring")
    if not isinstance(wiring, Wiring) or line not in wiring.lines:
        return None
    node = wiring.lines[line]
    front = wiring.plan.fronts.get(node, ())
    return wiring, node, tuple(frame.f_locals[v] for v in front if v in frame.f_locals)


def check_arity(kind: str, query: Any, expected: int, got: int) -> None:
    """Raise a `QueryError` if a query is given the wrong number of sources or sinks."""
    if expected != got:
        raise QueryError(f"{shorten(query)} has {expected} {kind}s, got {got}")
