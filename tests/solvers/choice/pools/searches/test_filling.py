"""Filling pools in turn, where the sum of the peaks is what is live at the fullest moment: it stays at that, and dear blocks come to the fast pools."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest

from planner import Buffer, Fixed, Pool, Preference, Problem
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.bounds.first_bounds import first_bounds
from solvers.bounds.prices.market import costs_by_pool
from solvers.bounds.weighted_sections import peaks_beside_free
from solvers.choice.pools import budget
from solvers.choice.pools.placing.packing import ending_at
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.runs.whole import Whole
from solvers.choice.pools.searches.filling import Filling, fullest
from solvers.choice.pools.solver import PoolsFirst
from solvers.geometry.rules import violation
from solvers.heuristics.greedy.packing import Fillable
from solvers.heuristics.greedy.packing import filled as filled_pool
from solvers.model.instance import Instance, Placement
from solvers.model.objective import evaluate, peaks
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.strategies import NIGHTLY

WORK = 100_000


def crowded(seed: int) -> Instance:
    return lower(with_preference(generate("hot", Request(120, seed, 1, {"live": 30})), Preference.SIZE)).instance


@cache
def filled(seed: int) -> Placement | None:
    """Return what is found for such a problem, once for all tests."""
    return Filling(crowded(seed), 1, Task(Limits()), Silent()).run(WORK)


@pytest.mark.parametrize("seed", range(12 if NIGHTLY else 3))
def test_pools_together_are_as_high_as_what_is_live_and_cost_less_than_the_last_one(seed: int) -> None:
    instance, found = crowded(seed), filled(seed)
    assert found is not None
    assert violation(instance, found) is None
    peak, cost = evaluate(instance, found)
    assert peak == first_bounds(instance).value[0]
    each = costs_by_pool(replace(instance, terms=instance.terms[1:]), np.arange(instance.blocks), instance.blocks)
    assert cost < each[:, -1].sum()


def test_attempts_on_few_blocks_are_counted() -> None:
    """Six blocks were filled 20 000 times, and more, for the work of a tenth of a second."""
    instance = lower(with_preference(generate("hot", Request(6, 1)), Preference.SIZE)).instance
    filling = Filling(instance, 1, Task(Limits()), Silent())
    with patch.object(filling, "_filled", wraps=filling._filled) as attempts:
        filling.run(20_000)
    assert 0 < attempts.call_count <= 20_000 // budget.LEAST_OF_ATTEMPT + 2


@pytest.mark.parametrize(("blocks", "seed"), [(200, 2), (200, 10), (300, 3)])
def test_pools_are_lowered_where_nothing_is_found_below_full_ones(blocks: int, seed: int) -> None:
    problem = with_preference(generate("hot", Request(blocks, seed, parameters={"live": 60})), Preference.SIZE)
    instance = lower(problem).instance
    found, again = (Filling(instance, 1, Task(Limits()), Silent()).run(100_000) for _ in range(2))
    assert found is not None
    assert again is not None
    assert violation(instance, found) is None
    assert evaluate(instance, found)[0] == first_bounds(instance).value[0]
    assert (found.offset == again.offset).all()


def test_blocks_at_given_addresses_come_before_those_that_live_longer() -> None:
    """The long one was put first, as low as it could be: there the fixed one must lie, so the long one had to leave its pool in the end."""
    fixed = Buffer("fixed", 4, live=((2, 3),), fixed=Fixed("fast", 0))
    long, other = Buffer("long", 10, live=((0, 4),), reads=9), Buffer("other", 9, live=((0, 4),), pools=("slow",))
    pools = Pool("fast", 14), Pool("slow", 20, rank=1)
    instance = lower(with_preference(Problem((fixed, long, other), pools), Preference.SIZE)).instance
    found = Filling(instance, 1, Task(Limits()), Silent()).run(WORK)
    assert found is not None
    assert (found.pool.tolist(), found.offset.tolist()) == ([0, 0, 1], [0, 4, 0])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pools_whose_peaks_cost_nothing_are_full_at_the_fullest_section(seed: int) -> None:
    plain = crowded(seed)
    instance = replace(plain, pools=(plain.pools[0], replace(plain.pools[1], cost=0), *plain.pools[2:]))
    found = Filling(instance, 1, Task(Limits()), Silent()).run(WORK)
    assert found is not None
    assert violation(instance, found) is None
    assert evaluate(instance, found)[0] == peaks_beside_free(instance)


def test_blocks_that_may_be_in_the_last_pool_alone_never_come_sooner() -> None:
    """They gain minus infinity elsewhere, and coming sooner often enough made that no number, of which numpy warns."""
    problem = with_preference(generate("hot", Request(300, 1, 1, {"live": 80})), Preference.SIZE)
    draw, last = random.Random(1), problem.pools[-1].name
    buffers = tuple(replace(each, pools=(last,)) if draw.random() < 0.9 else each for each in problem.buffers)
    instance = lower(replace(problem, buffers=buffers)).instance
    found = Filling(instance, 1, Task(Limits()), Silent()).run(200_000)
    assert found is None or violation(instance, found) is None


def test_blocks_that_may_be_in_the_first_pool_alone_stay_there() -> None:
    """What they lose elsewhere is infinite, and nothing is reckoned with that of which numpy warns."""
    problem = with_preference(generate("hot", Request(120, 0, 1, {"live": 30})), Preference.SIZE)
    first = problem.pools[0].name
    least = sorted(each.size for each in problem.buffers)[5]
    buffers = tuple(replace(each, pools=(first,)) if each.size <= least else each for each in problem.buffers)
    instance = lower(replace(problem, buffers=buffers)).instance
    found = Filling(instance, 1, Task(Limits()), Silent()).run(WORK)
    assert found is not None
    assert violation(instance, found) is None


def test_pools_are_filled_below_given_heights() -> None:
    instance, start = crowded(0), filled(0)
    assert start is not None
    tops = peaks(instance, start)
    nobody = np.full(instance.blocks, -1)
    found = Filling(instance, 1, Task(Limits()), Silent(), (nobody, tops)).run(WORK)
    assert found is not None
    assert violation(instance, found) is None
    assert peaks(instance, found) == tops


def test_what_came_nearest_is_a_placement_whose_last_pool_alone_is_too_high() -> None:
    instance = crowded(1)
    filling = Filling(instance, 1, Task(Limits()), Silent())
    assert filling.nearest() is None
    assert filling.run(1) is None
    nearest = filling.nearest()
    assert nearest is not None
    placement, tops = nearest
    assert violation(instance, placement) is None
    assert sum(tops) == filling.height
    last = next(n for n, pool in enumerate(instance.pools) if pool.capacity is None)
    high = [n for n, (peak, top) in enumerate(zip(peaks(instance, placement), tops, strict=True)) if peak > top]
    assert high == [last]


def test_the_same_work_gives_the_same_placement() -> None:
    first, again = filled(0), Filling(crowded(0), 1, Task(Limits()), Silent()).run(WORK)
    assert first is not None
    assert again is not None
    assert (first.pool == again.pool).all()
    assert (first.offset == again.offset).all()


def test_no_other_subset_fills_the_room_better() -> None:
    draw = random.Random(1)
    filled = 0
    for _ in range(200):
        sizes = [draw.randint(1, 30) for _ in range(draw.randint(0, 7))]
        room = draw.randint(0, 80)
        taken = fullest(np.array(sizes, dtype=np.int64), room)
        sums = (
            sum(s for s, some in zip(sizes, each, strict=True) if some)
            for each in product((False, True), repeat=len(sizes))
        )
        best = max(each for each in sums if each <= room)
        assert int(np.array(sizes, dtype=np.int64)[taken].sum()) == best
        filled += best == room
    assert filled > 10


@pytest.mark.parametrize(("costs", "can"), [((0, 2), True), ((2, 0), False), ((1, 1), True), ((0, 0), False)])
def test_pools_are_filled_only_where_the_last_one_costs_something(costs: tuple[int, int], *, can: bool) -> None:
    """Else the dear pool would be filled before the free one."""
    pools = tuple(
        Pool(name, 400, cost=cost, rank=rank) for rank, (name, cost) in enumerate(zip("ab", costs, strict=True))
    )
    buffers = tuple(Buffer(n, 20 + n % 7, live=((n, n + 9),), reads=n % 5) for n in range(40))
    instance = lower(with_preference(Problem(buffers, pools), Preference.SIZE)).instance
    run = Whole(instance, program_of(instance), Task(Limits()), Silent())
    run.value = (1 << 40, 1 << 40)
    assert run._can_fill() is can


def test_pools_are_filled_where_nothing_could_be_packed_below_heights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all would stay in one pool, where the same problem with little work is filled at once."""
    instance = lower(with_preference(generate("hot", Request(120, 3)), Preference.SIZE)).instance
    monkeypatch.setattr(Whole, "_ask", lambda *given: [])
    monkeypatch.setattr(Whole, "_from_fullest", lambda *given, is_soon: [])
    monkeypatch.setattr(Whole, "_improve", lambda *given, **more: None)
    outcome = PoolsFirst().solve(instance, Task(Limits(work=1_500_000)), Silent())
    assert outcome.value is not None
    each = costs_by_pool(replace(instance, terms=instance.terms[1:]), np.arange(instance.blocks), instance.blocks)
    assert outcome.value[0] == first_bounds(instance).value[0]
    assert outcome.value[1] < each[:, -1].sum()


