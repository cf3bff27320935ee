"""Regions as Python text: functions for push, generators for pull.

The text only ever contains names that this file makes up, the templates of `Inline` forms and integer
literals; strings and other values from users or data are bound as objects, never printed into code.
`Source.lines` tells which node each line belongs to: that is how a failure finds its processor (`blame`)
without any cost while nothing fails.
"""

from __future__ import annotations

import re

from attrs import define, field

from .plan import Place, Plan, Region, Scope, Send
from .processor import inline_form, overrides


@define
class Source:
    """Python text under construction, with the node (or the sink, as -1 - k) that each line belongs to."""

    tolerant: bool
    counting: bool
    text: list[str] = field(factory=list)
    lines: dict[int, int] = field(factory=dict)
    #: what stands where the code of a scope leaves early, and how a value leaves a region
    leave: tuple[str, ...] = ("return",)
    style: str = "push"
    #: whether something else yields first where the sink is fed
    opening: bool = False

    def add(self, depth: int, line: str, owner: int | None = None) -> None:
        """Append one line."""
        self.text.append("    " * depth + line)
        if owner is not None:
            self.lines[len(self.text)] = owner


def push_source(plan: Plan, tolerant: bool, counting: bool) -> Source:
    """Return the functions ``r0``, ``r1``... of a plan's regions."""
    out = Source(tolerant, counting)
    for region in plan.regions:
        out.add(0, f"def r{region.index}({', '.join(region.params)}):")
        _count_out(out, region, 1)
        _scope(out, region.scope, 1)
        out.add(1, "return")
    return out


def pull_source(plan: Plan, tolerant: bool, opening: bool = False) -> Source:
    """Return the generators ``r0``, ``r1``... of a plan's regions; each takes the iterator that feeds it.

    What the code uses is bound as defaults of further parameters: local names are faster than global ones.
    With `opening` the last one first yields from ``opened()``, which returns whether that was all.
    """
    out = Source(tolerant, counting=False, opening=opening)
    known = _names(plan)
    for region in plan.regions:
        head = len(out.text)
        _generator(out, plan, region)
        used = set(re.findall(r"(?<![.\w])[a-z]\w*", "\n".join(out.text[head + 1 :])))
        bound = sorted(used & known)
        out.text[head] = f"def r{region.index}({', '.join(['feed', *(f'{n}={n}' for n in bound)])}):"
    return out


def _names(plan: Plan) -> set[str]:
    """Return the names that pull gives to processors, their methods and what their inline forms use."""
    known = {
        f"queue_{target(send)}" for region in plan.regions for send in region.sends if len(region.sends) > 1
    }
    known.add("opened")
    for k, node in enumerate(plan.graph.nodes):
        form = inline_form(node)
        known |= {f"n{k}", f"step_{k}", f"emitted_{k}", f"take_{k}"}
        known |= {f"{name}_{k}" for name in (form.names if form else ())}
    return known


def _generator(out: Source, plan: Plan, region: Region) -> None:
    """Print one region as a generator: it yields what leaves, or, with several exits, fills queues."""
    hub = len(region.sends) != 1
    out.style, out.leave = ("hub", ("yield", "continue")) if hub else ("pull", ("continue",))
    kind, node = region.root[0], region.root[1]
    front = ", ".join(region.params)
    out.add(0, f"def r{region.index}(feed):")
    out.add(1, "try:")
    if out.opening and region.is_last:
        out.add(2, "if (yield from opened()):")
        out.add(3, "return")
    if kind == "node" and not overrides(plan.graph.nodes[node], "iterate"):
        _emitting_loop(out, plan, region, node, hub)
    else:
        out.add(2, f"for {front or '_'} in feed:")
        _scope(out, region.scope, 3)
        out.add(3, "yield" if hub else "pass")
    _failing(out, 1)


def _emitting_loop(out: Source, plan: Plan, region: Region, node: int, hub: bool) -> None:
    """Print the loop behind a processor that emits: step, then drain what came; and once more at the end."""
    args = ", ".join(f"x{i}" for i in range(plan.graph.nodes[node].arity[0]))
    out.add(2, f"for {args} in feed:")
    if out.tolerant:
        out.add(3, "try:")
        out.add(4, f"step_{node}({args})", node)
        _note(out, 3, node, args)
    else:
        out.add(3, f"step_{node}({args})", node)
    _drain(out, region, node, 3, hub)
    if overrides(plan.graph.nodes[node], "end"):
        out.add(2, f"n{node}.end()", node)
        _drain(out, region, node, 2, hub)


def _drain(out: Source, region: Region, node: int, depth: int, hub: bool) -> None:
    out.add(depth, f"while emitted_{node}:")
    if region.params:
        out.add(depth + 1, f"{', '.join(region.params)} = take_{node}()")
    _scope(out, region.scope, depth + 1)
    out.add(depth + 1, "yield" if hub else "pass")


def _scope(out: Source, scope: Scope, depth: int, tail: bool = True) -> None:
    """Print the items of a scope; a condition that comes last of all leaves early, it does not nest."""
    while True:
        last = scope.items[-1] if tail and scope.items else None
        inside = last.inside if isinstance(last, Place) else None
        for item in scope.items if inside is None else scope.items[:-1]:
            _item(out, item, depth)
        if inside is None or not isinstance(last, Place):
            return
        condition = _place(out, last, depth)
        out.add(depth, f"if not ({condition}):", last.node)
        for line in out.leave:
            out.add(depth + 1, line)
        _assign(out, last, depth)
        scope = inside


