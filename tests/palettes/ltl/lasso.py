"""Formulas on ultimately periodic words u v v v ..., straight from the definitions.

Truth values of a subformula along such a word are ultimately periodic too, but an operator towards the past
may need some turns of the loop until its values repeat: the word is unrolled far enough, and that the values
do repeat is checked.
"""

from itertools import product

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.walk import subformulas


def reach(f):
    """First and last distance of an operator; None for no last one."""
    return (0, None) if getattr(f, "bounds", None) is None else f.bounds.whole()


class Lasso:
    """One word; events map atom names to truth values."""

    def __init__(self, stem, loop, turns):
        self.word = [*stem, *loop * (turns + 1)]
        self.n, self.turn = len(self.word), len(loop)

    def holds(self, formula):
        """Whether the formula holds at the first position."""
        values = {}
        for f in subformulas(formula):
            values[f] = [bool(v) for v in self.row(f, [values[c] for c in f.children])]
            last = values[f][-self.turn :]
            assert last == values[f][-2 * self.turn : -self.turn], (f, "needs more turns")
        return values[formula][0]

    def row(self, f, below):
        true = [True] * self.n
        match f:
            case fm.Truth():
                return [f.value] * self.n
            case fm.Atom():
                return [e[f.name] for e in self.word]
            case fm.Not():
                return negated(below[0])
            case fm.And():
                return [a and b for a, b in zip(*below, strict=True)]
            case fm.Or():
                return [a or b for a, b in zip(*below, strict=True)]
            case fm.Implies():
                return [not a or b for a, b in zip(*below, strict=True)]
            case fm.Iff():
                return [a == b for a, b in zip(*below, strict=True)]
            case fm.X():
                return [below[0][self.after(i)] for i in range(self.n)]
            case fm.Y():
                return [False, *below[0]][: self.n]
            case fm.F() | fm.U():
                return self.until([true, *below][-2], below[-1], *reach(f))
            case fm.G():
                return negated(self.until(true, negated(below[0]), *reach(f)))
            case fm.R():
                return negated(self.until(*map(negated, below), *reach(f)))
            case fm.W():
                always = negated(self.until(true, negated(below[0]), 0, reach(f)[1]))
                return map(max, self.until(*below, *reach(f)), always)
            case fm.O() | fm.S():
                return self.since([true, *below][-2], below[-1], *reach(f))
            case fm.H():
                return negated(self.since(true, negated(below[0]), *reach(f)))
            case fm.Span():
                return self.since(negated(below[1]), below[0], 0, None)
        raise TypeError(f)

    def after(self, i):
        return i + 1 if i + 1 < self.n else self.n - self.turn

    def until(self, a, b, low, high):
        def at(i):
            for distance in range(low + self.n + 1 if high is None else high + 1):
                if distance >= low and b[i]:
                    return True
                if not a[i]:
                    return False
                i = self.after(i)
            return False

        return [at(i) for i in range(self.n)]

    def since(self, a, b, low, high):
        return [
            any(
                b[j] and all(a[j + 1 : i + 1])
                for j in range(i + 1)
                if i - j >= low and (high is None or i - j <= high)
            )
            for i in range(self.n)
        ]


def negated(values):
    return [not v for v in values]


def turns(formula):
    """Turns of the loop after which all values repeat: each operator towards the past needs a few."""
    past = [f for f in subformulas(formula) if isinstance(f, fm.PAST)]
    return 2 + sum(2 + (reach(f)[1] or reach(f)[0]) for f in past)


def lassos(names, stem, loop):
    """All words with stems and loops up to these lengths, short ones first."""
    letters = [dict(zip(names, v, strict=True)) for v in product((False, True), repeat=len(names))]
    for m, n in sorted(product(range(stem + 1), range(1, loop + 1)), key=sum):
        for u in product(letters, repeat=m):
            for v in product(letters, repeat=n):
                yield list(u), list(v)


def holds(formula, stem, loop):
    """Whether the formula holds on the word."""
    return Lasso(stem, loop, turns(formula)).holds(formula)
