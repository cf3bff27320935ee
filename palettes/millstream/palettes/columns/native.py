"""Loops that numba compiles, if it is installed: what NumPy can only do in many passes, or by sorting.

They give the same to the last bit: floats are combined in the order of events, and nothing is reordered (no
`fastmath`). Each is compiled for the types named here and no others, once for a machine: numba keeps the code
beside this file. `loops` says when kernels use them. Without numba they are plain functions, for tests.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from .column import Array

F = TypeVar("F", bound=Callable[..., Any])
numba: Any = import_module("numba") if find_spec("numba") else None
if numba is not None:
    bits, uint8, int32, int64 = numba.boolean, numba.uint8, numba.int32, numba.int64
    uint64, float64, void = numba.uint64, numba.float64, numba.void
else:
    uint64 = int
#: the folds that loops know, by their number
OPERATIONS = {"+": 0, "*": 1, "min": 2, "max": 3}


def loop(signatures: Callable[[], Any]) -> Callable[[F], F]:
    """Compile a function for some signatures, if numba is there."""
    if numba is None:
        return np.errstate(over="ignore")  # ints wrap in silence, as compiled
    make: Callable[[F], F] = numba.njit(signatures(), cache=True, nogil=True, error_model="numpy")
    return make


def inside(function: F) -> F:
    """Let a function become part of the loops that call it."""
    made: F = function if numba is None else numba.njit(inline="always")(function)
    return made


def given(kind: Any) -> Any:
    """Return the type of an array that is only read."""
    return numba.types.Array(kind, 1, "C", readonly=True)


def each(signature: Callable[[Any], Any], *kinds: str) -> Callable[[], Any]:
    """Return a signature for each of some types, for ints and floats if none are named."""
    return lambda: [signature(getattr(numba, kind)) for kind in kinds or ("int64", "float64")]


@inside
def combined(operation: int, a: Any, b: Any) -> Any:
    """Return a fold of two values."""
    if operation == 0:
        return a + b
    if operation == 1:
        return a * b
    if operation == 2:
        return b if b < a else a
    return b if b > a else a


@loop(each(lambda kind: void(int64, given(kind), kind[::1])))
def accumulate(operation: int, data: Array, found: Array) -> None:
    """Find the folds of all beginnings of the data."""
    total = data[0]
    found[0] = total
    for k in range(1, len(data)):
        total = combined(operation, total, data[k])
        found[k] = total


@loop(lambda: numba.types.UniTuple(int64, 2)(given(int64)))
def extremes(data: Array) -> tuple[int, int]:
    """Find the smallest and the largest of some ints."""
    low = high = data[0]
    for k in range(len(data)):
        x = data[k]
        low = x if x < low else low
        high = x if x > high else high
    return int(low), int(high)


@loop(lambda: numba.types.UniTuple(int64, 2)(given(int64), int64, int64, int64[::1]))
def linear(data: Array, a: int, b: int, found: Array) -> tuple[int, int]:
    """Find ``a * x + b`` for each x; return the smallest and the largest x, which tell if that is right."""
    low = high = data[0]
    for k in range(len(data)):
        x = data[k]
        low, high = min(low, x), max(high, x)
        found[k] = x * a + b
    return int(low), int(high)


@loop(lambda: bits(given(int64), int64, int64[::1]))
def running(data: Array, total: int, found: Array) -> bool:
    """Find the sums of all beginnings of the data and what was there before; return whether all fit."""
    wrong = 0
    for k in range(len(data)):
        x = data[k]
        after = total + x
        wrong |= (total ^ after) & (x ^ after)  # negative where both had one sign, and their sum the other
        found[k] = total = after
    return wrong >= 0


@loop(each(lambda kind: void(given(bits), given(kind), kind[::1])))
def chosen(where: Array, data: Array, found: Array) -> None:
    """Find the values at some places; there is room for one more than there are."""
    many = 0
    for k in range(len(data)):  # without a condition, which could not be foreseen
        found[many] = data[k]
        many += where[k]


@loop(each(lambda kind: void(given(kind), given(uint8), uint64, uint64, int64, bits[::1]), "int32", "int64"))
def equal(ends: Array, data: Array, word: int, mask: int, length: int, found: Array) -> None:
    """Find which texts are one of at most eight bytes; behind the last one there are seven bytes more."""
    for k in range(len(found)):
        at = uint64(ends[k])
        here = uint64(0)
        for j in range(8):
            here |= uint64(data[at + uint64(j)]) << uint64(8 * j)
        found[k] = (ends[k + 1] - ends[k] == length) & (here & mask == word)


@loop(lambda: void(given(int64), given(int64), int64, int64[::1]))
def sums(data: Array, leaving: Array, total: int, found: Array) -> None:
    """Find the sums of windows of ints: with each event but the first one leaves, those given at first."""
    total += data[0]
    found[0] = total
    early = min(len(data) - 1, len(leaving))
    for k in range(early):
        total += data[k + 1] - leaving[k]
        found[k + 1] = total
    newer, out = data[early + 1 :], found[early + 1 :]
    for k in range(len(newer)):
        total += newer[k] - data[k]
        out[k] = total


@inside
def _windows(
    operation: int, data: Array, begun: Array, total: Any, older: Array, newer: Array, found: Array
) -> Any:
    width, first = len(older), (len(older) - len(begun)) % len(older)
    if first:
        for p in range(len(begun), width - 1):
            total = combined(operation, total, data[p - len(begun)])
            found[p - len(begun)] = combined(operation, older[width - 2 - p], total)
        total = combined(operation, total, data[first - 1])
        found[first - 1] = total
        suffix = data[first - 1]
        newer[0] = suffix
        for p in range(1, width):
            suffix = combined(operation, data[first - 1 - p] if p < first else begun[width - 1 - p], suffix)
            newer[p] = suffix
        older, newer = newer, older
    rest = first + (len(data) - first) // width * width
    for begin in range(first, rest, width):
        block, out = data[begin : begin + width], found[begin : begin + width]
        back = block[::-1]
        total, suffix = block[0], back[0]
        newer[0] = suffix
        for p in range(1, width):
            out[p - 1] = combined(operation, older[width - 1 - p], total)
            total = combined(operation, total, block[p])
            suffix = combined(operation, back[p], suffix)
            newer[p] = suffix
        out[width - 1] = total
        older, newer = newer, older
    for p in range(len(data) - rest):
        total = combined(operation, total, data[rest + p]) if p else data[rest]
        found[rest + p] = combined(operation, older[width - 2 - p], total)
    return total


@loop(each(lambda kind: kind(int64, given(kind), given(kind), kind, kind[::1], kind[::1], kind[::1])))
def windows(
    operation: int, data: Array, begun: Array, total: Any, older: Array, newer: Array, found: Array
) -> Any:
    """Fold the windows that end with each event, where they are not longer than the data.

    A block is as long as a window. `begun` has the first events of a block, `total` is their fold, and
    `older` has the folds of the suffixes of the block before, the shortest first. Two folds run side by side,
    the one of a block's beginnings and the one of its ends, which the windows of the next block need: those
    of the last whole block are in `newer` if the number of blocks that have ended is odd, else in `older`.
    Return the fold of the last block's events. The operation is a constant in each loop, which has no choice
    to make then.
    """
    if operation == 0:
        return _windows(0, data, begun, total, older, newer, found)
    if operation == 1:
        return _windows(1, data, begun, total, older, newer, found)
    if operation == 2:
        return _windows(2, data, begun, total, older, newer, found)
    return _windows(3, data, begun, total, older, newer, found)


@loop(lambda: int64(given(uint8), int64, int64, given(uint8), given(uint8), uint8[::1]))
def follow(table: Array, shift: int, state: int, symbols: Array, says: Array, found: Array) -> int:
    """Find what the state after each symbol says; return the last. A row of the table is 2**shift long."""
    for k in range(len(symbols)):
        state = int(table[(state << shift) + int(symbols[k])])
        found[k] = says[state]
    return state


@loop(lambda: void(given(uint8), int64, given(uint8), given(uint8), int64, int64[::1], uint8[::1]))
def decide(
    table: Array, shift: int, symbols: Array, marks: Array, width: int, at: Array, found: Array
) -> None:
    """Find the verdicts of positions, in order, while following an automaton.

    `marks` has a row for each entry of the table: whether the second run of waiting positions begins here,
    and up to where positions get which verdict: twice 0 (where the second run begins), 1 (here), 2 (behind
    it), plus the verdict; 255 ends a row. `at` is the state, how many verdicts there are, where the second
    run begins, and where we are.
    """
    state, many, second, here = at
    for k in range(len(symbols)):
        step = (state << shift) + int(symbols[k])
        state = int(table[step])
        row = step * width
        place = row + 1
        while marks[place] != 255:
            kind = marks[place] >> 1
            end = second if kind == 0 else here + kind - 1
            while many < end:
                found[many] = marks[place] & 1
                many += 1
            place += 1
        if marks[row]:
            second = here
        here += 1
    at[0], at[1], at[2], at[3] = state, many, second, here


@loop(lambda: void(given(uint8), int64, given(uint8), given(uint8), int64[::1]))
def reach(table: Array, shift: int, symbols: Array, marks: Array, at: Array) -> None:
    """Find how many positions have a verdict, while following an automaton; `at` as for `decide`.

    `marks` has for each entry of the table whether the second run of waiting positions begins here (128), and
    up to where positions get their last verdicts (0, 1 or 2, as for `decide`; 3: there are none).
    """
    state, many, second, here = at
    for k in range(len(symbols)):
        step = (state << shift) + int(symbols[k])
        state = int(table[step])
        mark = marks[step]
        kind = mark & 127
        many = many if kind == 3 else second if kind == 0 else here + kind - 1
        second = here if mark & 128 else second
        here += 1
    at[0], at[1], at[2], at[3] = state, many, second, here


@loop(
    each(
        lambda kind: int64(
            int64, given(int32), given(kind), int64, given(kind), bits, kind, int32[::1], int32[::1],
            kind[::1], kind[::1],
        )
    )
)  # fmt: skip
def keyed(
    operation: int, numbers: Array, data: Array, known: int, values: Array, begins: bool, start: Any,
    scratch: Array, owners: Array, changed: Array, found: Array,
) -> int:  # fmt: skip
    """Find the folds of each key's rows; return how many keys there are.

    Keys below `known` go on from their values, others begin with `start`, if they begin with something. The
    keys become the `owners` of what has `changed`; `scratch` tells for each key where, -1 before and after.
    """
    many = 0
    for k in range(len(numbers)):
        key = numbers[k]
        at = scratch[key]
        if at >= 0:
            total = combined(operation, changed[at], data[k])
        else:
            at = many
            many += 1
            scratch[key], owners[at] = at, key
            if key < known:
                total = combined(operation, values[key], data[k])
            else:
                total = combined(operation, start, data[k]) if begins else data[k]
        changed[at] = total
        found[k] = total
    for at in range(many):
        scratch[owners[at]] = -1
    return many
