"""Failures that happen in a worker and are raised where its result is asked for.

An exception from a thread is raised as it is. One from a process is sent with the text of its traceback,
which becomes its cause; if it does not survive pickling, a `RemoteError` says the same.
"""

from __future__ import annotations

import pickle
import traceback
from typing import Any

from attrs import frozen

from millstream.processors import MillstreamError


class RemoteError(MillstreamError):
    """An exception in a worker that cannot be sent as it is: its type, message and traceback as text."""


class RemoteTraceback(Exception):
    """The traceback of an exception that was raised in another process."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"\n\n{self.text}"


class WorkerDiedError(MillstreamError, RuntimeError):
    """A worker ended in the middle of its work, killed from outside or by its own task."""


class CancelledError(MillstreamError, RuntimeError):
    """Work that was given up before it was done."""


@frozen
class Failure:
    """A reply that is to be raised."""

    error: BaseException
    #: the text of the traceback, if the exception has left it behind in another process
    text: str = ""

    def throw(self) -> Any:
        """Raise the exception."""
        if self.text and self.error.__traceback__ is None:
            root = self.error
            while root.__cause__ is not None and not isinstance(root.__cause__, RemoteTraceback):
                root = root.__cause__
            root.__cause__ = RemoteTraceback(self.text)
        raise self.error


def with_events(failure: Failure, first: int | None, last: int | None) -> Failure:
    """Return the failure of a worker that died, with the positions of the events that it had.

    >>> with_events(Failure(WorkerDiedError("killed")), 3, 5).error
    WorkerDiedError('killed; it had events at 3 to 5: everything before is out, their outputs are lost')
    """
    if not isinstance(failure.error, WorkerDiedError):
        return failure
    where = "; it had events at {} to {}: everything before is out, their outputs are lost"
    return Failure(WorkerDiedError(str(failure.error) + where.format(first, last)))


def portable(error: BaseException) -> Failure:
    """Return a failure that can be sent to another process.

    >>> portable(ValueError("no")).error
    ValueError('no')
    """
    text = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))
        if type(copy) is not type(error):
            raise TypeError
    except Exception:
        return Failure(RemoteError(f"{type(error).__name__}: {error}"), text)
    return Failure(error, text)
