"""Random graphs are planned, then run in the planned memory, where operators with an applied rule move no bytes.

Each bit carries its origin, and every read checks that it finds the bits that were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner import Options, PlanStatus, plan, verify
from planner.graph import Graph, GraphOptions, GraphProblem, Operator, OperatorKind, Tensor, TensorKind, graph_problem
from planner.graph.operators import OF_PROGRAMS
from planner.model.problem import BufferId, Pool
from tests.small.strategies import effort

K = OperatorKind
FLAT = tuple(kind for kind in K if kind not in OF_PROGRAMS)
Cell: TypeAlias = tuple[tuple[str, int], object]
"""A bit's place, and its content."""
SHAPES = ((2, 4), (1, 4), (4, 2), (3,), (8,), (1, 2, 4), (2, 1, 2))


class Builder:
    """A random graph under construction. Operators read tensors made before, except results of unfinished transfers."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw: Any = draw
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.pending: list[str] = []

    def tensor(self, shape: tuple[int, ...], bits: int, kind: TensorKind = TensorKind.INTERMEDIATE) -> str:
        name = f"t{len(self.tensors)}"
        alignment = self.draw(st.sampled_from((1, 1, 1, 2, 8)))
        self.tensors.append(Tensor(name, shape, bits, kind, self.draw(st.integers(0, 4)) == 0, alignment))
        return name

    def any(self) -> Tensor:
        ready = [tensor for tensor in self.tensors if tensor.id not in self.pending]
        tensor: Tensor = self.draw(st.sampled_from(ready))
        return tensor

    def step(self) -> None:
        kind = self.draw(st.sampled_from((*FLAT, K.IN_PLACE, K.CONCATENATE, K.CONCATENATE, K.VIEW, K.COMPUTE)))
        source = self.any()
        shape, rank = source.shape, len(source.shape)
        dim = self.draw(st.integers(0, rank - 1)) if rank else 0
        inputs: list[BufferId] = [source.id]
        start, step = 0, 1
        if kind is K.COMPUTE:
            inputs.append(self.any().id)
            mutable = [t.id for t in self.tensors if t.kind is TensorKind.MUTABLE]
            if mutable and self.draw(st.booleans()):
                written = self.draw(st.sampled_from(mutable))
                self.operators.append(Operator(kind, tuple(inputs), (written,)))
                return
            shape = self.draw(st.sampled_from(SHAPES))
        elif kind is K.VIEW:
            shape = self.draw(st.sampled_from([(int(np.prod(shape)),), (1, *shape), shape]))
        elif kind is K.SLICE:
            if not rank:
                return
            start = self.draw(st.integers(0, shape[dim]))
            step = self.draw(st.sampled_from((1, 1, 2)))
            length = self.draw(st.integers(0, len(range(start, shape[dim], step))))
            shape = (*shape[:dim], length, *shape[dim + 1 :])
        elif kind is K.SELECT:
            if not rank or not shape[dim]:
                return
            start = self.draw(st.integers(-shape[dim], shape[dim] - 1))
            shape = (*shape[:dim], *shape[dim + 1 :])
        elif kind is K.CONCATENATE:
            if not rank:
                return
            alike = [
                t
                for t in self.tensors
                if t.id not in self.pending
                and t.element_bits == source.element_bits
                and len(t.shape) == rank
                and all(a == b for i, (a, b) in enumerate(zip(t.shape, shape, strict=True)) if i != dim)
            ]
            parts = [source, *self.draw(st.lists(st.sampled_from(alike), max_size=2))]
            inputs = [part.id for part in parts]
            shape = (*shape[:dim], sum(part.shape[dim] for part in parts), *shape[dim + 1 :])
        elif kind is K.IN_PLACE:
            # A tensor that lies inside the source, if there is one, is the most difficult operand.
            parts = [id_ for op in self.operators if op.inputs[:1] == (source.id,) for id_ in op.outputs]
            ready = [id_ for id_ in parts or [t.id for t in self.tensors] if id_ not in self.pending]
            inputs += self.draw(st.lists(st.sampled_from(ready), max_size=1)) if ready else []
        elif kind is K.IDMA_WAIT:
            if not self.pending:
                return
            inputs = [self.pending.pop()]
            source = next(t for t in self.tensors if t.id == inputs[0])
            shape = source.shape
        result = self.tensor(shape, source.element_bits)
        if kind in (K.IDMA_LOAD, K.IDMA_STORE):
            self.pending.append(result)
        self.operators.append(Operator(kind, tuple(inputs), (result,), dim, start, step))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph of up to nine operators of any kind."""
    builder = Builder(draw)
    for kind in (
        TensorKind.INPUT,
        *draw(st.lists(st.sampled_from(TensorKind).filter(lambda k: k is not TensorKind.INTERMEDIATE), max_size=3)),
    ):
        builder.tensor(draw(st.sampled_from(SHAPES)), draw(st.sampled_from((64, 32, 8, 4))), kind)
    for _ in range(draw(st.integers(1, 9))):
        builder.step()
    return Graph(tuple(builder.tensors), tuple(builder.operators))


