"""Slices: a query run separately on the events of each key."""

from millstream.processors import allow_in_states

from .keys import ALL, Keys
from .slice import Slice
from .snapshot import Snapshot

__all__ = ["ALL", "Keys", "Slice", "Snapshot"]

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.slicer.snapshot", "Snapshot")
