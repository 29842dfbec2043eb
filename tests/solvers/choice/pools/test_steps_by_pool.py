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
from solvers.choice.pools.in_steps import InSteps
from solvers.choice.pools.prices.division_tree import DivisionTree, is_held_by_sum
from solvers.choice.pools.program.program import Costs
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.questions.asking import Asking
from solvers.choice.pools.questions.question import Question
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
            low, most, step = (
                int(each[block, pool]) for each in (instance.lowest, instance.highest, instance.modulus)
            )
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
def test_in_whole_steps_the_best_is_found_and_nothing_better_is_left_out(seed: int, preference: Preference) -> None:
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
