"""Brute-force definitions of all operators and modes, on whole histories.

No buffers, no eviction: for each newcomer all combinations of everything that came before are enumerated, and
the only state is which occurrences have been used up. An occurrence is (time, start, shape), where the shape
of an atomic one is its number in the history, and that of a composite (time, shapes of constituents). Every
occurrence has a key that says when it is known: (time, 0, number) with an event, (time, 1, ...) when its time
is over.
"""

from itertools import combinations, product

from millstream.palettes.cep.constructors import (
    AnyOf,
    Aperiodic,
    Before,
    Between,
    Lacking,
    Periodic,
    Plus,
    Repeated,
)  # fmt: skip
from millstream.palettes.cep.expressions import Either, First, Last, On, Only
from millstream.palettes.cep.modes import Mode

END = float("inf")


def detect(expression, history, mode):
    """Return the shapes of everything that a detector has to find, in order."""
    return [shape(found) for _, found in occurrences(expression, history, mode)]


def shape(entry):
    return entry[2] if isinstance(entry[2], tuple) else (entry[0], (entry[2],))


def occurrences(event, history, mode):
    if isinstance(event, On):
        return [
            ((e.time, 0, n), (e.time, e.time, n)) for n, e in enumerate(history) if matches(event.what, e)
        ]
    streams = [occurrences(o, history, mode) for o in event.operands]
    own = getattr(event, "mode", None) or mode
    if any(has_last(o) for o in event.operands):
        arrivals = [(k, p, e) for p, s in enumerate(streams) for k, e in s]
        arrivals.sort(key=lambda a: (a[2][0], a[1]))
        arrivals = [((e[0], 0, n), p, e) for n, (_, p, e) in enumerate(arrivals)]
    else:
        arrivals = sorted(
            ((k, p, e) for p, s in enumerate(streams) for k, e in s), key=lambda a: (a[0], a[1])
        )
    final = max((e.time for e in history), default=0)
    return DEFINITIONS[type(event)](event, arrivals, own, final, history)


def has_last(event):
    return isinstance(event, Last) or any(map(has_last, event.operands))


def matches(what, e):
    return e.kind == what if isinstance(what, str) else bool(what(e))


def composed(time, entries, parts):
    return time, min(e[1] for e in entries), (time, tuple(parts))


def condition_holds(event, shapes, history):
    if event.condition is None:
        return True
    return event.condition(*[value(s, history) for s in shapes])


def value(s, history):
    """Return what a condition sees: the event itself, or something that has the number of the last leaf."""
    return history[s] if not isinstance(s, tuple) else history[leaf(s)]


def leaf(s):
    return s if not isinstance(s, tuple) else leaf(s[1][-1])


def in_window(event, entries, now):
    return event.window is None or now - min(e[1] for e in entries) <= event.window


def choose(mode, candidates, used):
    """Apply a mode to the candidates of one newcomer, as tuples of arrival numbers; return groups."""
    free = [c for c in candidates if not used & set(c[:-1])]
    if mode is Mode.CHRONICLE:
        free = free[:1]
    if mode in (Mode.CHRONICLE, Mode.CONTINUOUS, Mode.CUMULATIVE):
        used.update(i for c in free for i in c)
    if mode is Mode.CUMULATIVE and free:
        return [sorted({i for c in free for i in c})]
    return [list(c) for c in free]


# -- joins in order


def ordered(event, arrivals, mode, history, end_port, parts, fits):
    out, used = [], set()
    for n, (key, port, c) in enumerate(arrivals):
        if port != end_port:
            continue
        pairs = [(i, n) for i in range(n) if arrivals[i][1] == 0 and arrivals[i][2][0] < c[0]]
        if mode is Mode.RECENT:
            pairs = sorted(pairs, key=lambda pair: (arrivals[pair[0]][2][0], pair[0]))[-1:]
        pairs = [p for p in pairs if fits(arrivals[p[0]][2], c)]
        for group in choose(mode, pairs, used):
            entries = [arrivals[i][2] for i in group]
            out.append((key, composed(c[0], entries, parts(entries))))
    return out


