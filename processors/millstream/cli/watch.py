"""A live view of a run: events and events per second of each processor, and how many wait in front of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from millstream.processors import Run, Statistics

#: how often the view is drawn anew, in a second
REFRESH = 4


class View:
    """What is shown of a run; rates are those since the last time it was drawn."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.begun = self.drawn = time.monotonic()
        self.before: tuple[int, ...] = ()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield a row for each processor: place, events in and out, events in per second, waiting."""
        found, now = self.run.statistics(), time.monotonic()
        taken = tuple(flow.taken or 0 for flow in found.processors)
        before, seconds = self.before or (0,) * len(taken), max(now - self.drawn, 1e-9)
        self.before, self.drawn = taken, now
        for flow, count, last in zip(found.processors, taken, before, strict=True):
            rate = (count - last) / seconds
            waiting = " ".join(map(str, flow.waiting))
            yield flow.place, f"{count:,}", f"{flow.emitted or 0:,}", f"{rate:,.0f}", waiting

    def total(self) -> str:
        """Return a line about the whole run."""
        found: Statistics = self.run.statistics()
        seconds = max(time.monotonic() - self.begun, 1e-9)
        skipped = f", {found.skipped:,} failures skipped" if found.skipped else ""
        return f"{sum(found.positions):,} events, {sum(found.positions) / seconds:,.0f} a second{skipped}"

    def __rich__(self) -> Any:
        """Return a table; what rich shows."""
        from rich.table import Table

        table = Table(title=self.total(), title_justify="left", box=None, pad_edge=False)
        table.add_column("processor", overflow="fold")
        for name in ("in", "out", "in/s", "waiting"):
            table.add_column(name, justify="right")
        for row in self.rows():
            table.add_row(*row)
        return table


@contextmanager
def shown(run: Run) -> Iterator[View]:
    """Show a run on standard error while it goes on; if that is no terminal, once at its end."""
    from rich.console import Console
    from rich.live import Live

    view, console = View(run), Console(stderr=True)
    if not console.is_terminal:
        yield view
        console.print(view)
        return
    live = Live(
        get_renderable=view.__rich__,
        console=console,
        refresh_per_second=REFRESH,
        redirect_stdout=sys.stdout.isatty(),
    )
    with live:
        yield view
