"""What reserved ranges keep from lying low counts in bounds, and these never exceed a reachable peak."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from planner import Buffer, Options, Pool, Problem, plan, verify
from planner.model.problem import Colocation, Constraints, Fixed
from solvers.bounds.above_ranges import raised
from solvers.bounds.one_pool import pool_bound
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Certificate
from tests.small.instances import Block, make_instance, plain
from tests.small.oracle import solve

RANGES = (PoolSpec(None, ((10, 12), (22, 24), (40, 41))),)
"""Gaps of 10, 10 and 16."""


def bound(instance: Instance, pool: int = 0) -> Certificate:
    found = pool_bound(instance, pool)
    assert found is not None
    return found


def lowest(instance: Instance) -> list[int]:
    everything = np.ones(instance.blocks, dtype=np.bool_)
    return [int(base) for base in raised(instance, 0, everything).lowest[:, 0]]


def test_what_fits_no_gap_lies_above_the_ranges() -> None:
    small = [(0, 1, 3)] * 9
    found = bound(make_instance([(0, 1, 17), (0, 1, 18), *small], pools=RANGES))
    assert (found.value, found.section, found.parts) == (41 + 17 + 18, 0, (0, 1))


def test_only_what_lives_together_counts() -> None:
    found = bound(make_instance([(0, 1, 17), (1, 2, 18), *[(0, 2, 3)] * 4], pools=RANGES))
    assert (found.value, found.parts) == (41 + 18, (1,))


def test_large_parts_fill_only_wide_gaps() -> None:
    # The two fit only into the third gap, and so one lies above it, though all bytes but 7 would fill the gaps.
    found = bound(make_instance([(0, 1, 11), (0, 1, 12), *[(0, 1, 1)] * 20], pools=RANGES))
    assert (found.value, found.parts) == (41 + 11, (0, 1))


def test_alignments_and_views_keep_blocks_out_of_gaps_that_are_wide_enough() -> None:
    side_by_side = Block([(0, 6, [(0, 1)]), (6, 12, [(0, 2)])])
    apart = Block([(0, 2, [(0, 1)]), (13, 15, [(0, 1)])])
    blocks: list[Block | tuple[int, int, int]] = [
        plain(0, 1, 12, alignment=15),
        side_by_side,
        apart,
        plain(0, 1, 9, alignment=8, residue=4),
        (0, 1, 0),
    ]
    assert lowest(make_instance(blocks, pools=RANGES)) == [45, 24, 0, 12, 0]


def test_where_a_block_fits_nowhere_nothing_is_raised() -> None:
    blocks = [plain(0, 1, 11, max_offset=20), plain(0, 1, 11)]
    assert lowest(make_instance(blocks, pools=RANGES)) == [0, 0]


def test_in_several_memories_only_blocks_without_another_home_count() -> None:
    blocks = [plain(0, 1, 17, pools=[0]), plain(0, 1, 18), plain(0, 1, 20, pools=[1])]
    assert bound(make_instance(blocks, pools=[*RANGES, PoolSpec()])).value == 41 + 17


def test_a_plan_is_proven_by_what_lies_above_the_ranges() -> None:
    rng = Random(5)
    large = [Buffer(f"large{n}", 300 + n, live=((10 * n, 10 * n + 25),)) for n in range(6)]
    small = [Buffer(f"small{n}", rng.randint(5, 60), live=((n, n + rng.randint(1, 20)),)) for n in range(70)]
    ranges = ((200, 210), (400, 410), (600, 610), (800, 810))
    problem = Problem((*large, *small), (Pool("memory", reserved=ranges),))
    made = plan(problem, Options(time_limit=None, work_limit=20_000))
    assert (made.status, made.peak, made.certificates[0].buffers) == (
        "optimal",
        810 + 303 + 304 + 305,
        ("large3", "large4", "large5"),
    )
    assert not verify(problem, made)


@pytest.mark.parametrize("seed", range(60))
def test_no_bound_is_above_the_optimum(seed: int) -> None:
    problem = _small(Random(seed))
    made, truth = plan(problem, Options(time_limit=None, work_limit=2_000)), solve(problem)
    assert not verify(problem, made)
    assert truth.peaks is None or made.bound <= sum(truth.peaks)
    assert truth.is_feasible or made.status in ("infeasible", "unknown")


def _small(rng: Random) -> Problem:
    ranges, at = list[tuple[int, int]](), rng.randint(0, 6)
    for _ in range(rng.randint(1, 5)):
        ranges.append((at, at + rng.randint(1, 5)))
        at = ranges[-1][1] + rng.randint(0, 12)
    first = Pool("first", rng.choice((None, 60)), alignment=rng.choice((1, 1, 4)), reserved=tuple(ranges))
    buffers = []
    for n in range(rng.randint(3, 5)):
        begin = rng.randint(0, 4)
        buffers.append(
            Buffer(
                n,
                rng.choice((0, 1, 3, 5, 7, 8, 10, 12)),
                alignment=rng.choice((1, 1, 2, 8)),
                live=((begin, begin + rng.randint(1, 4)),),
                max_offset=rng.choice((None, None, None, 30)) if n else None,
                fixed=Fixed("first", at // 8 * 8 + 16)
                if n == 0 and first.size is None and rng.randint(0, 2) == 0
                else None,
            )
        )
    tied = (Colocation(1, 2, rng.choice((0, 8))),) if rng.randint(0, 2) == 0 else ()
    pools = (first, Pool("second", 12)) if rng.randint(0, 3) == 0 else (first,)
    exclusions = ((0, 1),) if rng.randint(0, 4) == 0 else ()
    return Problem(tuple(buffers), pools, Constraints(colocations=tied, exclusions=exclusions))
