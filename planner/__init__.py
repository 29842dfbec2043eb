"""memplan's library: read or build a Problem, plan it, verify and explain the Plan.

from memplan import Buffer, Pool, Problem, plan

answer = plan(Problem(buffers=(Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((1, 3),)))))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.solver import Goal, Warm

from .errors import BadInput, CannotSolve, Code, Finding, NoPlan, PlannerError
from .formats import (
    read_graph,
    read_plan,
    read_problem,
    read_program,
    read_shaped,
    read_sharing,
    write_plan,
    write_problem,
    write_shaped,
    write_sharing,
    write_usmp,
)
from .options.capacity import with_capacity
from .options.options import Options
from .options.preference import Preference, with_preference
from .placing.planning import pareto, plan
from .placing.watching import Progress
from .plan import Frontier, Plan, PlanStatus
from .problem import (
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    CostTerm,
    Fixed,
    Lifetimes,
    MoreLife,
    Pool,
    Problem,
    ReusePenalty,
    Speed,
    VariantGroup,
    Variants,
)
from .verifying.verify import verify

if TYPE_CHECKING:
    from .options.solver_list import SolverInfo, end_solver_processes, solver_list
    from .placing.model_export import export_model
    from .placing.session import Session
    from .placing.tvm_interface import BufferInfo, TensorPlacement, plan_memory
    from .proving.prove import NoProof, PlanProof, prove
    from .reporting.report import MemoryReport, memory_report
    from .shapes import ShapedProblem, ShapesPlan, plan_shapes, verify_shapes
    from .sharing import Sharing, share, verify_sharing
    from .sweeping import Sweep, SweepPoint, capacity_range, sweep, verify_sweep
    from .verifying.proofs.replay import BadProof, Proven, check_proof

__all__ = [
    "Alternative",
    "BadInput",
    "BadProof",
    "Buffer",
    "BufferInfo",
    "CannotSolve",
    "Code",
    "Colocation",
    "Constraints",
    "CostTerm",
    "Finding",
    "Fixed",
    "Frontier",
    "Goal",
    "Lifetimes",
    "MemoryReport",
    "MoreLife",
    "NoPlan",
    "NoProof",
    "Options",
    "Plan",
    "PlanProof",
    "PlanStatus",
    "PlannerError",
    "Pool",
    "Preference",
    "Problem",
    "Progress",
    "Proven",
    "ReusePenalty",
    "Session",
    "ShapedProblem",
    "ShapesPlan",
    "Sharing",
    "SolverInfo",
    "Speed",
    "StopReason",
    "Sweep",
    "SweepPoint",
    "TensorPlacement",
    "Term",
    "VariantGroup",
    "Variants",
    "Warm",
    "capacity_range",
    "check_proof",
    "end_solver_processes",
    "export_model",
    "memory_report",
    "pareto",
    "plan",
    "plan_memory",
    "plan_shapes",
    "prove",
    "read_graph",
    "read_plan",
    "read_problem",
    "read_program",
    "read_shaped",
    "read_sharing",
    "share",
    "solver_list",
    "sweep",
    "verify",
    "verify_shapes",
    "verify_sharing",
    "verify_sweep",
    "with_capacity",
    "with_preference",
    "write_plan",
    "write_problem",
    "write_shaped",
    "write_sharing",
    "write_usmp",
]

_LATER = {
    "BadProof": "verifying.proofs.replay",
    "BufferInfo": "placing.tvm_interface",
    "MemoryReport": "reporting.report",
    "NoProof": "proving.prove",
    "PlanProof": "proving.prove",
    "Proven": "verifying.proofs.replay",
    "check_proof": "verifying.proofs.replay",
    "prove": "proving.prove",
    "memory_report": "reporting.report",
    "Session": "placing.session",
    "Sharing": "sharing",
    "Sweep": "sweeping",
    "SweepPoint": "sweeping",
    "capacity_range": "sweeping",
    "sweep": "sweeping",
    "verify_sweep": "sweeping",
    "SolverInfo": "options.solver_list",
    "TensorPlacement": "placing.tvm_interface",
    "end_solver_processes": "options.solver_list",
    "export_model": "placing.model_export",
    "plan_memory": "placing.tvm_interface",
    "ShapedProblem": "shapes",
    "ShapesPlan": "shapes",
    "plan_shapes": "shapes",
    "verify_shapes": "shapes",
    "share": "sharing",
    "solver_list": "options.solver_list",
    "verify_sharing": "sharing",
}
"""Loaded when they are first asked for: the command that makes a small plan starts sooner without them."""


def __getattr__(name: str) -> Any:
    """What is loaded later."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)
