"""What workers do with chunks of events: run them through a query, say what came out and what failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

from attrs import frozen

from millstream.processors import Processor, Query, Run, StreamError
from millstream.processors.errors import shorten

from .chunks import Failed, Reply
from .failures import WorkerDiedError, portable

State = tuple[Any, ...]


def run_chunk(run: Run, outputs: list[Any], events: Sequence[Any]) -> Reply:
    """Push events into a run whose sink is `outputs`; a failure stands in the place of an event's outputs."""
    begun, failed, entry = perf_counter(), False, run.entry
    through = deque[Any](maxlen=0).extend  # runs through an iterator, in C
    remaining = iter(events)
    while True:
        try:
            through(map(entry, remaining))
            break
        except Exception as error:
            failed = True
            index = len(events) - 1 - remaining.__length_hint__()  # type: ignore[attr-defined]
            outputs.append(Failed(index, portable(named(run, error)), events[index]))
    reply = Reply(outputs.copy(), failed, len(events), perf_counter() - begun)
    outputs.clear()
    return reply


def run_apart(run: Run, outputs: list[Any], events: Sequence[Any]) -> Reply:
    """Do the same, with a list of outputs for each event, or a failure in its place."""
    begun, failed, entry = perf_counter(), False, run.entry
    given: list[Any] = []
    for index, event in enumerate(events):
        try:
            entry(event)
            given.append(outputs.copy())
        except Exception as error:
            failed = True
            given.append(Failed(index, portable(named(run, error)), event))
        outputs.clear()
    return Reply(given, failed, len(events), perf_counter() - begun)


def named(run: Run, error: Exception) -> Exception:
    """Return the error that names the failing processor."""
    named: Exception = run.processors[0].wiring.blame(error)
    named.__cause__ = error
    return named


def surface(owner: Processor, position: int | None, failed: Failed) -> None:
    """Raise what failed in a worker, as if it had failed here; note it, if the run survives failures.

    The end of a worker is always raised: what it kept is lost.
    """
    try:
        failed.failure.throw()
    except StreamError as error:
        place, cause = f"{owner.name} > {error.place}", error.__cause__
        moved = StreamError(error.processor, place, error.event, position, error.reason)
    except Exception as error:
        cause, reason = error, f"{type(error).__name__}: {error}"
        moved = StreamError(shorten(owner), owner.name, "", position, reason)
    moved.__cause__ = cause
    if not owner.wiring.options.tolerant or isinstance(cause, WorkerDiedError):
        raise moved
    owner.wiring.survive(place_of(owner), moved, (failed.event,))


def place_of(owner: Processor) -> int:
    """Return the number of a processor in its wiring."""
    return next(k for k, node in enumerate(owner.wiring.nodes) if node is owner)


@frozen(eq=False)
class Keeping:
    """Makes a stage that keeps its state from chunk to chunk.

    Requests: ``("give", state)``, ``("take", None)``, ``("events", list)``.
    """

    query: Query
    #: whether a chunk gives a list of outputs for each event, see `run_apart`
    apart: bool = False

    def __call__(self) -> Callable[[tuple[str, Any]], Any]:
        outputs: list[Any] = []
        run = self.query.into(outputs)
        through = run_apart if self.apart else run_chunk

        def answer(request: tuple[str, Any]) -> Any:
            name, content = request
            if name == "events":
                return through(run, outputs, content)
            if name == "give":
                return run.give(run.fresh() if content is None else content)
            return run.take()

        return answer


@frozen(eq=False)
class Repeating:
    """Makes a stage that runs every chunk on a copy of its own.

    Requests: ``(state, before, events)``. The copy begins with the state (None: the initial one), goes
    through the events `before` without being listened to, then through the chunk.
    """

    query: Query

    def __call__(self) -> Callable[[tuple[State | None, Iterable[Any], Sequence[Any]]], Reply]:
        outputs: list[Any] = []
        run = self.query.into(outputs)

        def answer(request: tuple[State | None, Iterable[Any], Sequence[Any]]) -> Reply:
            values, before, events = request
            run.give(run.fresh() if values is None else values)
            for event in before:
                run.entry(event)
            outputs.clear()
            return run_chunk(run, outputs, events)

        return answer
