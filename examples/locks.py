"""Locks: who holds what, found by formulas over all threads and all locks.

`[acq(t, l), rel(t, l))` reads: thread t has acquired lock l and not released it since. A violation names the
thread and the lock, and with explain=True what happened when.

::

    in ──> Violations(rule) ──> position, bindings, because

Prints:
6: acq 3 disk (taken twice)
9: rel 3 net (released without holding)
8: sleep 2 (asleep with a lock)
5: acq 2 disk (opposite order)
because
  acq(2, "net") at 4
  !acq(2, "net") at 5..8
  !rel(2, "net") at 5..8
  sleep(2) at 8
"""

from millstream.palettes.fol import Violations

RULES = {
    "taken twice": "acq(t, l) -> ! exists s: Y [acq(s, l), rel(s, l))",
    "released without holding": "rel(t, l) -> Y [acq(t, l), rel(t, l))",
    "asleep with a lock": "sleep(t) -> ![acq(t, l), rel(t, l))",
    "opposite order": "Y [acq(t, l), rel(t, l)) & acq(t, k) -> ! Y O (Y [acq(s, k), rel(s, k)) & acq(s, l))",
}
LOG = [
    ("acq", 1, "disk"), ("acq", 1, "net"), ("rel", 1, "net"), ("rel", 1, "disk"),
    ("acq", 2, "net"), ("acq", 2, "disk"), ("acq", 3, "disk"), ("rel", 2, "disk"),
    ("sleep", 2), ("rel", 3, "net"),
]  # fmt: skip


def main() -> None:
    """Check every rule, and explain one violation."""
    for name, rule in RULES.items():
        for violation in Violations(rule)(LOG):
            print(f"{violation.position}: {' '.join(map(str, LOG[violation.position]))} ({name})")
    first = next(Violations(RULES["asleep with a lock"], explain=True)(LOG))
    print("because", *first.because[0].reasons, sep="\n  ")


if __name__ == "__main__":
    main()
