"""The graphs of the published tests of ExecuTorch's Cadence memory planning, as data: 32-bit elements, operators in order."""

from __future__ import annotations

from planner.graph import (
    Graph,
    GraphOptions,
    GraphProblem,
    Operator,
    OperatorKind,
    Reason,
    Tensor,
    TensorKind,
    graph_problem,
)
from planner.model.problem import BufferId, Pool

POOLS = (Pool("dram0", 1 << 16, 16), Pool("dram1", 1 << 20, 16))


def given(id_: str, *shape: int) -> Tensor:
    return Tensor(id_, shape, 32, TensorKind.INPUT)


def made(id_: str, *shape: int) -> Tensor:
    return Tensor(id_, shape, 32)


def back(id_: str, *shape: int) -> Tensor:
    return Tensor(id_, shape, 32, is_output=True)


def compute(*names: str) -> Operator:
    """The last one from the others."""
    return Operator(OperatorKind.COMPUTE, names[:-1], names[-1:])


def joined(*names: str, dim: int = 0) -> Operator:
    """The last one is the concatenation of the others."""
    return Operator(OperatorKind.CONCATENATE, names[:-1], names[-1:], dim)


def problem_of(tensors: tuple[Tensor, ...], *operators: Operator, **options: object) -> GraphProblem:
    return graph_problem(Graph(tensors, operators), POOLS, GraphOptions(**options))  # type: ignore[arg-type]


def places(found: GraphProblem) -> dict[BufferId, tuple[BufferId, int]]:
    """Each tensor that lies inside another: the other, and the offset there."""
    return {tie.buffer: (tie.base, tie.offset) for tie in found.problem.constraints.colocations}


def reasons(found: GraphProblem) -> list[tuple[int, Reason]]:
    return [(refused.operator, refused.reason) for refused in found.refused]
