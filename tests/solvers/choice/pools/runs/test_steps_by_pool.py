"""Where alignments differ from pool to pool, each pool counts in steps of its own."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from random import Random

import numpy as np
import pytest

from planner import Buffer, Colocation, Constraints, Fixed, Options, Pool, Preference, Problem, plan
from planner.checks import check
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.prices.division_tree import DivisionTree, is_held_by_sum
from solvers.choice.pools.program.program import Costs
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
from solvers.choice.pools.runs.in_steps import InSteps
from solvers.choice.pools.searches.fullest import FullestFirst
from solvers.geometry.presolve import restrict, scaled, unit
from solvers.geometry.simpler import Stepped, stepped
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec
from solvers.model.objective import evaluate, peaks
from solvers.model.outcome import Value
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.judge import judge
from tests.small.oracle import solve

WORK = 3_000_000
ALIGNMENTS = (16, 64, 256)
PREFERENCES = (Preference.SIZE, Preference.SPEED, Preference.BALANCED)


def drawn(seed: int) -> Problem:
    """Three to six buffers in two or three pools, each with its own alignment."""
    chance = Random(seed)
    while check(problem := _drawn(chance)):
        pass
    return problem


def _drawn(chance: Random) -> Problem:
    pools = [_pool(chance, f"p{number}", number) for number in range(chance.randint(2, 3))]
    if chance.random() < 0.15:
        pools.append(replace(_pool(chance, "flash", 3), read_only=True))
    buffers = []
    for number in range(chance.randint(3, 6)):
        begin = chance.randint(0, 3)
        buffer = Buffer(
            f"b{number}",
            chance.randint(1, 20),
            chance.choice((1, 1, 1, 2, 4)),
            live=((begin, begin + chance.randint(1, 3)),),
            accesses=chance.randint(1, 9),
            kind=chance.choice((None, None, None, "constant")),
        )
        rule = chance.random()
        if rule < 0.1:
            offset = chance.choice((None, 0, 16, 48))
            buffer = replace(buffer, fixed=Fixed(chance.choice(pools).name, offset))
        elif rule < 0.3:
            buffer = replace(buffer, pools=tuple(pool.name for pool in chance.sample(pools, 2)))
        buffers.append(buffer)
    joined = (Colocation("b1", "b0", chance.choice((0, 4, 8))),) if chance.random() < 0.15 else ()
    return Problem(tuple(buffers), tuple(pools), Constraints(colocations=joined))


def _pool(chance: Random, name: str, rank: int) -> Pool:
    alignment, begin = chance.choice((1, 2, 3, 4, 6, 8, 16)), chance.randint(0, 20)
    return Pool(
        name,
        chance.choice((None, chance.randint(8, 50))),
        alignment,
        alignment * chance.randint(0, 3) if chance.random() < 0.2 else None,
        ((begin, begin + chance.randint(1, 9)),) if chance.random() < 0.2 else (),
        chance.choice((1, 1, 1, 2, 3, 0)),
        rank,
    )


@pytest.mark.parametrize("preference", PREFERENCES)
@pytest.mark.parametrize("seed", range(60))
def test_what_is_claimed_is_true(seed: int, preference: Preference) -> None:
    problem = with_preference(drawn(seed), preference)
    made = plan(problem, Options(solver="pools_first", work_limit=WORK, time_limit=None, workers=1))
    assert judge(problem, made, solve(problem)) == []


def least_in(instance: Instance, pool: int, blocks: tuple[int, ...]) -> list[int] | None:
    """Where these blocks begin in the pool if it is as low as it can be; None if they do not fit. Each order is tried, each block as low as it goes."""
    begin, end, high = instance.rect_start.tolist(), instance.rect_end.tolist(), instance.block_high.tolist()
    best: tuple[int, list[int]] | None = None
    for order in permutations(blocks):
        base_of = dict[int, int]()
        for block in order:
            taken = [(b, b + high[k]) for k, b in base_of.items() if begin[k] < end[block] and begin[block] < end[k]]
            taken += instance.pools[pool].reserved
            low, most, step = (int(each[block, pool]) for each in (instance.lowest, instance.highest, instance.modulus))
            bases = (
                base
                for base in range(low, most + 1, step)
                if all(base >= upto or base + high[block] <= first for first, upto in taken)
            )
            base = next(bases, None)
            if base is None:
                break
            base_of[block] = base
        else:
            peak = max(base_of[block] + high[block] for block in order)
            if best is None or peak < best[0]:
                best = peak, [base_of[block] for block in blocks]
    return None if best is None else best[1]


def best_of(instance: Instance) -> Value | None:
    """The value of the best placement of plain blocks, by trying all."""
    known, best = dict[tuple[int, tuple[int, ...]], list[int] | None](), None
    for choice in product(*(np.flatnonzero(row).tolist() for row in instance.allowed)):
        pools, offset = np.array(choice), np.zeros(instance.blocks, dtype=np.int64)
        for pool in set(choice):
            blocks = tuple(np.flatnonzero(pools == pool).tolist())
            if (pool, blocks) not in known:
                known[pool, blocks] = least_in(instance, pool, blocks)
            bases = known[pool, blocks]
            if bases is None:
                break
            offset[list(blocks)] = bases
        else:
            value = evaluate(instance, Placement(pools, offset))
            best = value if best is None else min(best, value)
    return best


@pytest.mark.parametrize("preference", PREFERENCES)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_claimed_in_whole_steps_is_true(seed: int, preference: Preference) -> None:
    instance = lower(with_preference(replace(drawn(seed), constraints=Constraints()), preference)).instance
    wide = stepped(instance) if instance.allowed.any(axis=1).all() else None
    if wide is None:
        return
    instance = wide.instance
    outcome = get("pools_first").solve(instance, Task(Limits(work=WORK)), Silent())
    best = best_of(instance)
    if best is None or outcome.placement is None:
        assert best is None or not outcome.infeasible
        assert outcome.placement is None
        return
    assert not outcome.infeasible
    assert outcome.value == evaluate(instance, outcome.placement)
    assert outcome.bound <= best[: len(outcome.bound)]
    assert outcome.value >= best
    assert outcome.stop is not StopReason.PROVED or outcome.value == best


def mixed(buffers: int, seed: int) -> Stepped:
    """`hot` in whole steps, where each pool has an alignment of its own."""
    problem = generate("hot", Request(buffers, seed))
    each = zip(problem.pools, ALIGNMENTS, strict=True)
    pools = (replace(p, alignment=a, size=None if p.size is None else -(-p.size // a) * a) for p, a in each)
    wide = stepped(lower(with_preference(replace(problem, pools=tuple(pools)), Preference.SIZE)).instance)
    assert wide is not None
    return wide


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("free", [0, 64, 640])
def test_divisions_take_what_their_pools_round_up_to(seed: int, free: int, asking: Asking) -> None:
    instance = mixed(9, seed).instance
    program = program_of(instance)
    assert is_held_by_sum(instance, program, 1)
    least = asking.ask(program, Question(0), WORK).value
    assert least is not None
    most = least + free
    values = dict[int, tuple[int, ...]]()
    for pools in product(*program.homes):
        tops = program.least_tops(pools)
        fits = all(room.capacity is None or top <= room.capacity for room, top in zip(program.rooms, tops, strict=True))
        if fits and sum(tops) <= most:
            values.setdefault(program.value(1, pools, tops), tops)
    cheapest = min(values)
    search = FullestFirst(instance, program, instance.class_number, asking, Question(1, held=(most,)))
    section = search.fullest_section()
    for best in (cheapest, cheapest + 1, 2 * cheapest, 10 * cheapest):
        for work in (1, 20_000, WORK):
            tree = DivisionTree(program, most, section, best, lambda: False)
            assert tree.run(0, work) <= cheapest
    heights = tree.heights_below(cheapest + 1, WORK)
    assert all(low <= top <= high for (low, high), top in zip(heights, values[cheapest], strict=True))


def test_all_that_is_live_at_the_fullest_moment_takes_whole_steps_of_each_pool(asking: Asking) -> None:
    instance = mixed(60, 3).instance
    program = program_of(instance)
    assert [room.step for room in program.rooms] == [1, 1, 1]
    assert not program.pads
    search = FullestFirst(instance, program, instance.class_number, asking, Question(1))
    for _, units in search.fullest_section():
        assert all(size % step == 0 for size, step in zip(units, ALIGNMENTS, strict=True))
        assert list(units) == sorted(units)
    for row in program.rows:
        assert all(units % ALIGNMENTS[row.pool] == 0 for _, units in (*row.members, (0, row.always)))


def test_where_a_range_begins_between_steps_the_pool_has_those_that_all_have() -> None:
    blocks = [plain(0, 2, 5, alignment=4, pools=[0]), plain(0, 2, 5, alignment=8, pools=[1])]
    for begin, step in ((16, 8), (12, 4)):
        wide = stepped(make_instance(blocks, pools=[PoolSpec(), PoolSpec(25, ((begin, 18),))]))
        assert wide is not None
        assert wide.instance.pools == (
            PoolSpec(step=4),
            PoolSpec(-(-25 // step) * step, ((begin, -(-18 // step) * step),), step=step),
        )
    assert stepped(make_instance(blocks, pools=[PoolSpec(), PoolSpec(25, ((14, 18),))])) is None


def test_what_is_in_steps_is_not_put_into_the_same_again() -> None:
    blocks = [plain(0, 2, 3, alignment=4, pools=[0]), plain(0, 2, 3, alignment=16, residue=8, pools=[1])]
    wide = stepped(make_instance(blocks, pools=[PoolSpec(), PoolSpec(25)]))
    assert wide is not None
    assert [pool.step for pool in wide.instance.pools] == [4, 8]
    assert stepped(wide.instance) is None


def test_one_pool_alone_has_blocks_as_high_as_they_count() -> None:
    instance = mixed(20, 3).instance
    for pool, step in enumerate(ALIGNMENTS):
        blocks = np.flatnonzero(instance.allowed[:, pool])
        piece = restrict(instance, blocks, [pool]).instance
        assert piece.pools[0].step == 1
        assert piece.block_high.tolist() == (-(-instance.block_high[blocks] // step) * step).tolist()
    assert restrict(instance, np.arange(20), [0, 2]).instance.pools == (instance.pools[0], instance.pools[2])


def test_steps_are_counted_in_the_greatest_unit_too() -> None:
    blocks = [plain(0, 2, 12, alignment=4, pools=[0]), plain(0, 2, 12, alignment=12, pools=[1])]
    wide = stepped(make_instance(blocks, pools=[PoolSpec(), PoolSpec(25)]))
    assert wide is None
    wide = stepped(make_instance([*blocks, plain(0, 2, 20, alignment=12, pools=[1])], pools=[PoolSpec(), PoolSpec(49)]))
    assert wide is not None
    assert wide.waste == (0, 4)
    assert [(pool.capacity, pool.step) for pool in wide.instance.pools] == [(None, 4), (60, 12)]
    assert unit(wide.instance) == 4
    small = scaled(wide.instance, 4)
    assert [(pool.capacity, pool.step) for pool in small.pools] == [(None, 1), (15, 3)]
    placement = Placement(np.array([0, 1, 1]), np.array([0, 0, 3]))
    assert peaks(small, placement) == (3, 9)
    assert peaks(wide.instance, Placement(placement.pool, 4 * placement.offset)) == (12, 36)
    assert unit(replace(wide.instance, pools=(PoolSpec(step=5), PoolSpec()))) == 1


@pytest.mark.parametrize(
    ("term", "value", "found"),
    [
        (Costs((), (1, 1)), 65, 65 + 15 + 63 - 15),
        (Costs((), (3, 1)), 65, 65 + 45 + 63 - 13),
        (Costs((), (0, 1)), 66, 128),
        (Costs((), (0, 0)), 0, 0),
        (Costs((), (0, 0), is_largest=True), 65, 128),
        (Costs((), (0, 0), is_largest=True), 64, 64),
    ],
)
def test_how_high_peaks_may_be_in_whole_steps(term: Costs, value: int, found: int) -> None:
    wide = mixed(20, 3)
    run = InSteps(wide.instance, program_of(wide.instance), Task(Limits()), Silent())
    run.wide = Stepped(replace(wide.instance, pools=wide.instance.pools[:2]), (15, 63))
    assert run._in_steps(term, value) == found
    run.asking.close()
