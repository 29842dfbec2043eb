"""Tensor graphs as data: from tensors and operators to a Problem, with everything placed inside something else that can be.

graph = Graph((Tensor("x", (4, 6), 32), Tensor("v", (24,), 32)), (Operator(OperatorKind.VIEW, ("x",), ("v",)),))
made = graph_problem(graph, (Pool("sram", 4096),))
"""

from __future__ import annotations

from .check import require_sound_graph
from .lifetimes import lifetimes
from .operators import Graph, Operator, OperatorKind, Tensor, TensorKind
from .outcomes import Applied, GraphProblem, Reason, Refused
from .problem import GraphOptions, graph_problem

__all__ = [
    "Applied",
    "Graph",
    "GraphOptions",
    "GraphProblem",
    "Operator",
    "OperatorKind",
    "Reason",
    "Refused",
    "Tensor",
    "TensorKind",
    "graph_problem",
    "lifetimes",
    "require_sound_graph",
]
