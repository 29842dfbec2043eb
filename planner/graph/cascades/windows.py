"""How much of an input a piece of the output needs: along each axis, a window that moves with the piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.problem import BufferId
from .operators import WITH_KERNEL, Kind, Network, Operator, Padding, Pads, Tensor


class Box(NamedTuple):
    """A piece of a tensor, or one for each stripe: by axis and stripe, from the first element to after the last."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @classmethod
    def of(cls, spans: Sequence[tuple[int, int]]) -> Box:
        """Return a box of one piece."""
        ends = np.array(spans, np.int64).reshape(-1, 2)
        return cls(ends[:, :1], ends[:, 1:])

    @property
    def volumes(self) -> NDArray[np.int64]:
        """Return the number of elements by stripe."""
        found: NDArray[np.int64] = np.multiply.reduce(self.high - self.low, axis=0)
        return found

    def around(self, other: Box) -> Box:
        """Return the least box around both, stripe by stripe; an empty one adds nothing."""
        low = np.where(self.is_empty, other.low, np.where(other.is_empty, self.low, np.minimum(self.low, other.low)))
        high = np.where(
            self.is_empty, other.high, np.where(other.is_empty, self.high, np.maximum(self.high, other.high))
        )
        return Box(low, high)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        return np.asarray((self.high <= self.low).any(axis=0))


