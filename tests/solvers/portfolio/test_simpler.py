"""Rules of one pool that keep nothing better away do not make it harder: ranges above all blocks, limits at the optimum, blocks that are always live."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner import Buffer, Colocation, Constraints, Fixed, Options, Pool, Problem, plan
from planner.checks import check
from planner.generate import Request, generate
from planner.model.plan import PlanStatus
from planner.planning.placing.lowering import lower
from solvers.bounds.ceilings import below_ranges, limited
from solvers.geometry.rules import violation
from solvers.geometry.simpler import below, throughout
from solvers.model.instance import Placement
from solvers.model.solver import Limits, Silent, Task, never
from solvers.portfolio.solve import solve
from tests.small import oracle
from tests.small.judge import judge
from tests.small.strategies import effort

OPTIONS = Options(workers=1, time_limit=None, work_limit=1_000_000)
WEIGHT = 4_096


@pytest.fixture(scope="module")
def recurrent() -> tuple[Problem, int]:
    """A problem that is proven with this work, and its least peak."""
    problem = generate("recurrent", Request(1_000, 9_001))
    found = plan(problem, OPTIONS)
    assert found.status is PlanStatus.OPTIMAL
    assert found.peak is not None
    return problem, found.peak


def reserved(problem: Problem, begin: int, end: int) -> Problem:
    return replace(problem, pools=(replace(problem.pools[0], reserved=((begin, end),)),))


def always(problem: Problem, fixed: Fixed | None) -> Problem:
    end = max(last for buffer in problem.buffers for _, last in buffer.live or ())
    return replace(problem, buffers=(*problem.buffers, Buffer("weight", WEIGHT, live=((0, end + 1),), fixed=fixed)))


FORMS: dict[str, tuple[Callable[[Problem, int], Problem], int]] = {
    "a range far above": (lambda p, peak: reserved(p, 4 * peak, 5 * peak), 0),
    "a range just above": (lambda p, peak: reserved(p, peak, peak + WEIGHT), 0),
    "limits of all": (
        lambda p, peak: replace(p, buffers=tuple(replace(b, max_offset=peak - b.size) for b in p.buffers)),
        0,
    ),
    "a fixed weight": (lambda p, _: always(p, Fixed(p.pools[0].name, 0)), WEIGHT),
    "a weight": (lambda p, _: always(p, None), WEIGHT),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_same_problem_is_proven_in_each_form(recurrent: tuple[Problem, int], name: str) -> None:
    problem, peak = recurrent
    form, more = FORMS[name]
    found = plan(form(problem, peak), OPTIONS)
    assert (found.status, found.peak) == (PlanStatus.OPTIMAL, peak + more)


@st.composite
def ruled(draw: st.DrawFn) -> Problem:
    """A problem of one memory in which ranges, limits, fixed buffers and buffers that are always live are common."""
    unit = draw(st.sampled_from((1, 1, 2, 4)))
    pieces = []
    for number in range(draw(st.integers(2, 5))):
        first = draw(st.integers(0, 3))
        some = ((first, first + draw(st.integers(1, 5 - first))),)
        live = draw(st.sampled_from((((0, 5),), some, some, None)))
        size = draw(st.integers(1, 6)) * draw(st.sampled_from((1, unit)))
        fixed = Fixed("memory", unit * draw(st.integers(0, 4))) if draw(st.integers(0, 6)) == 0 else None
        limit = draw(st.integers(0, 12)) if fixed is None and draw(st.integers(0, 3)) == 0 else None
        aligned = draw(st.sampled_from((1, unit)))
        pieces.append(Buffer(f"b{number}", size, aligned, live=live, fixed=fixed, max_offset=limit))
    ranges, at = [], 0
    for _ in range(draw(st.integers(0, 2))):
        at += draw(st.integers(0, 12))
        end = at + draw(st.integers(1, 4))
        ranges.append((at, end))
        at = end
    end_of_pool = draw(st.sampled_from((None, None, 12, 20)))
    problem = Problem(tuple(pieces), (Pool("memory", end_of_pool, reserved=tuple(ranges)),))
    assume(not check(problem))
    return problem


@effort(300, 20_000)
@given(ruled(), st.sampled_from(("auto", "auto", "search")))
def test_answers_are_those_of_all_placements(problem: Problem, solver: str) -> None:
    truth = oracle.solve(problem)
    found = plan(problem, replace(OPTIONS, solver=solver))
    assert judge(problem, found, truth) == []
    assert found.status is (PlanStatus.INFEASIBLE if truth.value is None else PlanStatus.OPTIMAL)


@effort(100, 5_000)
@given(ruled(), st.integers(0, 2**20))
def test_any_start_can_be_moved_below_what_is_always_live(problem: Problem, seed: int) -> None:
    """Wherever the start has them: it is taken, and only better ones come after it."""
    instance = lower(problem).instance
    truth = oracle.solve(problem)
    assume(truth.value is not None and not (instance.lowest == instance.highest).any())
    draw = random.Random(seed)
    high, order = instance.block_high, draw.sample(range(instance.blocks), instance.blocks)
    offset = np.zeros(instance.blocks, dtype=np.int64)
    end = max((end for _, end in instance.pools[0].reserved), default=0)
    for block in order:
        modulus = instance.modulus[block, 0]
        offset[block] = end + (instance.residue[block, 0] - end) % modulus
        end = int(offset[block] + high[block])
    start = Placement.in_one_pool(offset)
    assume(violation(instance, start) is None)
    found = solve(instance, Task(Limits(work=10_000), start=start), Silent(), "improve")
    assert found.placement is not None
    assert violation(instance, found.placement) is None


def test_what_is_always_live_is_settled_only_where_nothing_is_lost() -> None:
    def settled(*buffers: Buffer, reserved: tuple[tuple[int, int], ...] = ()) -> list[int] | None:
        found = throughout(lower(Problem(buffers, (Pool("memory", reserved=reserved),))).instance)
        return None if found is None else found.offset[found.blocks].tolist()

    a, b = Buffer("a", 8, 4, live=((0, 2),)), Buffer("b", 6, 2, live=((1, 4),))
    assert settled(a, b) is None
    assert settled(a, b, Buffer("w", 12, live=((0, 4),)), Buffer("v", 4, live=((0, 5),))) == [0]
    assert settled(a, b, Buffer("w", 12, live=((0, 4),)), Buffer("v", 4, live=((0, 4),))) == [0, 12]
    assert settled(a, b, Buffer("w", 10, live=((0, 4),))) is None, "what is aligned to 4 would lose 2 bytes"
    assert settled(a, b, Buffer("w", 10, live=((0, 4),), fixed=Fixed("memory", 3))) == [3]
    assert settled(a, replace(b, max_offset=9), Buffer("w", 12, live=((0, 4),))) is None
    assert settled(a, b, Buffer("w", 12, live=((0, 4),)), reserved=((20, 30),)) is None
    assert settled(a, b, Buffer("w", 12, live=((0, 4),)), reserved=((0, 8),)) == [8]
    assert settled(a, b, Buffer("w", 12, live=((0, 4),)), Buffer("never", 1)) is None, "which is beside nobody"
    assert settled(Buffer("w", 12, live=((0, 4),)), Buffer("v", 4, live=((0, 4),))) is None, "then nothing is left"


def test_rules_that_nothing_better_touches_are_gone() -> None:
    buffers = (Buffer("a", 8, live=((0, 2),), max_offset=50), Buffer("b", 6, live=((1, 4),), max_offset=3))
    instance = lower(Problem(buffers, (Pool("memory", 100, reserved=((20, 22), (40, 50))),))).instance
    assert below_ranges(instance, 0, never) is not None
    low = below_ranges(instance, 21, never)
    assert low is not None
    assert (low.instance.pools[0].capacity, low.others) == (40, 51)
    assert below_ranges(instance, 51, never) is None
    assert limited(instance, never).pools[0].capacity == 58
    free = below(instance, 25)
    assert free.pools[0].reserved == ((20, 22),)
    assert free.highest[:, 0].tolist() == [50, 3]


@st.composite
def aligned(draw: st.DrawFn) -> Problem:
    """A problem of one memory in which all bases are multiples of a number, and sizes are not."""
    step, base = draw(st.sampled_from((2, 4))), draw(st.sampled_from((None, 1, 3)))
    pieces = []
    for number in range(draw(st.integers(2, 5))):
        first = draw(st.integers(0, 3))
        live = ((first, first + draw(st.integers(1, 5 - first))),)
        limit = draw(st.integers(0, 12)) if draw(st.integers(0, 3)) == 0 else None
        factor = draw(st.sampled_from((1, 1, 2)))
        pieces.append(Buffer(f"b{number}", draw(st.integers(1, 9)), step * factor, live=live, max_offset=limit))
    begin = draw(st.integers(0, 12))
    reserved = ((begin, begin + draw(st.integers(1, 5))),) if draw(st.booleans()) else ()
    end = draw(st.sampled_from((None, None, 13, 21)))
    problem = Problem(tuple(pieces), (Pool("memory", end, base=base, reserved=reserved),))
    assume(not check(problem))
    return problem


@effort(300, 20_000)
@given(aligned())
def test_answers_with_heights_in_steps_are_those_of_all_placements(problem: Problem) -> None:
    truth = oracle.solve(problem)
    found = plan(problem, OPTIONS)
    assert judge(problem, found, truth) == []
    assert found.status is (PlanStatus.INFEASIBLE if truth.value is None else PlanStatus.OPTIMAL)


def test_sizes_that_lose_a_little_to_alignment_end_as_low_as_without(recurrent: tuple[Problem, int]) -> None:
    problem, peak = recurrent
    draw = random.Random(8)
    buffers = tuple(replace(b, size=64 * b.size - draw.randint(0, 63), alignment=64) for b in problem.buffers)
    found = plan(replace(problem, buffers=buffers), OPTIONS)
    assert found.peak is not None
    assert 64 * (peak - 1) < found.peak <= 64 * peak


@pytest.mark.parametrize("size", [0, 1])
def test_what_is_always_live_lies_between_parts_that_leave_room(size: int) -> None:
    """Below both parts, or above, it would be one byte higher."""
    buffers = (Buffer("low", 1), Buffer("high", size), Buffer("between", 1))
    apart = Constraints(colocations=(Colocation("high", "low", 2),))
    found = plan(Problem(buffers, (Pool("memory"),), apart), OPTIONS)
    assert (found.status, found.peak, found.warnings) == (PlanStatus.OPTIMAL, 2 + size, ())
