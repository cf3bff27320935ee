"""Kernels: what runs a known kind of processor over columns. Importing this package registers all of them."""

from . import folds, simple, slices, windows
from .base import Kernel, kernel_for, kernel_of

__all__ = ["Kernel", "folds", "kernel_for", "kernel_of", "simple", "slices", "windows"]
