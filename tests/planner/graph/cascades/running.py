"""A machine that runs networks: whole, or in the memory of a plan and in the stripes of a choice.

It finds what a piece needs by recording which elements are read, not by any formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.graph.cascades.demand import Flow
from planner.graph.cascades.operators import Kind, Network, Operator, Padding
from planner.graph.cascades.problem import CascadeProblem
from planner.graph.cascades.stripes.group import Group, Mode
from planner.graph.cascades.stripes.paths import Path
from planner.model.plan import Plan
from planner.model.problem import BufferId

Array: TypeAlias = NDArray[Any]
Spans: TypeAlias = list[tuple[int, int]]
Read: TypeAlias = Callable[[int, list[Array]], Array]
"""Returns elements of an input, given its number and their indices along each axis."""


class Machine:
    """Computes a network with random inputs and weights, modulo 256."""

    def __init__(self, network: Network, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self.network = network
        self.shapes = {tensor.id: tensor.shape for tensor in network.tensors}
        made = {operator.output for operator in network.operators}
        self.inputs = {t.id: chance.integers(0, 256, t.shape, np.uint8) for t in network.tensors if t.id not in made}
        self.weights = [self._some(chance, operator) for operator in network.operators]

    def _some(self, chance: np.random.Generator, operator: Operator) -> Array:
        given, made = self.shapes[operator.inputs[0]], self.shapes[operator.output]
        if operator.kind is Kind.CONVOLUTION:
            return chance.integers(0, 256, (*operator.kernel, given[-1], made[-1]), np.uint8)
        if operator.kind is Kind.DEPTHWISE:
            return chance.integers(0, 256, (*operator.kernel, made[-1]), np.uint8)
        return chance.integers(0, 256, (given[-1], made[-1]), np.uint8)

    def piece(self, s: int, spans: Spans, read: Read) -> Array:
        """Return a piece of the output of operator number s."""
        operator = self.network.operators[s]
        at = [np.arange(low, high) for low, high in spans]
        out: Array = np.zeros([len(each) for each in at], np.uint8)
        if not out.size:
            return out
        match operator.kind:
            case Kind.ELEMENTWISE:
                for k, each in enumerate(operator.inputs):
                    shape = self.shapes[each]
                    ones = [
                        np.zeros(1, np.int64) if extent == 1 else where for extent, where in zip(shape, at, strict=True)
                    ]
                    out = out * np.uint8(3) + read(k, ones) * np.uint8(k + 1) + np.uint8(7)
            case Kind.CONCATENATE:
                dim, before = operator.dim % len(spans), 0
                for k, each in enumerate(operator.inputs):
                    mine = (at[dim] >= before) & (at[dim] < before + self.shapes[each][dim])
                    where = [*at[:dim], at[dim][mine] - before, *at[dim + 1 :]]
                    if mine.any():
                        out[tuple([slice(None)] * dim + [mine])] = read(k, where)
                    before += self.shapes[each][dim]
            case Kind.MATRIX_PRODUCT:
                shared = np.arange(self.shapes[operator.inputs[0]][-1])
                rows = read(0, [*at[:-1], shared])
                columns = (
                    read(1, [*at[:-2], shared, at[-1]]) if len(operator.inputs) > 1 else self.weights[s][:, at[-1]]
                )
                out = rows @ columns
            case _:
                self._under_kernel(s, operator, at, out, read)
        return out

    def _under_kernel(self, s: int, operator: Operator, at: list[Array], out: Array, read: Read) -> None:
        shape, axes = self.shapes[operator.inputs[0]], len(operator.kernel)
        first = len(shape) - 1 - axes
        stride = operator.stride or (1,) * axes
        dilation = operator.dilation or (1,) * axes
        per = self.shapes[operator.output][-1] // shape[-1]
        for tap in product(*map(range, operator.kernel)):
            where, inside = list(at), [np.ones(len(each), bool) for each in at]
            for k in range(axes):
                extent = shape[first + k]
                before = self._before(operator, k, extent, stride[k], dilation[k])
                there = at[first + k] * stride[k] - before + tap[k] * dilation[k]
                inside[first + k] = (there >= 0) & (there < extent)
                where[first + k] = there[inside[first + k]]
            where[-1] = np.arange(shape[-1]) if operator.kind is Kind.CONVOLUTION else at[-1] // max(per, 1)
            if any(len(each) == 0 for each in where):
                continue
            taken, here = read(0, where), np.ix_(*inside)
            if operator.kind is Kind.CONVOLUTION:
                out[here] += taken @ self.weights[s][tap][:, at[-1]]
            elif operator.kind is Kind.DEPTHWISE:
                out[here] += taken * self.weights[s][tap][at[-1]]
            else:
                out[here] = np.maximum(out[here], taken)

    @staticmethod
    def _before(operator: Operator, k: int, extent: int, stride: int, dilation: int) -> int:
        if isinstance(operator.padding, tuple):
            return operator.padding[k][0]
        if operator.padding is Padding.VALID:
            return 0
        outputs = -(-extent // stride)
        return max((outputs - 1) * stride + (operator.kernel[k] - 1) * dilation + 1 - extent, 0) // 2

    def needs(self, s: int, spans: Spans) -> list[Spans | None]:
        """Return for each input the least box around all elements that the piece reads; None if it reads none."""
        found: list[Spans | None] = [None] * len(self.network.operators[s].inputs)

        def note(k: int, where: list[Array]) -> Array:
            box = [(int(each.min()), int(each.max()) + 1) for each in where]
            found[k] = around(found[k], box)
            return np.zeros([len(each) for each in where], np.uint8)

        self.piece(s, spans, note)
        return found

    def whole(self) -> dict[BufferId, Array]:
        """Return all tensors, computed one after the other."""
        values: dict[BufferId, Array] = dict(self.inputs)
        for s, operator in enumerate(self.network.operators):
            spans = [(0, extent) for extent in self.shapes[operator.output]]
            values[operator.output] = self.piece(s, spans, lambda k, at, o=operator: values[o.inputs[k]][np.ix_(*at)])  # type: ignore[misc]
        return values


def around(one: Spans | None, other: Spans | None) -> Spans | None:
    if one is None or other is None:
        return one or other
    return [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True)]


class Place:
    """A piece of a tensor in memory; along `axis` it wraps round after `rows`."""

    def __init__(
        self, memory: Array, offset: int, size: int, spans: Spans, axis: int | None = None, rows: int = 0
    ) -> None:
        self.memory, self.offset, self.spans, self.axis, self.rows = memory, offset, spans, axis, rows
        self.extents = [high - low for low, high in spans]
        if axis is not None:
            self.extents[axis] = rows
        assert int(np.prod(self.extents)) <= size, "larger than its buffer"

    def addresses(self, at: list[Array]) -> Array:
        found = np.full([1] * len(at), self.offset)
        step = 1
        for axis in range(len(at) - 1, -1, -1):
            where = at[axis] % self.rows if axis == self.axis else at[axis] - self.spans[axis][0]
            shape = [1] * len(at)
            shape[axis] = -1
            found = found + where.reshape(shape) * step
            step *= self.extents[axis]
        return found

    def read(self, at: list[Array]) -> Array:
        return self.memory[self.addresses(at)]

    def write(self, spans: Spans, values: Array) -> None:
        self.memory[self.addresses([np.arange(low, high) for low, high in spans])] = values


class InMemory:
    """Runs a network in the memory of a plan, in the stripes of a choice."""

    def __init__(self, machine: Machine, made: CascadeProblem, plan: Plan, paths: Sequence[Path]) -> None:
        self._machine, self._network = machine, machine.network
        self._offsets = {each.id: (each.offset, each.size) for each in plan.placements}
        self._memory = np.random.default_rng(0).integers(0, 256, (plan.peak or 0) + 1, np.uint8)
        self._groups = [group for path in paths for group in path]
        self._part = {whole: part for part, whole in made.parts.items()}
        self._maker = {operator.output: s for s, operator in enumerate(self._network.operators)}
        self._demand = self._demanded()
        self._places: dict[BufferId, Place] = {}

    def _demanded(self) -> dict[BufferId, Spans]:
        """Return the part of each tensor that is computed, after checking that it holds all elements read."""
        found = {
            tensor.id: list(spans)
            for tensor, (_, spans) in zip(
                self._network.tensors, sorted(Flow(self._network).demand.items()), strict=True
            )
        }
        for s, operator in enumerate(self._network.operators):
            for each, box in zip(operator.inputs, self._machine.needs(s, found[operator.output]), strict=True):
                assert around(found[each], box) == found[each], "not all that is read is computed"
        return found

    def _whole_place(self, tensor: BufferId) -> Place:
        if tensor not in self._places:
            self._places[tensor] = Place(self._memory, *self._offsets[tensor], self._demand[tensor])
        return self._places[tensor]

    def run(self) -> dict[BufferId, Array]:
        """Run the network; return its outputs."""
        for tensor, values in self._machine.inputs.items():
            spans = self._demand[tensor]
            self._whole_place(tensor).write(spans, values[tuple(slice(*span) for span in spans)])
        for group in self._groups:
            if group.stripes is not None and group.stripes.mode is Mode.ROLLING:
                _Rolling(self, group).run()
            else:
                self._in_pieces(group)
        read = {each for operator in self._network.operators for each in operator.inputs}
        outputs = [t for t in self._network.tensors if t.is_output or (t.id in self._maker and t.id not in read)]
        return {t.id: self._whole_place(t.id).read([np.arange(extent) for extent in t.shape]) for t in outputs}

    def make(self, s: int, spans: Spans, places: Mapping[BufferId, Place]) -> None:
        """Make a piece of the output of operator number s from its inputs in their places, and write it."""
        operator = self._network.operators[s]

        def read(k: int, at: list[Array]) -> Array:
            each = operator.inputs[k]
            return (places.get(each) or self._whole_place(each)).read(at)

        place = places.get(operator.output) or self._whole_place(operator.output)
        place.write(
            spans, np.full([high - low for low, high in spans], 0xA5, np.uint8)
        )  # spoils inputs that share bytes with the output
        place.write(spans, self._machine.piece(s, spans, read))

    def _in_pieces(self, group: Group) -> None:
        last = self._network.operators[group.last]
        demand = self._demand[last.output]
        sizes = group.stripes.extents if group.stripes else tuple(max(high - low, 1) for low, high in demand)
        inner = {self._network.tensors[each.tensor].id for each in group.inner}
        for corner in product(*(range(low, high, size) for (low, high), size in zip(demand, sizes, strict=True))):
            spans: dict[BufferId, Spans | None] = {
                last.output: [
                    (c, min(c + size, high)) for c, size, (_, high) in zip(corner, sizes, demand, strict=True)
                ]
            }
            for s in range(group.last, group.first - 1, -1):
                wanted = spans.get(self._network.operators[s].output)
                for each, box in zip(
                    self._network.operators[s].inputs, self._machine.needs(s, wanted) if wanted else (), strict=False
                ):
                    spans[each] = around(spans.get(each), box)
            places: dict[BufferId, Place] = {}
            for t in inner:
                here = spans.get(t)
                if here:
                    places[t] = Place(self._memory, *self._offsets[self._part[t]], here)
            for s in range(group.first, group.last + 1):
                wanted = spans.get(self._network.operators[s].output)
                if wanted:
                    self.make(s, wanted, places)


class _Rolling:
    """Runs a rolling group: before an operator makes rows, the rows that it reads are made."""

    def __init__(self, whole: InMemory, group: Group) -> None:
        assert group.stripes is not None
        self._whole, self._group = whole, group
        self._machine, network = whole._machine, whole._network
        self._axis: dict[int, int | None] = {group.last: group.stripes.axis}
        self._chunk = {group.last: group.stripes.extents[group.stripes.axis]}
        self._done: dict[int, int] = {}
        self._places: dict[BufferId, Place] = {}
        for each in group.inner:
            tensor = network.tensors[each.tensor].id
            self._axis[whole._maker[tensor]] = each.axis
            self._places[tensor] = Place(
                whole._memory, *whole._offsets[whole._part[tensor]], whole._demand[tensor], each.axis, each.rows or 0
            )
        self._highest: dict[BufferId, int] = {}

    def run(self) -> None:
        operator = self._whole._network.operators[self._group.last]
        axis = self._group.stripes.axis  # type: ignore[union-attr]
        self._make(self._group.last, self._whole._demand[operator.output][axis][1])

    def _make(self, s: int, target: int) -> None:
        """Make all rows before the target, some at a time."""
        operator = self._whole._network.operators[s]
        axis, demand = self._axis[s], list(self._whole._demand[operator.output])
        if axis is None:
            if s not in self._done:
                self._done[s] = 1
                self._run(s, demand)
            return
        done = self._done.get(s, demand[axis][0])
        while done < target:
            end = min(done + self._chunk.get(s, 1), target)
            demand[axis] = done, end
            self._run(s, demand)
            self._done[s] = done = end

    def _run(self, s: int, spans: Spans) -> None:
        for each, box in zip(self._whole._network.operators[s].inputs, self._machine.needs(s, spans), strict=True):
            maker = self._whole._maker.get(each)
            if box is not None and maker is not None and maker >= self._group.first:
                axis = self._axis[maker]
                self._make(maker, 0 if axis is None else box[axis][1])
        self._whole.make(s, spans, self._places)
