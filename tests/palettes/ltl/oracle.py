"""Brute force, straight from the definitions; shares only the formula classes with what it checks."""

import operator
from functools import lru_cache
from itertools import product
from math import inf

from millstream.palettes.ltl import Bounds
from millstream.palettes.ltl import formula as fm
from millstream.palettes.ltl.terms import Arith, Const, Field, Get, Var
from millstream.palettes.ltl.walk import subformulas


def flat(lists):
    return [x for one in lists for x in one]


def _within(f, distance):
    return f.bounds is None or f.bounds.contains(distance)


def finite(f, trace, times=None):
    """Verdicts of all positions of a finite trace (LTLf); events map atom names to truth values."""
    n = len(trace)
    times = range(n) if times is None else times
    memo = {}

    def at(g, i, env=()):
        key = g, i, env
        if key not in memo:
            memo[key] = value(g, i, env)
        return memo[key]

    def value(g, i, env):
        def at(g, i):
            return outer(g, i, env)

        def until(a, b, i, f, forward=True):
            places = range(i, n) if forward else range(i, -1, -1)
            for j in places:
                if _within(f, abs(times[j] - times[i])) and at(b, j):
                    return True
                if not at(a, j):
                    return False
            return False

        p = g.parts
        match g:
            case fm.Truth():
                return g.value
            case fm.Atom():
                return bool(trace[i][g.name])
            case fm.Test():
                return COMPARE[g.op](term(g.left, trace[i], env), term(g.right, trace[i], env))
            case fm.Quantifier():
                every = all if isinstance(g, fm.ForAll) else any
                domain = term(g.domain, trace[i], env)
                return every(outer(g.body, i, bind(env, g.variable, v)) for v in domain)
            case fm.Not():
                return not at(p[0], i)
            case fm.And():
                return at(p[0], i) and at(p[1], i)
            case fm.Or():
                return at(p[0], i) or at(p[1], i)
            case fm.Implies():
                return not at(p[0], i) or at(p[1], i)
            case fm.Iff():
                return at(p[0], i) == at(p[1], i)
            case fm.X():
                return i + 1 < n and at(p[0], i + 1)
            case fm.Y():
                return i > 0 and at(p[0], i - 1)
            case fm.F():
                return any(at(p[0], j) for j in range(i, n) if _within(g, times[j] - times[i]))
            case fm.G():
                return all(at(p[0], j) for j in range(i, n) if _within(g, times[j] - times[i]))
            case fm.O():
                return any(at(p[0], j) for j in range(i + 1) if _within(g, times[i] - times[j]))
            case fm.H():
                return all(at(p[0], j) for j in range(i + 1) if _within(g, times[i] - times[j]))
            case fm.U():
                return until(p[0], p[1], i, g)
            case fm.S():
                return until(p[0], p[1], i, g, forward=False)
            case fm.Span():
                return until(fm.Not(p[1]), p[0], i, fm.S(p[0], p[1]), forward=False)
            case fm.R():
                return not until(fm.Not(p[0]), fm.Not(p[1]), i, g)
            case fm.W():
                high = inf if g.bounds is None else g.bounds
                always = all(
                    at(p[0], j) for j in range(i, n) if high == inf or not high.passed(times[j] - times[i])
                )
                return until(p[0], p[1], i, g) or always
        raise TypeError(g)

    outer = at
    return [at(f, i) for i in range(n)]


COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def bind(env, name, value):
    return (*(pair for pair in env if pair[0] != name), (name, value))


def term(t, event, env):
    """The value of a term without arithmetic."""
    match t:
        case Const():
            return t.value
        case Field():
            return event[t.name]
        case Var():
            return dict(env)[t.name]
        case Get():
            return term(t.base, event, env)[t.name]
        case Arith() if t.op == "+":
            return term(t.left, event, env) + term(t.right, event, env)
    raise TypeError(t)


# What is known of a position although the trace may go on: three values by Kleene's tables, 0 < 1/2 < 1.


