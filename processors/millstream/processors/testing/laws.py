"""The laws that every processor obeys, as one check for authors of processors and palettes. Needs hypothesis.

>>> from hypothesis import strategies as st
>>> from millstream.processors import Trim
>>> check_processor(Trim(2), st.integers(), max_examples=5)
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..codec import decode, encode
from ..graph import Graph, flatten
from ..processor import Processor, Router, configuration, fields, overrides, processor
from ..query import Query
from .running import give, in_turn, pulled, pushed


def check_processor(
    query: Query,
    *events: st.SearchStrategy[Any],
    max_examples: int = 30,
    max_size: int = 10,
    pickles: bool = True,
) -> None:
    """Check a query against all laws on generated traces; raise AssertionError with the broken law.

    Parameters
    ----------
    query
        A processor or composed query.
    events
        One strategy for the events of each input.
    max_examples, max_size
        How many traces to try, and how long each may be.
    pickles
        Whether the query is expected to pickle (one with a lambda in it does not).
    """
    check_repr(query)

    @settings(
        max_examples=max_examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.tuples(*(st.lists(e, max_size=max_size) for e in events)), st.randoms(use_true_random=False))
    def check(inputs: tuple[list[Any], ...], random: Any) -> None:
        before = copy.deepcopy(inputs)
        for law in LAWS:
            law(query, inputs, random)
        _agree("inputs are not mutated", before, inputs)
        if pickles:
            _agree(
                "a pickled query behaves alike",
                pushed(pickle.loads(pickle.dumps(query)), inputs),
                pushed(query, inputs),
            )

    check()


def _agree(law: str, expected: Any, got: Any) -> None:
    if not (expected == got or repr(expected) == repr(got)):
        raise AssertionError(f"{law}: expected {expected!r}, got {got!r}")


def _law_pull(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    _agree("push = pull", pushed(query, inputs), pulled(query, inputs))


def _law_deterministic(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    _agree("deterministic", pushed(query, inputs), pushed(query, inputs))


def _law_order(query: Query, inputs: Sequence[list[Any]], random: Any) -> None:
    """Synchronous inputs may arrive in any interleaving."""
    if len(inputs) < 2 or any(isinstance(n, Router) for n in flatten(query.graph)[0].nodes):
        return
    ports = [p for p, events in enumerate(inputs) for _ in events]
    random.shuffle(ports)
    iterators = [iter(events) for events in inputs]
    order = [(p, next(iterators[p])) for p in ports]
    _agree("any interleaving of inputs", pushed(query, inputs), pushed(query, inputs, order))


def _law_modes(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    expected = pushed(query, inputs)
    _agree("counting changes nothing", expected, pushed(query, inputs, counting=True))
    _agree("tolerance changes nothing", expected, pushed(query, inputs, on_error="skip"))
    _agree("explaining changes nothing", expected, pushed(query, inputs, explain=True))
    _agree("the inline form does what step does", expected, pushed(without_inline(query), inputs))


def _law_snapshot(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    """A state saved at any position continues identically, in another run and in the same one."""
    trace = in_turn(inputs)
    kinds = _kinds(inputs)
    for cut in range(len(trace) + 1):
        first = [[] for _ in range(query.arity[1])]  # type: list[list[Any]]
        run = query.into(*first)
        give(run, trace[:cut])
        saved = run.save()
        begun = [len(f) for f in first]
        frozen = encode(saved, query)
        second: list[list[Any]] = [[] for _ in first]
        other = query.into(*second)
        other.load(decode(frozen, query, kinds))
        give(other, trace[cut:])
        other.end()
        give(run, trace[cut:])
        run.end()
        rest = [f[b:] for f, b in zip(first, begun, strict=True)]
        _agree(f"saved after {cut} events, continued elsewhere", rest, second)
        _agree("a saved state does not change afterwards", frozen, encode(saved, query))
        for f in first:
            f.clear()
        run.load(saved)
        give(run, trace[cut:])
        run.end()
        _agree(f"saved after {cut} events, gone back to", rest, first)


def _kinds(values: Any) -> set[type]:
    """Return the classes of events, and of what tuples and lists of them hold: a state may keep them."""
    if isinstance(values, list | tuple):
        return {type(values)}.union(*map(_kinds, values))
    return {type(values)}


def _law_copies(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    """States moved in and out of one run behave as independent copies of the query."""
    if len(inputs) != 1:
        return
    expected, outs = pushed(query, inputs), [[[] for _ in range(query.arity[1])] for _ in range(2)]  # type: ignore[var-annotated]
    target: list[Any] = []
    run = query.into(*[_Switch(target, k) for k in range(query.arity[1])])
    states = [run.fresh(), run.fresh()]
    for event in inputs[0]:
        for c in range(2):
            target[:] = outs[c]
            run.give(states[c])
            run.entry(event)
            states[c] = run.take()
    for c in range(2):
        target[:] = outs[c]
        run.give(states[c])
        run.finish()
        _agree("copies are independent", expected, outs[c])


class _Switch:
    """A sink that writes to whichever list is current."""

    def __init__(self, lists: list[list[Any]], k: int) -> None:
        self.lists, self.k = lists, k

    def __call__(self, event: Any) -> None:
        self.lists[self.k].append(event)


def _law_reset(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    outs: list[list[Any]] = [[] for _ in range(query.arity[1])]
    run = query.into(*outs)
    give(run, in_turn(inputs))
    run.end()
    run.end()
    expected = pushed(query, inputs)
    _agree("the end comes exactly once", expected, outs)
    for out in outs:
        out.clear()
    run.reset()
    give(run, in_turn(inputs))
    run.end()
    _agree("reset = fresh", expected, outs)


def _law_outputs_stay(query: Query, inputs: Sequence[list[Any]], _: Any) -> None:
    """An output does not change after it has been emitted."""
    seen: list[tuple[Any, str]] = []
    run = query.into(*[lambda y: seen.append((y, repr(y)))] * query.arity[1])
    give(run, in_turn(inputs))
    run.end()
    for value, text in seen:
        _agree("outputs do not change later", text, repr(value))


LAWS: list[Callable[[Query, Sequence[list[Any]], Any], None]] = [
    _law_deterministic, _law_pull, _law_order, _law_modes, _law_snapshot, _law_copies, _law_reset,
    _law_outputs_stay,
]  # fmt: skip


def check_repr(query: Query) -> None:
    """Check that a processor prints its class and every parameter that differs from its default."""
    if not isinstance(query, Processor):
        return
    text = repr(query)
    assert text.startswith(f"{type(query).__name__}("), f"repr names the class: {text}"
    given = [a for a in fields(query) if a.init and a.default is attrs.NOTHING]
    assert not given or not text.endswith("()"), f"repr shows the parameters: {text}"


def without_inline(query: Query) -> Graph:
    """Return the query with every processor running its `step` instead of its inline form."""
    graph, _ = flatten(query.graph)
    return Graph(tuple(map(_stepping, graph.nodes)), graph.edges, graph.entries, graph.exits)


def _stepping(node: Processor) -> Processor:
    cls = type(node)
    if not overrides(node, "inline"):
        return node

    def step(self: Any, *front: Any) -> Any:
        return super(sub, self).step(*front)

    sub: Any = processor(type(cls.__name__, (cls,), {"step": step}))
    return sub(**configuration(node))  # type: ignore[no-any-return]
