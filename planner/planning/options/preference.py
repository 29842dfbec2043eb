"""Presets of the objective, as compilers have -Os, -O2 and -O3: memory, speed, or stable addresses first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from solvers.model.instance import Term

from ...checks import require_sound
from ...facts.constants import spell_out_constants
from ...facts.costs import costs_of
from ...facts.intervals import merged
from ...model.problem import Buffer, Problem


class Preference(StrEnum):
    """Replaces the problem's objective."""

    SIZE = "size"
    """The smallest peaks; among those plans, the least access cost."""
    BALANCED = "balanced"
    """The least sum of access cost and peaks, with all bytes together worth as much as the whole possible gain in speed."""
    SPEED = "speed"
    """The least access cost; among those plans, the smallest peaks."""


class Stability(StrEnum):
    """What a plan gives up to keep buffers at their places in an older plan."""

    TIES = "ties"
    """Nothing: among the otherwise best plans, the one that moves the fewest bytes."""
    BALANCED = "balanced"
    """As much of the peaks as it saves in moves, both relative to their totals."""
    FIRST = "first"
    """Everything: the fewest moved bytes first, then the other goals."""


TERMS = {
    Preference.SIZE: (Term.SUM_OF_PEAKS, Term.ACCESS_COST),
    Preference.BALANCED: (Term.BALANCED,),
    Preference.SPEED: (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
}


def with_preference(problem: Problem, prefer: Preference | None) -> Problem:
    """Return the problem with the preset's objective. Raises BadInput for a problem that is wrong in itself."""
    if prefer is not None and problem.variants is None:
        require_sound(problem)
    return preferring(problem, prefer)


def preferring(problem: Problem, prefer: Preference | None) -> Problem:
    """Return the same for callers that then check what they get."""
    if prefer is None or problem.variants is not None:
        return problem  # the cost of alternatives is no term of the objective: see planner.planning.placing.variants.choosing
    if prefer is not Preference.BALANCED:
        return replace(problem, terms=TERMS[prefer])
    require_sound(problem)
    return replace(problem, terms=TERMS[prefer], peak_price=fair_price(problem))


def fair_price(problem: Problem) -> int:
    """Return a byte's price at which all bytes live at once are worth the difference between the slowest and the fastest plan.

    Rounded down, but at least 1. Bytes count at the dearest pool's cost; each buffer counts with the slowest and the fastest pool that it
    fits into on its own.
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
    """Return the largest sum of sizes needed at one time; without lifetimes, the largest size."""
    changes: dict[int, int] = {}
    most = 0
    for buffer in problem.buffers:
        most = max(most, buffer.size)
        for start, end in merged(buffer.live or ()):
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    live = 0
    for _, change in sorted(changes.items()):
        live += change
        most = max(most, live)
    return most