def known(f, trace, times=None):
    """True, False, or None if the rest of the trace may decide; without insight into its possible shapes."""
    n, timed = len(trace), times is not None
    times = range(n) if times is None else times

    def beyond(g, i):
        """Whether a position after the trace may be within the bounds of an operator at i."""
        return g.bounds is None or not g.bounds.passed(times[-1] + (not timed) - times[i])

    def until(a, b, g, i, env):
        best, held = 0, 1
        for j in range(i, n):
            if _within(g, times[j] - times[i]):
                best = max(best, min(held, at(b, j, env)))
            held = min(held, at(a, j, env))
        return max(best, min(held, 0.5)) if beyond(g, i) else best

    def since(a, b, g, i, env):
        best, held = 0, 1
        for j in range(i, -1, -1):
            if _within(g, times[i] - times[j]):
                best = max(best, min(held, at(b, j, env)))
            held = min(held, at(a, j, env))
        return best

    @lru_cache(None)
    def at(g, i, env):
        c = [fm.TRUE, *g.children]
        match g:
            case fm.Quantifier():
                values = [at(g.body, i, bind(env, g.variable, v)) for v in term(g.domain, trace[i], env)]
                return min(values, default=1) if isinstance(g, fm.ForAll) else max(values, default=0)
            case fm.Not():
                return 1 - at(c[1], i, env)
            case fm.And():
                return min(at(c[1], i, env), at(c[2], i, env))
            case fm.Or():
                return max(at(c[1], i, env), at(c[2], i, env))
            case fm.Implies():
                return max(1 - at(c[1], i, env), at(c[2], i, env))
            case fm.Iff():
                x, y = at(c[1], i, env), at(c[2], i, env)
                return max(min(x, y), min(1 - x, 1 - y))
            case fm.X():
                return at(c[1], i + 1, env) if i + 1 < n else 0.5
            case fm.Y():
                return at(c[1], i - 1, env) if i else 0
            case fm.F() | fm.U():
                return until(c[-2], c[-1], g, i, env)
            case fm.G():
                return 1 - until(fm.TRUE, ~c[1], g, i, env)
            case fm.R():
                return 1 - until(~c[1], ~c[2], g, i, env)
            case fm.W():
                always = fm.G(c[1], _from_zero(g.bounds))
                return max(until(c[1], c[2], g, i, env), at(always, i, env))
            case fm.O() | fm.S():
                return since(c[-2], c[-1], g, i, env)
            case fm.H():
                return 1 - since(fm.TRUE, ~c[1], g, i, env)
            case fm.Span():
                return since(~c[2], c[1], fm.O(c[1]), i, env)
            case fm.Truth():
                return int(g.value)
            case fm.Atom():
                return int(bool(trace[i][g.name]))
            case fm.Test():
                return int(COMPARE[g.op](term(g.left, trace[i], env), term(g.right, trace[i], env)))
        raise TypeError(g)

    return [{0: False, 1: True}.get(at(f, i, ())) for i in range(n)]


# LTL3 by a second construction: all truth assignments to the temporal subformulas, consistent step by step.


def plain(f):
    """Rewrite to Not, And, X, U, Y, S without bounds."""
    p = [plain(c) for c in f.children]
    low, high = (0, None) if getattr(f, "bounds", None) is None else f.bounds.whole()

    def steps(a, b, shift, op):
        if high is None:
            core = op(a, b)
        else:
            core = b
            for _ in range(high - low):
                core = ~(~b & ~(a & shift(core)))
        for _ in range(low):
            core = a & shift(core)
        return core

    match f:
        case fm.Truth() | fm.Atom():
            return f
        case fm.Not():
            return ~p[0]
        case fm.And():
            return p[0] & p[1]
        case fm.Or():
            return ~(~p[0] & ~p[1])
        case fm.Implies():
            return ~(p[0] & ~p[1])
        case fm.Iff():
            return ~(p[0] & ~p[1]) & ~(p[1] & ~p[0])
        case fm.X():
            return fm.X(p[0])
        case fm.Y():
            return fm.Y(p[0])
        case fm.F():
            return steps(fm.TRUE, p[0], fm.X, fm.U)
        case fm.G():
            return ~steps(fm.TRUE, ~p[0], fm.X, fm.U)
        case fm.U():
            return steps(p[0], p[1], fm.X, fm.U)
        case fm.R():
            return ~steps(~p[0], ~p[1], fm.X, fm.U)
        case fm.W():
            until = steps(p[0], p[1], fm.X, fm.U)
            always = plain(fm.G(f.left, _from_zero(f.bounds)))
            return ~(~until & ~always)
        case fm.O():
            return steps(fm.TRUE, p[0], fm.Y, fm.S)
        case fm.H():
            return ~steps(fm.TRUE, ~p[0], fm.Y, fm.S)
        case fm.S():
            return steps(p[0], p[1], fm.Y, fm.S)
        case fm.Span():
            return fm.S(~p[1], p[0])
    raise TypeError(f)


