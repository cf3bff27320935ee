"""Column: the values of one field over a batch of events, in the form that kernels compute with.

=====  =========================================  ==============================================
kind   data                                       events
=====  =========================================  ==============================================
``b``  bools                                      bool
``i``  int64                                      int
``f``  float64                                    float
``t``  int64, and an Arrow type that says what    datetime, date, timedelta
``s``  an Arrow array of strings                  str
``a``  an Arrow array of anything else            whatever Arrow makes of it
``e``  numbers of the objects in `type`, a tuple  those objects: verdicts, states of machines
``o``  Python objects                             themselves
=====  =========================================  ==============================================

Columns are never changed. `valid` tells which values are there (None: all of them; an event is None where
one is not); arrays of Arrow know that themselves. A kernel that cannot give exactly what Python would give
raises `Unfit`, and the batch is run event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from millstream.palettes.ltl.verdict import NAMES, STRENGTH, Verdict

from .loops import loops, room, tidy

Array = npt.NDArray[Any]
#: all verdicts, in the order of their strength
VERDICTS = tuple(getattr(Verdict, name) for name in NAMES)
SMALLEST, LARGEST = -(2**63), 2**63 - 1
#: the kinds of columns that NumPy folds
DTYPES: dict[str, Any] = {"i": np.int64, "f": np.float64, "b": np.bool_}
#: the kinds of columns whose data are the buffers of Arrow
DIRECT = {"i": pa.int64(), "f": pa.float64(), "b": pa.bool_()}


class Unfit(Exception):
    """A batch for which a kernel cannot give exactly what the event-by-event run gives; says why."""


class Chosen:
    """Some events of a batch."""

    __slots__ = ("_places", "count", "where")

    def __init__(self, where: Array) -> None:
        self.where, self.count = where, int(np.count_nonzero(where))
        self._places: Array | None = None

    @property
    def places(self) -> Array:
        """Return their places."""
        if self._places is None:
            self._places = self.where.nonzero()[0]
        return self._places


class Column:
    """The values of one field over a batch; see the table at the head of this file."""

    __slots__ = ("_arrow", "_bounds", "data", "kind", "type", "valid")

    def __init__(
        self,
        kind: str,
        data: Any,
        valid: Array | None = None,
        type: Any = None,
        arrow: pa.Array | None = None,
        bounds: tuple[int, int] | None = None,
    ) -> None:
        self.kind, self.data, self.valid, self.type = kind, data, valid, type
        self._arrow = data if kind in "sa" else arrow
        self._bounds = bounds

    def __len__(self) -> int:
        return len(self.data)

    @property
    def bounds(self) -> tuple[int, int]:
        """Return two ints between which all values of a column of ints lie."""
        if self._bounds is None:
            self._bounds = extremes(self.data)
        return self._bounds

    @bounds.setter
    def bounds(self, found: tuple[int, int]) -> None:
        self._bounds = found

    @property
    def complete(self) -> bool:
        """Return whether no value is missing."""
        if self.kind in "sa":
            return self.data.null_count == 0  # type: ignore[no-any-return]
        return self.valid is None and (self.kind != "o" or all(x is not None for x in self.data))

    @property
    def presence(self) -> Array:
        """Return which values are there."""
        if self.kind in "sa":
            return bools(self.data.is_valid())
        if self.kind == "o":
            return np.fromiter((x is not None for x in self.data), bool, len(self.data))
        return np.ones(len(self.data), bool) if self.valid is None else self.valid

    def take(self, places: Array) -> Column:
        """Return the values at some places."""
        if self.kind in "sa":
            return Column(self.kind, self.data.take(pa.array(places)), type=self.type)
        valid = None if self.valid is None else some(self.valid.take(places))
        return Column(self.kind, self.data.take(places), valid, self.type, bounds=self._bounds)

    def chosen(self, these: Chosen) -> Column:
        """Return the values of some events."""
        compiled = loops(len(self.data)) if self.kind in "if" and self.valid is None else None
        if compiled is None:
            return self.take(these.places)
        found = room(these.count + 1, self.data.dtype)
        compiled.chosen(tidy(these.where), tidy(self.data), found)
        return Column(self.kind, found[:-1], None, self.type, bounds=self._bounds)

    def slice(self, begin: int, end: int) -> Column:
        """Return the values from one place to another."""
        if self.kind in "sa":
            return Column(self.kind, self.data.slice(begin, max(0, end - begin)), type=self.type)
        valid = None if self.valid is None else some(self.valid[begin:end])
        return Column(self.kind, self.data[begin:end], valid, self.type, bounds=self._bounds)

    def arrow(self) -> pa.Array:
        """Return the column as an Arrow array."""
        if self._arrow is None:
            self._arrow = self._made()
        return self._arrow

    def _made(self) -> pa.Array:
        if self.kind == "o":
            return pa.array([_named(x) for x in self.data], self.type)
        if self.kind == "e":
            names = _names(self.type)
            if names is None:
                return pa.array([_named(self.type[k]) for k in self.data.tolist()])
            return pa.DictionaryArray.from_arrays(self.data.astype(np.int16), names, safe=False)
        if self.valid is None and self.kind in DIRECT and self.type in (None, DIRECT[self.kind]):
            data = np.packbits(self.data, bitorder="little") if self.kind == "b" else self.data
            if data.flags.c_contiguous:  # the same array as that of pa.array, in half the time
                buffers = [None, pa.py_buffer(data)]
                return pa.Array.from_buffers(DIRECT[self.kind], len(self.data), buffers, 0)
        mask = None if self.valid is None else ~self.valid
        if self.kind == "t":
            plain = pa.array(self.data, pa.int64(), mask=mask)
            return (plain.cast(pa.int32()) if self.type.bit_width == 32 else plain).cast(self.type)
        made = pa.array(self.data, mask=mask)
        return made if self.type is None or made.type == self.type else made.cast(self.type)

    def pylist(self) -> list[Any]:
        """Return the values as Python objects, as an event by event run sees them."""
        if self.kind == "s":
            return self.data.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]
        if self.kind in "at":
            return self.arrow().to_pylist()  # type: ignore[no-any-return]
        if self.kind == "e":
            return [self.type[k] for k in self.data.tolist()]
        values: list[Any] = self.data.tolist()
        if self.valid is None:
            return values
        return [x if there else None for x, there in zip(values, self.valid.tolist(), strict=True)]

    def at(self, place: int) -> Any:
        """Return one value as a Python object."""
        if self.valid is None and self.kind in "bif":
            return self.data[place].item()
        return self.slice(place, place + 1).pylist()[0]


def _named(value: Any) -> Any:
    """Return what stands for an object in Arrow: the name of a verdict, all else as it is."""
    return value.name if isinstance(value, Verdict) else value


def extremes(data: Array) -> tuple[int, int]:
    """Return the smallest and the largest of ints; zeros if there are none."""
    if not len(data):
        return 0, 0
    compiled = loops()
    if compiled is not None:
        return compiled.extremes(tidy(data))  # type: ignore[no-any-return]
    return int(np.minimum.reduce(data)), int(np.maximum.reduce(data))


@lru_cache(64)
def _names(objects: tuple[Any, ...]) -> pa.Array | None:
    """Return what stands for some objects in Arrow, if those are texts."""
    names = [_named(x) for x in objects]
    return pa.array(names, pa.string()) if all(isinstance(x, str) for x in names) else None


def bools(array: pa.Array) -> Array:
    """Return a Boolean Arrow array without nulls as a NumPy array."""
    if not len(array):
        return np.zeros(0, bool)
    whole, first = divmod(array.offset, 8)
    bits = np.frombuffer(array.buffers()[1], np.uint8)[whole:]
    data: Array = np.unpackbits(bits, count=first + len(array), bitorder="little").view(np.bool_)
    return data[first:]


def some(valid: Array) -> Array | None:
    """Return which values are there, None if all are."""
    return None if valid.all() else valid


# From Arrow


def _ints(array: pa.Array) -> Column:
    if array.null_count == 0:
        data = array.to_numpy()
        wide = data if data.dtype == np.int64 else data.astype(np.int64)
        return Column("i", wide, None, array.type, array)
    return Column("i", _filled(array).astype(np.int64), bools(array.is_valid()), array.type, array)


def _large(array: pa.Array) -> Column:
    """Return a column of uint64, whose values may be too large for int64."""
    values = array.to_pylist()
    if any(x is not None and x > LARGEST for x in values):
        return Column("o", objects(values), type=array.type, arrow=array)
    return _ints(array)


def _floats(array: pa.Array) -> Column:
    if array.null_count == 0:
        data = array.to_numpy()
        wide = data if data.dtype == np.float64 else data.astype(np.float64)
        return Column("f", wide, None, array.type, array)
    return Column("f", _filled(array).astype(np.float64), bools(array.is_valid()), array.type, array)


def _bools(array: pa.Array) -> Column:
    if array.null_count == 0:
        return Column("b", bools(array), None, array.type, array)
    return Column("b", bools(array.fill_null(False)), bools(array.is_valid()), array.type, array)


def _times(array: pa.Array) -> Column:
    plain = array.cast(pa.int32()).cast(pa.int64()) if array.type.bit_width == 32 else array.cast(pa.int64())
    valid = None if array.null_count == 0 else bools(array.is_valid())
    return Column("t", _filled(plain) if plain.null_count else plain.to_numpy(), valid, array.type, array)


def _filled(array: pa.Array) -> Array:
    found: Array = array.fill_null(pa.scalar(0, array.type)).to_numpy()
    return found


def _strings(array: pa.Array) -> Column:
    return Column("s", array, type=array.type)


def _encoded(array: pa.Array) -> Column:
    kind = array.type.value_type
    if kind == pa.string() or kind == pa.large_string():
        return Column("s", array, type=array.type)
    return of_arrow(array.dictionary_decode())


MAKERS: dict[int, Callable[[pa.Array], Column]] = {
    **{t.id: _ints for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16())},
    pa.uint32().id: _ints,
    pa.uint64().id: _large,
    **{t.id: _floats for t in (pa.float16(), pa.float32(), pa.float64())},
    pa.bool_().id: _bools,
    **{t.id: _times for t in (pa.timestamp("us"), pa.duration("us"), pa.date32())},
    **{t.id: _strings for t in (pa.string(), pa.large_string())},
    pa.dictionary(pa.int32(), pa.string()).id: _encoded,
}


def of_arrow(array: Any) -> Column:
    """Return the column of an Arrow array.

    >>> of_arrow(pa.array([1, None, 3])).pylist()
    [1, None, 3]
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    make = MAKERS.get(array.type.id)
    return Column("a", array, type=array.type) if make is None else make(array)


