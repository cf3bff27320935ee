"""Filter: let events through that satisfy a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field

from .apply import inline_call, positional_arity
from .compiling import as_function
from .describing import describe
from .errors import QueryError, shorten
from .expressions import Expression
from .processor import Inline, Processor, processor
from .types import signature_types


@processor
class Filter(Processor):
    """Let an event through if a function of it is true, or if the event of a second input is.

    Parameters
    ----------
    condition
        A function or expression of one event. Without it the processor has two inputs: events, and truth
        values.

    Examples
    --------
    >>> from millstream.processors import X
    >>> list(Filter(X % 2 == 0)([1, 2, 3, 4]))
    [2, 4]
    >>> list(Filter()("abc", [True, False, True]))
    ['a', 'c']
    """

    icon: ClassVar[str] = "▽"
    condition: Any = field(default=None)

    def __attrs_post_init__(self) -> None:
        c = self.condition
        if c is None:
            return
        if not (isinstance(c, Expression) or callable(c)):
            raise QueryError(
                f"Filter: condition must be a function or an expression of X, E, got {shorten(c)}"
            )
        known = positional_arity(c)
        if known is not None and not known[0] <= 1 <= known[1]:
            raise QueryError(
                f"Filter: {describe(c)} takes {known[0]} events at a time, a condition takes one"
            )

    @property
    def arity(self) -> tuple[int, int]:
        """Return one input, or two if there is no condition."""
        return (2 if self.condition is None else 1), 1

    def step(self, x: Any, *keep: Any) -> None:
        """Emit the event if it is to be kept."""
        if keep[0] if keep else as_function(self.condition)(x):
            self.emit(x)

    def inline(self) -> Inline:
        """Return the condition as that of the output."""
        if self.condition is None:
            return Inline(when="{1}", out=("{0}",))
        text, names = inline_call(self.condition, 1)
        return Inline(when=text, out=("{0}",), names=names)

    def types(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the type that the condition's parameter declares, for input and output."""
        if self.condition is None:
            return (None, bool), (None,)
        takes = (
            [None] if isinstance(self.condition, Expression) else signature_types(self.condition)[0] or [None]
        )
        return takes[:1], takes[:1]
