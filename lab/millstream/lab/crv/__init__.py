"""Monitoring problems of the runtime verification competition of 2016 and of the DejaVu challenge.

Each has traces made to order, valid and violating, its property as a query, a brute-force check, and
versions for several threads, columns and Spark that must all give the same verdict.

>>> from millstream.lab.crv import PROBLEMS
>>> problem = PROBLEMS["iterators"]
>>> trace = problem.trace(1000, seed=7, fault="unasked")
>>> problem.check(trace) == problem.brute(trace) == trace.violation
True
"""

from typing import Final

from . import auction, bashing, candidates, creation, dejavu, injection, iterators, turnaround
from .problem import Problem, Trace, Verdict

#: the six problems of the competition, in the order of Table 1, then the others
PROBLEMS: Final[dict[str, Problem]] = {
    **{
        module.PROBLEM.name: module.PROBLEM
        for module in (auction, candidates, injection, bashing, creation, turnaround, iterators)
    },
    **dejavu.PROBLEMS,
}

__all__ = ["PROBLEMS", "Problem", "Trace", "Verdict"]
