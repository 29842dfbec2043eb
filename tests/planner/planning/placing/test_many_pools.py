"""Problems with too many buffers and pools for the solvers get a quick plan, which claims only what is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner.checks import check
from planner.facts.possible_places import Places
from planner.model.deadline import time_limit
from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing import by_birth, lowering, many_pools
from planner.planning.placing.by_birth import plan_by_birth
from planner.planning.placing.easy_bounds import easy_bound
from planner.planning.placing.many_pools import ManyPools
from planner.planning.placing.solving import plan
from planner.planning.placing.watching import MOST_IN_A_HURRY
from planner.verifying.arguments.certificates import objections
from planner.verifying.verify import verify
from solvers.kernels import Origin
from solvers.kernels.selection import Selection
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from tests.small.judge import judge
from tests.small.oracle import solve
from tests.small.plans import make_plan
from tests.small.strategies import effort, problems
from tests.solvers.kernels.kernel_sets import native, reference


@effort(30, 3000)
@given(problem=problems(), is_late=st.booleans())
def test_a_plan_by_birth_keeps_every_rule(problem: Problem, is_late: bool) -> None:
    order = [pool.name for pool in problem.pools]
    tries = (0, 0) if is_late else (by_birth.FREE_TRIES, by_birth.FREE_TRIES_PER_BUFFER)
    with (
        patch.object(by_birth, "FREE_TRIES", tries[0]),
        patch.object(by_birth, "FREE_TRIES_PER_BUFFER", tries[1]),
    ):
        spots = plan_by_birth(Places(problem), order, lambda: is_late)
    if spots is not None:
        at = {place.id: (place.pool, place.offset) for place in spots}
        made = make_plan(problem, at)
        assert not verify(problem, made, made.problem_digest)


@effort(30, 3000)
@given(problem=problems(), hurry=st.sampled_from((None, StopReason.TIME_LIMIT)), tries=st.sampled_from((0, 3, 1000)))
def test_both_kernels_place_by_birth_alike(problem: Problem, hurry: StopReason | None, tries: int) -> None:
    order = [pool.name for pool in problem.pools]
    found = []
    for kernels in (native(), reference()):
        with (
            patch.object(by_birth, "FREE_TRIES", tries),
            patch.object(by_birth, "FREE_TRIES_PER_BUFFER", 0),
            patch.object(by_birth, "active", lambda kernels=kernels: Selection(Origin.NATIVE, kernels)),
        ):
            found.append(plan_by_birth(Places(problem), order, lambda: hurry))
    assert found[0] == found[1]


def test_both_kernels_place_large_mixed_problems_alike() -> None:
    """More lists of pools than get search trees, pools with many reserved ranges, alignments with large multiples."""
    names = [f"p{i}" for i in range(60)]
    pools = [
        Pool(
            name,
            40_000,
            alignment=1 + i % 9,
            base=(1 + i % 9) * i,
            reserved=tuple((97 * j, 97 * j + 40 + j % 5) for j in range(i * 7)),
            rank=i,
        )
        for i, name in enumerate(names)
    ]
    lists = [tuple(names[i % 7 :: 1 + i % 5]) for i in range(25)]
    buffers = [
        Buffer(
            i, 1 + i * 37 % 200, 1 + i % 11, live=((i % 50, i % 50 + 9),), pools=lists[i % 31] if i % 31 < 25 else None
        )
        for i in range(1500)
    ]
    apart = tuple(tuple(range(i, i + 20)) for i in range(0, 900, 30))
    tied = tuple(Colocation(i, i - 1, 12) for i in range(901, 1000, 9))
    problem = Problem(tuple(buffers), tuple(pools), Constraints(different_pool=apart, colocations=tied))
    found = []
    for kernels in (native(), reference()):
        with patch.object(by_birth, "active", lambda kernels=kernels: Selection(Origin.NATIVE, kernels)):
            found.append(plan_by_birth(Places(problem), names, lambda: None))
    spots = found[0]
    assert spots is not None
    assert found[1] == spots
    made = make_plan(problem, {place.id: (place.pool, place.offset) for place in spots})
    assert not verify(problem, made, made.problem_digest)


# The one place of "low" is reserved.
BLOCKED = Problem(
    (Buffer("low", 1, max_offset=0, live=()), Buffer("even", 1, 2, live=((0, 1),)), Buffer("empty", 0, live=())),
    (Pool("p", reserved=((0, 1),)),),
    Constraints(conflicts=(("low", "even"),)),
)


NEVER_LIVE = Problem(
    (Buffer("a", 0), Buffer("b", 0), Buffer("c", 1), Buffer("d", 1, live=((0, 1),))),
    (Pool("p", 0),),
    Constraints(exclusions=(("a", "b"),), same_pool=(("a", "c"),)),
    terms=(Term.ACCESS_COST,),
)
"""Too large for its pool; said simpler, it would be live, and the reason would name another buffer beside it."""


@pytest.mark.parametrize("most_places", [0, 4])
@effort(48, 1500)
@given(problem=problems())
@example(problem=BLOCKED)
@example(problem=NEVER_LIVE)
def test_claims_about_a_part_hold_for_the_whole(most_places: int, problem: Problem) -> None:
    with (
        patch.object(lowering, "FEW_POOLS", 0),
        patch.object(lowering, "MOST_PLACES", most_places),
        patch.object(many_pools, "FEW_POOLS", 1),
        patch.object(many_pools, "MOST_PLACES", most_places),
    ):
        made = plan(problem, Options(time_limit=None, work_limit=20_000))
    assert judge(problem, made, solve(problem)) == []


@pytest.fixture(autouse=True, scope="module")
def _patient() -> Iterator[None]:
    """Lift the time limit outside the solvers, so that no test fails on a busy machine."""
    with time_limit(inf):
        yield


def crowd(pools: int, size: int | None, buffers: list[Buffer], **rest: object) -> Problem:
    return Problem(tuple(buffers), tuple(Pool(f"p{i}", size, rank=i) for i in range(pools)), **rest)  # type: ignore[arg-type]


def test_many_small_pools_are_filled_where_any_order_fits() -> None:
    made = plan(crowd(1000, 64, [Buffer(i, 8, live=((0, 9),)) for i in range(1000)]), Options(time_limit=1.0))
    assert made.status is PlanStatus.OPTIMAL
    assert made.peak == 8000


def test_pools_that_are_full_do_not_use_up_the_tries() -> None:
    problem = crowd(200, 64, [Buffer(i, 8, live=((0, 9),)) for i in range(1000)])
    with patch.object(by_birth, "FREE_TRIES", 0):
        spots = plan_by_birth(Places(problem), [pool.name for pool in problem.pools], lambda: True)
    assert spots is not None
    assert len({place.pool for place in spots}) == 125


def test_a_plan_cut_short_by_the_clock_is_not_called_reproducible() -> None:
    # The buffers live at one time are too few to prove that they do not fit.
    buffers = [Buffer(i, 8 + i % 57, live=((i % 11, 9 + i % 13),)) for i in range(1400)]
    problem = crowd(900, 64, buffers)
    with patch.object(by_birth, "FREE_TRIES", 0), patch.object(by_birth, "FREE_TRIES_PER_BUFFER", 0):
        part = ManyPools(problem, lambda: StopReason.TIME_LIMIT, lambda _: True)
        made = part.whole(plan(replace(part.part, buffers=(), constraints=Constraints())))
    assert made.status is PlanStatus.UNKNOWN
    assert made.stop is StopReason.TIME_LIMIT
    assert not made.reproducible


def test_buffers_left_when_time_is_over_go_to_unused_pools() -> None:
    """Each pool has room for eight buffers, but only its offset 0 is aligned for them."""
    buffers = [Buffer(i, 8, live=((0, 9),), alignment=64 + i) for i in range(3000)]
    problem = Problem(tuple(buffers), tuple(Pool(f"p{i}", 64, rank=i) for i in range(3000)))
    order = [pool.name for pool in problem.pools]
    assert plan_by_birth(Places(problem), order, lambda: StopReason.CANCELLED) is None
    spots = plan_by_birth(Places(problem), order, lambda: StopReason.TIME_LIMIT)
    assert spots is not None
    assert sorted((place.pool, place.offset) for place in spots) == sorted((name, 0) for name in order)
    made = ManyPools(problem, lambda: StopReason.TIME_LIMIT, lambda _: True)
    assert made.start or not made.part.buffers
    whole = plan(problem, Options(time_limit=0.01))
    assert (whole.status, whole.reproducible) == (PlanStatus.OPTIMAL, False)


def test_the_quick_plan_stands_where_solvers_would_have_no_time() -> None:
    few, problem = (
        crowd(1000, None, [Buffer(i, 8, live=((i, i + 2),)) for i in range(count)])
        for count in (MOST_IN_A_HURRY, MOST_IN_A_HURRY + 1)
    )
    kept: list[float] = []

    def has_time(seconds: float) -> bool:
        kept.append(seconds)
        return False

    assert ManyPools(problem, lambda: None, lambda _: True).part.buffers
    assert ManyPools(few, lambda: None, lambda _: False).part.buffers
    made = ManyPools(problem, lambda: None, has_time)
    assert kept == [made.seconds_after_solving]
    assert not made.part.buffers
    quick = made.whole(plan(made.part))
    assert verify(problem, quick) == ()
    assert not quick.reproducible


def test_buffers_that_must_all_be_apart_get_a_pool_each() -> None:
    apart = Constraints(different_pool=(tuple(range(1500)),))
    problem = crowd(1500, None, [Buffer(i, 1 + i % 7, live=((i, i + 2),)) for i in range(1500)], constraints=apart)
    made = plan(problem, Options(time_limit=1.0))
    assert made.status is PlanStatus.FEASIBLE
    assert len({place.pool for place in made.placements}) == 1500
    too_few = replace(problem, pools=problem.pools[:1499])
    assert check(too_few) == ()
    refused = plan(too_few, Options(time_limit=1.0))
    assert refused.status is PlanStatus.INFEASIBLE
    assert refused.shortage is not None


class Counted(tuple[str, ...]):
    """A tuple of pool names that counts how often it is hashed."""

    __slots__ = ()
    hashed = 0

    def __hash__(self) -> int:
        Counted.hashed += 1
        return super().__hash__()


def test_a_long_list_of_pools_shared_by_many_is_hashed_rarely() -> None:
    names = Counted(f"p{i}" for i in range(600))
    apart = Constraints(different_pool=(tuple(range(500)),))
    problem = crowd(700, None, [Buffer(i, 8, pools=names) for i in range(500)], constraints=apart)
    before = Counted.hashed
    assert not easy_bound(problem, Places(problem)).is_infeasible
    assert Counted.hashed - before < 10
    some = replace(problem, buffers=tuple(replace(each, pools=names[:499]) for each in problem.buffers))
    assert easy_bound(some, Places(some)).certificates[0].value == 500


def test_buffers_that_fit_nowhere_are_refused_with_the_reason() -> None:
    buffers = [Buffer(i, 8, live=((0, 9),)) for i in range(1000)]
    large = plan(crowd(1000, 64, [*buffers, Buffer("large", 65, live=((3, 4),))]))
    assert large.status is PlanStatus.INFEASIBLE
    assert large.shortage is not None
    assert large.shortage.buffers == ("large",)
    full = plan(crowd(1000, 15, [replace(buffer, size=15) for buffer in buffers] + [Buffer("more", 1, live=((0, 1),))]))
    assert full.status is PlanStatus.INFEASIBLE
    assert full.certificates[0].time == 0


ALL = tuple(range(1000))
FEW = ("p3", "p7")
TOO_MUCH: dict[str, tuple[Problem, str]] = {
    "for any pool that they must share": (
        crowd(1000, 64, [Buffer(i, 8, live=((0, 9),)) for i in ALL], constraints=Constraints(same_pool=(ALL[:9],))),
        "must share a pool, need 72 bytes at one time, 8 bytes more",
    ),
    "for the pools on their list": (
        crowd(1000, 64, [Buffer(i, 8, live=((0, 9),), pools=FEW if i < 17 else None) for i in ALL]),
        "pools 'p3', 'p7' are too small together (128 bytes)",
    ),
    "to be apart in the pools on their list": (
        crowd(
            1000,
            64,
            [Buffer(i, 8, live=((i, i + 1),), pools=FEW if i < 3 else None) for i in ALL],
            constraints=Constraints(different_pool=(ALL,)),
        ),
        "must all be in different pools, but only 2 pools are open to them",
    ),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_infeasible_crowds_are_refused_with_a_verified_reason(case: str) -> None:
    problem, reason = TOO_MUCH[case]
    made = plan(problem, Options(time_limit=1.0))
    assert made.status is PlanStatus.INFEASIBLE
    assert made.shortage is not None
    assert reason in made.shortage.message
    assert verify(problem, made) == ()
    more = replace(made, certificates=(replace(made.certificates[0], value=made.certificates[0].value + 1000),))
    assert verify(problem, more), "a certificate proves no more than it does"
    fewer = replace(made, certificates=(replace(made.certificates[0], buffers=made.certificates[0].buffers[1:]),))
    if len(made.certificates[0].buffers) > 1:
        assert verify(problem, fewer), "nor with fewer buffers"


def test_buffers_of_one_pool_fit_if_needed_one_after_the_other() -> None:
    buffers = [Buffer(i, 8, live=((i, i + 8),)) for i in ALL]
    made = plan(crowd(1000, 64, buffers, constraints=Constraints(same_pool=(ALL,))), Options(time_limit=1.0))
    assert made.status.has_plan
    assert len({place.pool for place in made.placements}) == 1


def test_the_cheapest_pools_are_tried_first() -> None:
    buffers = [Buffer(i, 4, live=((i, i + 3),), accesses=2) for i in range(600)]
    problem = crowd(600, 100, buffers, terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS))
    made = plan(replace(problem, pools=problem.pools[::-1]), Options(time_limit=1.0))
    assert made.objective.value == 0
    assert {place.pool for place in made.placements} == {"p0"}


def test_the_largest_of_many_peaks_has_a_bound() -> None:
    """However ten times 12 bytes are shared out among eight memories, one of which has 1 byte, some peak is 15 bytes or more (18, in fact)."""
    pools = tuple(Pool(f"p{p}", 1 if p == 3 else None) for p in range(8))
    buffers = tuple(Buffer(i, 12, live=((0, 5),)) for i in range(10))
    problem = Problem(buffers, pools, terms=(Term.LARGEST_PEAK,))
    places = Places(problem)
    found = easy_bound(problem, places)
    assert (found.largest, found.sum_of_peaks) == (15, 120)
    assert not objections(places, found.certificates)
    higher = [replace(each, value=each.value + 1) for each in found.certificates]
    assert len(objections(places, higher)) == 2
