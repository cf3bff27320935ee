"""Hostile inputs: good ones, broken in many ways, by a seeded generator.

A target takes an input and either returns or raises an error of the kinds that it is allowed to. Everything
else is a find: another exception, more time than `SECONDS` for one input, more memory than `MEMORY` in all.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

#: inputs for each target in the ordinary run
FEW = 300
SECONDS = 5.0
MEMORY = 600 << 20

#: pieces that are known to be trouble
NASTY: tuple[bytes, ...] = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\n\n", b'"', b"'", b"\\", b"(", b")", b"[", b"{", b"<",
    b">", b"&#0;", b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>&x;", b"]]>", b"--", b"1e999",
    b"-0", b"9" * 400, b"__import__('os')", b"eval", b"{0.__class__}", b"%s%n", b"NaN", b"null", b"forall x:",
)  # fmt: skip


@frozen
class Target:
    """What is thrown at."""

    name: str
    call: Callable[[bytes], object]
    good: Sequence[bytes]
    allowed: tuple[type[Exception], ...]
    #: inputs in the long run: fewer where one of them costs a millisecond
    many: int = 100_000


def broken(good: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a good input with a few changes."""
    data = bytearray(chance.choice(good))
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(6):
            case 0:
                del data[at : at + chance.randint(1, 20)]
            case 1:
                data[at:at] = chance.choice(NASTY) * chance.choice((1, 1, 1, 50))
            case 2:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
            case 3:
                other = chance.choice(good)
                start = chance.randrange(len(other) + 1)
                data[at:at] = other[start : start + 30]
            case 4 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case _:
                del data[at:]
    return bytes(data)


def inputs(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Yield broken inputs for a target, the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield broken(target.good, chance)


def throw(target: Target, inputs: Iterator[bytes]) -> tuple[int, int]:
    """Throw inputs at a target; return how many were taken and how many refused."""
    taken = refused = 0
    for data in inputs:
        words, begun = "taken", time.process_time()
        try:
            target.call(data)
            taken += 1
        except target.allowed as error:
            words, refused = str(error), refused + 1
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            raise AssertionError(f"{target.name}: {found} for {data[:400]!r}") from error
        spent = time.process_time() - begun
        assert words, f"{target.name}: an error without words for {data[:200]!r}"
        assert spent < SECONDS, f"{target.name}: {spent:.1f} s for {data[:200]!r}"
    return taken, refused


def peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