@dataclass(frozen=True, slots=True)
class Window:
    """Element k along the output's `axis` needs `reach` elements of the input from k * stride - before on, as far as they exist.

    Where `share` elements of the output in turn are made of the same ones, it is k // share instead of k.
    With a stride of 0 the axis does not matter: any output needs that much.
    """

    extent: int
    axis: int = 0
    stride: int = 1
    reach: int = 1
    before: int = 0
    share: int = 1

    def first(self, low: int) -> int:
        """Return the first element that outputs from `low` on need."""
        return min(max(low // self.share * self.stride - self.before, 0), self.extent)

    def end(self, high: int) -> int:
        """Return the position after the last element that outputs before `high` need."""
        return min(max((high - 1) // self.share * self.stride - self.before + self.reach, 0), self.extent)


def all_of(extent: int) -> Window:
    """Return a window in which any output needs the whole axis."""
    return Window(extent, stride=0, reach=extent)


class Windows:
    """The part of an input that is needed: a window for each of its axes."""

    def __init__(self, axes: Sequence[Window]) -> None:
        self.axes = tuple(axes)
        self._axis = np.array([each.axis for each in axes])
        self._stride, reach, self._before, self._share, self._extent = (
            np.array([getattr(each, name) for each in axes], np.int64)[:, None]
            for name in ("stride", "reach", "before", "share", "extent")
        )
        self._after = reach - self._before
        self._is_shared = bool((self._share > 1).any())

    def needed(self, box: Box) -> Box:
        """Return the part of the input that a piece of the output needs; nothing for an empty piece."""
        first, last = box.low[self._axis], box.high[self._axis] - 1
        if self._is_shared:
            first, last = first // self._share, last // self._share
        low = np.minimum(np.maximum(first * self._stride - self._before, 0), self._extent)
        high = np.minimum(np.maximum(last * self._stride + self._after, low), self._extent)
        is_empty = box.is_empty
        return Box(low, np.where(is_empty, low, high) if is_empty.any() else high)


@dataclass(frozen=True, slots=True)
class Step:
    """An operator, with tensors as positions in the network's list."""

    operator: Operator
    inputs: tuple[int, ...]
    output: int
    windows: tuple[Windows, ...]
    """By input."""
    effort: int
    """The operations for an element of the output."""
    weights: int
    """The bytes of weights that a run reads."""


def steps_of(network: Network) -> tuple[Step, ...]:
    """Return the operators of a sound network."""
    index: dict[BufferId, int] = {tensor.id: t for t, tensor in enumerate(network.tensors)}
    found = []
    for operator in network.operators:
        inputs = [network.tensors[index[each]] for each in operator.inputs]
        output = network.tensors[index[operator.output]]
        windows = tuple(map(Windows, _windows(operator, inputs, output)))
        taken = _elements_for_one(operator, inputs)
        bits = inputs[0].element_bits
        weights = -(-_weights(operator, inputs, output) * bits // 8)
        found.append(
            Step(
                operator,
                tuple(index[each] for each in operator.inputs),
                index[operator.output],
                windows,
                taken,
                weights,
            )
        )
    return tuple(found)


def _elements_for_one(operator: Operator, inputs: Sequence[Tensor]) -> int:
    match operator.kind:
        case Kind.CONVOLUTION:
            return prod(operator.kernel) * inputs[0].shape[-1]
        case Kind.DEPTHWISE | Kind.POOLING:
            return prod(operator.kernel)
        case Kind.MATRIX_PRODUCT:
            return inputs[0].shape[-1]
        case Kind.ELEMENTWISE:
            return 1
        case Kind.CONCATENATE:
            return 0


def _weights(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> int:
    if operator.kind in (Kind.CONVOLUTION, Kind.DEPTHWISE) or (
        operator.kind is Kind.MATRIX_PRODUCT and len(inputs) == 1
    ):
        return _elements_for_one(operator, inputs) * output.shape[-1]
    return 0


def _windows(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> Iterator[list[Window]]:
    rank = len(output.shape)
    if operator.kind in WITH_KERNEL:
        yield _under_kernel(operator, inputs[0].shape, output.shape)
    elif operator.kind is Kind.ELEMENTWISE:
        for each in inputs:
            yield [
                Window(extent, axis) if extent == output.shape[axis] else all_of(extent)
                for axis, extent in enumerate(each.shape)
            ]
    elif operator.kind is Kind.CONCATENATE:
        along, before = operator.dim % rank, 0
        for each in inputs:
            yield [
                Window(extent, axis, before=before if axis == along else 0) for axis, extent in enumerate(each.shape)
            ]
            before += each.shape[along]
    else:
        leading = [Window(extent, axis) for axis, extent in enumerate(output.shape[:-2])]
        shared = all_of(inputs[0].shape[-1])
        yield [*leading, Window(output.shape[-2], rank - 2), shared]
        if len(inputs) > 1:
            yield [*leading, shared, Window(output.shape[-1], rank - 1)]


def _under_kernel(operator: Operator, shape: tuple[int, ...], made: tuple[int, ...]) -> list[Window]:
    first = len(shape) - 1 - len(operator.kernel)
    found = [Window(shape[axis], axis) for axis in range(first)]
    strides, reaches = strides_of(operator), reaches_of(operator)
    for k, (before, _) in enumerate(pads_of(operator, shape)):
        found.append(Window(shape[first + k], first + k, strides[k], reaches[k], before))
    own = operator.kind is not Kind.CONVOLUTION
    found.append(Window(shape[-1], len(shape) - 1, share=made[-1] // shape[-1]) if own else all_of(shape[-1]))
    return found


def strides_of(operator: Operator) -> tuple[int, ...]:
    return operator.stride if operator.stride is not None else (1,) * len(operator.kernel)


def reaches_of(operator: Operator) -> tuple[int, ...]:
    """Return the distance from the first element under the kernel to the last, inclusive."""
    dilation = operator.dilation if operator.dilation is not None else (1,) * len(operator.kernel)
    return tuple((size - 1) * apart + 1 for size, apart in zip(operator.kernel, dilation, strict=True))


def pads_of(operator: Operator, shape: tuple[int, ...]) -> Pads:
    """Return the padding of an input of this shape in numbers."""
    if not isinstance(operator.padding, Padding):
        return operator.padding
    if operator.padding is Padding.VALID:
        return ((0, 0),) * len(operator.kernel)
    spatial = shape[-1 - len(operator.kernel) : -1]
    found = []
    for extent, stride, reach in zip(spatial, strides_of(operator), reaches_of(operator), strict=True):
        missing = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
        found.append((missing // 2, missing - missing // 2))
    return tuple(found)
