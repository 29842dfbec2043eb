"""Blocks that leave their room to what begins then share a pool: so memories that are full at all times are chosen, packed and proven."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given

from planner import Preference
from planner.generate import Request, generate
from planner.model.problem import Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program import exchanges
from solvers.choice.pools.program.entries import at_fullest
from solvers.choice.pools.program.exchanges import narrowed
from solvers.choice.pools.program.writing import pools_of_classes, program_of
from solvers.geometry.rules import violation
from solvers.model.instance import PoolSpec
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.property.test_solvers_alone import check
from tests.small.instances import make_instance, plain
from tests.small.oracle import solve
from tests.small.strategies import effort, problems

TWO = (PoolSpec(100), PoolSpec(None, cost=2))


@effort(9, 5_000)
@given(problems(max_buffers=6))
def test_answers_stay_true_where_anything_is_narrowed(problem: Problem) -> None:
    assume(lower(problem).instance.has_choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchanges, "WORTH", 1)
        check("pools_first", problem, solve(problem))


@effort(30, 5_000)
@given(problems(max_buffers=6))
def test_the_fullest_moment_keeps_rows_of_the_program(problem: Problem) -> None:
    program = program_of(lower(problem).instance)
    thin = at_fullest(program)
    assert set(thin.rows) <= set(program.rows)
    assert {row.pool for row in thin.rows} == {row.pool for row in program.rows}
    assert (thin.homes, thin.rooms, thin.terms) == (program.homes, program.rooms, program.terms)


def test_what_takes_the_place_of_others_shares_their_class() -> None:
    blocks = [(0, 4, 60), (4, 8, 25), (4, 8, 35), (0, 3, 40), (3, 8, 40), (0, 5, 77), (5, 8, 77)]
    smaller, work = narrowed(make_instance([plain(*block) for block in blocks], pools=TWO))
    assert smaller is not None
    assert [sorted(np.flatnonzero(smaller.pool_class == each)) for each in np.unique(smaller.pool_class)] == [
        [0, 1, 2],
        [3, 4],
        [5, 6],
    ]
    assert work > 0


def test_what_two_memories_change_at_one_moment_stays_apart() -> None:
    """All changes add up to nothing wherever memories are full: they were joined, though parts of them do so as well, which were too low to count."""
    ended, begun = (366, 189), (71, 33, 246, 16, 68, 80, 41)
    blocks = [plain(0, 4, high) for high in ended] + [plain(4, 8, high) for high in begun]
    smaller, _ = narrowed(make_instance(blocks, pools=TWO))
    assert smaller is not None
    assert smaller.pool_class.tolist() == [0, 1, 0, 0, 0, 0, 1, 1, 1]


def test_sets_of_five_are_found_among_many_that_change_at_once() -> None:
    chance = random.Random(5)
    blocks = []
    for _ in range(4):
        first, second, third = (chance.randint(1 << 28, 1 << 29) for _ in range(3))
        ended = chance.randint(1 << 28, 1 << 29)
        sizes = (ended, first + second + third - ended)
        blocks += [plain(0, 4, size) for size in sizes] + [plain(4, 8, size) for size in (first, second, third)]
    smaller, _ = narrowed(make_instance(blocks, pools=(PoolSpec(1 << 34), PoolSpec(None, cost=2))))
    assert smaller is not None
    assert smaller.pool_class.reshape(4, 5).tolist() == [[5 * number] * 5 for number in range(4)]


def test_where_many_sums_are_equal_no_more_is_compared_than_may_be() -> None:
    """All pairs of sets with these sums were compared, half a million of them, before anybody asked how many there had been."""
    blocks = [plain(0, 4, 4) for _ in range(10)] + [plain(4, 8, 4) for _ in range(10)]
    blocks += [plain(4, 8, 10**9), plain(4, 8, 10**9 + 4)]
    found, work = narrowed(make_instance(blocks, pools=TWO))
    assert found is None
    assert work <= exchanges.A_MOMENT * len(exchanges.MOST_CHANGES) + exchanges.MOST_SETS // exchanges.SUMS_A_UNIT


def test_it_ends_after_about_as_much_work_as_it_may_take() -> None:
    instance = lower(generate("pool_packing", Request(200, 1))).instance
    _, whole = narrowed(instance)
    _, work = narrowed(instance, whole // 4)
    assert whole // 8 <= work <= whole // 2


def test_what_may_not_be_together_is_not_joined() -> None:
    homes = [plain(0, 4, 60, pools=[0]), plain(4, 8, 60, pools=[1])]
    assert narrowed(make_instance(homes, pools=TWO))[0] is None
    pair = [plain(0, 4, 60), plain(4, 8, 60)]
    assert narrowed(make_instance(pair, pools=TWO))[0] is not None
    assert narrowed(make_instance(pair, pools=TWO, apart=[(0, 1)]))[0] is None


def test_low_blocks_that_are_equal_by_chance_are_not_joined() -> None:
    units = [plain(0, 4, 1) for _ in range(6)] + [plain(4, 8, 1) for _ in range(6)]
    assert narrowed(make_instance(units, pools=TWO))[0] is None


def test_where_little_fits_exactly_nothing_is_narrowed() -> None:
    assert narrowed(lower(generate("hot", Request(300, 1))).instance)[0] is None


@pytest.mark.parametrize(("buffers", "seed"), [(600, 720_002), (1_000, 720_001)])
def test_full_memories_are_packed_and_proven(buffers: int, seed: int) -> None:
    problem = generate("pool_packing", Request(buffers, seed))
    instance = lower(problem).instance
    outcome: Outcome = get("pools_first").solve(instance, Task(limits=Limits(work=4_000_000)), Silent())
    assert outcome.is_optimal
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    smaller, _ = narrowed(instance)
    assert smaller is not None
    together, pools = smaller.class_number, pools_of_classes(instance.class_number, outcome.placement)
    assert len(np.unique(together)) * 4 < len(pools)


def test_full_memories_are_packed_after_a_term_that_counts_nothing() -> None:
    """Without accesses the first term of `speed` is 0 wherever buffers go: any choice answered it, and none was full."""
    problem = with_preference(generate("pool_packing", Request(1_000, 720_001)), Preference.SPEED)
    outcome = get("pools_first").solve(lower(problem).instance, Task(limits=Limits(work=1_500_000)), Silent())
    assert outcome.value == outcome.bound == (0, 2_555_904)
