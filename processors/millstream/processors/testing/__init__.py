"""What tests of queries and of processors need: expected traces, marble diagrams, the laws, strategies.

`assert_trace` and `assert_marbles` need nothing; `check_processor` and `strategies` need hypothesis, which is
imported when they are used. With pytest, all of these are fixtures too, and `virtual_clock` gives a clock
that only moves when it is told to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .marbles import Marbles, assert_marbles
from .running import Trace, give, in_turn, pulled, pushed
from .traces import assert_trace

if TYPE_CHECKING:
    from .laws import LAWS, check_processor, check_repr, without_inline

#: what needs hypothesis, imported when it is asked for
_WITH_HYPOTHESIS = ("LAWS", "check_processor", "check_repr", "without_inline")

__all__ = [
    "LAWS",
    "Marbles",
    "Trace",
    "assert_marbles",
    "assert_trace",
    "check_processor",
    "check_repr",
    "give",
    "in_turn",
    "pulled",
    "pushed",
    "without_inline",
]


def __getattr__(name: str) -> Any:
    if name not in _WITH_HYPOTHESIS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.laws"), name)
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ImportError(f"{name} needs hypothesis: pip install hypothesis") from None
