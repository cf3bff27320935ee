"""First-order past formulas evaluated straight from the definitions, by trying all values."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.terms import Const, Var
from millstream.palettes.ltl.walk import free_variables, subformulas

#: values that no event has: enough of them stand for all others
FRESH = tuple(f"fresh{i}" for i in range(5))


class Oracle:
    """The truth of formulas on one trace of events ``(name, arg, ...)``."""

    def __init__(self, trace, over="seen", times=None):
        self.trace, self.over = trace, over
        self.times = times or list(range(len(trace)))
        self.all = (*dict.fromkeys(v for e in trace for v in e[1:]), *FRESH)
        self.holds = lru_cache(None)(self._holds)

    def verdicts(self, formula):
        names = sorted(free_variables(formula))
        return [
            all(
                self.holds(formula, i, tuple(zip(names, values, strict=True)))
                for values in product(self.domain(i), repeat=len(names))
            )
            for i in range(len(self.trace))
        ]

    def domain(self, i):
        if self.over == "all":
            return self.all
        return tuple(dict.fromkeys(v for e in self.trace[: i + 1] for v in e[1:]))

    def _holds(self, f, i, env):
        at = lambda g, j=i: self.holds(g, j, restrict(g, env))  # noqa: E731
        match f:
            case fm.Truth():
                return f.value
            case fm.Atom():
                return self.trace[i][0] == f.name
            case fm.Predicate():
                return self.trace[i] == (f.name, *(value(a, env) for a in f.args))
            case fm.Test():
                left, right = value(f.left, env), value(f.right, env)
                return {"==": left == right, "!=": left != right}[f.op]
            case fm.Not():
                return not at(f.operand)
            case fm.And():
                return at(f.left) and at(f.right)
            case fm.Or():
                return at(f.left) or at(f.right)
            case fm.Implies():
                return not at(f.left) or at(f.right)
            case fm.Iff():
                return at(f.left) == at(f.right)
            case fm.Y():
                return i > 0 and at(f.operand, i - 1)
            case fm.O():
                return any(at(f.operand, j) for j in self.reach(f, i))
            case fm.H():
                return all(at(f.operand, j) for j in self.reach(f, i))
            case fm.S():
                return any(
                    at(f.right, j) and all(at(f.left, k) for k in range(j + 1, i + 1))
                    for j in self.reach(f, i)
                )
            case fm.Span():
                return any(
                    at(f.left, j) and not any(at(f.right, k) for k in range(j + 1, i + 1))
                    for j in range(i + 1)
                )
        assert isinstance(f, fm.Quantifier)
        some = any if isinstance(f, fm.Exists) else all
        return some(self.holds(f.body, i, restrict(f.body, (*env, (f.variable, v)))) for v in self.domain(i))

    def reach(self, f, i):
        times = self.times
        return [j for j in range(i + 1) if f.bounds is None or f.bounds.contains(times[i] - times[j])]


def value(term, env):
    return term.value if isinstance(term, Const) else dict(env)[term.name]


@lru_cache(None)
def _free(f):
    return free_variables(f)


def restrict(f, env):
    names = _free(f)
    return tuple((n, v) for n, v in env if n in names)


__all__ = ["FRESH", "Oracle", "Var", "subformulas"]
