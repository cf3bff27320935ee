"""The specification patterns of Dwyer, Avrunin and Corbett (1999), against their meaning in plain words."""

import pytest
from hypothesis import given, settings

from millstream.palettes.ltl import Monitor, Verdict, Verdicts
from millstream.palettes.ltl.strategies import traces

absence = lambda w: not any(e["p"] for e in w)  # noqa: E731
existence = lambda w: any(e["p"] for e in w)  # noqa: E731
universality = lambda w: all(e["p"] for e in w)  # noqa: E731


def precedence(w):
    """No p before the first s."""
    for e in w:
        if e["s"]:
            return True
        if e["p"]:
            return False
    return True


def response(w):
    """Every p is followed by an s."""
    return all(any(e["s"] for e in w[i:]) for i in range(len(w)) if w[i]["p"])


def globally(w):
    return [w]


def before(w):
    """The part before the first r, if there is one."""
    at = next((i for i, e in enumerate(w) if e["r"]), None)
    return [] if at is None else [w[:at]]


def after(w):
    """The part from the first q on, if there is one."""
    at = next((i for i, e in enumerate(w) if e["q"]), None)
    return [] if at is None else [w[at:]]


def between(w, until=False):
    """The parts from a q (without r) to the next r; with `until`, also if it never comes."""
    for i, e in enumerate(w):
        if e["q"] and not e["r"]:
            end = next((j for j in range(i, len(w)) if w[j]["r"]), None)
            if end is not None or until:
                yield w[i:end]


def after_until(w):
    return between(w, until=True)


PATTERNS = [
    (absence, globally, "G !p"),
    (absence, before, "F r -> (!p U r)"),
    (absence, after, "G (q -> G !p)"),
    (absence, between, "G (q & !r & F r -> (!p U r))"),
    (absence, after_until, "G (q & !r -> (!p W r))"),
    (existence, globally, "F p"),
    (existence, before, "!r W (p & !r)"),
    (existence, after, "G !q | F (q & F p)"),
    (existence, between, "G (q & !r -> (!r W (p & !r)))"),
    (existence, after_until, "G (q & !r -> (!r U (p & !r)))"),
    (universality, globally, "G p"),
    (universality, before, "F r -> (p U r)"),
    (universality, after, "G (q -> G p)"),
    (universality, between, "G (q & !r & F r -> (p U r))"),
    (universality, after_until, "G (q & !r -> (p W r))"),
    (precedence, globally, "!p W s"),
    (precedence, before, "F r -> (!p U (s | r))"),
    # published as G !q | F (q & (!p W s)), which lets a later q repair what happened after the first
    (precedence, after, "!q W (q & (!p W s))"),
    (precedence, between, "G (q & !r & F r -> (!p U (s | r)))"),
    (precedence, after_until, "G (q & !r -> (!p W (s | r)))"),
    (response, globally, "G (p -> F s)"),
    (response, before, "F r -> (p -> (!r U (s & !r))) U r"),
    (response, after, "G (q -> G (p -> F s))"),
    (response, between, "G (q & !r & F r -> (p -> (!r U (s & !r))) U r)"),
    (response, after_until, "G (q & !r -> ((p -> (!r U (s & !r))) W r))"),
]

ids = [f"{p.__name__}-{s.__name__}" for p, s, _ in PATTERNS]


@pytest.mark.parametrize(("pattern", "scope", "text"), PATTERNS, ids=ids)
@settings(deadline=None)
@given(trace=traces("pqrs", max_size=8).filter(bool))
def test_dwyer_patterns(pattern, scope, text, trace):
    expected = all(pattern(part) for part in scope(trace))
    assert next(iter(Verdicts(text, at_end="finite")(trace))) == expected
    *_, last = Monitor(text, semantics="ltlf")(trace)
    assert last == Verdict.of(expected)


@pytest.mark.parametrize("scope", [globally, after])
@settings(deadline=None)
@given(trace=traces("pqrs", max_size=8).filter(bool))
def test_dwyer_response_in_first_order(scope, trace):
    """The same pattern for every name in the event's list: p and s are about that name."""
    text = {globally: "G ({})", after: "G (q -> G ({}))"}[scope].format("forall x in started: F (done == x)")
    events = [{"started": [1] if e["p"] else [], "done": int(e["s"]), "q": e["q"]} for e in trace]
    expected = all(response(part) for part in scope(trace))
    assert next(iter(Verdicts(text, at_end="finite")(events))) == expected
