"""First-order temporal logic over event streams: a state for each binding, found by the event's arguments.

`Verdicts` says for each event whether a past formula holds, `Violations` which bindings break it, `Monitor`
follows formulas about the future, one automaton state for each binding, and `Facts` asks formulas about all
facts so far. The README beside this file has the language, examples, and which formulas cost what.
"""

from millstream.processors import allow_in_states

from .because import Witness
from .facts import Facts
from .monitor import Monitor
from .reading import read_log
from .verdicts import Verdicts, Violation, Violations

__all__ = ["Facts", "Monitor", "Verdicts", "Violation", "Violations", "Witness", "read_log"]

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.fol.because", "Witness")
allow_in_states("millstream.palettes.fol.reading", "Kept")
allow_in_states("millstream.palettes.fol.tries")
