"""The brute-force twin of the engine: a queue for every input of every node, visited until nothing moves.

Shares nothing with the engine but the description of a graph and the processors' own methods.
"""

from collections import deque

from millstream.processors import Router, Uniform
from millstream.processors.graph import flatten
from millstream.processors.processor import instance


def interpret(query, trace):
    """Return the outputs of a query, a list for each, given (port, event) pairs in order of arrival."""
    return _Interpreter(flatten(query.graph)[0]).run(trace)


class _Interpreter:
    def __init__(self, graph):
        self.graph = graph
        self.nodes = [instance(n) for n in graph.nodes]
        self.queues = [[deque() for _ in range(n.arity[0])] for n in graph.nodes]
        self.outputs = [[] for _ in graph.exits]
        for e in graph.edges:
            self.queues[e.target[0]][e.target[1]].extend(e.initial)
        for n, node in enumerate(self.nodes):
            node.emit = lambda *ys, n=n: [self.deliver(n, o, y) for o, y in enumerate(ys)]
            if isinstance(node, Router):
                node.ports = tuple(lambda y, n=n, o=o: self.deliver(n, o, y) for o in range(node.arity[1]))
            node.prepare()

    def run(self, trace):
        for port, event in trace:
            node, i = self.graph.entries[port]
            self.queues[node][i].append(event)
            self.settle()
        for node in self.nodes:
            node.end()
            self.settle()
        return self.outputs

    def deliver(self, n, o, event):
        for k, spot in enumerate(self.graph.exits):
            if spot == (n, o):
                self.outputs[k].append(event)
        for e in self.graph.edges:
            if e.source == (n, o):
                self.queues[e.target[0]][e.target[1]].append(event)

    def settle(self):
        while any(self.fire(n) for n in range(len(self.nodes))):
            pass

    def fire(self, n):
        node, queues = self.nodes[n], self.queues[n]
        if isinstance(node, Router):
            for port, queue in enumerate(queues):
                if queue:
                    node.receive(port, queue.popleft())
                    return True
            return False
        if not all(queues):
            return False
        result = node.step(*(q.popleft() for q in queues))
        if isinstance(node, Uniform):
            node.emit(*(result if node.arity[1] > 1 else (result,)))
        return True
