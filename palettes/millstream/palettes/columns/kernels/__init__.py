"""Kernels: what runs a known kind of processor over columns. Importing this package registers all of them."""

from . import blocks, folds, formulas, machines, simple, slices, sliding, temporal
from .base import Kernel, kernel_for, kernel_of

__all__ = [
    "Kernel",
    "blocks",
    "folds",
    "formulas",
    "kernel_for",
    "kernel_of",
    "machines",
    "simple",
    "slices",
    "sliding",
    "temporal",
]
