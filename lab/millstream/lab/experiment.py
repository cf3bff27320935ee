"""An experiment: a function that measures, its parameters, and what is made of its figures.

The function runs in a process of its own, once for each point (a choice of parameters), and gets a `Trial`
that measures and keeps figures. Tables, plots, claims and drawings are functions too; they are attached to
the experiment and run later, on the figures of one run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import getdoc, signature
from itertools import product
from re import fullmatch
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from attrs import define, field

from .claims import Claim, claim
from .rows import Missing, Row, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from millstream.processors import Query

Point = dict[str, Any]
Choices: TypeAlias = Mapping[str, Sequence[Any]]
Made: TypeAlias = Callable[[Rows], Iterable[Row]]
Drawn: TypeAlias = "Callable[[Rows, Figure], None]"
Claimed: TypeAlias = Callable[[Rows], Claim | Iterable[Claim]]
F = TypeVar("F", bound=Callable[..., Any])


@define(eq=False)
class Experiment:
    """What is measured, for which parameters, and what is made of it. Made by `experiment`."""

    function: Callable[..., None]
    name: str
    title: str
    about: str
    group: str
    parameters: Choices | Sequence[Point]
    #: what changes in a quick run (None: the experiment is left out of it)
    quick: Choices | Sequence[Point] | None
    #: repetitions that are not measured, and those that are
    warm_up: int
    repetitions: int
    #: seconds after which a point is given up
    limit: float
    #: the module in which it was found, for the process that runs it
    home: str = field(default="", init=False)
    tables: dict[str, Made] = field(factory=dict, init=False)
    plots: dict[str, Drawn] = field(factory=dict, init=False)
    claimed: list[Claimed] = field(factory=list, init=False)
    drawings: dict[str, Callable[[], Query]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Complain at once about what could only fail later, in another process."""
        if not fullmatch(r"[A-Za-z0-9][\w-]*", self.name):
            raise ValueError(f"an experiment's name is made of letters, digits, - and _, got {self.name!r}")
        accepted = signature(self.function).parameters
        free = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
        for point in self.points(False) + self.points(True):
            for name, value in point.items():
                if not isinstance(value, str | int | float | bool | None):
                    raise TypeError(
                        f"experiment {self.name}: parameter {name} must be a number, a text, True, False "
                        f"or None (it is kept in a database), got {value!r}"
                    )
                if name not in accepted and not free:
                    raise TypeError(f"experiment {self.name}: its function takes no parameter {name!r}")

    def points(self, quick: bool = False) -> list[Point]:
        """Return the choices of parameters: all combinations, in order."""
        chosen = self.parameters
        if quick:
            if self.quick is None:
                return []
            if isinstance(self.quick, Mapping) and isinstance(chosen, Mapping):
                chosen = {**chosen, **self.quick}
            elif self.quick or not isinstance(self.quick, Mapping):
                chosen = self.quick
        if not isinstance(chosen, Mapping):
            return [dict(point) for point in chosen]
        return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]

    def table(self, title: str) -> Callable[[F], F]:
        """Attach a table: a function from rows to rows."""
        return self._keep(self.tables, title)

    def plot(self, title: str) -> Callable[[F], F]:
        """Attach a plot: a function that draws rows into a matplotlib figure."""
        return self._keep(self.plots, title)

    def drawing(self, title: str) -> Callable[[F], F]:
        """Attach a query that is drawn: a function that returns it."""
        return self._keep(self.drawings, title)

    def _keep(self, where: dict[str, Any], title: str) -> Callable[[F], F]:
        if title in where:
            raise ValueError(f"experiment {self.name}: there are two named {title!r}")

        def keep(function: F) -> F:
            where[title] = function
            return function

        return keep

    def claim(self, function: F) -> F:
        """Attach claims: a function from rows to one `claim` or several; its docstring says them in short."""
        self.claimed.append(function)
        return function

    def claims(self, rows: Rows) -> list[Claim]:
        """Return what became of all claims; one whose figures are missing is not tried."""
        said: list[Claim] = []
        for function in self.claimed:
            try:
                if not len(rows):
                    raise Missing("no figures yet")
                outcome = function(rows)
                said += [outcome] if isinstance(outcome, Claim) else outcome
            except Exception as failure:  # with the figures there are; what fails is said where it is read
                short = (getdoc(function) or function.__name__).split("\n")[0]
                said.append(claim(short, None, _words(failure)))
        return said

    def made(self, rows: Rows) -> dict[str, list[Row]]:
        """Return all tables by title, without those whose figures are missing."""
        tables: dict[str, list[Row]] = {}
        for title, function in (self.tables or {self.title: everything}).items():
            try:
                tables[title] = [dict(row) for row in function(rows)]
            except Missing:
                continue
            except Exception as failure:
                tables[title] = [{"this table cannot be made": _words(failure)}]
        return {title: table for title, table in tables.items() if table}


