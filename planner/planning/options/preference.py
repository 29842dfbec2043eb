"""The option `prefer`: presets of the objective, as compilers have -Os, -O2 and -O3: memory or speed first, or both weighed against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.model.instance import Term

from ...checks import require_sound
from ...facts.constants import spell_out_constants
from ...facts.costs import access_cost, costs_of, is_carried
from ...facts.figures import amounts, carried
from ...facts.intervals import merged
from ...facts.moments.lifetimes import with_lifetimes
from ...facts.sweep import exact_array
from ...model.plan import ChoiceGoal
from ...model.problem import Buffer, Pool, Problem
from .options import Preference, as_choice, bad_option


def with_preference(problem: Problem, prefer: Preference | str | None) -> Problem:
    """Return the problem with the preset's objective. Raises BadInput for an unknown preset, and for a problem that is wrong in itself."""
    preset: Preference | None = as_choice("prefer", prefer)
    if preset is not None and problem.variants is None:
        _require_sound(problem, PRESETS[preset])
    return preferring(problem, preset)


def preferring(problem: Problem, prefer: Preference | None) -> Problem:
    """Return the same for callers that then check what they get."""
    if prefer is None or problem.variants is not None:
        return problem  # the cost of alternatives is no term of the objective: see goal_of_choices
    preset = PRESETS[prefer]
    if preset.peak_price is None:
        return replace(problem, terms=preset.terms)
    _require_sound(problem, preset)
    return replace(problem, terms=preset.terms, peak_price=preset.peak_price(problem))


def _require_sound(problem: Problem, preset: Preset) -> None:
    """Raises BadInput if anything is wrong with the problem apart from the objective that the preset replaces."""
    if problem.facts.is_sound:
        return
    price = problem.peak_price if preset.peak_price is None else 1
    preferred = replace(problem, terms=preset.terms, peak_price=price)
    preferred.facts.take_over(problem.facts)
    require_sound(preferred)
    problem.facts.take_over(preferred.facts)


def goal_of_choices(prefer: Preference | None) -> ChoiceGoal:
    """Return what is sought among the alternatives of a problem with variants. Raises BadInput for a preset without meaning there."""
    goal = PRESETS[Preference.SIZE if prefer is None else prefer].of_choices
    if goal is None:
        known = " or ".join(each for each, preset in PRESETS.items() if preset.of_choices is not None)
        raise bad_option("prefer", f"with variants it is {known}; memplan pareto shows what lies between")
    return goal


def price_of_all_speed(problem: Problem) -> int:
    """Return a byte's price at which all bytes live at once are worth the difference between the slowest and the fastest plan.

    Rounded down, but at least 1. Bytes count at the dearest pool's cost; each buffer counts with the slowest and the fastest pool that it
    fits into on its own.
    """
    problem = spell_out_constants(problem)
    dearest = max(pool.cost for pool in problem.pools)
    return max(_gain(problem) // max(most_live(with_lifetimes(problem)) * dearest, 1), 1)


def _gain(problem: Problem) -> int:
    """Return the difference between the slowest and the fastest plan."""
    if len(problem.pools) == 1:
        return 0
    if is_carried(problem):
        pools = problem.pools
        key = ("gain", *[(pool.name, pool.size, pool.speed, pool.rank) for pool in pools])
        return sum(
            carried(problem, key, lambda buffers: exact_array([_gain_of(each, pools) for each in buffers])).tolist()
        )
    gain = 0
    for number, costs in costs_of(problem):
        gain += _range([costs[pool] for pool in _homes(problem.pools, problem.buffers[number])])
    return gain


def _gain_of(buffer: Buffer, pools: Sequence[Pool]) -> int:
    return _range([access_cost(buffer, pools[number]) for number in _homes(pools, buffer)])


def _range(costs: list[int]) -> int:
    return max(costs, default=0) - min(costs, default=0)


def _homes(pools: Sequence[Pool], buffer: Buffer) -> Iterator[int]:
    for number, pool in enumerate(pools):
        allowed = buffer.pools is None or pool.name in buffer.pools
        decided = buffer.fixed is None or buffer.fixed.pool == pool.name
        if allowed and decided and (pool.size is None or buffer.size <= pool.size):
            yield number


def most_live(problem: Problem) -> int:
    """Return the largest sum of sizes needed at one time; without lifetimes, the largest size."""
    if problem.facts.neighbour is not None:  # and so all sums fit into arrays: it was checked
        known = amounts(problem)
        time, size = np.concatenate([known.end, known.start]), known.size[known.owner]
        order = np.argsort(time, kind="stable")  # at one moment, ends come before begins
        live = np.cumsum(np.concatenate([-size, size])[order])
        return max(int(known.size.max(initial=0)), int(live.max(initial=0)))
    changes: dict[int, int] = {}
    most = 0
    for buffer in problem.buffers:
        most = max(most, buffer.size)
        for start, end in merged(buffer.live or ()):
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    now = 0
    for _, change in sorted(changes.items()):
        now += change
        most = max(most, now)
    return most


@dataclass(frozen=True, slots=True)
class Preset:
    """What a preference asks for; nothing has a default, so that a new one says all of it."""

    terms: tuple[Term, ...]
    """The objective."""
    peak_price: Callable[[Problem], int] | None
    """What a byte of the peaks costs, where the terms weigh that."""
    of_choices: ChoiceGoal | None
    """What is sought among the alternatives of a problem with variants; None: it has no meaning there."""


PRESETS: Mapping[Preference, Preset] = {
    Preference.SIZE: Preset((Term.SUM_OF_PEAKS, Term.ACCESS_COST), None, ChoiceGoal.SIZE),
    Preference.BALANCED: Preset((Term.BALANCED,), price_of_all_speed, None),
    Preference.SPEED: Preset((Term.ACCESS_COST, Term.SUM_OF_PEAKS), None, ChoiceGoal.SPEED),
}
"""All that is known of each preference."""
