"""Standing conditions, which no event says by itself: "two threads have used x with no common lock".

Asking for them anew at each event would search all bindings each time. Their bindings are kept in a table
instead, a *view*, and when rows of the tables that it reads have changed, only bindings that contain those
rows are looked at again.
"""

from __future__ import annotations

from typing import Any

from millstream.palettes.ltl.terms import Var
from millstream.palettes.ltl.values import post_order

from .clauses import Clause, clauses
from .core import FALSE, TRUE, After, Event, Guard, In, Node, Not, Old, Read, conj, free, has_field, rewrite
from .emit import Emitter, Values, row, unpack
from .lower import Table
from .stores import Stores


def is_standing(clause: Clause, tables: list[Table]) -> bool:
    """Return whether a condition depends on nothing but unbounded tables as they are after the event."""
    for node in (n for part in clause for n in post_order(part)):
        if isinstance(node, Event | After | Guard | In):
            return False
        if isinstance(node, Node) and not isinstance(node, Not) and has_field(node):
            return False
        if isinstance(node, Read) and (
            node.parts[0] or tables[node.parts[1]].bounds is not None or tables[node.parts[1]].product
        ):
            return False
    return True


def make_view(clause: Clause, number: int) -> tuple[Table, Node]:
    """Return a view's table, and its condition over the tables as they stand."""
    condition = conj(*clause)
    current = rewrite(
        condition, lambda _, n: Old(n.parts[1], False, *n.parts[2:]) if isinstance(n, Read) else n
    )
    return Table(number, free(condition), TRUE, FALSE, None), current


def sources(condition: Node) -> dict[int, list[tuple[Any, ...]]]:
    """Return the arguments with which a view reads each table."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for node in post_order(condition):
        if isinstance(node, Old):
            found.setdefault(node.parts[0], []).append(node.parts[2:])
    return found


def touched(view: Table, condition: Node) -> dict[tuple[Var, ...], list[str]]:
    """Return the columns of a view that a changed row fixes, with the expressions that collect them.

    Two threads and a variable: a row of who has used what fixes one thread and the variable, and so does a
    row of lock sets.
    """
    groups: dict[tuple[Var, ...], list[str]] = {}
    for number, reads in sources(condition).items():
        for args in reads:
            given = tuple(v for v in view.params if v in args)
            names = [f"c{i}" for i in range(len(args))]
            key = row([names[args.index(v)] for v in given]) if given else "()"
            groups.setdefault(given, []).append(f"{{{key} for {', '.join(names) or '_'} in d{number}}}")
    return groups


def refresh(view: Table, condition: Node, emitter: Emitter, stores: Stores) -> str:
    """Define the function that looks again at a view's bindings for changed rows; return its call."""
    enter: list[str] = []
    leave: list[str] = []
    for given, texts in touched(view, condition).items():
        names = [f"c{i}" for i in range(len(given))]
        values = dict(zip(given, names, strict=True))
        again = f"g{len(enter)}_"
        enter += [
            f"    {again} = {' | '.join(dict.fromkeys(texts))}",
            f"    for {', '.join(names) or '_'} in {again}:",
        ]
        _enter(view, condition, values, emitter, stores, enter)
        leave.append(f"        for {', '.join(names) or '_'} in {again}:")
        _leave(view, condition, values, emitter, leave)
    columns = [emitter.new("v") for _ in view.params]
    out = [*enter, f"    if T{view.number}:", "        again = []", *leave]
    out.append(f"        for {', '.join(columns) or '_'} in again:")
    out += stores.apply(view, columns, False, 3)
    text, deltas = "\n".join(out), ", ".join(f"d{n}" for n in sources(condition))
    call = f"{emitter.new('r')}(S, raw, now, {deltas})"
    emitter.functions.append("\n".join([f"def {call}:", *unpack(text), text]))
    return call


def _enter(
    view: Table, condition: Node, given: Values, emitter: Emitter, stores: Stores, out: list[str]
) -> None:
    """Write the search for bindings that satisfy the condition now."""

    def found(values: Values, out: list[str], at: int) -> None:
        out += stores.apply(view, [values[p] for p in view.params], True, at)

    for clause in clauses(condition, emitter.implied):
        emitter.search(list(clause), given, frozenset(view.params), out, 2, found)


def _leave(view: Table, condition: Node, given: Values, emitter: Emitter, out: list[str]) -> None:
    """Write the search for bindings that satisfied the condition and do so no longer."""

    def found(values: Values, out: list[str], at: int) -> None:
        out.append("    " * at + f"if not {emitter.exists(condition, values)}:")
        out.append(
            "    " * at
            + f"    again.append({row([values[p] for p in view.params]) if view.params else '()'})"
        )

    emitter.search([Old(view.number, False, *view.params)], given, frozenset(view.params), out, 3, found)
