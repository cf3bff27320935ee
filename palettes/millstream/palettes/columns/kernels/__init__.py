"""Kernels: what runs a known kind of processor over columns. Importing this package registers all of them."""

from . import folds, formulas, machines, simple, slices, temporal, windows
from .base import Kernel, kernel_for, kernel_of

__all__ = [
    "Kernel",
    "folds",
    "formulas",
    "kernel_for",
    "kernel_of",
    "machines",
    "simple",
    "slices",
    "temporal",
    "windows",
]
