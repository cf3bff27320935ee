"""Windows over asynchronous event streams: lattices of consistent global states, Possibly and Definitely.

After Yang, Huang, Cao, Ma and Lu, *Design of a Sliding Window over Asynchronous Event Streams*.
"""

from millstream.processors import allow_in_states

from .change import Change
from .clocks import LocalState, Stamper, VectorClock, consistent, happens_before
from .conjunctive_window import ConjunctiveWindow
from .cuts import Windows
from .lattice_window import Lattices, LatticeWindow
from .otlp import otlp_spans
from .repair import SequenceRepair
from .sources import from_clock_log, from_spans
from .value import Lattice
from .verdicts import Definitely, Possibly, definitely, possibly
from .window import LatWin

__all__ = [
    "Change",
    "ConjunctiveWindow",
    "Definitely",
    "LatWin",
    "Lattice",
    "LatticeWindow",
    "Lattices",
    "LocalState",
    "Possibly",
    "SequenceRepair",
    "Stamper",
    "VectorClock",
    "Windows",
    "consistent",
    "definitely",
    "from_clock_log",
    "from_spans",
    "happens_before",
    "otlp_spans",
    "possibly",
]

# what the states of this palette are made of, besides plain values
allow_in_states("millstream.palettes.lattice.clocks", "LocalState")
allow_in_states("millstream.palettes.lattice.conjunctive")
allow_in_states("millstream.palettes.lattice.cuts", "Windows")
allow_in_states("millstream.palettes.lattice.packing", "Packing")
allow_in_states("millstream.palettes.lattice.predicates")
allow_in_states("millstream.palettes.lattice.repair", "SequenceRepair")
allow_in_states("millstream.palettes.lattice.tracing", "Newest")
allow_in_states("millstream.palettes.lattice.window", "LatWin")
