"""ParallelSlice: a Slice whose keys are spread over workers, each with the states of its own keys."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from millstream.processors import Processor, Query, Run, as_function, processor, state, transient
from millstream.processors.errors import ParameterError, shorten

from .adopting import as_slice, as_slices
from .chunks import Failed
from .manager import ThreadManager
from .nonblocking import followed
from .shards import Several, Sharding
from .spread import Spread
from .stages import surface

#: options of a slice that look at several keys at once
TOGETHER = ("ttl", "time", "max_slices", "on_drop")


@processor
class ParallelSlice(Processor):
    """Run a `Slice` with its keys spread over workers; outputs are the same, in the same order.

    An event for `ALL` slices goes to all workers, one with `Keys` to those that have one of them. Snapshots
    and collections are made here, of what the workers give.

    Parameters
    ----------
    slice
        A `Slice` without ttl or max_slices, which look at several keys at once.
    manager
        Lends the workers.

    Examples
    --------
    >>> from millstream.concurrency import ThreadManager
    >>> from millstream.palettes.slicer import Slice
    >>> from millstream.processors import Count, X
    >>> with ThreadManager(2) as manager:
    ...     list(ParallelSlice(Slice(X, Count()), manager)("abaca"))
    [('a', 1), ('b', 1), ('a', 2), ('c', 1), ('a', 3)]
    """

    slice: Any
    manager: ThreadManager
    run: Run = transient()
    slices: Any = transient()
    keys: Any = transient()
    by: Any = transient()
    stage: Sharding = transient()
    #: set by the run while an event comes in that will be waited for later, which changes nothing here
    late: bool = transient()
    spread: Spread = state(of=lambda self: Spread())

    def __attrs_post_init__(self) -> None:
        why = refusal(self.slice)
        if why:
            raise ParameterError(f"ParallelSlice: {shorten(self.slice, 60)} {why}")

    def prepare(self) -> None:
        """Wire the slices, for what is done here, and say what workers do with theirs."""
        from millstream.palettes.slicer import keys
        from millstream.palettes.slicer.slices import Slices

        s = self.slice
        shown = Slices(s.by, s.inner, s.keep, s.snapshot, s.collect, s.until)
        self.run = shown.into(lambda y: self.emit(y))
        self.slices, self.keys, self.by = self.run.processors[0], keys, as_function(s.by)
        self.stage = Sharding(s.inner, s.keep, s.until)

    # -- an event

    def step(self, x: Any) -> None:
        """Put the event with those of its workers; hand them over if there are enough."""
        spread = self.spread
        spread.count += 1
        if spread.limit != self.manager.limit and not spread.acquire(self.manager, self.stage, self.run):
            self._step_here(spread, x)
            return
        key = self.by(x)
        try:
            several = None if key.__class__ in (str, int) else self.keys.several(key, {})
            if key is not self.keys.ALL and several is None:
                member = hash(key) % spread.size
                spread.tape.went(member)
                longest = spread.put(member, key, x)
            else:
                longest = self._put_several(key, several or [], x)
        except TypeError as error:
            raise self.keys.unhashable(key) from error
        if longest >= spread.length:
            self._locate(spread)
            spread.send()
            self._deliver(spread)

    def _put_several(self, key: Any, several: list[Any], x: Any) -> int:
        """Put the event with those of several workers, and return how many the longest of them has to do."""
        spread = self.spread
        if key is self.keys.ALL:
            everyone = range(spread.size)
            spread.tape.went(tuple(everyone))
            return max([spread.put(member, key, x) for member in everyone])
        parts: dict[int, list[Any]] = {}
        for place, k in enumerate(several):
            parts.setdefault(hash(k) % spread.size, []).append((place, k))
        if not parts and not self.slices.shows:
            return 0
        spread.tape.went(tuple(parts))
        told = [spread.put(member, Several(tuple(k)), x) for member, k in parts.items()]
        return max(told, default=spread.length)

    def _step_here(self, spread: Spread, x: Any) -> None:
        self._deliver(spread)
        run = self.run
        run.give(run.fresh() if spread.values is None else spread.values)
        begun = perf_counter()
        try:
            run.entry(x)
        finally:
            spread.pace.took(perf_counter() - begun, 1)
            spread.values = run.take()

    def _locate(self, spread: Spread) -> None:
        """Note how far the number of an event is from its position in the query's input."""
        spread.offset = (self.wiring.position() or 0) - spread.count

    # -- state

    def queued(self) -> tuple[int, ...]:
        """Return how many events wait for their chunk or are with workers."""
        return (self.spread.queued,)

    def elsewhere(self) -> Query:
        """Return the slice."""
        return self.slice  # type: ignore[no-any-return]

    def bring_back(self) -> Any:
        """Wait for everything that is under way, emit it, and return the state of the slice."""
        self.complete()
        self.spread.settle(self.run)
        self._deliver(self.spread)
        return as_slice(self.slice, self.run.fresh() if self.spread.values is None else self.spread.values)

    def go_on(self, values: Any) -> None:
        """Go on with a state of the slice."""
        self.spread = Spread(values=as_slices(self.slice, values))

    # -- outputs

    def _deliver(self, spread: Spread) -> None:
        """Emit what is ready; raise a failure when it is its turn, and give the workers back."""
        try:
            self._emit_all(spread)
        except BaseException:
            spread.close()
            raise

    def _emit_all(self, spread: Spread) -> None:
        ready = spread.ready
        ready.extend(spread.tape.take())
        if not self.slices.shows:
            emit = self.emit
            while ready:
                for y in ready.popleft():
                    if y.__class__ is Failed:
                        surface(self, y.index + spread.offset, y)
                    else:
                        emit(y)
        elif ready:
            run = self.run
            run.give(run.fresh() if spread.values is None else spread.values)
            try:
                while ready:
                    self._show(ready.popleft())
            finally:
                spread.values = run.take()

    def _show(self, outputs: list[Any]) -> None:
        """Take the outputs of an event into what is shown, and show it."""
        for y in outputs:
            if isinstance(y, Failed):
                surface(self, y.index + self.spread.offset, y)
                return
            self.slices.keep_last(*y)
        self.slices.show()

    def complete(self) -> None:
        """Hand over what waits, and wait until all has come out that the events so far give."""
        self._locate(self.spread)
        self.spread.send(0)
        self._deliver(self.spread)

    def explained(self, limit: int) -> Processor:
        """Return the slice for traced events."""
        return followed(self.slice, limit)

    def end(self) -> None:
        """Wait for everything; the slices come to their end in the order in which they began."""
        spread = self.spread
        spread.settle(self.run)
        self._deliver(spread)
        self.run.give(self.run.fresh() if spread.values is None else spread.values)
        self.run.finish()
        spread.values = self.run.take()


def refusal(query: Any) -> str:
    """Return why a query is not a slice that can be spread, or nothing."""
    if not isinstance(query, Query) or not hasattr(query, "by") or not hasattr(query, "inner"):
        return "is not a Slice"
    for name in TOGETHER:
        if getattr(query, name, None):
            return f"has {name}, which looks at several keys at once"
    return ""
