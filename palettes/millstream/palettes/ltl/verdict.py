"""What a monitor says."""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

#: from the weakest to the strongest: a conjunction is as weak as its weakest operand
NAMES: Final = ("FALSE", "PRESUMABLY_FALSE", "UNKNOWN", "PRESUMABLY_TRUE", "TRUE")
STRENGTH: Final = {name: k for k, name in enumerate(NAMES)}
OPPOSITE: Final = dict(zip(NAMES, reversed(NAMES), strict=True))


class Verdict:
    """One of ``TRUE FALSE UNKNOWN PRESUMABLY_TRUE PRESUMABLY_FALSE``; may carry its reasons.

    Verdicts are equal if their names are, whatever they carry. ``because`` is empty unless it was asked for.
    They combine with ``~ & | >>``.

    >>> ~Verdict.TRUE | Verdict.UNKNOWN
    UNKNOWN
    >>> Verdict.TRUE
    TRUE
    >>> bool(Verdict.PRESUMABLY_FALSE)
    False
    >>> Verdict("FALSE", because=(3,)) == Verdict.FALSE
    True
    """

    __slots__ = ("because", "name")
    TRUE: ClassVar[Verdict]
    FALSE: ClassVar[Verdict]
    UNKNOWN: ClassVar[Verdict]
    PRESUMABLY_TRUE: ClassVar[Verdict]
    PRESUMABLY_FALSE: ClassVar[Verdict]

    def __init__(self, name: str, because: tuple[Any, ...] = ()) -> None:
        self.name, self.because = name, because

    @staticmethod
    def of(value: Any) -> Verdict:
        """Return the verdict for True, False or None; a verdict is left as it is."""
        if isinstance(value, Verdict):
            return value
        return UNKNOWN if value is None else TRUE if value else FALSE

    @property
    def decided(self) -> bool:
        """Whether no later event can change it."""
        return self.name in ("TRUE", "FALSE")

    def __bool__(self) -> bool:
        if self.name == "UNKNOWN":
            raise TypeError("the verdict is UNKNOWN: compare it, as in verdict == Verdict.FALSE")
        return self.name.endswith("TRUE")

    def __invert__(self) -> Verdict:
        return getattr(Verdict, OPPOSITE[self.name])  # type: ignore[no-any-return]

    def __and__(self, other: Verdict) -> Verdict:
        return self if STRENGTH[self.name] <= STRENGTH[other.name] else other

    def __or__(self, other: Verdict) -> Verdict:
        return self if STRENGTH[self.name] >= STRENGTH[other.name] else other

    def __rshift__(self, other: Verdict) -> Verdict:
        return ~self | other

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Verdict) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"{self.name} because {', '.join(map(str, self.because))}" if self.because else self.name

    def __reduce__(self) -> Any:
        return (Verdict, (self.name, self.because)) if self.because else (_constant, (self.name,))


def _constant(name: str) -> Verdict:
    return getattr(Verdict, name)  # type: ignore[no-any-return]


class WeakStrong(NamedTuple):
    """A verdict at the end of the trace from both sides: true unless known false, true only if known true.

    >>> OPEN
    WeakStrong(weak=True, strong=False)
    >>> bool(DECIDED[True]), bool(DECIDED[False])
    (True, False)
    """

    weak: Any
    strong: Any

    def __bool__(self) -> bool:
        if bool(self.weak) != bool(self.strong):
            raise TypeError("the position is open: ask for .weak or .strong")
        return bool(self.weak)


OPEN: Final = WeakStrong(True, False)
DECIDED: Final = (WeakStrong(False, False), WeakStrong(True, True))

for _name in NAMES:
    setattr(Verdict, _name, Verdict(_name))
TRUE, FALSE, UNKNOWN = Verdict.TRUE, Verdict.FALSE, Verdict.UNKNOWN
