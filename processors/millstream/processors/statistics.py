"""What a run tells about itself."""

from __future__ import annotations

from attrs import frozen


@frozen
class Flow:
    """What passed through one processor, and what waits in front of it."""

    place: str
    taken: int | None
    emitted: int | None
    waiting: tuple[int, ...] = ()


@frozen
class Statistics:
    """What a run has done so far; what passed each processor is known if it counts (``counting=True``)."""

    positions: tuple[int, ...]
    skipped: int
    processors: tuple[Flow, ...]

    def __str__(self) -> str:
        rows = [("processor", "in", "out", "waiting")]
        for f in self.processors:
            taken, emitted = ("-" if n is None else str(n) for n in (f.taken, f.emitted))
            rows.append((f.place, taken, emitted, " ".join(map(str, f.waiting))))
        widths = [max(len(r[c]) for r in rows) for c in range(4)]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True)).rstrip() for r in rows
        )
