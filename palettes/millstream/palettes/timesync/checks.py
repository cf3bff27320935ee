"""Validators of parameters that both processors have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millstream.processors.errors import fail_parameter


def one_of(*choices: str) -> Callable[[Any, Any, Any], None]:
    """Return an attrs validator: one of some words."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if value not in choices:
            fail_parameter(owner, attribute.name, " or ".join(map(repr, choices)), value)

    return check


def not_negative(owner: Any, attribute: Any, value: Any) -> None:
    """Check that a length of time, a number or a timedelta, is not negative."""
    if not value >= type(value)():
        fail_parameter(owner, attribute.name, "at least 0", value)
