"""Deadlines in temporal logic: every request is granted within five seconds; and if not, why not.

Verdicts speaks about every request, Monitor about the whole trace, and both say what is known at each moment
and nothing more. With explain=True a false verdict names the events that force it.

::

    in ──> Verdicts("request -> F[0,5] granted", time=E.t) ──> one verdict for each event
    in ──> Monitor("G (request -> F[0,5] granted)", time=E.t) ──> what is known about the whole

Prints:
 0 request  TRUE
 2 granted  TRUE
 4 request  FALSE !granted at 2..3; request at 2
 6 idle     TRUE
11 granted  TRUE
12 request  FALSE !granted at 5; request at 5
whole trace: UNKNOWN UNKNOWN UNKNOWN UNKNOWN FALSE FALSE
"""

from typing import Any

from millstream.palettes.ltl import Monitor, Verdicts, parse
from millstream.processors import E

TRACE = [(0, "request"), (2, "granted"), (4, "request"), (6, "idle"), (11, "granted"), (12, "request")]
EVENTS: list[dict[str, Any]] = [{"t": t, "kind": kind} for t, kind in TRACE]

kinds = {"request": E.kind == "request", "granted": E.kind == "granted"}
rule = parse("request -> F[0,5] granted")
each = Verdicts(rule, atoms=kinds, time=E.t, explain=True, at_end="finite")
whole = Monitor(f"G ({rule})", atoms=kinds, time=E.t)


def main() -> None:
    """Print both, event by event."""
    for event, verdict in zip(EVENTS, each(EVENTS), strict=True):
        reasons = "; ".join(map(str, verdict.because))
        print(f"{event['t']:>2} {event['kind']:8} {verdict.name} {reasons}".rstrip())
    print("whole trace:", *whole(EVENTS))


if __name__ == "__main__":
    main()
