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

from .formats import (
    read_cascade,
    read_graph,
    read_model,
    read_plan,
    read_problem,
    read_program,
    read_shaped,
    read_sharing,
    write_plan,
    write_problem,
    write_program,
    write_shaped,
    write_sharing,
    write_usmp,
)
from .model.deadline import OutOfTime, time_limit
from .model.errors import BadInput, CannotSolve, Code, Finding, NoPlan, PlannerError
from .model.plan import Frontier, Plan, PlanStatus
from .model.problem import (
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
from .planning.options.capacity import with_capacity
from .planning.options.options import Options, Preference, Stability
from .planning.options.preference import with_preference
from .planning.options.stability import with_stability
from .planning.placing.solving import pareto, plan
from .planning.placing.watching import Progress
from .verifying.verify import verify

if TYPE_CHECKING:
    from .planning.interfaces.arrays import ArrayPlan, plan_arrays
    from .planning.interfaces.model_export import export_model
    from .planning.interfaces.own_plan import own_plan
    from .planning.interfaces.session import Session
    from .planning.interfaces.tvm_interface import BufferInfo, TensorPlacement, plan_memory
    from .planning.options.solver_list import SolverInfo, end_solver_processes, solver_list
    from .planning.shapes import ShapedProblem, ShapesPlan, plan_shapes, verify_shapes
    from .planning.sharing import Sharing, share, verify_sharing
    from .planning.sweeping import Sweep, SweepPoint, capacity_range, sweep, verify_sweep
    from .reporting.report import MemoryReport, memory_report
    from .verifying.frontier import verify_frontier
    from .verifying.proofs.check import BadProof, Proven, check_proof
    from .verifying.proving.prove import NoProof, PlanProof, prove

__all__ = [
    "Alternative",
    "ArrayPlan",
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
    "OutOfTime",
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
    "Stability",
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
    "own_plan",
    "pareto",
    "plan",
    "plan_arrays",
    "plan_memory",
    "plan_shapes",
    "prove",
    "read_cascade",
    "read_graph",
    "read_model",
    "read_plan",
    "read_problem",
    "read_program",
    "read_shaped",
    "read_sharing",
    "share",
    "solver_list",
    "sweep",
    "time_limit",
    "verify",
    "verify_frontier",
    "verify_shapes",
    "verify_sharing",
    "verify_sweep",
    "with_capacity",
    "with_preference",
    "with_stability",
    "write_plan",
    "write_problem",
    "write_program",
    "write_shaped",
    "write_sharing",
    "write_usmp",
]

_LATER = {
    "ArrayPlan": "planning.interfaces.arrays",
    "BadProof": "verifying.proofs.check",
    "BufferInfo": "planning.interfaces.tvm_interface",
    "MemoryReport": "reporting.report",
    "NoProof": "verifying.proving.prove",
    "PlanProof": "verifying.proving.prove",
    "Proven": "verifying.proofs.check",
    "check_proof": "verifying.proofs.check",
    "prove": "verifying.proving.prove",
    "memory_report": "reporting.report",
    "Session": "planning.interfaces.session",
    "Sharing": "planning.sharing",
    "Sweep": "planning.sweeping",
    "SweepPoint": "planning.sweeping",
    "capacity_range": "planning.sweeping",
    "sweep": "planning.sweeping",
    "verify_sweep": "planning.sweeping",
    "SolverInfo": "planning.options.solver_list",
    "TensorPlacement": "planning.interfaces.tvm_interface",
    "end_solver_processes": "planning.options.solver_list",
    "export_model": "planning.interfaces.model_export",
    "own_plan": "planning.interfaces.own_plan",
    "plan_arrays": "planning.interfaces.arrays",
    "plan_memory": "planning.interfaces.tvm_interface",
    "ShapedProblem": "planning.shapes",
    "ShapesPlan": "planning.shapes",
    "plan_shapes": "planning.shapes",
    "verify_frontier": "verifying.frontier",
    "verify_shapes": "planning.shapes",
    "share": "planning.sharing",
    "solver_list": "planning.options.solver_list",
    "verify_sharing": "planning.sharing",
}
"""Loaded on first use: the command that makes a small plan starts faster without them."""


def __getattr__(name: str) -> Any:
    """Load a name of _LATER."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATER[name]}", __name__), name)
