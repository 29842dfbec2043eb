"""Random networks of operators with shapes: chains with branches, odd strides, dilations and paddings."""

from __future__ import annotations

import random

from planner.graph.cascades.operators import Kind, Network, Operator, Padding, Tensor
from planner.graph.cascades.windows import pads_of, reaches_of, strides_of

KINDS = (
    Kind.CONVOLUTION,
    Kind.CONVOLUTION,
    Kind.DEPTHWISE,
    Kind.POOLING,
    Kind.ELEMENTWISE,
    Kind.CONCATENATE,
    Kind.MATRIX_PRODUCT,
)


class Growing:
    """A network under construction."""

    def __init__(self, chance: random.Random, extents: int) -> None:
        self._chance = chance
        rank = chance.choice((2, 3, 3, 3, 4))
        spatial = tuple(chance.randint(4, extents) for _ in range(min(rank - 1, 2)))
        self.tensors = [Tensor("t0", (*(1,) * (rank - 1 - len(spatial)), *spatial, chance.randint(1, 3)))]
        self.operators: list[Operator] = []

    def grow(self) -> None:
        """Add an operator that reads one of the last tensors, and perhaps an older one."""
        chance = self._chance
        last = self.tensors[-1] if chance.random() < 0.8 else chance.choice(self.tensors[-3:])
        kind = chance.choice(KINDS)
        if kind in (Kind.CONVOLUTION, Kind.DEPTHWISE, Kind.POOLING):
            self._under_kernel(kind, last)
        elif kind is Kind.ELEMENTWISE:
            alike = [
                t
                for t in self.tensors[:-1]
                if t.shape == last.shape
                or (
                    len(t.shape) == len(last.shape)
                    and chance.random() < 0.3
                    and all(a in (1, b) for a, b in zip(t.shape, last.shape, strict=True))
                )
            ]
            self._add(
                Operator(kind, (last.id, *(chance.sample([t.id for t in alike], 1) if alike else ())), self._next),
                last.shape,
            )
        elif kind is Kind.CONCATENATE:
            dim = chance.randrange(len(last.shape))
            fitting = [
                t
                for t in self.tensors
                if t.shape[:dim] + t.shape[dim + 1 :] == last.shape[:dim] + last.shape[dim + 1 :]
            ]
            taken = [last, *chance.choices(fitting, k=chance.randint(0, 2))]
            chance.shuffle(taken)
            shape = (*last.shape[:dim], sum(t.shape[dim] for t in taken), *last.shape[dim + 1 :])
            self._add(
                Operator(kind, tuple(t.id for t in taken), self._next, dim=dim - len(shape) * chance.randrange(2)),
                shape,
            )
        else:
            others = [t for t in self.tensors if t.shape[:-2] == last.shape[:-2] and t.shape[-2] == last.shape[-1]]
            other = chance.choice(others) if others and chance.random() < 0.7 else None
            columns = chance.randint(1, 4) if other is None else other.shape[-1]
            self._add(
                Operator(kind, (last.id,) if other is None else (last.id, other.id), self._next),
                (*last.shape[:-1], columns),
            )

    @property
    def _next(self) -> str:
        return f"t{len(self.tensors)}"

    def _add(self, operator: Operator, shape: tuple[int, ...]) -> None:
        self.operators.append(operator)
        self.tensors.append(Tensor(str(operator.output), shape))

    def _under_kernel(self, kind: Kind, last: Tensor) -> None:
        chance = self._chance
        axes = chance.randint(1, len(last.shape) - 1) if len(last.shape) < 4 else 2
        spatial = last.shape[-1 - axes : -1]
        kernel = tuple(chance.randint(1, 3) for _ in range(axes))
        stride = tuple(chance.choice((1, 1, 2, 3)) for _ in range(axes))
        dilation = tuple(chance.choice((1, 1, 2)) for _ in range(axes))
        padding = chance.choice(
            (Padding.SAME, Padding.VALID, tuple((chance.randint(0, 2), chance.randint(0, 2)) for _ in range(axes)))
        )
        operator = Operator(kind, (last.id,), self._next, None, kernel, stride, dilation, padding)
        made = []
        for extent, pad, step, reach in zip(
            spatial, pads_of(operator, last.shape), strides_of(operator), reaches_of(operator), strict=True
        ):
            made.append((extent + sum(pad) - reach) // step + 1)
        if min(made) >= 1:
            channels = last.shape[-1]
            if kind is Kind.CONVOLUTION:
                channels = chance.randint(1, 4)
            elif kind is Kind.DEPTHWISE:
                channels *= chance.choice((1, 1, 2))
            self._add(operator, (*last.shape[: -1 - axes], *made, channels))


def random_network(seed: int, operators: int = 5, extents: int = 12) -> Network:
    """Return a sound random network, the same for the same seed."""
    chance = random.Random(seed)
    growing = Growing(chance, extents)
    while len(growing.operators) < operators:
        growing.grow()
    tensors = [Tensor(t.id, t.shape, is_output=chance.random() < 0.1) for t in growing.tensors]
    return Network(tuple(tensors), tuple(growing.operators), channels_multiple=chance.choice((1, 1, 4)))
