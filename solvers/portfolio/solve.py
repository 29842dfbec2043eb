"""From an instance to an outcome: chooses the way and the engines."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import ClassVar

from ..bounds.crowding import crowded
from ..bounds.one_pool import homeless
from ..geometry.spare_pools import spare_pools
from ..model.errors import SolverFailed, StopReason
from ..model.instance import Instance, Placement
from ..model.needs import is_joint
from ..model.outcome import Outcome
from ..model.registry import AUTO, SolverKind, is_of
from ..model.solver import Control, Feature, Input, Solver, Task
from .execute import execute, failed, willing
from .roster import engines_of_auto
from .separate import solve_separate_pools


class Auto(Solver):
    """All useful solvers, as one."""

    name: ClassVar[str] = AUTO
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        return solve(instance, task, control)


def solve(instance: Instance, task: Task, control: Control, solver: str = AUTO) -> Outcome:
    """The best placement that the solver (auto: all useful ones) finds within the limits, and what is proven about it."""
    if not instance.blocks:
        nothing = Placement.in_one_pool([])
        zeros = (0,) * len(instance.terms)
        return Outcome(StopReason.PROVED, nothing, zeros, zeros, (0,) * len(instance.pools))
    joint = is_joint(instance)
    chosen = None if solver == AUTO else willing(solver, instance)
    lost = homeless(instance) or crowded(instance, control.stopped)
    if lost is not None:
        return Outcome(StopReason.PROVED, pool_bounds=(0,) * len(instance.pools), certificates=(lost,), infeasible=True)
    if chosen is not None and chosen.wants is Input.AS_WRITTEN:
        return _solve_as_written(solver, instance, task, control)
    if chosen is not None:
        nothing_to_do = chosen.name == "greedy" or (is_of(SolverKind.BOUNDER, chosen.name) and not joint)
        engines: tuple[str, ...] = () if nothing_to_do else (chosen.name,)
    else:
        engines = engines_of_auto(instance)
    if not joint:
        return solve_separate_pools(instance, task, control, engines, chosen is not None)
    spare = spare_pools(instance) if chosen is None else {}
    if spare:
        from .joint.spared import solve_without  # most problems need none of what is imported inside functions here

        return solve_without(instance, spare, task, control, solve, _solve_joint)
    return _solve_joint(instance, task, control, engines, chosen is not None)


def _solve_joint(
    instance: Instance, task: Task, control: Control, engines: tuple[str, ...] | None = None, by_name: bool = False
) -> Outcome:
    """Solve a joint problem: part by part where the terms of parts add up, else as a whole. By default with the engines of `auto`."""
    from .joint.in_parts import solve_in_parts
    from .joint.joint import Joint
    from .joint.parts import parts_of

    begin = partial(Joint, engines=engines_of_auto(instance) if engines is None else engines, by_name=by_name)
    parts = [] if by_name and instance.has_choice else parts_of(instance)
    if parts:
        return solve_in_parts(instance, task, control, parts, begin, solve)
    return begin(instance, task, control).solve()


def _solve_as_written(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """Run a solver that wants the instance whole, in the user's order and units; add the cheap bounds, which show how good its placement is."""
    from ..bounds.first_bounds import first_bounds, peaks_at_least

    first = first_bounds(instance, control.stopped)
    pool_bounds = peaks_at_least(instance, first.pools)
    if first.shortage:
        return Outcome(StopReason.PROVED, pool_bounds=pool_bounds, certificates=first.shortage, infeasible=True)
    bound = max(task.bound, first.value)
    control.bound(bound)
    try:
        outcome = execute(name, instance, replace(task, bound=bound, pool_bounds=pool_bounds), control)
    except SolverFailed as error:
        outcome = failed(error)
    if outcome.infeasible:
        return outcome
    of_several = tuple(each for each in (first.of_several, first.priced) if each is not None and each.value)
    bound = max(bound, outcome.bound)
    is_met = outcome.value is not None and outcome.value <= bound
    return replace(
        outcome,
        stop=StopReason.PROVED if is_met else outcome.stop,
        bound=bound,
        pool_bounds=outcome.pool_bounds or pool_bounds,
        certificates=(*first.pools, *of_several, *outcome.certificates),
    )
