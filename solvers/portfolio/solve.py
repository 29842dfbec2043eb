"""From an instance to an outcome: which solvers run on which piece, and in which order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..bounds.crowding import crowded
from ..bounds.one_pool import homeless
from ..kernels import Kind as Kernels
from ..kernels import active
from ..model.errors import StopReason, Unavailable, UnknownSolver, Unsupported
from ..model.instance import Instance, Placement
from ..model.needs import is_joint, needs, refusal
from ..model.outcome import Outcome
from ..model.registry import AUTO, Kind, get, is_of, names
from ..model.solver import Control, Feature, Input, Solver, Task
from .separate_pools import solve_strips

STRIP_ENGINES = {Kernels.NATIVE: ("improve", "search", "beam", "cpsat"), Kernels.REFERENCE: ("cpsat", "search")}
"""What auto runs on components that greedy leaves open, the first one first. Without native kernels CP-SAT is the fastest."""
JOINT_ENGINES = ("room_prices", "pool_sharing", "assign", "cpsat")


class Auto(Solver):
    """All solvers that are of use, as one."""

    name: ClassVar[str] = AUTO
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        return solve(instance, task, control)


def solve(instance: Instance, task: Task, control: Control, solver: str = AUTO) -> Outcome:
    """The best placement that the solver (auto: all that are of use) finds within the limits, and what is proven of it."""
    if not instance.blocks:
        nothing = Placement(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        zeros = (0,) * len(instance.terms)
        return Outcome(StopReason.PROVED, nothing, zeros, zeros, (0,) * len(instance.pools))
    joint = is_joint(instance)
    if is_of(Kind.BOUNDER, solver):
        raise UnknownSolver(solver, names())
    chosen = None if solver == AUTO else _willing(get(solver), instance, joint)
    lost = homeless(instance) or crowded(instance, control.stopped)
    if lost is not None:
        return Outcome(StopReason.PROVED, pool_bounds=(0,) * len(instance.pools), certificates=(lost,), infeasible=True)
    if chosen is not None and chosen.wants is Input.RAW:
        from .as_written import solve_raw  # what most problems do without, like all that is imported below

        return solve_raw(solver, instance, task, control)
    engines: tuple[str, ...] = JOINT_ENGINES if joint else STRIP_ENGINES[active().kind]
    if chosen is not None:
        engines = () if chosen.name == "greedy" else (chosen.name,)
    if not joint:
        return solve_strips(instance, task, control, engines, chosen is not None)
    from .joint import solve_joint
    from .split import pieces_of, solve_split

    pieces = pieces_of(instance)
    if len(pieces) > 1:
        return solve_split(instance, task, control, engines, chosen is not None, pieces)
    return solve_joint(instance, task, control, engines, chosen is not None)


def _willing(solver: Solver, instance: Instance, joint: bool) -> Solver:
    """The solver, if it is there and takes what the instance has."""
    reason = solver.unavailable()
    if reason is not None:
        raise Unavailable(solver.name, reason)
    missing = needs(instance, joint) - solver.features
    if missing:
        raise Unsupported(solver.name, refusal(missing))
    return solver
