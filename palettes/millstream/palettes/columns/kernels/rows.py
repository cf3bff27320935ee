"""The kernel of a processor that has none: it runs event by event between two conversions."""

from __future__ import annotations

from typing import Any

from millstream.processors import Processor, Run
from millstream.processors.states import copied

from ..column import Unfit
from ..frame import Frame, of_events
from .base import Fields, Kernel, Outputs


class RowsKernel(Kernel):
    """Any synchronous processor, event by event; for queries that are columnar but for a few parts."""

    def __init__(self, node: Processor, why: str) -> None:
        self.node, self.how = node, f"event by event: {why}"
        self.given: list[list[Any]] = [[] for _ in range(node.arity[1])]
        self.why = why
        self.wired: Run | None = None

    def alone(self) -> RowsKernel:
        return RowsKernel(self.node, self.why)

    def run(self, state: Fields, front: tuple[Frame, ...]) -> tuple[Outputs, Fields]:
        if self.wired is None:
            self.wired = self.node.into(*self.given)
        run, queues = self.wired, (None,) * (len(self.wired.fresh()) - len(state))
        for out in self.given:
            out.clear()
        run.give((*map(copied, state), *queues))
        try:
            self._feed(run, [f.events() for f in front])
        except Exception as error:
            raise Unfit(f"{type(error).__name__}: {error}") from error
        outputs = tuple(of_events(out[:]) if out else None for out in self.given)
        return outputs, tuple(map(copied, run.take()[: len(state)]))

    @staticmethod
    def _feed(run: Run, inputs: list[list[Any]]) -> None:
        if len(inputs) == 1:
            for event in inputs[0]:
                run.entry(event)
            return
        for front in zip(*inputs, strict=True):
            for port, event in enumerate(front):
                run.push(event, port)