def everything(rows: Rows) -> list[Row]:
    """Make the table that an experiment has if it makes none: all figures; memory only beside speed."""
    return [{k: v for k, v in row.items() if k != "memory MB" or "Hz" in row} for row in rows]


def _words(failure: Exception) -> str:
    """Return what a failure says; one that is not about missing figures, with its kind."""
    return str(failure) if isinstance(failure, Missing) else f"{type(failure).__name__}: {failure}"


def key(point: Point) -> str:
    """Return a point as text, the same in every process.

    >>> key({"n": 10, "form": "push"})
    '{"n": 10, "form": "push"}'
    """
    return json.dumps(point)


def experiment(
    name: str | None = None,
    *,
    title: str | None = None,
    group: str = "",
    parameters: Choices | Sequence[Point] | None = None,
    quick: Choices | Sequence[Point] | None = (),
    warm_up: int = 1,
    repetitions: int = 3,
    limit: float = 3600.0,
) -> Callable[[Callable[..., None]], Experiment]:
    """Make an experiment of a function ``f(trial, **parameters)``; its docstring says what it is about.

    Parameters
    ----------
    name
        How it is called on the command line; the function's name if not given.
    group
        Heading under which it is listed.
    parameters
        The values of each parameter, of which all combinations are tried; or a list of the combinations.
    quick
        The same for a quick run: only what differs. None leaves the experiment out of quick runs.
    warm_up, repetitions
        How often `Trial.measure` runs what it measures, before and while measuring.
    limit
        Seconds after which a point is given up.

    Examples
    --------
    >>> from millstream.processors import Cumulate
    >>> @experiment(parameters={"form": ["push", "pull"], "n": [1000, 10_000]}, quick={"n": [1000]})
    ... def totals(trial, form, n):
    ...     "Running totals, pushed and pulled."
    ...     numbers = [trial.random.randrange(100) for _ in range(n)]
    ...     query, found = Cumulate(int.__add__), []
    ...     run = {"push": lambda: query.into(found).push_all(numbers), "pull": lambda: list(query(numbers))}
    ...     trial.measure(run[form], events=n)
    >>> totals.points(quick=True)
    [{'form': 'push', 'n': 1000}, {'form': 'pull', 'n': 1000}]
    >>> @totals.claim
    ... def faster(rows):
    ...     "Pulling is faster than pushing."
    ...     gain = rows.ratio("Hz", {"form": "pull", "n": 1000}, {"form": "push", "n": 1000})
    ...     return claim("pulling is faster than pushing", gain > 1, ours=f"{gain:.1f} times")
    >>> [c.outcome for c in totals.claims(Rows())]
    ['not tried']
    """

    def make(function: Callable[..., None]) -> Experiment:
        first, _, about = (getdoc(function) or "").partition("\n")
        called = name or function.__name__
        return Experiment(
            function,
            called,
            title or first.strip().rstrip(".") or called,
            about.strip(),
            group,
            {} if parameters is None else parameters,
            {} if quick == () else quick,
            warm_up,
            repetitions,
            limit,
        )

    return make
