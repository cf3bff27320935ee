"""Windows in runs that explain themselves: the inner query takes events that know where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

from millstream.processors import Query, as_function
from millstream.processors.explaining import explained
from millstream.processors.lineage import Traced, merged

from .monoid import Monoid
from .triggers import Pane


@frozen
class OnWindow:
    """A function of a whole window, to be called with traced events."""

    function: Any
    limit: int

    def __call__(self, window: Iterable[Traced]) -> Traced:
        events = tuple(window)
        value = self.function(tuple(e.value for e in events))
        return Traced(value, merged((e.lineage for e in events), self.limit))


def traced_inner(inner: Any, limit: int) -> Any:
    """Return what a window over traced events hosts in place of an inner query or function."""
    if isinstance(inner, Query):
        return explained(inner, limit)
    return OnWindow(inner.fold if isinstance(inner, Monoid) else as_function(inner), limit)


def unlabelled(pane: Any) -> Any:
    """Return a pane whose value is traced as a traced pane; late events, which are no panes, as they are."""
    if not isinstance(pane, Pane):
        return pane
    return Traced(pane._replace(value=pane.value.value), pane.value.lineage)
