"""What matters more, memory, speed, or that buffers stay where they were: presets of the objective, as compilers have -Os, -O2 and -O3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from solvers.model.instance import Term

from ...checks import require_sound
from ...facts.constants import spell_out_constants
from ...facts.costs import costs_of
from ...model.problem import Buffer, Problem


class Preference(StrEnum):
    """Replaces the problem's objective."""

    SIZE = "size"
    """The smallest peaks; of those plans, the one with the least cost of access."""
    BALANCED = "balanced"
    """The least sum of access cost and peaks, where all the bytes are worth as much as all the speed there is to gain."""
    SPEED = "speed"
    """The least cost of access; of those plans, the one with the smallest peaks."""


class Stability(StrEnum):
    """What a plan gives up so that buffers stay where an older plan had them."""

    TIES = "ties"
    """Nothing: of the plans that are best otherwise, the one that moves the fewest bytes."""
    BALANCED = "balanced"
    """As much of the peaks as it saves of the moves, each as a part of all there is."""
    FIRST = "first"
    """Everything: it moves the fewest bytes, and only then is it the best."""


TERMS = {
    Preference.SIZE: (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    Preference.BALANCED: (Term.BALANCED,),
    Preference.SPEED: (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
}


def with_preference(problem: Problem, prefer: Preference | None) -> Problem:
    """The problem with the objective that the preset stands for. Raises BadInput for a problem that is wrong in itself."""
    if prefer is None:
        return problem
    require_sound(problem)
    if problem.variants is not None:
        return problem  # what alternatives cost is no term of the objective: see planner.planning.placing.variants.choosing
    if prefer is Preference.BALANCED:
        return replace(problem, terms=TERMS[prefer], peak_price=fair_price(problem))
    return replace(problem, terms=TERMS[prefer])


def fair_price(problem: Problem) -> int:
    """What a byte is worth if all bytes that are live at once are worth the difference between the slowest and the fastest plan.

    Rounded down, but 1 at least. Bytes count with the cost of the dearest pool; every buffer counts with its slowest and its fastest pool
    of those it fits into, whatever the others do.
    """
    problem = spell_out_constants(problem)
    gain = 0
    for number, costs in costs_of(problem):
        fitting = [costs[pool] for pool in _homes(problem, problem.buffers[number])]
        gain += max(fitting, default=0) - min(fitting, default=0)
    dearest = max(pool.cost for pool in problem.pools)
    return max(gain // max(most_live(problem) * dearest, 1), 1)


def _homes(problem: Problem, buffer: Buffer) -> Iterator[int]:
    for number, pool in enumerate(problem.pools):
        allowed = buffer.pools is None or pool.name in buffer.pools
        decided = buffer.fixed is None or buffer.fixed.pool == pool.name
        if allowed and decided and (pool.size is None or buffer.size <= pool.size):
            yield number


def most_live(problem: Problem) -> int:
    """The largest sum of sizes that are needed at one time; of a problem without lifetimes the largest size."""
    changes: dict[int, int] = {}
    most = 0
    for buffer in problem.buffers:
        most = max(most, buffer.size)
        for start, end in buffer.live or ():
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    live = 0
    for _, change in sorted(changes.items()):
        live += change
        most = max(most, live)
    return most
