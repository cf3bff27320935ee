"""What a monitor says."""

from __future__ import annotations

from typing import Any, ClassVar, Final

NAMES: Final = ("TRUE", "FALSE", "UNKNOWN", "PRESUMABLY_TRUE", "PRESUMABLY_FALSE")


class Verdict:
    """One of ``TRUE FALSE UNKNOWN PRESUMABLY_TRUE PRESUMABLY_FALSE``; may carry its reasons.

    Verdicts are equal if their names are, whatever they carry. ``because`` is empty unless it was asked for.

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
    def of(value: bool | None) -> Verdict:
        """Return the verdict for True, False or None."""
        return UNKNOWN if value is None else TRUE if value else FALSE

    @property
    def decided(self) -> bool:
        """Whether no later event can change it."""
        return self.name in ("TRUE", "FALSE")

    def __bool__(self) -> bool:
        if self.name == "UNKNOWN":
            raise TypeError("the verdict is UNKNOWN: compare it, as in verdict == Verdict.FALSE")
        return self.name.endswith("TRUE")

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


for _name in NAMES:
    setattr(Verdict, _name, Verdict(_name))
TRUE, FALSE, UNKNOWN = Verdict.TRUE, Verdict.FALSE, Verdict.UNKNOWN
