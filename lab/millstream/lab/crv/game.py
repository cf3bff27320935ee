"""A small game with little figures: they fall, walk, turn at walls and at blockers, bash, and some go home.

A looping level of two floors: who walks over the edge of the upper floor falls to the lower one, and who
reaches its end falls in again at the top. A snapshot of all characters is an event. Whatever is random, a
game without a rebel satisfies all properties of this folder, since a step follows from the snapshot before
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

from attrs import define

from .pingus import Pingu, Snapshot
from .problem import Wrong

UPPER, LOWER, EDGE, EXIT = 100.0, 140.0, 200.0, 390.0
SPEED: Final = 0.5
#: the size of a body: a walker meets a blocker when they overlap
WIDTH, HEIGHT = 6, 10
#: how many characters a game has
CHARACTERS: Final = 10

#: snapshots by name; the traces of the competition that we know have 9,000
SIZES: Final = {"quick": 4_000, "small": 300, "medium": 9_000}

#: what a rebel does; the event in the middle of the trace is wrong, or the end
REBELS: Final = {
    "stubborn": "a basher becomes a blocker",
    "vanishing": "a basher disappears",
    "endless": "a basher still bashes at the end",
    "conjured": "a character appears out of nothing",
    "revenant": "a character that has left is there again",
    "pusher": "a walker walks on into a blocker",
}


def meets(walker: Pingu, blocker: Pingu) -> bool:
    """Tell whether two bodies overlap."""
    return abs(walker.x - blocker.x) < WIDTH and abs(walker.y - blocker.y) < HEIGHT


@define
class Figure:
    """A character while the game runs."""

    id: int
    begins: int
    leaves: int | None
    status: str = "HIDDEN"
    x: float = 50.0
    y: float = 39.0
    vx: float = SPEED
    vy: float = 0.0
    bashes_until: int = 0

    def seen(self) -> Pingu:
        """Return the character as a snapshot shows it."""
        return Pingu(self.id, self.status, self.x, self.y, self.vx, self.vy)

    def walk(self, tick: int, met: bool, game: Game) -> None:
        """Turn if there is something in the way, go on, and perhaps find something else to do."""
        wall = self.x + self.vx < (0.0 if self.y == UPPER else EDGE)
        if met or wall:
            self.vx = -self.vx
        self.x += self.vx
        if self.y == UPPER and self.x > EDGE:
            self.status, self.vy = "FALLER", 2.0
        elif self.y == LOWER and self.x > EXIT:
            self.status, self.x, self.y, self.vy = "FALLER", 50.0, 39.0, 2.0
        elif game.random.random() < 0.005:
            self.bashes_until = tick + game.random.randrange(5, 40)
            self.status = "BASHER" if self.bashes_until < game.ticks - 1 else "WALKER"
        elif game.blockers < game.characters // 5 and game.random.random() < 0.002:
            game.blockers += 1
            self.status = "BLOCKER"

    def step(self, tick: int, met: bool, game: Game) -> None:
        """Do what the character does."""
        if self.status == "HIDDEN" and tick >= self.begins:
            self.status, self.vy = "FALLER", 2.0
        elif self.status == "FALLER":
            floor = UPPER if self.x <= EDGE else LOWER
            self.y = min(self.y + self.vy, floor)
            if self.y == floor:
                self.status, self.vy = "WALKER", 0.0
        elif self.status == "BASHER" and tick >= self.bashes_until:
            self.status = "WALKER"
        elif self.status == "WALKER":
            self.walk(tick, met, game)

    def goes_home(self, tick: int, met: bool) -> bool:
        """Tell whether a character leaves now: it must have been walking, with nobody in its way."""
        return self.leaves is not None and tick >= self.leaves and self.status == "WALKER" and not met


@define
class Game:
    """The rules, the figures, and what is random."""

    ticks: int
    random: Random
    characters: int = CHARACTERS
    blockers: int = 0

    def play(self, rebel: str | None = None) -> Iterator[Any]:
        """Yield a snapshot for each tick."""
        figures = [self.figure(i) for i in range(self.characters)]
        turn = max(1, self.ticks // 2)
        yield tuple(f.seen() for f in figures)
        for tick in range(1, self.ticks):
            before = [f.seen() for f in figures]
            blockers = [p for p in before if p.status == "BLOCKER"]
            met = [p.status == "WALKER" and any(meets(p, b) for b in blockers) for p in before]
            if rebel == "pusher" and tick == turn:
                met[0] = False
            stay = [(f, m) for f, m in zip(figures, met, strict=True) if not f.goes_home(tick, m)]
            for figure, m in stay:
                figure.step(tick, m, self)
            figures = [f for f, _ in stay]
            if rebel is not None:
                _rebel(rebel, figures, tick, turn)
            snapshot: Snapshot = tuple(f.seen() for f in _shown(figures, rebel, tick, turn))
            yield Wrong(snapshot) if rebel not in (None, "endless") and tick == turn else snapshot

    def figure(self, i: int) -> Figure:
        """Return a new character; every fifth one will go home some day, but not the first two."""
        leaves = self.random.randrange(self.ticks) if i % 5 == 4 else None
        return Figure(i, 30 * i, leaves, x=float(self.random.randrange(40, 60)))


def _rebel(rebel: str, figures: list[Figure], tick: int, turn: int) -> None:
    """Let the first figure break the rules at the turning point; the others know nothing of it."""
    first, second = figures[:2]
    if rebel == "stubborn" and tick >= turn:
        first.status = "BLOCKER"
    elif rebel in ("stubborn", "vanishing") and turn - 5 <= tick < turn:
        first.status, first.bashes_until = "BASHER", turn + 1
    elif rebel == "endless" and tick >= turn:
        first.status, first.bashes_until = "BASHER", tick + 2
    elif rebel == "pusher" and tick == turn - 1:
        first.status, first.x, first.y = "WALKER", EDGE + 100, LOWER
        second.status, second.x, second.y = "BLOCKER", EDGE + 103, LOWER


def _shown(figures: list[Figure], rebel: str | None, tick: int, turn: int) -> Iterable[Figure]:
    """Return the figures that the snapshot shows."""
    if rebel == "conjured" and tick >= turn:
        return [*figures, Figure(999, 0, None)]
    if (rebel == "vanishing" and tick >= turn) or (rebel == "revenant" and turn - 3 <= tick < turn):
        return figures[1:]
    return figures


def make(events: int, random: Random, rebel: str | None) -> Iterator[Any]:
    """Yield the snapshots of a game."""
    return Game(events, random).play(rebel)
