"""The machines behind event expressions, one for each operator. They know nothing of threads or engines."""

from .base import Context, Feed, Memory, Operator
from .build import build

__all__ = ["Context", "Feed", "Memory", "Operator", "build"]