def before(event, arrivals, mode, final, history):
    def parts(entries):
        if not event.flat:
            return [e[2] for e in entries]
        return [s for e in entries[:-1] for s in e[2][1]] + [entries[-1][2]]

    def fits(a, b):
        return in_window(event, (a, b), b[0]) and condition_holds(event, parts([a, b]), history)

    return ordered(event, arrivals, mode, history, 1, parts, fits)


def between(event, arrivals, mode, final, history):
    def inside(a, c):
        return [e for _, p, e in arrivals if p == 1 and a[0] < e[0] < c[0]]

    def parts(entries):
        *begins, c = entries
        return [e[2] for e in (*begins, *inside(begins[0], c), c)]

    def fits(a, c):
        number = len(inside(a, c))
        most = number if event.most is None else event.most
        return (
            event.least <= number <= most
            and in_window(event, (a, c), c[0])
            and condition_holds(event, [a[2], c[2]], history)
        )

    return ordered(event, arrivals, mode, history, 2, parts, fits)


# -- joins in any order


def unordered(event, arrivals, mode, history, combos, recent):
    out, used = [], set()
    for n, (key, port, x) in enumerate(arrivals):
        possible = recent(n, port) if mode is Mode.RECENT else combos(n, port)
        fitting = []
        for combo in possible:
            entries = [arrivals[i][2] for i in combo]
            if in_window(event, entries, x[0]) and condition_holds(event, [e[2] for e in entries], history):
                fitting.append(combo)
        fitting = [c for c in fitting if not used & set(c)]
        groups = fitting[:1] if mode is Mode.CHRONICLE else fitting
        if mode is Mode.CUMULATIVE and groups:
            groups = [sorted({i for c in groups for i in c}, key=lambda i: (arrivals[i][1], i))]
        if mode not in (Mode.ALL, Mode.RECENT):
            used.update(i for group in groups for i in group)
        for group in groups:
            entries = [arrivals[i][2] for i in group]
            out.append((key, composed(x[0], entries, [e[2] for e in entries])))
    return out


def any_of(event, arrivals, mode, final, history):
    ports = range(len(event.of))

    def at(k, n):
        return [i for i in range(n) if arrivals[i][1] == k]

    def combos(n, port):
        for rest in combinations([k for k in ports if k != port], event.number - 1):
            chosen = sorted((*rest, port))
            yield from product(*[[n] if k == port else at(k, n) for k in chosen])

    def recent(n, port):
        newest = sorted(at(k, n)[-1] for k in ports if k != port and at(k, n))
        if len(newest) >= event.number - 1:
            group = [*newest[len(newest) - event.number + 1 :], n]
            yield tuple(sorted(group, key=lambda i: arrivals[i][1]))

    return unordered(event, arrivals, mode, history, combos, recent)


def repeated(event, arrivals, mode, final, history):
    def combos(n, port):
        return ((*c, n) for c in combinations(range(n), event.number - 1))

    def recent(n, port):
        return [tuple(range(n - event.number + 1, n + 1))] if n >= event.number - 1 else []

    return unordered(event, arrivals, mode, history, combos, recent)


# -- time


def closings(begins, ends, mode, alive):
    """Return for each beginning the time that closes it: the first end after it; in CHRONICLE one to one."""
    closed = {}
    for time in ends:
        possible = [i for i, a in enumerate(begins) if i not in closed and a[0] < time and alive(a, time)]
        for i in possible[:1] if mode is Mode.CHRONICLE else possible:
            closed[i] = time
    return closed


def of_port(arrivals, port):
    return [e for _, p, e in arrivals if p == port]


def aperiodic(event, arrivals, mode, final, history):
    begins, ends = of_port(arrivals, 0), [e[0] for e in of_port(arrivals, 2)]
    closed = closings(begins, ends, mode, lambda a, time: event.window is None or time - a[0] <= event.window)
    out = []
    for key, port, b in arrivals:
        if port != 1:
            continue
        older = [i for i, a in enumerate(begins) if a[0] < b[0]]
        if mode is Mode.RECENT:
            older = older[-1:]
        found = [
            begins[i]
            for i in older
            if not closed.get(i, END) < b[0]
            and in_window(event, (begins[i], b), b[0])
            and condition_holds(event, [begins[i][2], b[2]], history)
        ]
        if mode is Mode.CHRONICLE:
            found = found[:1]
        groups = [found] if mode is Mode.CUMULATIVE and found else [[a] for a in found]
        out += [(key, composed(b[0], (*g, b), [e[2] for e in (*g, b)])) for g in groups]
    return out


