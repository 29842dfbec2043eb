"""What functions are rewritten to: steps, runs of functions, forks and cycles, over names of memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ...model.problem import BufferId
from ..columns import Ids, Memory, names_of, operands_of, operator_forms
from ..operators import Operator, OperatorKind
from ..program import Function
from .homes import Homes


@dataclass(slots=True)
class Step:
    """An operator over memory, and when it runs."""

    operators: Sequence[Operator]
    """A list that its operator is in: large programs have no object for each."""
    row: int
    function: str
    index: int
    """The index of its operator in the function."""
    part: str | None = None
    """For calls, branches and loops: what this step does for them."""
    workspaces: tuple[BufferId, ...] = ()
    ticks: Sequence[int] = ()
    """In order. Computing steps have none, as nobody needs them."""

    @property
    def operator(self) -> Operator:
        return self.operators[self.row]

    @property
    def kind(self) -> OperatorKind:
        return operator_forms(self.operators)[self.row].kind


class Handed(NamedTuple):
    """What an input or output stands for while its function runs."""

    to: BufferId
    in_parts: bool
    """Only a part of it at a time."""


class Run(NamedTuple):
    """One place from which a function is run."""

    function: str
    handed: tuple[tuple[BufferId, Handed], ...]
    """Passed to its inputs and outputs that have no place of their own."""
    given_back: tuple[Step, ...]
    """Copies when it ends, of outputs that are not its own."""
    read_only: tuple[BufferId, ...]
    """State that is passed for reading."""
    caller: str
    at: int
    """The index of the caller's operator."""


class Fork(NamedTuple):
    """A branch."""

    test: Step
    arms: tuple[Run, ...]


class Cycle(NamedTuple):
    """A loop."""

    enter: tuple[Step, ...]
    question: Run | None
    test: Step | None
    turn: Run
    again: tuple[Step, ...]
    """Steps that pass a turn's results to the next."""


class Compute(NamedTuple):
    """An operator that only computes. Nobody asks when it runs, and large programs consist of such."""

    inputs: Ids
    outputs: Ids
    name: str | None


Node: TypeAlias = Compute | Step | Run | Fork | Cycle


@dataclass(slots=True)
class Nodes(Collection[Node]):
    """A function's nodes in order."""

    operators: Sequence[Operator]
    """Those that compute, in terms of memory, and anything where there is another node."""
    others: dict[int, Node] = field(default_factory=dict)
    """By their numbers: nodes that do not only compute."""

    def __len__(self) -> int:
        return len(self.operators)

    def __iter__(self) -> Iterator[Node]:
        each = zip(operands_of(self.operators), names_of(self.operators), strict=True)
        for i, ((inputs, outputs), name) in enumerate(each):
            yield self.others.get(i) or Compute(inputs, outputs, name)

    def __contains__(self, node: object) -> bool:
        return any(node == each for each in self)

    def computed(self) -> Iterator[Ids]:
        """Yield what each of the operators that only compute writes."""
        for i, (_, outputs) in enumerate(operands_of(self.operators)):
            if i not in self.others:
                yield outputs


@dataclass(slots=True)
class Listing:
    """A program in terms of memory."""

    functions: dict[str, Function] = field(default_factory=dict)
    """Without tuples."""
    nodes: dict[str, Nodes] = field(default_factory=dict)
    """For each function in use."""
    steps: list[Step] = field(default_factory=list)
    """All steps but operators that only compute."""
    tensors: Memory = field(default_factory=Memory)
    elsewhere: set[BufferId] = field(default_factory=set)
    """Inputs and outputs of functions that are run from several places."""
    homes: Homes = field(default_factory=Homes)
    """The name of each tensor's memory."""
