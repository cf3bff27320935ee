"""The paper's Listings 1 and 2, statement by statement, and the definitions (7) to (9): the oracle."""


class Listing:
    """The data structures of the listings; `start` is 2.11-2.20, `finish` is 1.5-1.30."""

    def __init__(self, m):
        self.m, self.size = m, len(m) - 1
        self.partial, self.full, self.ready = set(), set(), set()
        self.p_max, self.next = 0, 1
        self.x = {0: self.size}
        self.msg = set()
        self.queue = []

    def start(self):
        self.p_max = self.next  # 2.11
        self.x[self.next] = 0  # 2.6
        for v in range(1, self.m[0] + 1):  # 2.12-2.15
            self.full.add((v, self.next))
            self.msg.add((v, self.next))
        self.add_ready()  # 2.16-2.19
        self.next += 1  # 2.20

    def finish(self, v, p, outputs):
        self.full.remove((v, p))  # 1.5
        self.ready.remove((v, p))  # 1.6
        self.msg.remove((v, p))  # 1.7
        for w in outputs:  # 1.8-1.11
            self.partial.add((w, p))
            self.msg.add((w, p))
        i = p  # 1.12
        while True:  # 1.13-1.23
            pending = [w for (w, q) in self.partial | self.full if q == i]
            self.x[i] = min(pending) - 1 if pending else self.size
            if self.x[i] > self.x[i - 1]:
                self.x[i] = self.x[i - 1]
            i += 1
            if self.p_max < i:
                break
        newly_full = {(w, q) for (w, q) in self.partial if w <= self.m[self.x[q]]}  # 1.24
        self.partial -= newly_full  # 1.25
        self.full |= newly_full  # 1.26
        self.add_ready()  # 1.27-1.30

    def add_ready(self):
        for w, q in sorted(self.full - self.ready):
            if all(q <= r for (u, r) in self.full if u == w):
                self.ready.add((w, q))
                self.queue.append((w, q))


def defined_sets(listing):
    """Return partial, full and ready as definitions (9), (7) and (8) give them from x and msg."""
    m, x = listing.m, listing.x
    partial = {(v, p) for (v, p) in listing.msg if m[x[p]] < v}
    full = {(v, p) for (v, p) in listing.msg if x[p] < v <= m[x[p]]}
    ready = {(v, p) for (v, p) in full if all(p <= q for (u, q) in full if u == v)}
    return partial, full, ready
