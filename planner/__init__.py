"""memplan's library: read or build a Problem, plan it, verify and explain the Plan.

from planner import Buffer, Pool, Problem, plan

answer = plan(Problem(buffers=(Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((1, 3),)))))
"""

from __future__ import annotations

from solvers.errors import StopReason
from solvers.instance import Term
from solvers.solver import Goal, Warm

from .capacity import with_capacity
from .errors import BadInput, CannotSolve, Code, Finding, NoPlan, PlannerError
from .export_model import export_model
from .formats import read_graph, read_plan, read_problem, write_plan, write_problem
from .options import Options
from .plan import Plan, PlanStatus
from .plan_memory import BufferInfo, TensorPlacement, plan_memory
from .planning import plan
from .problem import (
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    Lifetimes,
    Pool,
    Problem,
    ReusePenalty,
)
from .report import MemoryReport, memory_report
from .solver_list import SolverInfo, solver_list
from .verify import verify
from .watching import Progress

__all__ = [
    "BadInput",
    "Buffer",
    "BufferInfo",
    "CannotSolve",
    "Code",
    "Colocation",
    "Constraints",
    "Finding",
    "Fixed",
    "Goal",
    "Lifetimes",
    "MemoryReport",
    "NoPlan",
    "Options",
    "Plan",
    "PlanStatus",
    "PlannerError",
    "Pool",
    "Problem",
    "Progress",
    "ReusePenalty",
    "SolverInfo",
    "StopReason",
    "TensorPlacement",
    "Term",
    "Warm",
    "export_model",
    "memory_report",
    "plan",
    "plan_memory",
    "read_graph",
    "read_plan",
    "read_problem",
    "solver_list",
    "verify",
    "with_capacity",
    "write_plan",
    "write_problem",
]
