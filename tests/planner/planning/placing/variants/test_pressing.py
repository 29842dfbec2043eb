"""What reaches too high is put back below a height, or lies above it in few places; the rest stays where it may be."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from planner.generate import Request, generate
from planner.model.plan import Plan
from planner.model.problem import Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing.solving import plan
from planner.planning.placing.variants.pressing import pressed
from planner.verifying.findings import FindingKind
from planner.verifying.verify import verify
from solvers.model.solver import Goal

OF_PLACES = {
    FindingKind.OVERLAP,
    FindingKind.MISALIGNED,
    FindingKind.IN_RESERVED_RANGE,
    FindingKind.FIXED_MOVED,
    FindingKind.SEPARATION_BROKEN,
    FindingKind.COLOCATION_BROKEN,
}


def fit(problem: Problem) -> Plan | None:
    return plan(problem, Options(workers=1, work_limit=20_000, time_limit=None, goal=Goal.FIT))


def offsets(made: Plan) -> dict[BufferId, int]:
    return {place.id: place.offset for place in made.placements}


def is_sound(problem: Problem, made: Plan, found: Mapping[BufferId, int]) -> bool:
    """True if a plan with these places breaks no rule, whatever it says of its height."""
    places = tuple(replace(place, offset=found[place.id]) for place in made.placements)
    return OF_PLACES.isdisjoint(each.kind for each in verify(problem, replace(made, placements=places)))


def random_problem(seed: int) -> Problem:
    chance = random.Random(seed)
    problem = generate("random", Request(30, seed))
    buffers = list(problem.buffers)
    ids = [each.id for each in buffers]
    for i in range(0, 30, 5):
        ((start, end),) = buffers[i].live or ()
        later = end + chance.randint(1, 9)
        buffers[i] = replace(buffers[i], live=((start, end), (later, later + 3)), alignment=chance.choice((1, 32)))
    constraints = Constraints(
        conflicts=((ids[1], ids[28]), (ids[2], ids[29])),
        colocations=(Colocation(ids[3], ids[4], 0),),
        exclusions=((ids[6], ids[7]),),
    )
    reserved = chance.choice(((), ((64, 100),)))
    return Problem(tuple(buffers), (Pool("p", alignment=chance.choice((1, 16)), reserved=reserved),), constraints)


@pytest.mark.parametrize("seed", range(12))
def test_no_rule_is_broken_and_what_can_be_lower_is(seed: int) -> None:
    problem = random_problem(seed)
    lifted = replace(problem, pools=(replace(problem.pools[0], reserved=((0, 1 << 20),)),))
    high = plan(lifted, Options(workers=1, work_limit=20_000, time_limit=None))
    best = plan(problem, Options(workers=1, work_limit=100_000, time_limit=None))
    assert best.peak is not None
    wanted = best.peak * 11 // 10
    found = pressed(problem, offsets(high), wanted, fit)
    assert is_sound(problem, high, found)
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    before = sum(place.offset + sizes[place.id] > wanted for place in high.placements)
    after = sum(offset + sizes[id_] > wanted for id_, offset in found.items())
    assert after < before
    assert after <= 2


def test_what_is_low_enough_stays() -> None:
    problem = generate("random", Request(20, 1))
    made = plan(problem, Options(workers=1, work_limit=50_000, time_limit=None))
    assert made.peak is not None
    assert pressed(problem, offsets(made), made.peak, lambda _: pytest.fail("it is low enough")) == offsets(made)


def test_what_fits_nowhere_lies_above_and_pinned_buffers_stay() -> None:
    live = ((0, 2),)
    buffers = (Buffer("a", 8, live=live), Buffer("b", 8, live=live), Buffer("c", 4, live=live, fixed=Fixed("p", 20)))
    problem = Problem(buffers, (Pool("p"),))
    found = pressed(problem, {"a": 40, "b": 60, "c": 20}, 10, fit)
    assert found == {"a": 0, "b": 8, "c": 20}
