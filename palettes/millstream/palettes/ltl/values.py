"""Hash-consed values: building the same tree twice gives the same object.

Formulas and terms are compared, hashed and used as table keys. Because equal trees are one object, equality
is identity and hashing is constant time whatever the depth; a weak table forgets trees that nobody holds.
Pickling flattens the tree to a list of instructions, so that depth is never limited by the recursion limit.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary


class Value:
    """A frozen tree node; ``parts`` are the constructor's arguments.

    >>> from millstream.palettes.ltl.formula import Atom
    >>> Atom("a") & Atom("b") is Atom("a") & Atom("b")
    True
    """

    __slots__ = ("__weakref__", "parts")
    parts: tuple[Any, ...]
    _table: ClassVar[WeakValueDictionary[Any, Any]] = WeakValueDictionary()

    def __new__(cls, *parts: Any) -> Self:
        """Return the one object for these parts."""
        key = cls._key(parts)
        found = Value._table.get(key)
        if found is not None:
            return found  # type: ignore[no-any-return]
        self = super().__new__(cls)
        object.__setattr__(self, "parts", parts)
        return Value._table.setdefault(key, self)  # type: ignore[no-any-return]

    @classmethod
    def _key(cls, parts: tuple[Any, ...]) -> Any:
        return (cls, parts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    __delattr__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        return rebuild, (flatten(self),)


def post_order(root: Value) -> list[Value]:
    """All distinct nodes below ``root`` (itself included), parts before the nodes made of them."""
    done: set[Value] = set()
    order: list[Value] = []
    stack: list[tuple[Value, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack.extend(
                (part, False) for part in reversed(node.parts) if isinstance(part, Value) and part not in done
            )
    return order


class _Ref(int):
    """Index of an earlier instruction, told apart from an ordinary number."""


def flatten(root: Value) -> list[tuple[Any, ...]]:
    """Instructions ``(class, part, ...)`` that rebuild the tree, children first."""
    place: dict[Value, int] = {}
    code: list[tuple[Any, ...]] = []
    for node in post_order(root):
        place[node] = len(code)
        code.append((type(node), *(_Ref(place[p]) if isinstance(p, Value) else p for p in node.parts)))
    return code


def rebuild(code: list[tuple[Any, ...]]) -> Value:
    """Inverse of :func:`flatten`."""
    made: list[Value] = []
    for cls, *parts in code:
        if not (isinstance(cls, type) and issubclass(cls, Value)):
            raise TypeError(f"a formula is not made of {cls!r}")
        made.append(cls(*(made[p] if type(p) is _Ref else p for p in parts)))
    return made[-1]
