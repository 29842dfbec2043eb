"""What a graph consists of: tensors with shapes, and operators in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import prod

from ..problem import BufferId


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
    """The graph gives it back to the caller."""
    alignment: int = 1

    @property
    def bits(self) -> int:
        return prod(self.shape) * self.element_bits

    @property
    def bytes(self) -> int:
        """Without padding, rounded up to whole bytes."""
        return -(-self.bits // 8)


class OperatorKind(StrEnum):
    """What an operator does with memory; what it computes does not matter here."""

    COMPUTE = "compute"
    """Reads its inputs and writes its outputs somewhere else."""
    VIEW = "view"
    """The same bytes in another shape."""
    SLICE = "slice"
    """Indices `start`, `start + step`, ... of dimension `dim`."""
    SELECT = "select"
    """Index `start` of dimension `dim`, which goes away."""
    CONCATENATE = "concatenate"
    """The inputs one behind the other along dimension `dim`."""
    IN_PLACE = "in_place"
    """Can write its output over its first input, element by element."""
    IDMA_LOAD = "idma_load"
    """Begins to copy its input into the fastest memory."""
    IDMA_STORE = "idma_store"
    """Begins to copy its input out of it."""
    IDMA_WAIT = "idma_wait"
    """Waits for a copy that was begun; its output is that copy."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the graph."""

    kind: OperatorKind
    inputs: tuple[BufferId, ...]
    outputs: tuple[BufferId, ...]
    dim: int = 0
    """Of slices, selects and concatenations; counted from the end if negative."""
    start: int = 0
    """Of slices and selects; counted from the end if negative."""
    step: int = 1
    """Of slices."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Tensors, and the operators in the order in which they run: operator i is step i."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    name: str | None = None