# From Python


def objects(values: Sequence[Any]) -> Array:
    """Return Python objects as an array, whatever they are."""
    made = np.empty(len(values), object)
    made[:] = values if not any(isinstance(v, (list, tuple, np.ndarray)) for v in values) else None
    if len(values) and made[0] is not values[0]:
        for k, value in enumerate(values):
            made[k] = value
    return made


def of_list(values: list[Any], type: pa.DataType | None = None) -> Column:
    """Return the column of a list of Python objects: of their type if they have one, of objects otherwise.

    >>> of_list([1, 2]).kind, of_list([1, 2**70]).kind, of_list(["a"]).kind, of_list([1, "a"]).kind
    ('i', 'o', 's', 'o')
    """
    kinds = set(map(_type_of, values))
    if kinds - {_type_of(None)} == {int, bool}:
        values = [None if x is None else int(x) for x in values]
        kinds = set(map(_type_of, values))
    if kinds == {int} and min(values) >= SMALLEST and max(values) <= LARGEST:
        return Column("i", np.array(values, np.int64), type=type if type is None or _whole(type) else None)
    if kinds == {float}:
        return Column("f", np.array(values, np.float64))
    if kinds == {bool}:
        return Column("b", np.array(values, bool))
    if kinds == {Verdict} and not any(v.because for v in values):
        return Column("e", np.array([STRENGTH[v.name] for v in values], np.uint8), type=VERDICTS)
    if kinds == {str}:
        return Column("s", pa.array(values, pa.string()))
    if type is not None or (len(kinds - {None.__class__}) == 1 and int not in kinds):
        try:
            return of_arrow(pa.array(values, type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            pass
    return Column("o", objects(values))


_type_of = type


def _whole(type: pa.DataType) -> bool:
    return MAKERS.get(type.id) is _ints


def concatenated(columns: Sequence[Column]) -> Column:
    """Return one column of several, one after the other."""
    columns = [c for c in columns if len(c)] or list(columns[:1])
    first = columns[0]
    if len(columns) == 1:
        return first
    if any(c.kind != first.kind or c.type != first.type for c in columns):
        return of_list([x for c in columns for x in c.pylist()])
    if first.kind in "sa":
        joined = pa.chunked_array([c.data for c in columns]).combine_chunks()
        return Column(first.kind, joined, type=first.type)
    valid = None
    if any(c.valid is not None for c in columns):
        valid = np.concatenate([c.presence for c in columns])
    return Column(first.kind, np.concatenate([c.data for c in columns]), valid, first.type)


def of_codes(codes: Array, objects: tuple[Any, ...]) -> Column:
    """Return the column of numbered objects; of their own type, if they are texts, ints or bools."""
    plain = of_list(list(objects))
    if plain.kind == "s":
        texts = pa.DictionaryArray.from_arrays(codes.astype(np.int16), plain.data, safe=False)
        return Column("s", texts, type=texts.type)
    if plain.kind in "bif" and plain.valid is None:
        return plain.take(codes)
    return Column("e", codes, type=objects)


def by_object(function: Callable[[Any], Any], column: Column) -> Column:
    """Return a function of numbered objects, computed once for each object that occurs."""
    present = np.flatnonzero(np.bincount(column.data, minlength=len(column.type))).tolist()
    try:
        found = {k: function(column.type[k]) for k in present}
    except Exception as error:
        raise Unfit(f"{type(error).__name__}: {error}") from error
    places = np.zeros(len(column.type), np.intp)
    places[present] = np.arange(len(present))
    return of_list(list(found.values())).take(places.take(column.data))
