"""Temporal logic over event streams: formulas, their verdicts, monitors and automata.

`Verdicts` gives the verdict of a formula at every position, `Monitor` what is known about the whole trace
after each event. `parse` turns text into formulas; the classes that formulas are made of live in
`millstream.palettes.ltl.formula`. The README beside this file has the semantics and examples.
"""

from millstream.processors import allow_in_states

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
from .explain import Witness, why
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
    "why",
]

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.ltl.bounds")
allow_in_states("millstream.palettes.ltl.explain", "Witness")
allow_in_states("millstream.palettes.ltl.formula")
allow_in_states("millstream.palettes.ltl.nnf")
allow_in_states("millstream.palettes.ltl.operators")
allow_in_states("millstream.palettes.ltl.past")
allow_in_states("millstream.palettes.ltl.residual")
allow_in_states("millstream.palettes.ltl.terms")
allow_in_states("millstream.palettes.ltl.configs", "restore")
allow_in_states("millstream.palettes.ltl.earliest", "Groups")
allow_in_states("millstream.palettes.ltl.engines", "Buffer")
allow_in_states("millstream.palettes.ltl.inorder", "Pending")
allow_in_states("millstream.palettes.ltl.machine", "restore")
allow_in_states("millstream.palettes.ltl.pastonly", "Memories")
allow_in_states("millstream.palettes.ltl.progress", "History")
allow_in_states("millstream.palettes.ltl.response", "Waiting")
allow_in_states("millstream.palettes.ltl.streams", "Network")
allow_in_states("millstream.palettes.ltl.values", "_Ref", "rebuild")
allow_in_states("millstream.palettes.ltl.verdict", "Verdict", "WeakStrong", "_constant")
