"""Experiments: what is measured, how it is run and kept, and what becomes of claims about it."""

from .claims import Claim, claim, near
from .experiment import Experiment, experiment
from .laboratory import Laboratory
from .rows import Missing, Row, Rows
from .trial import Trial

__all__ = [
    "Claim",
    "Experiment",
    "Laboratory",
    "Missing",
    "Row",
    "Rows",
    "Trial",
    "claim",
    "experiment",
    "near",
]
