"""Random histories and event expressions."""

from hypothesis import strategies as st

from millstream.palettes.cep import (
    Mode,
    Occurrence,
    any_of,
    aperiodic,
    before,
    between,
    both,
    either,
    first,
    lacking,
    on,
    periodic,
    plus,
    repeated,
    sequence,
    without,
)  # fmt: skip

MODES = list(Mode)
steps = st.tuples(st.sampled_from("ABCD"), st.integers(0, 2), st.integers(0, 1))


@st.composite
def histories(draw, min_size=0, max_size=14):
    """Histories with simultaneous events, numbered, with a value of 0 or 1."""
    time, out = 0, []
    for number, (kind, gap, v) in enumerate(draw(st.lists(steps, min_size=min_size, max_size=max_size))):
        time += gap
        out.append(Occurrence(kind, time, {"n": number, "v": v}))
    return out


def newest(item):
    """Return the last leaf of an occurrence."""
    return item if not item.constituents else newest(item.constituents[-1])


def alike(*items):
    """A condition across constituents: their last leaves have the same value."""
    return len({newest(i).v for i in items}) == 1


def is_one(item):
    """A condition on one occurrence."""
    return newest(item).v == 1


leaves = st.one_of(st.sampled_from("ABCD").map(on), st.just(on(is_one)))
modes = st.one_of(st.none(), st.sampled_from(MODES))

CONSTRUCTORS = {
    "before": lambda e, m: before(e[0], e[1], mode=m),
    "sequence": lambda e, m: sequence(*e[:3], mode=m),
    "both": lambda e, m: both(e[0], e[1], mode=m),
    "three": lambda e, m: both(*e[:3], mode=m),
    "any": lambda e, m: any_of(2, *e[:3], mode=m),
    "repeated": lambda e, m: repeated(2, e[0], mode=m),
    "repeated3": lambda e, m: repeated(3, e[0], mode=m),
    "without": lambda e, m: without(*e[:3], mode=m),
    "star": lambda e, m: between(*e[:3], mode=m),
    "one or two": lambda e, m: between(*e[:3], least=1, most=2, mode=m),
    "aperiodic": lambda e, m: aperiodic(*e[:3], mode=m),
}
TIMED = {
    "periodic": lambda e, m: periodic(e[0], 2, e[1], mode=m),
    "lacking": lambda e, m: lacking(e[0], e[1], 3, mode=m),
    "plus": lambda e, m: plus(e[0], 3),
}
SELECTORS = {"either": lambda e, m: either(e[0], e[1]), "first": lambda e, m: first(e[0])}


@st.composite
def constructed(draw, children, makers=CONSTRUCTORS):
    """An operator over random operands, perhaps with a window and a condition."""
    make = makers[draw(st.sampled_from(sorted(makers)))]
    event = make([draw(children) for _ in range(3)], draw(modes))
    if makers is CONSTRUCTORS:
        event = event.within(draw(st.integers(0, 6))) if draw(st.booleans()) else event
        event = event.where(alike) if draw(st.integers(0, 3)) == 0 else event
    return event


def expressions():
    """Trees of up to three levels."""
    two = st.one_of(leaves, constructed(leaves), constructed(leaves, SELECTORS))
    return st.one_of(constructed(two), constructed(two, SELECTORS))