def _from_zero(bounds):
    return None if bounds is None else Bounds(0, bounds.high, False, bounds.high_open)


class Closure:
    """States are truth values of all subformulas; only steps between consistent ones exist."""

    def __init__(self, formula, names):
        self.formula = plain(formula)
        self.subs = subformulas(self.formula)
        self.names = names
        self.guessed = [s for s in self.subs if isinstance(s, fm.X | fm.U | fm.Y | fm.S)]
        self.size = 2 ** (len(self.guessed) + len(names))
        self.states = [
            self.fill(dict(zip(names, event, strict=True)), dict(zip(self.guessed, guess, strict=True)))
            for event in product((False, True), repeat=len(names))
            for guess in product((False, True), repeat=len(self.guessed))
        ]
        self.states = [s for s in self.states if s is not None]

    def fill(self, event, guess):
        """Truth values of all subformulas, with X and Y free and U, S consistent with what they force now."""
        v = {}
        for s in self.subs:
            p = [v[c] for c in s.children]
            match s:
                case fm.Truth():
                    v[s] = s.value
                case fm.Atom():
                    v[s] = event[s.name]
                case fm.Not():
                    v[s] = not p[0]
                case fm.And():
                    v[s] = p[0] and p[1]
                case fm.U() | fm.S():
                    v[s] = guess[s]
                    if (p[1] and not v[s]) or (not p[1] and not p[0] and v[s]):
                        return None
                case _:
                    v[s] = guess[s]
        return event, v

    def follows(self, one, two):
        a, b = one[1], two[1]
        for s in self.guessed:
            p = s.children
            match s:
                case fm.X():
                    ok = a[s] == b[p[0]]
                case fm.U():
                    ok = a[s] == (a[p[1]] or (a[p[0]] and b[s]))
                case fm.Y():
                    ok = b[s] == a[p[0]]
                case fm.S():
                    ok = b[s] == (b[p[1]] or (b[p[0]] and a[s]))
            if not ok:
                return False
        return True

    def first(self, state):
        v = state[1]
        return all(
            (not v[s]) if isinstance(s, fm.Y) else v[s] == v[s.right]
            for s in self.guessed
            if isinstance(s, fm.Y | fm.S)
        )

    def ltl3(self, trace):
        """Verdict about position 0 after each event: does a good, or a bad, infinite word remain?"""
        n = len(self.states)
        edges = [[j for j in range(n) if self.follows(self.states[i], self.states[j])] for i in range(n)]
        live = self.fair(edges)
        verdicts = []
        now = dict.fromkeys((True, False))
        for event in trace:
            seen = {}
            for want in (True, False):
                here = [i for i in range(n) if self.states[i][0] == event]
                if now[want] is None:
                    reached = {
                        i
                        for i in here
                        if self.first(self.states[i]) and self.states[i][1][self.formula] == want
                    }
                else:
                    reached = {j for i in now[want] for j in edges[i] if self.states[j][0] == event}
                now[want] = reached
                seen[want] = bool(reached & live)
            verdicts.append(None if seen[True] and seen[False] else seen[True])
        return verdicts

    def fair(self, edges):
        """States from which a path fulfils every until: remove what cannot, until nothing changes."""
        n = len(edges)
        alive = set(range(n))
        untils = [s for s in self.guessed if isinstance(s, fm.U)]
        while True:
            before = len(alive)
            alive = {i for i in alive if any(j in alive for j in edges[i])}
            for u in untils:
                good = {i for i in alive if not self.states[i][1][u] or self.states[i][1][u.right]}
                reach = set(good)
                while True:
                    more = {i for i in alive - reach if any(j in reach for j in edges[i])}
                    if not more:
                        break
                    reach |= more
                alive = {i for i in reach if any(j in reach for j in edges[i])}
            if len(alive) == before:
                return alive
