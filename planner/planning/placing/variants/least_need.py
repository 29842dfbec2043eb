"""Says what is missing if no choice of alternatives fits: the least memory that any needs, the least cost, or neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from ....model.errors import echo
from ....model.plan import Choice, Plan, PlanStatus, Shortage
from ....model.problem import Problem
from ....verifying.arguments.no_choice import say
from ....verifying.arguments.shortage import in_bytes
from ...options.options import Options, Preference

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
        return Shortage(say("no place")), 0
    cheapest = solve(problem, replace(options, prefer=Preference.SPEED, max_cost=None))
    if cheapest is None or cheapest.choice is None or cheapest.choice.cost_bound is None:
        return (cheapest and cheapest.shortage) or Shortage(say("too dear", most=options.max_cost)), 0
    cost = cheapest.choice.cost_bound
    name = "too dear, cheapest" if cost == cheapest.choice.cost else "too dear, bound"
    return Shortage(say(name, most=options.max_cost, cost=cost, choice=_named(cheapest.choice))), 0


def _of_memory(problem: Problem, options: Options, least: Plan | None) -> tuple[Shortage, int]:
    no_room = "no room" if options.max_cost is None else "no room within"
    if least is not None and least.status is PlanStatus.INFEASIBLE and least.shortage is not None:
        return least.shortage, 0
    if least is None or least.choice is None or least.peak is None:
        return Shortage(say(no_room, most=options.max_cost)), 0
    words = {"most": options.max_cost, "choice": _named(least.choice), "enough": in_bytes(least.peak)}
    if len(problem.pools) > 1:
        return Shortage(say(f"{no_room}, taken", taken=_taken(problem, least), **words)), least.bound
    pool, need = problem.pools[0], least.pools[0].bound
    assert pool.size is not None
    if need <= pool.size:
        return Shortage(say(f"{no_room}, enough", **words)), need
    short, name = need - pool.size, f"{no_room}, {'least' if need == least.peak else 'bound'}"
    sizes = {"short": in_bytes(short), "size": in_bytes(pool.size), "need": in_bytes(need)}
    return Shortage(say(name, pool=echo(pool.name), **sizes, **words), pool.name, short), need


def _taken(problem: Problem, least: Plan) -> str:
    """Return what the plan takes of the pools that are too small for it."""
    peaks = {use.name: use.peak or 0 for use in least.pools}
    small = [pool for pool in problem.pools if pool.size is not None and peaks[pool.name] > pool.size]
    return ", ".join(f"{in_bytes(peaks[pool.name])} of pool {echo(pool.name)}, which has {pool.size}" for pool in small)


def _named(choice: Choice) -> str:
    named = ", ".join(f"{echo(group)}: {echo(name)}" for group, name in choice.alternatives[:NAMED])
    more = len(choice.alternatives) - NAMED
    return named + (f" and {more} more" if more > 0 else "")
