"""Saved states as bytes that are safe to read: reading them never runs code that the bytes name.

A state is written by pickle, because states hold deques, shared objects and the small classes of palettes. It
is read by a reader of our own on top of Python's: it knows only the instructions that the writer uses, and
makes objects only of kinds on a list. On the list are Python's own kinds of data, what palettes have declared
with `allow_in_states`, and what the caller allows besides, such as the class of events. Functions and classes
that the query itself mentions may appear as values, but are never called.

The bytes begin with a line that can be read without any of this::

    millstream state {"format": 1, "version": "0.1.0", "query": 123, "text": "...", "length": 57, ...}

Then come `length` bytes, whose BLAKE2 digest stands in the line as well. `query` is the fingerprint of the
query and `text` the beginning of how it prints itself.
"""

from __future__ import annotations

import copyreg
import io
import json
import operator
import pickle
import pickletools
from collections import ChainMap
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from .errors import MillstreamError, shorten
from .query import Query
from .states import Saved

FORMAT = 1
MAGIC = b"millstream state "
#: no first line is longer
HEADER = 4096
TEXT = 200

#: stands for every class of a module
EVERY = "*"
#: what states may be made of besides numbers, texts, bytes, tuples, lists, dicts and sets
_allowed: dict[str, set[str]] = {
    "builtins": {"complex", "frozenset", "range", "set"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
    "zoneinfo": {"ZoneInfo"},
    "millstream.processors.codec": {"_fraction"},
    "millstream.processors.lineage": {EVERY},
    "millstream.processors.states": {"Saved"},
    "millstream.processors.processor": {"Missing"},
}

#: the instructions of pickle that the writer uses; the others, older or with side effects, are not understood
_OPCODES = """
    PROTO FRAME STOP MARK POP POP_MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 LONG4 BINFLOAT
    SHORT_BINUNICODE BINUNICODE BINUNICODE8 SHORT_BINBYTES BINBYTES BINBYTES8
    EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST APPEND APPENDS EMPTY_DICT SETITEM SETITEMS
    EMPTY_SET ADDITEMS FROZENSET MEMOIZE BINGET LONG_BINGET STACK_GLOBAL REDUCE NEWOBJ NEWOBJ_EX BUILD
"""


def _fraction(numerator: int, denominator: int) -> Fraction:
    """Return a fraction; unlike its class, this does not take texts such as ``1e999999999``."""
    return Fraction(operator.index(numerator), operator.index(denominator))


#: how objects are written whose own way would need more than a class and plain values
_REDUCERS: ChainMap[type, Any] = ChainMap(
    {Fraction: lambda f: (_fraction, (f.numerator, f.denominator)), ZoneInfo: lambda z: (ZoneInfo, (z.key,))},
    copyreg.dispatch_table,
)


class StateError(MillstreamError, ValueError):
    """Bytes that are not a state of this query, or not a state at all."""


def allow_in_states(module: str, *names: str) -> None:
    """Declare classes, and functions that rebuild objects, which the states of a palette are made of.

    They are called with whatever the bytes of a state say, so they must do nothing but make an object.

    Parameters
    ----------
    module
        Where they are defined.
    names
        Their names there; none at all stands for every class defined in the module.
    """
    _allowed.setdefault(module, set()).update(names or {EVERY})


def encode(saved: Saved, query: Query) -> bytes:
    """Return a saved state of a query as bytes.

    >>> from millstream.processors import Count
    >>> run = Count().into()
    >>> run.push_all("abc")
    >>> decode(encode(run.save(), Count()), Count()).values
    (3,)
    """
    buffer = io.BytesIO()
    writer = pickle.Pickler(buffer, protocol=4)
    writer.dispatch_table = _REDUCERS
    try:
        writer.dump(saved)
    except Exception as error:
        raise StateError(
            f"the state of {shorten(query, 60)} cannot be written: {type(error).__name__}: {error}; "
            "events and values that a query keeps must pickle"
        ) from error
    body = buffer.getvalue()
    header = {
        "format": FORMAT,
        "version": _version(),
        "query": saved.query,
        "text": shorten(query, TEXT),
        "length": len(body),
        "digest": _digest(body),
    }
    return MAGIC + json.dumps(header).encode() + b"\n" + body


def decode(data: bytes, query: Query, allow: Iterable[type] = ()) -> Saved:
    """Return the saved state of a query that some bytes hold.

    Parameters
    ----------
    data
        What `encode` returned.
    query
        The query that the state belongs to.
    allow
        Further classes that the state may hold objects of: those of the events it keeps, for instance.

    Raises
    ------
    StateError
        If the bytes are damaged, belong to another query or version, or hold something not allowed.
    """
    header, body = _split(data)
    _check(header, body, query)
    try:
        saved = _Reader(body, query, allow).load()
    except StateError:
        raise
    except Exception as error:  # whatever damaged instructions lead to
        raise StateError(f"not a state: {type(error).__name__}: {error}") from error
    if not isinstance(saved, Saved) or saved.query != query.graph.fingerprint:
        raise StateError(f"not a state of {shorten(query, 60)}: it holds {shorten(saved, 60)}")
    return saved


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    end = data.find(b"\n", 0, HEADER)
    if not data.startswith(MAGIC) or end < 0:
        raise StateError(f"not a state of millstream: it begins with {shorten(data[:20])}")
    try:
        header = json.loads(data[len(MAGIC) : end])
        if not isinstance(header, dict):
            raise ValueError("no object")
    except (ValueError, RecursionError) as error:
        raise StateError(f"not a state of millstream: the first line is damaged ({error})") from error
    return header, data[end + 1 :]


def _check(header: dict[str, Any], body: bytes, query: Query) -> None:
    """Refuse what is damaged, or was written by another query or version."""
    if header.get("format") != FORMAT or _series(header.get("version")) != _series(_version()):
        raise StateError(
            f"written by millstream {header.get('version')} (format {header.get('format')}), "
            f"this is {_version()} (format {FORMAT}): finish it with that version, or begin anew"
        )
    if header.get("length") != len(body) or header.get("digest") != _digest(body):
        raise StateError(
            f"damaged: {len(body)} bytes where {header.get('length')} were written, or other ones; "
            "take an older copy, or begin anew"
        )
    if header.get("query") != query.graph.fingerprint:
        raise StateError(
            f"saved by another query: {shorten(header.get('text'), TEXT)}, not by {shorten(query, TEXT)}; "
            "parameters count"
        )


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


@cache
def _version() -> str:
    try:
        return version("millstream")
    except PackageNotFoundError:  # used from a source tree, or sent to a worker as a zip
        return "0.1.0"


def _series(text: object) -> list[str]:
    """Return major and minor number of a version: states are the same within them."""
    return str(text).split(".")[:2]


#: the reader of the standard library that is written in Python, so that its steps can be checked
_Unpickler: Any = pickle._Unpickler


class _Reader(_Unpickler):  # type: ignore[misc]
    """Reads the instructions of `_OPCODES`, and makes only objects that are allowed."""

    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {
        ord(op.code): _Unpickler.dispatch[ord(op.code)]
        for op in pickletools.opcodes
        if op.name in _OPCODES.split()
    }

    def __init__(self, body: bytes, query: Query, allow: Iterable[type]) -> None:
        super().__init__(io.BytesIO(body))
        self.query = query
        self.allow = {(c.__module__, c.__qualname__): c for c in allow}
        #: what may be called
        self.makers: set[int] = set()

    def load(self) -> Any:
        """Read one object; an unknown instruction is an error that says so."""
        try:
            return super().load()
        except KeyError as error:
            raise StateError(f"not a state: unknown instruction or reference {error}") from error

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name stands for, if it is allowed."""
        if (module, name) in self.allow:
            found: Any = self.allow[module, name]
        elif _is_allowed(module, name):
            found = _look_up(module, name)
        elif (module, name) in _mentioned(self.query):
            return _look_up(module, name)
        else:
            raise StateError(
                f"the state holds {module}.{name}, which is not allowed in states; "
                f"if you trust it, name it: allow=[{name}]"
            )
        self.makers.add(id(found))
        return found

    def _check_maker(self, maker: Any) -> None:
        if id(maker) not in self.makers:
            raise StateError(f"the state calls {shorten(maker, 60)}, which is not allowed")

    def load_reduce(self) -> None:
        self._check_maker(self.stack[-2])
        super().load_reduce()

    def load_newobj(self) -> None:
        self._check_maker(self.stack[-2])
        super().load_newobj()

    def load_newobj_ex(self) -> None:
        self._check_maker(self.stack[-3])
        super().load_newobj_ex()

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex


def _is_allowed(module: str, name: str) -> bool:
    names = _allowed.get(module, set())
    if name in names or EVERY not in names:
        return name in names
    found = getattr(import_module(module), name, None)
    return isinstance(found, type) and found.__module__ == module


def _look_up(module: str, name: str) -> Any:
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _mentioned(query: Query) -> set[tuple[str, str]]:
    """Return the names of functions and classes that a query mentions, kept with its graph."""
    plans = query.graph.plans
    if "mentioned" not in plans:
        plans["mentioned"] = _globals_of(query)
    return plans["mentioned"]  # type: ignore[no-any-return]


def _globals_of(query: Query) -> set[tuple[str, str]]:
    names: set[tuple[str, str]] = set()

    class Listing(pickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, type | FunctionType | BuiltinFunctionType):
                names.add((obj.__module__, obj.__qualname__))
            return NotImplemented

    try:
        Listing(io.BytesIO(), protocol=4).dump(query.graph)
    except Exception:  # what does not pickle cannot stand in a state either
        return names
    return names
