"""Saved states as bytes that are safe to read: reading them never runs code that the bytes name.

A state is written by pickle, because states hold deques, shared objects and the small classes of palettes.
Only the instructions that the writer uses are understood, and only objects of kinds on a list are made. On
the list are Python's own kinds of data, what palettes have declared with `allow_in_states`, and what the
caller allows besides, such as the class of events. Functions and classes that the query itself mentions may
appear as values, but are never called.

There are two readers (`unpack`). `_Reader` checks instruction by instruction, in Python. Ordinary small
states need not pay for that: `_plain` tells by one regular expression that a body has only such instructions,
and then `_Quick`, Python's reader in C, makes the same objects. What it cannot decide goes to `_Reader`.

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
import re
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
    body = pack(saved, query)
    header = {
        "format": FORMAT,
        "version": _version(),
        "query": saved.query,
        "text": shorten(query, TEXT),
        "length": len(body),
        "digest": _digest(body),
    }
    return MAGIC + json.dumps(header).encode() + b"\n" + body


def pack(value: Any, query: Query) -> bytes:
    """Return something that a run of a query keeps as bytes without a first line, for `unpack`.

    For those who keep many small states and say elsewhere what they belong to.

    >>> from millstream.processors import Count
    >>> unpack(pack((3, ["a"]), Count()), Count())
    (3, ['a'])
    """
    buffer = io.BytesIO()
    writer = pickle.Pickler(buffer, protocol=4)
    writer.dispatch_table = _REDUCERS
    try:
        writer.dump(value)
    except Exception as error:
        raise StateError(
            f"the state of {shorten(query, 60)} cannot be written: {type(error).__name__}: {error}; "
            "events and values that a query keeps must pickle"
        ) from error
    return buffer.getvalue()


def unpack(body: bytes, query: Query, allow: Iterable[type] = ()) -> Any:
    """Return what `pack` made these bytes of; the parameters and errors are those of `decode`.

    >>> from millstream.processors import Count
    >>> unpack(pack(print, Count()), Count())
    Traceback (most recent call last):
    millstream.processors.codec.StateError: the state holds builtins.print, which is not allowed...
    """
    try:
        if _plain(body):
            try:
                return _Quick(io.BytesIO(body), allow).load()
            except _Undecided:
                pass
        return _Reader(body, query, allow).load()
    except StateError:
        raise
    except Exception as error:  # whatever damaged instructions lead to
        raise StateError(f"not a state: {type(error).__name__}: {error}") from error


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
    saved = unpack(body, query, allow)
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


#: tuples in tuples: hashing them needs stack for each level, and no pickle is written deeper than that
DEEPEST = 1000


def _counted(code: bytes) -> bytes:
    """Return a pattern for an instruction with a length in one byte and so many bytes behind it."""
    return b"(?:%s(?:%s))" % (code, b"|".join(re.escape(bytes([n])) + b".{%d}" % n for n in range(256)))


#: bodies that consist of the writer's instructions, those with lengths of more than a byte left out
_PLAIN = re.compile(
    rb"\x80\x04(?>[N\x88\x89()\]}\x8f\x90\x91\x93\x94\x85\x86\x87taesuR\x81\x92b01]"
    rb"|K.|M..|J....|G.{8}|h.|j....|\x95.{8}|"
    + b"|".join(map(_counted, (rb"\x8c", b"C", rb"\x8a")))
    + rb")*+\.",
    re.DOTALL,
)


def _plain(body: bytes) -> bool:
    """Return whether bytes have only instructions that do no harm, and too few tuples to be deep."""
    tuples = body.count(b"\x85") + body.count(b"\x86") + body.count(b"\x87") + body.count(b"t")
    return tuples < DEEPEST and _PLAIN.fullmatch(body) is not None


class _Undecided(Exception):
    """A name that is not on the list; the query may mention it."""


class _Quick(pickle.Unpickler):
    """Makes objects of allowed kinds; only for bodies that are plain, for it knows all instructions."""

    def __init__(self, file: io.BytesIO, allow: Iterable[type]) -> None:
        super().__init__(file)
        self.allow = {(c.__module__, c.__qualname__): c for c in allow} if allow else {}

    def find_class(self, module: str, name: str) -> Any:
        """Return a kind that is on the list: everything that this reader finds, it may call."""
        found = self.allow.get((module, name)) or _kinds.get((module, name))
        if found is None:
            if not _is_allowed(module, name):
                raise _Undecided
            found = _kinds[module, name] = _look_up(module, name)
        return found


#: kinds on the list that have been looked up
_kinds: dict[tuple[str, str], Any] = {}

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
        #: tuples that hold tuples, by their id, with their depth
        self.deep: dict[int, tuple[int, tuple[Any, ...]]] = {}

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

    def _measured(load: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return an instruction that makes a tuple, and refuses to make it too deep."""

        def measured(self: Any) -> None:
            load(self)
            made = self.stack[-1]
            depth = 1 + max((self.deep.get(id(x), (1,))[0] for x in made if type(x) is tuple), default=0)
            if depth > DEEPEST:
                raise StateError(f"not a state: tuples within tuples, more than {DEEPEST}")
            if depth > 1:
                self.deep[id(made)] = depth, made

        return measured

    for _code in (pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3):
        dispatch[_code[0]] = _measured(dispatch[_code[0]])
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
