"""Cut a query in two: what Spark SQL computes before anything is shuffled, and the rest, which Python runs.

Only leading functions and filters that are expressions can be cut off. A filter is a WHERE, a function is a
column whose values are the events of what follows. The first processor that is something else, or that
`pushdown` refuses, ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from millstream.palettes.ltl import Monitor, Verdicts
from millstream.processors import Apply, Filter, Graph, Passthrough, Processor, Query, QueryError, Tap
from millstream.processors.expressions import Attribute, Constant, Expression, Input, Item, walk
from millstream.processors.graph import flatten

from .cores import Core, NoCore, TableCore, Walk, core_of
from .letters import leaf_expression, leaf_meaning, leaves_of
from .pushdown import Translation, quoted
from .reading import items_read
from .typed import Refused, Typed, WrongType, truth

#: more letters do not fit into a column of 16 bits
LETTERS = 15
#: what tells the fields that a function reads, None if it may read any
Fields = Callable[[Any], set[str] | None]


@frozen
class Split:
    """A query cut in two.

    Attributes
    ----------
    pushed
        The processors that Spark SQL stands for.
    condition
        What their filters ask of a row, None if there is no filter.
    value
        The column of the events that the rest takes, None if that is the row.
    rest
        The query that Python runs, None if nothing is left.
    stopped
        Why the first processor of the rest was not pushed.
    """

    pushed: tuple[Processor, ...] = ()
    condition: Column | None = None
    value: Typed | None = None
    rest: Query | None = None
    stopped: str = ""


def split(query: Query, schema: T.StructType, key: tuple[str, ...]) -> Split:
    """Cut a query behind the last leading processor that Spark SQL computes exactly."""
    graph, _ = flatten(query.graph)
    pushed: list[Processor] = []
    condition: Column | None = None
    value: Typed | None = None
    stopped = ""
    for node in _leading(graph):
        translation = Translation(schema, failing(node, schema, key), value)
        try:
            value, condition = _push(node, translation, condition, node is graph.nodes[-1])
        except WrongType as wrong:
            raise QueryError(f"{node!r}: {wrong}; compare and compute with one type") from wrong
        except Refused as refusal:
            stopped = f"{node!r}: {refusal}"
            break
        pushed.append(node)
    count = len(pushed)
    rest = _rest(graph, count) if count < len(graph.nodes) else None
    return Split(tuple(pushed), condition, value, rest, stopped)


def push_letters(cut: Split, schema: T.StructType, key: tuple[str, ...], named: bool = False) -> Split | None:
    """Cut further, inside a monitor: Spark SQL computes the letters of its automaton, Python walks it.

    Returns None if the rest does not begin with such a monitor. With `named`, a monitor that stands last
    gives the names of its verdicts.
    """
    graph = None if cut.rest is None else cut.rest.graph
    node = None if graph is None else graph.nodes[0]
    if graph is None or type(node) is not Monitor or graph.entries != ((0, 0),):
        return None
    try:
        core = core_of(node)
        value = _letters(node, core, Translation(schema, failing(node, schema, key), cut.value))
    except (NoCore, Refused):
        return None
    assert isinstance(core, TableCore)
    said = tuple(v.name for v in core.says) if named and len(graph.nodes) == 1 else core.says
    rest = Graph((Walk(core.table, said), *graph.nodes[1:]), graph.edges, graph.entries, graph.exits)
    return Split((*cut.pushed, node), cut.condition, value, rest, cut.stopped)


def _letters(node: Monitor, core: Core, translation: Translation) -> Typed:
    """Return the letters of a monitor's automaton as a column."""
    letters = node.automaton().letters
    if len(letters) > LETTERS:
        raise Refused("too many letters")
    bits: Column = F.lit(0)
    for k, leaf in enumerate(letters):
        expression = leaf_expression(leaf, node.atoms)
        if expression is None:
            raise Refused(f"{leaf!r} is a Python function")
        bits = bits + F.when(truth(translation.translate(expression)), F.lit(1 << k)).otherwise(F.lit(0))
    return Typed(bits.cast("smallint"), "int", False, 0, 2**LETTERS)


def _leading(graph: Graph) -> Iterator[Processor]:
    """Yield the processors at the head of a query that each event passes one after the other."""
    if graph.entries != ((0, 0),) or any(e.initial for e in graph.edges):
        return
    for n, node in enumerate(graph.nodes):
        if node.arity != (1, 1) or (
            n and [e.source for e in graph.edges if e.target[0] == n] != [(n - 1, 0)]
        ):
            return
        yield node
        if len([e for e in graph.edges if e.source[0] == n]) != 1 and n < len(graph.nodes) - 1:
            return


