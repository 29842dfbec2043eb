"""A pool whose lowest addresses are reserved is planned as one that begins above them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner import PlanStatus, plan
from planner.generate import Request, generate
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem
from planner.planning.placing.lowering import lower
from solvers.geometry.presolve import above, floor_of
from solvers.geometry.rules import violation
from solvers.model.instance import PoolSpec
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.solve import solve
from tests.property.test_solvers_alone import check
from tests.small import oracle
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import effort, problems


@effort(30, 5_000)
@given(problems(max_buffers=5), st.integers(1, 9), st.integers(0, 3))
def test_answers_are_those_of_all_placements(problem: Problem, reserved: int, gap: int) -> None:
    assume(all(buffer.fixed is None or buffer.fixed.offset is None for buffer in problem.buffers))
    ranges = ((0, reserved), (reserved + gap, reserved + gap + 2))
    low = replace(problem, pools=tuple(replace(pool, reserved=ranges, size=None) for pool in problem.pools))
    check("auto", low, oracle.solve(low))


@pytest.mark.parametrize(
    ("reserved", "alignment", "floor"),
    [
        (((0, 100),), 1, 100),
        (((0, 100),), 64, 128),
        (((0, 60), (60, 90), (91, 95)), 1, 90),
        (((1, 60),), 1, 0),
        ((), 64, 0),
    ],
)
def test_the_floor_is_where_something_can_begin(
    reserved: tuple[tuple[int, int], ...], alignment: int, floor: int
) -> None:
    buffers = (Buffer("a", 10, alignment, live=((0, 3),)), Buffer("b", 7, alignment, live=((1, 4),)))
    instance = lower(Problem(buffers, (Pool("memory", 4096, reserved=reserved),))).instance
    assert floor_of(instance) == floor
    lifted = above(instance, floor)
    assert lifted.pools[0].capacity == 4096 - floor
    assert (lifted.highest == instance.highest - floor).all()
    assert (lifted.lowest >= 0).all()


def test_what_is_fixed_or_may_not_lie_above_keeps_its_addresses() -> None:
    fixed = Buffer("a", 10, live=((0, 3),), fixed=Fixed("memory", 100))
    pools = (Pool("memory", reserved=((0, 100),)),)
    assert floor_of(lower(Problem((fixed, Buffer("b", 7, live=((1, 4),))), pools)).instance) == 100
    rounded = Buffer("b", 7, 64, live=((1, 4),))
    assert floor_of(lower(Problem((fixed, rounded), pools)).instance) in {0, 100}
    assert not floor_of(make_instance([plain(0, 2, 5, max_offset=3)]))


@pytest.mark.parametrize("size", [None, (1 << 20) + 4096])
def test_a_full_pool_above_a_reserved_range_is_packed_as_without_it(size: int | None) -> None:
    problem = replace(generate("packing", Request(1_000, 32)), pools=(Pool("memory", size, reserved=((0, 4096),)),))
    instance = lower(problem).instance
    outcome = solve(instance, Task(limits=Limits(work=2_000_000)), Silent(), "auto")
    assert outcome.value == outcome.bound == ((1 << 20) + 4096,)
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None


@pytest.mark.parametrize(("reserved", "end"), [(((0, 5), (6, 12)), 28), (((0, 64), (66, 4160)), 4172)])
def test_a_range_that_the_rounded_floor_cuts_into_is_kept(reserved: tuple[tuple[int, int], ...], end: int) -> None:
    buffers = tuple(Buffer(name, 4, 8, live=((0, 2),)) for name in ("a", "b"))
    instance = lower(Problem(buffers, (Pool("memory", reserved=reserved),))).instance
    outcome = solve(instance, Task(limits=Limits(work=100_000)), Silent(), "auto")
    assert outcome.value == outcome.bound == (end,)


def test_blocks_that_begin_above_their_bases_may_have_bases_below_the_floor() -> None:
    assert not floor_of(make_instance([Block([(8, 12, [(0, 2)])])], pools=[PoolSpec(None, reserved=((0, 8),))]))
    both = (Buffer("a", 0, live=((0, 2),)), Buffer("b", 4, live=((0, 2),)))
    above_nothing = Constraints(colocations=(Colocation("b", "a", 8),))
    made = plan(Problem(both, (Pool("memory", reserved=((0, 8),)),), above_nothing))
    assert (made.peak, made.bound) == (12, 12)


def test_what_is_proven_of_a_pool_that_ends_below_a_range_holds_of_the_whole_pool() -> None:
    """Below the range `head` and `tail` have one place, so two that are live together seemed to need 4 bytes: nobody could replay that, and the bound was withheld."""
    buffers = (
        Buffer("group", 0),
        Buffer("head", 1, live=((0, 1),)),
        Buffer("tail", 2),
        Buffer("other", 2, 2, live=((0, 1),), max_offset=2),
    )
    as_one = Constraints(colocations=(Colocation("head", "group", 0), Colocation("tail", "group", 2)))
    made = plan(Problem(buffers, (Pool("m", reserved=((4, 5),)),), as_one))
    assert (made.status, made.peak, made.bound, made.warnings) == (PlanStatus.OPTIMAL, 4, 4, ())
