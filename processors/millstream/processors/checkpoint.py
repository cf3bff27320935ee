"""Checkpoint: a run that can be killed at any moment and goes on where it was, nothing lost, nothing doubled.

Outputs and state are committed together: the output files are brought to disk, then state, position in the
source and the lengths of those files are written to a new file, which takes the place of the old one in a
single step. Whatever a killed run has written after its last commit is cut off when it goes on, and computed
again.

The file begins with a line, then comes the state as `codec` writes it::

    millstream checkpoint {"format": 1, "outputs": [["alarms.txt", 1200]], "length": 350, ...}
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from attrs import define, field

from .codec import StateError, decode, encode
from .elsewhere import at_home, load_at_home, save_at_home
from .errors import MillstreamError, QueryError, fail_parameter, shorten
from .push import Run
from .query import OnError, Query, as_query
from .sinks import FileSink
from .statistics import Statistics

try:
    import fcntl
except ImportError:  # not on Windows: two jobs on one checkpoint are then not noticed
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
MAGIC = b"millstream checkpoint "
#: no first line is longer
HEADER = 1 << 16

log = logging.getLogger(__name__)


def _is_period(owner: Any, attribute: Any, value: Any) -> None:
    least: Any = timedelta(0) if isinstance(value, timedelta) else 0
    if isinstance(value, bool) or not isinstance(value, int | timedelta) or value <= least:
        fail_parameter(owner, "every", "a positive number of events or a positive timedelta", value)


@define(eq=False)
class Checkpoint:
    """Runs a query over a source so that it can be killed and started again.

    Parameters
    ----------
    path
        The file that holds the state between commits.
    every
        Commit after so many events, or after so much time (a `timedelta`; looked at after each event).
    allow
        Classes whose objects the state may hold, such as those of events; see `decode`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from millstream.processors import Count, FileSink
    >>> with TemporaryDirectory() as folder:
    ...     job = Checkpoint(f"{folder}/job.state", every=100)
    ...     job.run("abc", Count(), FileSink(f"{folder}/out.txt"), ends=False)  # killed here, or just stopped
    ...     job.run("abcde", Count(), FileSink(f"{folder}/out.txt"))  # the same source, which has grown
    ...     Path(f"{folder}/out.txt").read_text().split()
    3
    5
    ['1', '2', '3', '4', '5']
    """

    path: Path = field(converter=Path)
    every: int | timedelta = field(default=10_000, validator=_is_period)
    allow: tuple[type, ...] = field(default=(), converter=tuple)
    _run: Run | None = field(default=None, init=False, repr=False)

    def run(
        self,
        source: Iterable[Any],
        query: Any,
        *sinks: Any,
        ends: bool = True,
        on_error: OnError = "raise",
        counting: bool = False,
    ) -> int:
        """Run from where the last run came to until the source is exhausted; return the events taken so far.

        Parameters
        ----------
        source
            Where events come from. It must give the same events again: those taken already are passed over,
            by its method ``from_position(n)`` if it has one.
        query
            A query with one input.
        sinks
            One for each output. What goes to a `FileSink` is there exactly once; what goes elsewhere since
            the last commit comes again after a restart.
        ends
            Whether the end of the source is the end of the trace. If not, a later run goes on from there.
        on_error, counting
            As for `Query.into`.
        """
        query = as_query(query)
        if query.arity[0] != 1:
            raise QueryError(
                f"Checkpoint: {shorten(query)} has {query.arity[0]} inputs; merge the sources into one stream"
            )
        with self._alone():
            files = [s for s in sinks if isinstance(s, FileSink)]
            into = getattr(query, "into_rows", query.into)  # of batches: their rows go to the sinks
            run: Run = into(*sinks, on_error=on_error, counting=counting)
            self._run = run
            self._begin(run, query, files)
            try:
                if not run.ended:
                    self._advance(run, query, source, files, ends)
            finally:
                for file in files:
                    file.close()
        return run.positions[0]

    def statistics(self) -> Statistics:
        """Return what the run that is going on has done, or the last one; positions count from the beginning.

        What passed each processor, if it is counted, is what passed since this program was started.
        """
        return Statistics((), 0, ()) if self._run is None else self._run.statistics()

    def _begin(self, run: Run, query: Query, files: list[FileSink]) -> None:
        """Go back to the last commit, or make the first one."""
        if not self.path.exists():
            for file in files:
                file.begin()
            self._commit(run, query, files)
            return
        outputs, state = _parse(self.path.read_bytes(), self.path)
        before, now = [name for name, _ in outputs], [file.path.name for file in files]
        if before != now:
            raise StateError(
                f"{self.path}: the job wrote to {before}, now it is to write to {now}; "
                "use the same files, or remove the checkpoint"
            )
        try:
            load_at_home(run, query, decode(state, at_home(query), self.allow))
        except (MillstreamError, RecursionError) as error:
            raise StateError(f"{self.path}: {error}") from error
        for file, (_, size) in zip(files, outputs, strict=True):
            file.go_on(size)
        log.info("%s: go on after %d events", self.path, run.positions[0])

    def _advance(
        self, run: Run, query: Query, source: Iterable[Any], files: list[FileSink], ends: bool
    ) -> None:
        events = _passed_over(source, run, self.path)
        while self._take(run, events):
            self._commit(run, query, files)
        if ends:
            run.end()
        self._commit(run, query, files)

    def _take(self, run: Run, events: Iterator[Any]) -> bool:
        """Take events until it is time to commit, and return whether there may be more."""
        before, every = run.positions[0], self.every
        if isinstance(every, int) and not hasattr(run, "after"):
            run.push_all(islice(events, every))
            return run.positions[0] - before == every
        begun = time.monotonic()
        progress: Any
        for event in events:
            run.push(event)
            if isinstance(every, int):
                progress = run.positions[0] - before
            else:
                progress = timedelta(seconds=time.monotonic() - begun)
            if progress >= every:
                return True
        return False

    def _commit(self, run: Run, query: Query, files: list[FileSink]) -> None:
        """Bring outputs to disk, then state and position, in one step."""
        body = encode(save_at_home(run, query), at_home(query))  # puts out what workers still had
        outputs = [(file.path.name, file.sync()) for file in files]
        header = {"format": FORMAT, "outputs": outputs, "length": len(body), "digest": _digest(body)}
        fresh = self.path.with_name(self.path.name + ".new")
        with open(fresh, "wb") as file:
            file.write(MAGIC + json.dumps(header).encode() + b"\n" + body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)
        _sync_folder(self.path.parent)
        log.debug("%s: committed after %d events, %d bytes", self.path, run.positions[0], len(body))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse a second job on the same checkpoint while one is running."""
        with open(self.path.with_name(self.path.name + ".lock"), "w") as lock:
            if fcntl is not None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError as error:
                    raise QueryError(f"Checkpoint: another job is running on {self.path}") from error
            yield