def _push(
    node: Processor, t: Translation, condition: Column | None, last: bool
) -> tuple[Typed | None, Column | None]:
    """Return value and condition behind one more processor."""
    if type(node) is Passthrough:
        return t.value, condition
    if type(node) is Filter and isinstance(node.condition, Expression):
        holds = truth(t.translate(node.condition))
        if condition is not None:  # lazily: what an earlier filter drops must not fail in a later one
            holds = F.when(condition, holds).otherwise(F.lit(False))
        return t.value, holds
    if type(node) is Apply and isinstance(node.function, Expression):
        value = t.translate(node.function)
        if value.kind not in ("bool", "int", "float", "str") or (value.wide and not last):
            raise Refused("a value that is no 64-bit integer, float, string or truth value")
        return (t.narrowed(value) if value.wide else value), condition
    raise Refused("is no expression")


def failing(node: Processor, schema: T.StructType, key: tuple[str, ...]) -> Any:
    """Return what makes the column that fails as the processor would, naming key and event."""

    def fail(why: str) -> Column:
        event = F.to_json(F.struct(*map(quoted, schema.names)), {"ignoreNullFields": "false"})
        names = F.concat_ws(", ", *(quoted(k).cast("string") for k in key)) if key else F.lit("")
        return F.raise_error(
            F.concat(
                F.lit("key "), names, F.lit(", on the event "), event, F.lit(f": {node!r} failed: {why}")
            )
        )

    return fail


def _rest(graph: Graph, count: int) -> Graph:
    """Return the query without its first processors."""
    if count == 0:
        return graph
    heads = [e.target for e in graph.edges if e.source[0] == count - 1]
    if len(heads) == 1:
        edges = tuple(e.moved(-count) for e in graph.edges if e.source[0] >= count)
        (n, i), exits = heads[0], tuple((n - count, o) for n, o in graph.exits)
        return Graph(graph.nodes[count:], edges, ((n - count, i),), exits)
    by = count - 1  # the last of them is replaced by one that does nothing, which keeps the ports
    edges = tuple(e.moved(-by) for e in graph.edges if e.source[0] >= by)
    exits = tuple((n - by, o) for n, o in graph.exits)
    return Graph((Passthrough(), *graph.nodes[count:]), edges, ((0, 0),), exits)


def fields_of(expression: Any) -> set[str] | None:
    """Return the fields of the event that an expression reads, None if it may read any.

    >>> from millstream.processors import E, X
    >>> sorted(fields_of((E.price > 3) & (E["kind"] == "a"))), fields_of(X == 1)
    (['kind', 'price'], None)
    """
    if not isinstance(expression, Expression):
        return None
    found: set[str] = set()
    fields = 0
    for e in walk(expression):
        match e:
            case Attribute(Input(0, _), name) | Item(Input(0, _), Constant(str() as name)):
                found.add(name)
                fields += 1
    return found if fields == sum(isinstance(e, Input) for e in walk(expression)) else None


def columns_read(query: Query) -> set[str] | None:
    """Return the fields of an event that a query reads, None if it may read any.

    >>> from millstream.processors import Count, E
    >>> sorted(columns_read(Filter(E.kind == "buy") | Apply(lambda e: e["price"] * 2) | Count()))
    ['kind', 'price']
    """
    found, complete = fields_read(query, _fields_or_items)
    return found if complete else None


def _fields_or_items(function: Any) -> set[str] | None:
    return fields_of(function) if isinstance(function, Expression) else items_read(function)


def fields_read(query: Query, of: Fields = fields_of) -> tuple[set[str], bool]:
    """Return fields of an event that a query is known to read, and whether these are all.

    What a Python function reads is not among them: perhaps it never comes to do so.
    """
    found: set[str] = set()
    for node in _leading(flatten(query.graph)[0]):
        if type(node) in (Filter, Apply, Tap):
            fields = of(node.condition if isinstance(node, Filter) else node.function)  # type: ignore[attr-defined]
        elif type(node) is Passthrough:
            continue
        else:
            fields = _formula_fields(node, of)
        if fields is None:
            return found, False
        found |= fields
        if type(node) not in (Filter, Tap):
            return found, True
    return found, False


def _formula_fields(node: Processor, of: Fields) -> set[str] | None:
    """Return the fields that a formula reads, None if it may read any."""
    if not isinstance(node, Monitor | Verdicts) or node.explain:
        return None
    leaves = leaves_of(node.formula)
    if leaves is None:
        return None
    read = [of(leaf_meaning(leaf, node.atoms)) for leaf in leaves]
    read += [of(node.time)] if node.time is not None else []
    return None if None in read else set().union(*(f for f in read if f is not None))
