"""What lowering a model takes, counted as it goes: a short file can describe very much, since functions and turns run as often as they like."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ....checks.report import Place, bad_input
from ....model.errors import BadInput, Code
from .model import Graph, Model, Node, Nodes

MOST_NODES = 1 << 17
"""The most nodes of all graphs and functions together; functions count as often as they are run."""
NODES, BYTES_A_NODE = 1 << 15, 512
"""The nodes that a file of any length may run, and the bytes per further one."""
BYTES_OF_A_NODE = 48
"""Nodes in the file itself count extra, at most one per this many bytes."""
USES = 1 << 18
"""What the nodes of any file may read, write and look up, each as often as it runs; and one more for each byte of the file."""
NUMBERS = 1 << 20
"""The numbers that may be computed and kept for any file, of tensors that describe shapes; and one more for each byte."""
LETTERS, A_BYTE = 1 << 22, 4
"""The letters of the names of what is made for any file, and those for each byte."""


class Counts:
    """Counts what one model takes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._count = self._uses = self._numbers = self._letters = 0
        self.at: Place = model.graph.place
        """Where lowering is."""

    def run(self, more: int, place: Place) -> None:
        """Count nodes, or outputs that may each need a step. Raises BadInput if there are too many."""
        self.at = place
        self._count += more
        few = NODES + self._model.size // BYTES_A_NODE
        if self._count > few and self._count > self._most:
            raise self._too_large(f"a run comes by more than {self._most} nodes and outputs")

    def use(self, more: int) -> None:
        """Count what is read, written and looked up. Raises BadInput if it is too much."""
        self._uses += more
        if self._uses > USES + self._model.size:
            raise self._too_large(f"its nodes read and write more than {USES + self._model.size} times")

    def compute(self, numbers: int) -> None:
        """Count numbers of tensors that describe shapes. Raises BadInput if there are too many."""
        self._numbers += numbers
        if self._numbers > NUMBERS + self._model.size:
            raise self._too_large(f"its constants hold and give more than {NUMBERS + self._model.size} numbers")

    def name(self, text: str) -> None:
        """Count the letters of a name. Raises BadInput if there are too many."""
        self._letters += len(text)
        if self._letters > LETTERS + A_BYTE * self._model.size:
            raise self._too_large(f"names have more than {LETTERS + A_BYTE * self._model.size} letters")

    def _too_large(self, what: str) -> BadInput:
        text = f"{what}, and a file of {self._model.size} bytes may have no more"
        return bad_input(Code.TOO_LARGE, self.at, text)

    @cached_property
    def _most(self) -> int:
        """Return the most nodes and outputs that a run may have. This reads the whole file, so it is seldom called."""
        size = self._model.size
        there = sum(map(count_of, (self._model.graph.nodes, *(body.nodes for body in self._model.functions))))
        return min(MOST_NODES, NODES + size // BYTES_A_NODE + min(there, size // BYTES_OF_A_NODE))


def count_of(nodes: Nodes) -> int:
    """Return the number of nodes, including those of their own graphs."""
    return sum(1 + sum(count_of(graph.nodes) for graph in graphs_of(node)) for node in nodes)


def graphs_of(node: Node) -> Iterator[Graph]:
    """Return the graphs that it may run."""
    return (each for each in node.attributes.values() if isinstance(each, Graph))
