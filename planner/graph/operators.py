"""The contents of a graph: tensors with shapes, and operators in the order in which they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from ..model.problem import BufferId


class TensorKind(StrEnum):
    """Where a tensor comes from."""

    INTERMEDIATE = "intermediate"
    """An operator writes it, once."""
    INPUT = "input"
    """The caller hands it in."""
    CONSTANT = "constant"
    """Part of the program; never planned."""
    MUTABLE = "mutable"
    """State that outlives a run: live throughout, and any operator may write it."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense array, its last dimension contiguous."""

    id: BufferId
    shape: tuple[int, ...]
    element_bits: int = 8
    kind: TensorKind = TensorKind.INTERMEDIATE
    is_output: bool = False
    """The graph returns it to the caller. In a function, `Function.outputs` says so."""
    alignment: int = 1
    pools: tuple[str, ...] | None = None
    """Where it may be, in order of preference; None: where its device may, or anywhere."""
    device: str | None = None
    """The device that works on it; `Program.devices` lists the pools that it reaches."""
    items: tuple[Tensor, ...] | None = None
    """A tuple of these, of which only shape and element_bits (or items) count; it has no bytes of its own. None: no tuple."""

    @property
    def bits(self) -> int:
        return prod(self.shape) * self.element_bits

    @property
    def bytes(self) -> int:
        """Return the bytes without padding, rounded up to whole bytes."""
        return -(-self.bits // 8)


def part_count(tensor: Tensor) -> int:
    """Return how many tensors a tuple holds, at any depth; 1 if it is no tuple."""
    return 1 if tensor.items is None else sum(map(part_count, tensor.items))


class OperatorKind(StrEnum):
    """What an operator does with memory; what it computes does not matter here."""

    COMPUTE = "compute"
    """Reads its inputs and writes its outputs somewhere else."""
    VIEW = "view"
    """The same bytes in another shape."""
    SLICE = "slice"
    """Indices `start`, `start + step`, ... of dimension `dim`."""
    SELECT = "select"
    """Index `start` of dimension `dim`, which is dropped."""
    CONCATENATE = "concatenate"
    """The inputs one behind the other along dimension `dim`."""
    IN_PLACE = "in_place"
    """Can write its output over an input, element by element: the first, or one of the first `over`."""
    IDMA_LOAD = "idma_load"
    """Begins to copy its input into the fastest memory."""
    IDMA_STORE = "idma_store"
    """Begins to copy its input out of it."""
    IDMA_WAIT = "idma_wait"
    """Waits for a started copy; its output is that copy."""
    COPY = "copy"
    """The same bytes again, or the same place if that makes no difference."""
    TUPLE = "tuple"
    """Its inputs as one value."""
    ITEM = "item"
    """Number `start` of a tuple."""
    CALL = "call"
    """Runs a function: inputs go to its inputs, its outputs are the results."""
    BRANCH = "branch"
    """Runs one of its functions, chosen by its first input, with the other inputs."""
    LOOP = "loop"
    """Runs a function repeatedly, possibly not at all; see `Operator.carried`."""


CONTROL = frozenset((OperatorKind.CALL, OperatorKind.BRANCH, OperatorKind.LOOP))
"""Operators that run functions."""
OF_PROGRAMS = CONTROL | {OperatorKind.COPY, OperatorKind.TUPLE, OperatorKind.ITEM}
"""Operators that graphs without functions do not have."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """Memory that an operator needs only while it runs."""

    size: int
    alignment: int = 1
    pools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the graph."""

    kind: OperatorKind
    inputs: tuple[BufferId, ...]
    outputs: tuple[BufferId, ...]
    dim: int = 0
    """The dimension of slices, selects and concatenations; counted from the end if negative."""
    start: int = 0
    """The start of slices and selects; counted from the end if negative. The number of items."""
    step: int = 1
    """The step of slices."""
    name: str | None = None
    """For people: shown on the time axis."""
    workspaces: tuple[Workspace, ...] = ()
    functions: tuple[str, ...] = ()
    """The function that a call or loop runs, or all that a branch may run."""
    condition: str | None = None
    """For loops: the function that decides before each turn whether it runs, given what is carried and what stays. None: all turns run."""
    carried: int = 0
    """For loops: this many inputs, the first ones, start the first turn; each turn's first outputs start the next, and the last turn's are
    the first results.
    """
    scanned: int = 0
    """For loops: this many inputs after those are passed in parts, index i of their first dimension to turn i. The remaining inputs stay the
    same. A turn's further outputs are joined along a new first dimension.
    """
    over: int = 1
    """For operators in place: the output may lie over any one of this many inputs, the first ones. It lies over the first of them that allows it."""


def in_place(
    alike: Sequence[BufferId], inputs: Sequence[BufferId], outputs: Sequence[BufferId], name: str | None = None
) -> Operator:
    """Return an operator that can write its output over any of the inputs that are like it element by element."""
    ordered = tuple(dict.fromkeys((*alike, *inputs)))
    return Operator(OperatorKind.IN_PLACE, ordered, tuple(outputs), name=name, over=len({*alike}))


@dataclass(frozen=True, slots=True)
class Graph:
    """Tensors, and the operators in the order in which they run: operator i is step i."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    name: str | None = None


def functions_of(operator: Operator) -> tuple[str, ...]:
    """Return the functions that it may run."""
    return operator.functions if operator.condition is None else (operator.condition, *operator.functions)
