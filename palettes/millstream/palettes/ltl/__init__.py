"""Propositional temporal logic over event streams."""

from .base import Formula
from .bounds import Bounds
from .parser import parse
from .tokens import ParseError

__all__ = ["Bounds", "Formula", "ParseError", "parse"]
