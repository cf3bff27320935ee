"""NonBlockingProcessor: a query whose steps can be started now and waited for later.

`Run.push_fast` comes back at once, `Run.wait_for` joins. Processors that keep several copies of a query (a
window, a slice that gets an event for all, a quantifier) start the step of every copy, then wait for each:
with this wrapper around the query the copies are stepped at the same time. Between the two calls the copy's
state is with a worker.

Hallé, Khoury and Gaboury, *Event Stream Processing with Multiple Threads*, Section 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from time import perf_counter
from typing import Any, NoReturn
from weakref import ref

from attrs import field, frozen

from millstream.processors import ClosedError, Processor, Query, Run, as_query, processor, state, transient
from millstream.processors.explaining import explained
from millstream.processors.lists import host

from .crew import Crew
from .failures import Failure, portable
from .manager import ThreadManager, Worker, cores

State = tuple[Any, ...]
Step = tuple[State | None, Any]
Stepped = tuple[list[Any], float]
#: seconds that it takes to hand steps over and get the results back; less work than that stays here
HAND_OVER = 1e-4


@frozen(eq=False)
class Stepper:
    """Makes, in a worker, what steps copies, see `step_all`."""

    inner: Query

    def __call__(self) -> Callable[[list[Step]], Stepped]:
        outputs: list[Any] = []
        run = self.inner.into(outputs)
        return lambda steps: step_all(run, outputs, steps)


def step_all(run: Run, outputs: list[Any], steps: list[Step]) -> Stepped:
    """Step copies one after the other: ``(state, event)`` for each in, ``(state, outputs)`` out.

    A failure stands in the place of a result. Tells as well how long it took.
    """
    results: list[Any] = []
    begun = perf_counter()
    for values, event in steps:
        run.give(run.fresh() if values is None else values)
        try:
            run.entry(event)
            results.append((run.take(), outputs.copy()))
        except Exception as error:
            results.append(portable(error))
        outputs.clear()
    return results, perf_counter() - begun


class _UnderWay:
    """A step whose outputs have not been asked for: it cannot be part of a saved state."""

    __slots__ = ()

    def __copy__(self) -> NoReturn:
        raise ClosedError("a step is under way: call wait_for before the state is saved")


class Ticket(_UnderWay):
    """A step under way: what to wait for. If nobody does, the worker goes back with the ticket."""

    __slots__ = ("__weakref__", "_reply", "manager", "worker")

    def __init__(self, manager: ThreadManager, worker: Worker) -> None:
        self.manager = manager
        #: None once the step is done, and the worker given back
        self.worker: Worker | None = worker
        self._reply: Any = None

    def free(self) -> bool:
        """Give the worker back if the step is done; return whether it is."""
        if self.worker is not None and self.worker.has_reply:
            self._finish()
        return self.worker is None

    def _finish(self) -> None:
        worker, self.worker = self.worker, None
        assert worker is not None
        try:
            (self._reply,), _ = worker.receive()
        except Exception as error:
            self._reply = error
        finally:
            self.manager.dispose(worker)

    def join(self) -> tuple[State, list[Any]]:
        """Wait for the step, and return the new state and the outputs."""
        if self.worker is not None:
            self._finish()
        if isinstance(self._reply, Exception):
            raise self._reply
        if isinstance(self._reply, Failure):
            self._reply.throw()
        result: tuple[State, list[Any]] = self._reply
        return result

    def __del__(self) -> None:
        if self.worker is not None:
            self.manager.dispose(self.worker)


class Done(_UnderWay):
    """A step that the caller has made, with its outputs kept back until they are asked for."""

    __slots__ = ("error", "outputs", "values")

    def __init__(self, values: State, outputs: list[Any], error: Exception | None) -> None:
        self.values, self.outputs, self.error = values, outputs, error

    def join(self) -> tuple[State, list[Any]]:
        """Return the new state and the outputs."""
        if self.error is not None:
            raise self.error
        return self.values, self.outputs


@processor
class NonBlockingProcessor(Processor):
    """Behave exactly as a query, but let its steps be done by workers while the caller does something else.

    Parameters
    ----------
    inner
        A query with one input and one output.
    manager
        Lends a worker for each step that is not waited for; if it refuses, the step is done by the caller.

    Examples
    --------
    >>> from operator import add
    >>> from millstream.processors import Cumulate
    >>> with ThreadManager(2) as manager:
    ...     out = []
    ...     run = NonBlockingProcessor(Cumulate(add), manager).into(out)
    ...     run.push_fast(1)
    ...     run.wait_for()
    ...     run.push_fast(2)
    ...     run.push(3)
    ...     run.end()
    >>> out
    [1, 3, 6]
    """

    inner: Query = field(converter=as_query)
    manager: ThreadManager
    run: Run = transient()
    outputs_: list[Any] = transient()
    stepper: Stepper = transient()
    #: tickets of all copies that may be under way
    given: list[Any] = transient()
    #: set by the run while an event comes in that will be waited for later
    late: bool = transient()
    #: seconds that the step of a copy takes, as last measured; None before the first
    cost: float | None = transient()
    #: the inner query's state; None before its first event, and while a step is under way
    current: State | None = state(None)
    ticket: Ticket | Done | None = state(None)

    def __attrs_post_init__(self) -> None:
        host(self, self.inner, [])

    def prepare(self) -> None:
        """Wire the inner query."""
        self.outputs_ = []
        self.run = host(self, self.inner, self.outputs_)
        self.stepper, self.given = Stepper(self.inner), []

    def step(self, x: Any) -> None:
        """Start a step if it will be waited for and there is a worker; else make it."""
        self.complete()
        worker = self._worker() if self.late else None
        if worker is not None:
            worker.send([(self.current, x)])
            self.ticket = Ticket(self.manager, worker)
            self.given.append(ref(self.ticket))
            self.current = None
        elif self.late:
            self.ticket = self._made_here(x)
        else:
            self._step_here(x)

    def _worker(self) -> Worker | None:
        """Ask for a worker; steps of other copies that are done give theirs back first."""
        given = ((r, r()) for r in self.given)
        self.given = [r for r, ticket in given if ticket is not None and not ticket.free()]
        return self.manager.request(self.stepper)

    def _made_here(self, x: Any) -> Done:
        error = None
        self.run.give(self.run.fresh() if self.current is None else self.current)
        try:
            self.run.entry(x)
        except Exception as failure:
            error = failure
        return Done(self.run.take(), self._taken(), error)

    def _step_here(self, x: Any) -> None:
        run = self.run
        run.give(run.fresh() if self.current is None else self.current)
        try:
            run.entry(x)
        finally:
            self.current = run.take()
            for y in self._taken():
                self.emit(y)

    def _taken(self) -> list[Any]:
        """Return the outputs of the inner query that have not been passed on."""
        outputs, self.outputs_[:] = self.outputs_.copy(), []
        return outputs

    def complete(self) -> None:
        """Wait for the step that is under way, if there is one, and emit what it gave."""
        ticket, self.ticket = self.ticket, None
        if ticket is not None:
            self.current, outputs = ticket.join()
            for y in outputs:
                self.emit(y)

    def elsewhere(self) -> Query:
        """Return the query whose steps may be elsewhere."""
        return self.inner

    def bring_back(self) -> State:
        """Wait for the step that is under way, and return the query's state."""
        self.complete()
        return self.run.fresh() if self.current is None else self.current

    def go_on(self, values: State) -> None:
        """Go on with a state of the query."""
        self.current, self.ticket = values, None

    def step_copies(self, copies: Iterable[tuple[State, Any]]) -> Iterator[State]:
        """Step many copies of this processor, as workers share them; cheap steps are made here.

        Takes pairs of state and event, yields the new states, each when the outputs of its copy are out.
        """
        steps, early = [], []
        for (current, ticket), event in copies:
            current, outputs = (current, []) if ticket is None else ticket.join()
            steps.append((current, event))
            early.append(outputs)
        results = self._shared(steps) if self._pays(len(steps)) else self._all_here(steps)
        for before, result in zip(early, results, strict=True):
            for y in before:
                self.emit(y)
            current, outputs = result.throw() if isinstance(result, Failure) else result
            for y in outputs:
                self.emit(y)
            yield current, None

    def _pays(self, count: int) -> bool:
        """Return whether so many steps are worth handing over; the first time that is not known."""
        parts = min(count, self.manager.limit + 1, cores())
        return count > 1 and (self.cost is None or self.cost * count * (1 - 1 / parts) > HAND_OVER)

    def _all_here(self, steps: list[Step]) -> list[Any]:
        """Make all steps here."""
        results, seconds = step_all(self.run, self.outputs_, steps)
        self.cost = seconds / max(1, len(steps))
        return results

    def _shared(self, steps: list[Step]) -> list[Any]:
        """Give each worker a part of the steps; if there is a core left, the last part is done here."""
        with Crew(self.manager, self.stepper, min(self.manager.limit, len(steps))) as crew:
            parts = crew.size if crew.size >= min(cores(), len(steps)) else crew.size + 1
            length = -(-len(steps) // parts)
            for member in range(crew.size):
                crew.send(member, steps[member * length : (member + 1) * length])
            here = steps[crew.size * length :]
            replies = [step_all(self.run, self.outputs_, here)] if here else []
            told = sorted((crew.receive() for _ in range(crew.size)), key=itemgetter(0))
        replies = [reply for _, reply in told] + replies
        self.cost = sum(seconds for _, seconds in replies) / len(steps)
        return list(chain.from_iterable(results for results, _ in replies))

    def spread(self, host: Query) -> Query | None:
        """Return a host of this query with its copies spread over workers, None if that cannot be done."""
        from .parallel_slice import ParallelSlice, refusal
        from .shared import Shared

        if hasattr(host, "shares"):
            return Shared(host, self.manager, max(self.manager.limit, cores()))
        return None if refusal(host) else ParallelSlice(host, self.manager)

    def explained(self, limit: int) -> Processor:
        """Return the inner query for traced events."""
        return followed(self.inner, limit)

    def end(self) -> None:
        """End the inner query."""
        self.complete()
        self.run.give(self.run.fresh() if self.current is None else self.current)
        self.run.finish()
        self.current = self.run.take()
        for y in self._taken():
            self.emit(y)


def followed(query: Query, limit: int) -> Processor:
    """Return a query as one processor for traced events, which does everything here."""
    return NonBlockingProcessor(explained(query, limit), ThreadManager(0))
