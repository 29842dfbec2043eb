"""Weights on sections of several pools prove a bound on all pools at once, which is true for any weights."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.first_bounds import first_bounds
from solvers.bounds.prices.priced_room import priced_value, proof_of
from solvers.bounds.weighted_sections import (
    LiveHeights,
    homes_of_classes,
    least,
    peak_sections,
    peaks_beside_free,
    sharing_shortage,
    value_by,
    weigh,
)
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec, Term
from solvers.model.interruption import ASK_EVERY, interrupted_by
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Task
from tests.small import oracle
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import effort, problems
from tests.solvers.exact.milp.milp_child import Child


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    made = Child()
    yield made
    made.close()


def test_the_live_parts_of_a_block_count_as_their_union() -> None:
    comb = Block([(0, 4, [(0, 2)]), (2, 6, [(0, 1)]), (9, 10, [(1, 2)])])
    instance = make_instance([comb, (0, 2, 3), (0, 2, 0)])
    assert dict(LiveHeights(instance).over([0, 1])) == {0: {0: 6, 1: 3}, 1: {0: 5, 1: 3}}


def test_only_the_larger_of_an_excluded_pair_counts() -> None:
    instance = make_instance([(0, 1, 3), (0, 1, 5), (0, 1, 2)], exclusions=[(0, 1)])
    assert LiveHeights(instance).at(0) == {1: 5, 2: 2}


def test_only_sections_that_no_neighbour_contains_are_peaks() -> None:
    instance = make_instance([(0, 3, 1), (1, 2, 1), (4, 6, 1), (5, 7, 1)])
    assert peak_sections(instance) == [1, 5]
    assert peak_sections(make_instance([])) == []


def test_a_dear_pool_and_a_small_cheap_one_share_the_live_blocks() -> None:
    pools = [PoolSpec(None, cost=5), PoolSpec(10, cost=1)]
    instance = make_instance([(0, 1, 8), (0, 1, 8)], pools=pools)
    assert value_by(instance, least(instance, [(0, 0, 5, 1), (1, 0, 5, 1)])) == 80 - 4 * 10
    assert value_by(instance, least(instance, [(0, 0, 6, 1), (1, 0, 6, 1)])) == 0, (
        "an unlimited pool weighed above its cost"
    )
    assert value_by(instance, least(instance, [(0, 0, 1, 3), (1, 0, 1, 3)])) == 6, "a third of 16, rounded up"
    assert value_by(instance, least(instance, [(0, 0, -7, 1), (1, 0, 1, 1)])) == 0
    assert value_by(instance, least(instance, [])) == 0


def test_blocks_of_one_class_go_to_one_pool_together() -> None:
    pools = [PoolSpec(None, cost=3), PoolSpec(None, cost=3)]
    apart = make_instance([plain(0, 1, 4, pools=[0]), plain(0, 1, 6)], pools=pools)
    tied = make_instance([plain(0, 1, 4, pools=[0], pool_class=0), plain(0, 1, 6, pool_class=0)], pools=pools)
    assert value_by(apart, least(apart, [(0, 0, 3, 1)])) == 12
    assert value_by(tied, least(tied, [(0, 0, 3, 1)])) == 30


def test_a_shortage_is_live_bytes_minus_capacities() -> None:
    pools = [PoolSpec(10), PoolSpec(6)]
    instance = make_instance([(0, 1, 6), (0, 1, 6), (0, 1, 5)], pools=pools)
    assert sharing_shortage(instance, [(0, 0, 1, 1), (1, 0, 1, 1)]) == 1
    assert sharing_shortage(make_instance([(0, 1, 6)], pools=[PoolSpec()]), [(0, 0, 1, 1)]) == 0


def test_blocks_with_and_without_exclusions_are_weighed_as_they_are_live() -> None:
    rng = random.Random(4)
    for _ in range(40):
        lives = [(start, start + rng.randrange(1, 6), rng.randrange(9)) for start in range(12)]
        pairs = [(a, b) for b in range(7) for a in range(b) if rng.random() < 0.3]
        instance = make_instance(lives, pools=[PoolSpec(), PoolSpec()], exclusions=pairs)
        weights = [(p, t, rng.randrange(4), 1) for p in range(2) for t in range(instance.sections)]
        expected: dict[int, dict[int, int]] = {}
        for pool, section, number, _ in weights:
            for block, height in LiveHeights(instance).at(section).items():
                mine = expected.setdefault(block, {})
                mine[pool] = mine.get(pool, 0) + number * height
        taken = weigh(instance, weights)[1]
        assert {(b, p): n for b, mine in taken.items() for p, n in mine.items() if n} == {
            (b, p): n for b, mine in expected.items() for p, n in mine.items() if n
        }


def test_weighing_sections_with_exclusions_looks_at_the_clock() -> None:
    instance = make_instance([(0, 9, 3), (0, 9, 5), (2, 4, 1), (5, 7, 1)], exclusions=[(0, 1), (0, 2), (1, 3)])
    asked = []
    with interrupted_by(lambda: asked.append(1)):
        weigh(instance, [(0, t, 1, 1) for t in range(instance.sections)])
    assert len(asked) >= instance.sections


@effort(15, 1000)
@given(problem=problems(max_buffers=5), seed=st.integers(0, 1000))
def test_no_weights_prove_more_than_is_true(problem: Problem, seed: int) -> None:
    instance = lower(problem).instance
    rng = random.Random(seed)
    truth = oracle.solve(problem)
    for _ in range(5):
        places = [(p, t) for p in range(len(instance.pools)) for t in range(instance.sections) if rng.random() < 0.4]
        weights = [(p, t, rng.randrange(-1, 5), rng.randrange(1, 4)) for p, t in places]
        if truth.value is None:
            continue
        assert sharing_shortage(instance, weights) == 0
        if instance.terms[0] is Term.SUM_OF_PEAKS:
            assert value_by(instance, least(instance, weights)) <= truth.value[0]


@effort(10, 1000)
@given(problem=problems(max_buffers=5))
def test_the_bound_found_is_true_and_its_certificate_proves_it(child: Child, problem: Problem) -> None:
    instance = lower(problem).instance
    outcome = child.solve("PoolSharing", instance)
    truth = oracle.solve(problem)
    for certificate in outcome.certificates:
        assert certificate.proof is (Proof.POOL_SHARING if outcome.infeasible else proof_of(instance))
        proven = sharing_shortage if outcome.infeasible else priced_value
        assert proven(instance, certificate.weights) == certificate.value
    if outcome.infeasible:
        assert truth.value is None
    elif outcome.bound and truth.value is not None:
        assert outcome.bound[0] == outcome.certificates[0].value
        assert outcome.bound[0] <= truth.value[0]


def test_fractional_sharing_is_found(child: Child) -> None:
    """The relaxation may split blocks between pools: of the 55 live in section 1, 30 cost 1 and the rest cost 2."""
    pools = [PoolSpec(None, cost=2), PoolSpec(30, cost=1)]
    instance = make_instance([(0, 2, 20), (1, 3, 20), (0, 3, 15)], pools=pools)
    outcome = child.solve("PoolSharing", instance)
    assert outcome.bound == (30 + 2 * 25,)
    assert outcome.stop is StopReason.WORK_LIMIT, "it is not a solver that ends with a placement"


def test_the_linear_program_is_charged_and_not_begun_with_less_work(child: Child) -> None:
    pools = [PoolSpec(None, cost=2), PoolSpec(30, cost=1)]
    instance = make_instance([(0, 2, 20), (1, 3, 20), (0, 3, 15)], pools=pools)
    done = child.solve("PoolSharing", instance)
    assert done.work > 0
    spent = child.solve("PoolSharing", instance, Task(Limits(work=done.work)))
    assert (spent.bound, spent.work) == (done.bound, done.work)
    too_little = child.solve("PoolSharing", instance, Task(Limits(work=done.work // 2 - 1)))
    assert (too_little.bound, too_little.work) == ((), 0)


def test_capacities_too_small_for_all_blocks_are_found(child: Child) -> None:
    pools = [PoolSpec(10), PoolSpec(6), PoolSpec(None)]
    blocks = [plain(0, 2, 6, pools=[0, 1]), plain(0, 2, 6, pools=[0, 1]), plain(1, 3, 5, pools=[0, 1]), plain(0, 3, 9)]
    outcome = child.solve("PoolSharing", make_instance(blocks, pools=pools), Task())
    assert outcome.infeasible
    assert sharing_shortage(make_instance(blocks, pools=pools), outcome.certificates[0].weights) == 1


def test_no_blocks_prove_nothing(child: Child) -> None:
    outcome = child.solve("PoolSharing", make_instance([], pools=[PoolSpec(5), PoolSpec()]))
    assert outcome.bound == ()
    assert not outcome.infeasible


@effort(10, 1000)
@given(problems(max_pools=3))
def test_one_sweep_gives_the_heights_of_each_section(problem: Problem) -> None:
    instance = lower(problem).instance
    heights = LiveHeights(instance)
    assert list(heights.over(range(instance.sections))) == [(s, heights.at(s)) for s in range(instance.sections)]


@effort(10, 1000)
@given(problems(max_pools=3))
def test_a_class_may_go_where_all_its_blocks_may_go(problem: Problem) -> None:
    instance = lower(problem).instance
    expected: dict[int, set[int]] = {}
    for block, group in enumerate(instance.pool_class.tolist()):
        here = set(np.flatnonzero(instance.allowed[block]).tolist())
        expected[group] = expected.get(group, here) & here
    assert homes_of_classes(instance) == {group: sorted(pools) for group, pools in expected.items()}


def test_computing_bounds_ends_with_the_time() -> None:
    blocks = [Block([(0, 4, [(i, i + 3)]), (4, 8, [(i, i + 3)])]) for i in range(ASK_EVERY)]
    instance = make_instance(blocks, pools=[PoolSpec(), PoolSpec()])
    calls: list[None] = []

    def soon_over() -> bool:
        calls.append(None)
        return len(calls) > 2

    given_up = first_bounds(instance, soon_over)
    assert (given_up.value, given_up.of_several, given_up.pools) == ((0,), None, ())


def with_free_pools(draw: random.Random) -> Instance:
    """Up to six blocks at two moments in pools of which some cost nothing."""
    pools = [PoolSpec(draw.randint(3, 12), cost=draw.choice((0, 0, 2))) for _ in range(draw.randint(1, 2))]
    pools.append(PoolSpec(cost=draw.choice((1, 3))))
    last = len(pools) - 1
    blocks = []
    for _ in range(draw.randint(2, 6)):
        start = draw.randint(0, 1)
        some = [*sorted(draw.sample(range(last), draw.randint(0, last))), last]
        blocks.append(plain(start, draw.randint(start + 1, 2), draw.randint(2, 9), pools=some))
    return make_instance(blocks, pools=pools)


def least_of_choices(instance: Instance) -> int | None:
    """The least sum of peaks of all choices, without addresses; None if nothing fits."""
    least = None
    size = (instance.part_high - instance.part_low)[instance.rect_part].tolist()
    spans = list(zip(instance.rect_start.tolist(), instance.rect_end.tolist(), size, strict=True))
    homes = [[p for p in range(len(instance.pools)) if row[p]] for row in instance.allowed.tolist()]
    for choice in product(*homes):
        worth, fits = 0, True
        for pool, spec in enumerate(instance.pools):
            loads = [
                sum(
                    high
                    for (start, end, high), home in zip(spans, choice, strict=True)
                    if home == pool and start <= t < end
                )
                for t in range(instance.sections)
            ]
            fits &= spec.capacity is None or max(loads) <= spec.capacity
            worth += spec.cost * max(loads)
        if fits and (least is None or worth < least):
            least = worth
    return least


def test_no_choice_is_below_the_bound_and_many_reach_it() -> None:
    reached = more = 0
    for seed in range(300):
        instance = with_free_pools(random.Random(seed))
        least, found = least_of_choices(instance), peaks_beside_free(instance)
        assert least is not None
        assert found <= least, seed
        assert first_bounds(instance).value[0] <= least, seed
        reached += found == least > 0
        more += found > first_bounds(instance).value[0]
    assert reached > 50
    assert more > 20
