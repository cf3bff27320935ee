"""Lengths of time as Spark writes them, and times of events as the watermark counts them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import frozen
from pyspark.sql import types as T

from millstream.processors import QueryError

SECONDS = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NUMBERS = (T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType)


def as_duration(what: str, value: Any) -> timedelta:
    """Return a length of time, given as a text like ``"1 hour 30 minutes"``, a timedelta, or seconds.

    >>> as_duration("timeout", "1 hour 30 minutes"), as_duration("timeout", 2)
    (datetime.timedelta(seconds=5400), datetime.timedelta(seconds=2))
    """
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        seconds = _read(what, value)
    if not 0 <= seconds < math.inf:
        raise QueryError(f"{what} must not be negative, got {value!r}")
    return timedelta(seconds=seconds)


def _read(what: str, text: Any) -> float:
    words = text.lower().split() if isinstance(text, str) else []
    pairs = list(zip(words[::2], (w.removesuffix("s") for w in words[1::2]), strict=False))
    try:
        if not pairs or len(words) % 2:
            raise ValueError(text)
        return sum(float(number) * SECONDS[unit] for number, unit in pairs)
    except (ValueError, KeyError):
        raise QueryError(
            f"{what} must be a length of time such as '10 seconds', a timedelta or seconds, got {text!r}; "
            f"units are {', '.join(SECONDS)}"
        ) from None


@frozen
class TimeColumn:
    """A column with times: timestamps, which are counted in microseconds here, or numbers of seconds.

    >>> TimeColumn("t", T.TimestampType()).value(1_500_000)
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)
    """

    name: str
    kind: T.DataType

    @property
    def counted(self) -> bool:
        """Whether times are numbers, of seconds."""
        return isinstance(self.kind, NUMBERS)

    def check(self) -> None:
        """Raise a `QueryError` if the column's type does not tell times."""
        if not self.counted and not isinstance(self.kind, T.TimestampType):
            raise QueryError(
                f"time: the column {self.name!r} is {self.kind.simpleString()}; expected timestamps (cast it "
                "to one), or numbers of seconds"
            )

    def value(self, time: Any) -> Any:
        """Return the time as the query sees it."""
        return time if self.counted else EPOCH + timedelta(microseconds=time)

    def span(self, duration: timedelta) -> Any:
        """Return a length of time as it is counted here."""
        return duration.total_seconds() if self.counted else duration // timedelta(microseconds=1)

    def until(self, watermark: int) -> Any:
        """Return the time up to which a watermark (in milliseconds; 0: there is none yet) has come."""
        if watermark <= 0:
            return -math.inf
        return watermark / 1000 if self.counted else watermark * 1000

    def wake(self, time: Any) -> int:
        """Return the first watermark, in milliseconds, that has come to a time.

        Not less than 2: the timer before it stands at 1 at least, because Spark never fires one at 0.
        """
        moment: float = time * 1000 if self.counted else time / 1000
        return max(2, math.ceil(moment))
