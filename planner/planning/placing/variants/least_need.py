"""Says what is missing if no choice of alternatives fits: the least memory that any needs, the least cost, or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from ....model.errors import echo
from ....model.plan import Choice, Plan, PlanStatus, Shortage
from ....model.problem import Problem
from ....verifying.arguments.shortage import in_bytes
from ...options.options import Options
from ...options.preference import Preference

Solve: TypeAlias = Callable[[Problem, Options], Plan | None]
"""Returns the plan of another problem with variants, within a part of the limits; None: there is no time."""
NAMED = 4
"""The number of groups that a message names."""


def need_of_all(problem: Problem, options: Options, solve: Solve) -> tuple[Shortage, int]:
    """Return why no choice fits, and a bound of the peak of every choice (0: none is known)."""
    if any(pool.size is not None for pool in problem.pools):
        free = replace(problem, pools=tuple(replace(pool, size=None) for pool in problem.pools))
        least = solve(free, replace(options, prefer=None))
        return _of_memory(problem, options, least)
    if options.max_cost is None:
        return Shortage("no choice of alternatives can be placed, however large the memories are"), 0
    text = f"no choice of alternatives has a cost of {options.max_cost} or less"
    cheapest = solve(problem, replace(options, prefer=Preference.SPEED, max_cost=None))
    if cheapest is None or cheapest.choice is None or cheapest.choice.cost_bound is None:
        return (cheapest and cheapest.shortage) or Shortage(text), 0
    cost = cheapest.choice.cost_bound
    known = f"{cost} ({_named(cheapest.choice)})" if cost == cheapest.choice.cost else f"at least {cost}"
    return Shortage(f"{text}: the cheapest costs {known}"), 0


def _of_memory(problem: Problem, options: Options, least: Plan | None) -> tuple[Shortage, int]:
    cost = "" if options.max_cost is None else f" and a cost of {options.max_cost}"
    text = f"no choice of alternatives fits into the capacities{cost}"
    if least is not None and least.status is PlanStatus.INFEASIBLE and least.shortage is not None:
        return least.shortage, 0
    if least is None or least.choice is None or least.peak is None:
        return Shortage(text), 0
    choice = _named(least.choice)
    if len(problem.pools) > 1:
        taken = _taken(problem, least)
        return Shortage(f"{text}; one of them ({choice}) would take {taken}; others may need less"), least.bound
    pool, need = problem.pools[0], least.pools[0].bound
    assert pool.size is not None
    if need <= pool.size:
        return Shortage(f"{text}; {in_bytes(least.peak)} are enough for {choice}"), need
    known = (
        f"the least that any needs is {in_bytes(need)} ({choice})"
        if need == least.peak
        else f"every choice needs at least {in_bytes(need)} ({in_bytes(least.peak)} are enough for {choice})"
    )
    of_cost = "" if options.max_cost is None else f" with a cost of {options.max_cost} or less"
    short = need - pool.size
    room = f"pool {echo(pool.name)} is {in_bytes(short)} too small for every choice of alternatives{of_cost}"
    return Shortage(f"{room}: it has {in_bytes(pool.size)}, and {known}", pool.name, short), need


def _taken(problem: Problem, least: Plan) -> str:
    """Return what the plan takes of the pools that are too small for it."""
    peaks = {use.name: use.peak or 0 for use in least.pools}
    small = [pool for pool in problem.pools if pool.size is not None and peaks[pool.name] > pool.size]
    return ", ".join(f"{in_bytes(peaks[pool.name])} of pool {echo(pool.name)}, which has {pool.size}" for pool in small)


def _named(choice: Choice) -> str:
    named = ", ".join(f"{echo(group)}: {echo(name)}" for group, name in choice.alternatives[:NAMED])
    more = len(choice.alternatives) - NAMED
    return named + (f" and {more} more" if more > 0 else "")
