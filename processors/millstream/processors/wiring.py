"""What both engines share when they wire a plan: options, instances, and tracing a failure to its processor.

Nothing on the event path watches for failures. When one happens, the traceback is read: frames of generated code tell the node
by their line, frames of a processor's own methods by their ``self``. The innermost of them in each wiring is the one that
failed; wirings nested inside each other (a query inside a slice) give the steps of the place.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from attrs import define, field, frozen

from .errors import ParameterError, QueryError, StreamError, shorten
from .plan import Plan
from .processor import Processor, inline_form, instance
from .sinks import as_sink


class Hole:
    """Stands where a skipped failure has left no event, so that streams stay aligned up to the next join."""

    def __repr__(self) -> str:
        return "HOLE"


HOLE = Hole()


@frozen
class DeadLetter:
    """What the sink given as ``on_error`` gets for each failure: the error and the failing processor's own input."""

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
        if self.on_error not in ("raise", "skip") and isinstance(self.on_error, str):
            raise ParameterError(f"on_error must be 'raise', 'skip' or a sink for dead letters, got {self.on_error!r}")
        if self.full not in ("error", "drop_newest", "drop_oldest"):
            raise ParameterError(f"full must be 'error', 'drop_newest' or 'drop_oldest', got {self.full!r}")
        if self.capacity is not None and (not isinstance(self.capacity, int) or self.capacity < 1):
            raise ParameterError(f"capacity must be an integer of at least 1, got {shorten(self.capacity)}")

    @property
    def tolerant(self) -> bool:
        """Whether failures are survived."""
        return self.on_error != "raise"


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

    def __attrs_post_init__(self) -> None:
        self.nodes = [instance(n) for n in self.plan.graph.nodes]
        self.names = {"wiring": self, "HOLE": HOLE, "StreamError": StreamError, "__builtins__": __builtins__}
        if self.options.tolerant and self.options.on_error != "skip":
            self._letters = as_sink(self.options.on_error)
        for n, node in enumerate(self.nodes):
            node.wiring = self
            form = inline_form(node)
            self.names[f"n{n}"] = node
            self.names[f"step_{n}"] = node.step
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
        """Survive a failure: count it, and send it to the dead letters."""
        self.skipped += 1
        if self._letters is not None:
            failure = self.failure([(self, node)] + trace(error.__traceback__, events)[0][1:], error, events)
            failure.__cause__ = error
            self._letters(DeadLetter(failure, events))

    def blame(self, error: BaseException) -> StreamError:
        """Return the error that names the processor which failed."""
        path, events = trace(error.__traceback__, ())
        return self.failure(path, error, events)

    def failure(self, path: list[tuple[Wiring, int]], error: BaseException, events: tuple[Any, ...]) -> StreamError:
        """Return a `StreamError` for a path of nested failing nodes."""
        reason = f"{type(error).__name__}: {error}"
        event = ", ".join(shorten(e) for e in events)
        if not path:
            return StreamError("the input", "input", event, self.position(), reason)
        last, node = path[-1]
        name = shorten(last.nodes[node]) if node >= 0 else f"sink {-1 - node}"
        place = " > ".join(w.plan.places[n] if n >= 0 else f"sink {-1 - n}" for w, n in path)
        return StreamError(name, place, event, self.position(), reason)


def trace(traceback: TracebackType | None, events: tuple[Any, ...]) -> tuple[list[tuple[Wiring, int]], tuple[Any, ...]]:
    """Return the failing node of each wiring along a traceback, outermost wiring first, and the events it failed on."""
    found: dict[int, tuple[Wiring, int]] = {}
    while traceback is not None:
        frame = traceback.tb_frame
        owner = frame.f_locals.get("self")
        if isinstance(owner, Processor) and owner.wiring is not None:
            wiring = owner.wiring
            node = next((k for k, n in enumerate(wiring.nodes) if n is owner), None)
            count = frame.f_code.co_argcount
            args = tuple(frame.f_locals.get(v) for v in frame.f_code.co_varnames[1:count])
            front = args if frame.f_code.co_name in ("step", "receive") else ()
        else:
            wiring = frame.f_globals.get("wiring")
            node = wiring.lines.get(traceback.tb_lineno) if isinstance(wiring, Wiring) else None
            front = tuple(frame.f_locals[v] for v in _inputs(wiring, node) if v in frame.f_locals) if node is not None else ()
        if node is not None:
            found[id(wiring)] = wiring, node
            events = front or events
        traceback = traceback.tb_next
    return list(found.values()), events


def _inputs(wiring: Wiring, node: int) -> tuple[str, ...]:
    """Return the names of the variables that a node reads in generated code."""
    for region in wiring.plan.regions:
        scopes = [region.scope]
        for scope in scopes:
            for item in scope.items:
                inside = getattr(item, "inside", None)
                if inside is not None:
                    scopes.append(inside)
                if hasattr(item, "ins") and item.node == node:
                    return item.ins  # type: ignore[no-any-return]
                if hasattr(item, "values") and (item.kind == "sink") == (node < 0) and item.node in (node, -1 - node):
                    return item.values  # type: ignore[no-any-return]
    return ()


def check_arity(kind: str, query: Any, expected: int, got: int) -> None:
    """Raise a `QueryError` if a query is given the wrong number of sources or sinks."""
    if expected != got:
        raise QueryError(f"{shorten(query)} has {expected} {kind}s, got {got}")
