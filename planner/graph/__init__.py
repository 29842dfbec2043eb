"""Tensor graphs and whole programs as data: from tensors and operators to a Problem, with tensors placed inside others if possible.

graph = Graph((Tensor("x", (4, 6), 32), Tensor("v", (24,), 32)), (Operator(OperatorKind.VIEW, ("x",), ("v",)),))
made = graph_problem(graph, (Pool("sram", 4096),))
"""

from __future__ import annotations

from .checks.soundness import require_sound_graph, require_sound_program
from .nested import NestedAnswer, NestedArena, NestedPlan, nested_plan
from .operators import Graph, Operator, OperatorKind, Tensor, TensorKind, Workspace
from .outcomes import Applied, GraphProblem, Reason, Refused
from .problem import GraphOptions, graph_problem, program_problem
from .program import Function, Program
from .verify import verify_nested

__all__ = [
    "Applied",
    "Function",
    "Graph",
    "GraphOptions",
    "GraphProblem",
    "NestedAnswer",
    "NestedArena",
    "NestedPlan",
    "Operator",
    "OperatorKind",
    "Program",
    "Reason",
    "Refused",
    "Tensor",
    "TensorKind",
    "Workspace",
    "graph_problem",
    "nested_plan",
    "program_problem",
    "require_sound_graph",
    "require_sound_program",
    "verify_nested",
]
