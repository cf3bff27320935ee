"""Validators of parameters that both processors have."""

from __future__ import annotations

from typing import Any

from millstream.processors.errors import fail_parameter


def not_negative(owner: Any, attribute: Any, value: Any) -> None:
    """Check that a length of time, a number or a timedelta, is not negative."""
    if not value >= type(value)():
        fail_parameter(owner, attribute.name, "at least 0", value)