def _parse(data: bytes, path: Path) -> tuple[list[tuple[str, int]], bytes]:
    """Return names and sizes of the output files, and the bytes of the state."""
    end = data.find(b"\n", 0, HEADER)
    if not data.startswith(MAGIC) or end < 0:
        raise StateError(f"{path}: not a checkpoint of millstream, it begins with {shorten(data[:22])}")
    body = data[end + 1 :]
    try:
        header = json.loads(data[len(MAGIC) : end])
        if header["format"] != FORMAT:
            raise StateError(
                f"{path}: written in format {shorten(header['format'])}, this version knows format {FORMAT}; "
                "finish the job with the version that began it, or remove the checkpoint"
            )
        outputs = [(str(name), int(size)) for name, size in header["outputs"]]
        whole = header["length"] == len(body) and header["digest"] == _digest(body)
    except StateError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise StateError(f"{path}: the first line is damaged: {type(error).__name__}: {error}") from error
    if not whole:
        raise StateError(f"{path}: damaged; take an older copy, or remove it to begin anew")
    return outputs, body


def _passed_over(source: Iterable[Any], run: Any, path: Path) -> Iterator[Any]:
    """Return the events of a source that come after those taken already."""
    begin: Callable[[int], Iterable[Any]] | None = getattr(source, "from_position", None)
    position = run.positions[0]
    if begin is not None:
        return iter(begin(position))
    events, passed = getattr(run, "after", _after)(source, position)
    if passed < position:
        raise QueryError(
            f"Checkpoint: the source has {passed} events, but {path} was committed after {position}; "
            "give the same source, or remove the checkpoint to begin anew"
        )
    return events


def _after(source: Iterable[Any], position: int) -> tuple[Iterator[Any], int]:
    """Return the events of a source without the first ones, and how many these were."""
    events = iter(source)
    return events, sum(1 for _ in islice(events, position))


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the system can do that."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
