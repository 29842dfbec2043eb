"""The graphs in ExecuTorch's published tests of Cadence memory planning: 32-bit elements, operators in order."""

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
    """Return the operator that computes the last tensor from the others."""
    return Operator(OperatorKind.COMPUTE, names[:-1], names[-1:])


def joined(*names: str, dim: int = 0) -> Operator:
    """Return the operator that concatenates the other tensors into the last."""
    return Operator(OperatorKind.CONCATENATE, names[:-1], names[-1:], dim)


def problem_of(tensors: tuple[Tensor, ...], *operators: Operator, **options: object) -> GraphProblem:
    return graph_problem(Graph(tensors, operators), POOLS, GraphOptions(**options))  # type: ignore[arg-type]


def places(found: GraphProblem) -> dict[BufferId, tuple[BufferId, int]]:
    """Return for each tensor that lies inside another: the other tensor, and the offset in it."""
    return {tie.buffer: (tie.base, tie.offset) for tie in found.problem.constraints.colocations}


def reasons(found: GraphProblem) -> list[tuple[int, Reason]]:
    return [(refused.operator, refused.reason) for refused in found.refused]
