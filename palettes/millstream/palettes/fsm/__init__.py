"""State machines over events."""

from .diagram import StateDiagram
from .machine import MooreMachine
from .overlap import Conflict
from .table import TransitionTable, compose
from .transitions import OTHERWISE, On, V

__all__ = ["OTHERWISE", "Conflict", "MooreMachine", "On", "StateDiagram", "TransitionTable", "V", "compose"]
