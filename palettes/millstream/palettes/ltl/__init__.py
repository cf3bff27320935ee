"""Temporal logic over event streams: formulas, their verdicts, monitors and automata.

`Verdicts` gives the verdict of a formula at every position, `Monitor` what is known about the whole trace
after each event. `parse` turns text into formulas; the classes that formulas are made of live in
`millstream.palettes.ltl.formula`. The README beside this file has the semantics and examples.
"""

from .automaton import Automaton, Summary
from .base import Formula
from .boolean import (
    Eventually,
    Globally,
    Historically,
    Next,
    Once,
    Previous,
    Release,
    Since,
    Until,
    WeakUntil,
)
from .bounds import Bounds
from .explain import Witness
from .monitor import Monitor
from .parser import parse
from .quantifiers import Exists, ForAll
from .threevalued import After, Always, Sometime, UpTo
from .tokens import ParseError
from .verdict import Verdict, WeakStrong
from .verdicts import Verdicts

__all__ = [
    "After",
    "Always",
    "Automaton",
    "Bounds",
    "Eventually",
    "Exists",
    "ForAll",
    "Formula",
    "Globally",
    "Historically",
    "Monitor",
    "Next",
    "Once",
    "ParseError",
    "Previous",
    "Release",
    "Since",
    "Sometime",
    "Summary",
    "Until",
    "UpTo",
    "Verdict",
    "Verdicts",
    "WeakStrong",
    "WeakUntil",
    "Witness",
    "parse",
]