def plus(event, arrivals, mode, final, history):
    due = [(a[0] + event.delay, a) for a in of_port(arrivals, 0)]
    return [((t, 1, 0), composed(t, [a], [a[2]])) for t, a in due if t <= final]


def lacking(event, arrivals, mode, final, history):
    begins, ends = of_port(arrivals, 0), [e[0] for e in of_port(arrivals, 1)]
    duration = END if event.duration is None else event.duration
    if mode is Mode.RECENT:
        begins = [
            a for i, a in enumerate(begins) if i + 1 == len(begins) or begins[i + 1][0] > a[0] + duration
        ]
    gone = closings(begins, ends, mode, lambda a, time: time <= a[0] + duration)
    if mode is Mode.CUMULATIVE:
        groups = cumulated(begins, gone, duration)
    else:
        groups = [[a] for i, a in enumerate(begins) if i not in gone]
    times = [final if event.duration is None else g[0][0] + duration for g in groups]
    return [((t, 1, 0), composed(t, g, [a[2] for a in g])) for t, g in zip(times, groups, strict=True)]


def cumulated(begins, gone, duration):
    """Join each beginning that runs out with the later ones that are open then."""
    groups, taken = [], set()
    for i, a in enumerate(begins):
        if i in gone or i in taken:
            continue
        now = a[0] + duration
        group = [
            j
            for j in range(i, len(begins))
            if j not in taken and begins[j][0] <= now and not (j in gone and gone[j] <= now)
        ]
        taken.update(group)
        groups.append([begins[j] for j in group])
    return groups


def periodic(event, arrivals, mode, final, history):
    begins, ends = of_port(arrivals, 0), of_port(arrivals, 1)
    closed = closings(begins, [c[0] for c in ends], mode, lambda a, time: True)
    until = [closed.get(i, END) for i in range(len(begins))]
    if mode is Mode.RECENT:
        until = [min([u, *(a[0] for a in begins[i + 1 : i + 2])]) for i, u in enumerate(until)]
    if mode is Mode.CUMULATIVE:
        return gathered(event, arrivals, begins, until)
    ticks = []
    for i, a in enumerate(begins):
        tick = a[0] + event.period
        while tick < until[i] and tick <= final:
            ticks.append((tick, i, a))
            tick += event.period
    return [((t, 1, 0), composed(t, [a], [a[2]])) for t, _, a in sorted(ticks, key=lambda x: x[:2])]


def gathered(event, arrivals, begins, until):
    out = []
    for n, (key, port, c) in enumerate(arrivals):
        earlier = {e[0] for _, p, e in arrivals[:n] if p == 1}
        closed = [a for i, a in enumerate(begins) if until[i] == c[0]]
        if port == 1 and c[0] not in earlier and any(a[0] + event.period < c[0] for a in closed):
            out.append((key, composed(c[0], (*closed, c), [e[2] for e in (*closed, c)])))
    return out


# -- collectors and selectors


def either(event, arrivals, mode, final, history):
    return [(key, e) for key, _, e in arrivals]


def first(event, arrivals, mode, final, history):
    return either(event, arrivals, mode, final, history)[:1]


def last(event, arrivals, mode, final, history):
    return either(event, arrivals, mode, final, history)[-1:]


def only(event, arrivals, mode, final, history):
    return [
        (key, e)
        for key, _, e in arrivals
        if in_window(event, [e], e[0]) and condition_holds(event, [e[2]], history)
    ]


DEFINITIONS = {
    Before: before, Between: between, AnyOf: any_of, Repeated: repeated, Aperiodic: aperiodic,
    Periodic: periodic, Lacking: lacking, Plus: plus, Either: either, First: first, Last: last, Only: only,
}  # fmt: skip