class Machine:
    """Runs a graph in the memory of its plan, and compares what is read with each tensor's right value.

    A tensor that the plan does not place has a place of its own.
    """

    def __init__(self, graph: Graph, found: GraphProblem, offsets: dict[BufferId, tuple[str, int]]) -> None:
        self.graph = graph
        self.tensor = {t.id: t for t in graph.tensors}
        self.applied = {applied.operator: applied for applied in found.applied}
        self.home: dict[BufferId, tuple[str, int]] = {id_: (f"outside {id_}", 0) for id_ in found.outside}
        self.home.update({id_: (pool, offset * 8) for id_, (pool, offset) in offsets.items()})
        self.bits: dict[tuple[str, int], object] = {}
        self.value: dict[BufferId, np.ndarray] = {}
        self.tokens = iter(range(10**9))
        self.begun: dict[BufferId, BufferId] = {}

    def cells(self, id_: BufferId) -> Iterator[Cell]:
        """Yield the place and the right content of each bit of a tensor."""
        space, at = self.home[id_]
        width = self.tensor[id_].element_bits
        for i, token in enumerate(self.value[id_].ravel().tolist()):
            for bit in range(width):
                yield (space, at + i * width + bit), (token, bit)

    def write(self, id_: BufferId) -> None:
        self.bits.update(self.cells(id_))

    def check(self, id_: BufferId) -> None:
        assert all(self.bits.get(place) == content for place, content in self.cells(id_)), f"{id_} is not what it was"

    def fresh(self, id_: BufferId) -> None:
        count = int(np.prod(self.tensor[id_].shape))
        self.value[id_] = np.array([next(self.tokens) for _ in range(count)], dtype=np.int64).reshape(
            self.tensor[id_].shape
        )

    def result(self, operator: Operator) -> np.ndarray:
        """Return the result of an operator that moves its inputs but computes nothing."""
        values = [self.value[id_] for id_ in operator.inputs]
        index: list[slice | int] = [slice(None)] * values[0].ndim
        shape = self.tensor[operator.outputs[0]].shape
        if operator.kind is K.CONCATENATE:
            return np.concatenate(values, axis=operator.dim)
        if operator.kind is K.SELECT:
            index[operator.dim] = operator.start
        elif operator.kind is K.SLICE:
            length = shape[operator.dim]
            index[operator.dim] = slice(operator.start, operator.start + length * operator.step, operator.step)
        return values[0][tuple(index)].reshape(shape)

    def run(self) -> None:
        for tensor in self.graph.tensors:
            if tensor.kind is not TensorKind.INTERMEDIATE:
                self.fresh(tensor.id)
                self.write(tensor.id)
        for step, operator in enumerate(self.graph.operators):
            if operator.kind is not K.IDMA_WAIT:
                for id_ in operator.inputs:
                    self.check(id_)
            for id_ in operator.outputs:
                self.one(step, operator, id_)
        for tensor in self.graph.tensors:
            if tensor.is_output or tensor.kind is TensorKind.MUTABLE:
                if tensor.id in self.begun:
                    self.finish(tensor.id)
                self.check(tensor.id)
        for id_ in list(self.begun):
            self.finish(id_)

    def one(self, step: int, operator: Operator, id_: BufferId) -> None:
        if operator.kind is K.COMPUTE:
            self.fresh(id_)
            self.write(id_)
        elif operator.kind is K.IN_PLACE:
            before = {name: list(self.cells(name)) for name in operator.inputs}
            self.fresh(id_)
            self.over(list(self.cells(id_)), before, self.tensor[id_])
        elif operator.kind in (K.IDMA_LOAD, K.IDMA_STORE):
            self.fresh(id_)
            self.write(id_)  # the bytes may change until the transfer ends
            self.begun[id_] = operator.inputs[0]
        else:
            if operator.kind is K.IDMA_WAIT:
                self.finish(operator.inputs[0])
            self.value[id_] = self.result(operator)
            if step not in self.applied:
                self.write(id_)
            elif id_ in self.home and self.home[id_][0].startswith("outside"):
                self.home[id_] = self.home[operator.inputs[0]]

    def over(self, after: list[Cell], before: dict[BufferId, list[Cell]], result: Tensor) -> None:
        """Write the result element by element.

        Before each element, operands of the result's size are read at that element, and others as a whole.
        """
        width = result.element_bits
        for at in range(0, len(after), width):
            for cells in before.values():
                read = cells[at : at + width] if len(cells) == len(after) else cells
                assert all(self.bits.get(place) == content for place, content in read), "overwritten before it was read"
            self.bits.update(after[at : at + width])

    def finish(self, id_: BufferId) -> None:
        """End a transfer. It reads its source only now, which is as late as it may."""
        source = self.begun.pop(id_)
        self.check(source)
        self.value[id_] = self.value[source].reshape(self.tensor[id_].shape)
        self.write(id_)


@effort(15, 20000)
@given(
    graphs(),
    st.booleans(),
    st.booleans(),
    st.sampled_from((2, 2, 2, 0)),
    st.sampled_from((1, 4, 8)),
    st.sampled_from((1, 3, 16)),
)
def test_planned_graphs_compute_what_they_should(
    graph: Graph, plan_inputs: bool, plan_outputs: bool, level: int, multiple: int, alignment: int
) -> None:
    pools = (Pool("fast", None, alignment), Pool("slow", None, rank=1))
    options = GraphOptions(plan_inputs, plan_outputs, opt_level=level, offset_multiple=multiple)
    found = graph_problem(graph, pools, options)
    made = plan(found.problem, Options(solver="greedy", workers=1))
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
    assert verify(found.problem, made) == ()
    Machine(graph, found, {place.id: (place.pool, place.offset) for place in made.placements}).run()
    for place in made.placements:
        if place.pool == "fast" and place.id not in {tie.buffer for tie in found.problem.constraints.colocations}:
            assert place.offset % alignment == 0
