"""Operators with shapes: what is known of a network before deciding how it runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import prod
from typing import TypeAlias

from ...model.problem import BufferId


class Kind(StrEnum):
    """What an operator reads for an element of its output. The last axis of a tensor is its channels; the kernel's axes precede it."""

    CONVOLUTION = "convolution"
    """All channels under the kernel."""
    DEPTHWISE = "depthwise"
    """The same channel under the kernel."""
    POOLING = "pooling"
    """The same channel under the kernel, and no weights."""
    ELEMENTWISE = "elementwise"
    """The same element of each input; an axis of one element stands for all."""
    CONCATENATE = "concatenate"
    """One element of one input: the inputs lie one behind the other along `dim`."""
    MATRIX_PRODUCT = "matrix_product"
    """A row of the first input, and a column of the second or of the weights."""


WITH_KERNEL = frozenset((Kind.CONVOLUTION, Kind.DEPTHWISE, Kind.POOLING))


class Padding(StrEnum):
    """What surrounds an input, if not given in numbers."""

    VALID = "valid"
    """Nothing."""
    SAME = "same"
    """Enough for one output element per stride of the input; an odd element goes to the end."""


Pads: TypeAlias = tuple[tuple[int, int], ...]
"""By axis of the kernel, the elements before the first and after the last."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense array."""

    id: BufferId
    shape: tuple[int, ...]
    element_bits: int = 8
    is_output: bool = False
    """The network returns it; tensors that no operator reads are returned too."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One step of the network."""

    kind: Kind
    inputs: tuple[BufferId, ...]
    output: BufferId
    name: str | None = None
    kernel: tuple[int, ...] = ()
    stride: tuple[int, ...] | None = None
    """None: 1 along each axis of the kernel; likewise for `dilation`."""
    dilation: tuple[int, ...] | None = None
    padding: Padding | Pads = Padding.VALID
    dim: int = -1
    """The dimension of concatenations; counted from the end if negative."""
    constants: int = 0
    """Bytes of weights and tables in memory while it runs, without those read from elsewhere."""


@dataclass(frozen=True, slots=True)
class Network:
    """Tensors, and operators in the order in which they run."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    name: str | None = None
    channels_multiple: int = 1
    """In memory, the last axis of everything is padded to a multiple of this."""

    def bytes(self, extents: tuple[int, ...], element_bits: int) -> int:
        """Return the bytes of a piece with these extents."""
        if not extents:
            return -(-element_bits // 8)
        whole = -(-extents[-1] // self.channels_multiple) * self.channels_multiple
        return -(-prod((*extents[:-1], whole)) * element_bits // 8)


def label(operator: Operator, index: int) -> str:
    """Return the operator's name for people."""
    return operator.name or f"{operator.kind.value} {index}"
