"""Slices: a query run separately on the events of each key."""

from .keys import ALL, Keys
from .slice import Slice
from .snapshot import Snapshot

__all__ = ["ALL", "Keys", "Slice", "Snapshot"]