def test_a_first_term_that_one_pool_settles_takes_no_question(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = generate("hot", Request(60, 3, 1, {"live": 30}))
    instance = lower(with_preference(problem, Preference.SIZE)).instance
    asked = list[int]()
    ask = Asking.ask

    def noted(self: Asking, *args: object) -> object:
        if len(args[0].terms) > 1:  # type: ignore[attr-defined]
            asked.append(args[1].term)  # type: ignore[attr-defined]
        return ask(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Asking, "ask", noted)
    start = get("greedy").solve(instance, Task(Limits(work=20_000)), Silent()).placement
    bound = first_bounds(instance).value
    outcome = get("pools_first").solve(instance, Task(Limits(work=400_000), start=start, bound=bound), Silent())
    assert outcome.value is not None
    assert outcome.value[:1] == bound[:1]
    assert 0 not in asked


def test_attempts_that_come_to_nothing_better_end() -> None:
    """With much work the same placement was made thousands of times, which took seconds, while divisions prove the best one at once."""
    filling = Filling(crowded(0), 1, Task(Limits()), Silent())
    with patch.object(filling, "_filled", wraps=filling._filled) as attempts:
        found = filling.run(10_000_000)
    assert found is not None
    assert attempts.call_count <= 1_000
    assert filling.work < 1_000_000


@pytest.mark.parametrize("seed", range(40 if NIGHTLY else 4))
def test_a_pool_that_was_cut_out_once_is_filled_as_one_that_is_cut_out_anew(seed: int) -> None:
    draw, instance = random.Random(seed), crowded(seed)
    for pool in range(len(instance.pools)):
        once = Fillable(instance, pool)
        for _ in range(5):
            lower = ending_at(
                instance, [draw.randrange(1, 1 + pool.capacity) if pool.capacity else None for pool in instance.pools]
            )
            some = np.flatnonzero(
                lower.allowed[:, pool] & (np.array([draw.random() for _ in range(lower.blocks)]) < 0.7)
            )
            order = np.array(draw.sample(range(len(some)), len(some)), dtype=np.int64)
            bases, out = once.filled(some[order], lower.highest[:, pool])
            wanted, left = filled_pool(lower, pool, some, order)
            assert bases.tolist() == wanted[order].tolist()
            assert out.tolist() == some[left].tolist()
