"""Temporal logic over event streams: formulas, their verdicts, monitors and automata.

`Verdicts` gives the verdict of a formula at every position, `Monitor` what is known about the whole trace
after each event. `parse` turns text into formulas; the classes that formulas are made of live in
`millstream.palettes.ltl.formula`. The README beside this file has the semantics and examples.
"""

from .automaton import Automaton, Summary
from .base import Formula
from .bounds import Bounds
from .explain import Witness
from .monitor import Monitor
from .parser import parse
from .tokens import ParseError
from .verdict import Verdict
from .verdicts import Verdicts

__all__ = [
    "Automaton",
    "Bounds",
    "Formula",
    "Monitor",
    "ParseError",
    "Summary",
    "Verdict",
    "Verdicts",
    "Witness",
    "parse",
]
