"""Web sessions: what each visitor did in one visit, and who left with a full cart.

A session ends when a visitor has been away for half an hour. The inner query of a session sees its events
as one tuple; the last session of each visitor is closed when the trace ends (partial=True).

::

    in ──> Slice(E.user, SessionWindow(summary, gap=30)) ──┬──> out
                                                           └──> Filter(cart without payment) ──> abandoned

Prints:
ann 0-9: home cart pay
bob 3-20: home cart cart
ann 55-61: home cart
bob 70-70: pay
bob left a cart at minute 20
ann left a cart at minute 61
"""

from typing import Any

from millstream.palettes.slicer import Slice
from millstream.palettes.windows import SessionWindow
from millstream.processors import Apply, E, Filter

VISITS = [
    (0, "ann", "home"), (3, "bob", "home"), (4, "ann", "cart"), (9, "ann", "pay"), (12, "bob", "cart"),
    (20, "bob", "cart"), (55, "ann", "home"), (61, "ann", "cart"), (70, "bob", "pay"),
]  # fmt: skip
CLICKS = [{"time": t, "user": user, "page": page} for t, user, page in VISITS]


def summary(session: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Return what a visit consisted of."""
    pages = [click["page"] for click in session]
    return {"from": session[0]["time"], "to": session[-1]["time"], "pages": pages}


sessions = Slice(E.user, SessionWindow(summary, gap=30, partial=True))
abandoned = (
    sessions
    | Filter(lambda visit: "cart" in visit[1]["pages"] and "pay" not in visit[1]["pages"])
    | Apply(lambda visit: f"{visit[0]} left a cart at minute {visit[1]['to']}")
)


def main() -> None:
    """Print the visits, then the abandoned ones."""
    for user, visit in sessions(CLICKS):
        print(f"{user} {visit['from']}-{visit['to']}: {' '.join(visit['pages'])}")
    for line in abandoned(CLICKS):
        print(line)


if __name__ == "__main__":
    main()