def _item(out: Source, item: Place | Send, depth: int) -> None:
    if isinstance(item, Send):
        return _send(out, item, depth)
    condition = _place(out, item, depth)
    if item.inside is not None:
        out.add(depth, f"if {condition}:", item.node)
        _assign(out, item, depth + 1)
        _scope(out, item.inside, depth + 1, tail=False)
        out.add(depth + 1, "pass")


def texts(item: Place) -> dict[str, str]:
    """Return what the placeholders of a node's `Inline` texts stand for."""
    names = {name: f"{name}_{item.node}" for name in item.form.names}
    return {**names, "me": f"n{item.node}", **{f"y{o}": v for o, v in enumerate(item.outs)}}


def _place(out: Source, item: Place, depth: int) -> str | None:
    """Print a node's statements; return its condition, if it has one."""
    values = texts(item)

    def fill(text: str) -> str:
        return text.format(*item.ins, **values)

    do = [fill(line) for line in item.form.do]
    assign = [f"{v} = {fill(t)}" for v, t in zip(item.outs, item.form.out, strict=True) if fill(t) != v]
    if out.counting:
        out.add(depth, f"counts[{item.node}][0] += 1")
    if out.tolerant:
        return _guarded(
            out, item, do, None if item.form.when is None else fill(item.form.when), assign, depth
        )
    for line in do:
        out.add(depth, line, item.node)
    if item.form.when is not None:
        return fill(item.form.when)
    for line in assign:
        out.add(depth, line, item.node)
    if out.counting:
        out.add(depth, f"counts[{item.node}][1] += 1")
    return None


def _assign(out: Source, item: Place, depth: int) -> None:
    """Print the outputs of a node with a condition, inside that condition."""
    if out.counting:
        out.add(depth, f"counts[{item.node}][1] += 1")
    if out.tolerant:
        return
    values = texts(item)
    for v, t in zip(item.outs, item.form.out, strict=True):
        text = t.format(*item.ins, **values)
        if text != v:
            out.add(depth, f"{v} = {text}", item.node)


def _guarded(
    out: Source, item: Place, do: list[str], when: str | None, assign: list[str], depth: int
) -> str | None:
    """Print a node that may fail: a failure, or a hole among its inputs, leaves holes as its outputs."""
    fresh = [v for v in item.outs if v not in item.ins]
    for v in fresh:
        out.add(depth, f"{v} = HOLE")
    if when is not None:
        out.add(depth, f"k{item.node} = False")
    out.add(depth, f"if {_whole(item.ins)}:")
    out.add(depth + 1, "try:")
    for line in do:
        out.add(depth + 2, line, item.node)
    if when is not None:
        out.add(depth + 2, f"k{item.node} = {when}", item.node)
        out.add(depth + 2, f"if k{item.node}:")
    for line in assign:
        out.add(depth + 2 + (when is not None), line, item.node)
    out.add(depth + 2 + (when is not None), "pass")
    _note(out, depth + 1, item.node, ", ".join(item.ins))
    if when is not None:
        return f"k{item.node}"
    return None


def _failing(out: Source, depth: int) -> None:
    """Print the handlers that name the processor of a failure."""
    out.add(depth, "except StreamError:")
    out.add(depth + 1, "raise")
    out.add(depth, "except Exception as error:")
    out.add(depth + 1, "raise wiring.blame(error) from error")


def _note(out: Source, depth: int, node: int, values: str) -> None:
    out.add(depth, "except StreamError:")
    out.add(depth + 1, "raise")
    out.add(depth, "except Exception as error:")
    out.add(depth + 1, f"wiring.note({node}, error, ({values},))")


def _whole(values: tuple[str, ...]) -> str:
    return " and ".join(f"{v} is not HOLE" for v in values) or "True"


def target(item: Send) -> str:
    """Return the name of the function that takes what is sent."""
    return f"{item.kind}_{item.node}" + (f"_{item.port}" if item.kind in ("port", "join") else "")


def _send(out: Source, item: Send, depth: int) -> None:
    values = ", ".join(item.values)
    if out.tolerant and item.kind != "join":
        out.add(depth, f"if {_whole(item.values)}:")
        depth += 1
    if out.style == "pull":
        return out.add(depth, f"yield {values}")
    name = target(item)
    if out.style == "hub":
        return out.add(
            depth, f"queue_{name}({values})" if len(item.values) == 1 else f"queue_{name}(({values}))"
        )
    owner = -1 - item.node if item.kind == "sink" else item.node
    if item.kind in ("step", "port"):
        if out.counting:
            out.add(depth, f"counts[{item.node}][0] += 1")
        if out.tolerant:
            out.add(depth, "try:")
            out.add(depth + 1, f"{name}({values})", owner)
            return _note(out, depth, item.node, values)
    elif out.tolerant and item.kind == "sink":
        out.add(depth, "try:")
        out.add(depth + 1, f"{name}({values})", owner)
        return _failing(out, depth)
    out.add(depth, f"{name}({values})", owner)
    return None


def _count_out(out: Source, region: Region, depth: int) -> None:
    if out.counting and region.root[0] in ("node", "router"):
        out.add(depth, f"counts[{region.root[1]}][1] += 1")
