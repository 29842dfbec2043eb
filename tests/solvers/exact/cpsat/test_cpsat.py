"""CP-SAT agrees with brute force on small instances of every kind that it claims to take."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from solvers import sandbox
from solvers.geometry.rules import violation
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement, PoolSpec, Term
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome, Value
from solvers.model.solver import Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY

PEAK = "solvers.exact.cpsat:CpSatPeak"
BOTH_MODES = pytest.mark.parametrize("solver", ["cpsat", PEAK])


def solve(instance: Instance, task: Task | None = None, solver: str = "cpsat") -> Outcome:
    return sandbox.run(solver, instance, task or Task(), Silent())


def brute_force(instance: Instance) -> Value | None:
    """Return the best value of all placements, found by trying them all, or None if there is no placement."""
    spots = []
    for block in range(instance.blocks):
        here = [
            (pool, base)
            for pool in np.flatnonzero(instance.allowed[block]).tolist()
            for base in range(
                int(instance.lowest[block, pool]),
                int(instance.highest[block, pool]) + 1,
                int(instance.modulus[block, pool]),
            )
        ]
        spots.append(here)
    best: Value | None = None
    for choice in product(*spots):
        placement = Placement(
            np.array([pool for pool, _ in choice], dtype=np.int64),
            np.array([base for _, base in choice], dtype=np.int64),
        )
        value = evaluate(instance, placement)
        if (best is None or value < best) and violation(instance, placement) is None:
            best = value
    return best


def agrees(instance: Instance, outcome: Outcome) -> None:
    """Assert that the outcome is the proven optimum, or the proof that there is no placement."""
    best = brute_force(instance)
    assert outcome.stop is StopReason.PROVED
    assert outcome.infeasible == (best is None)
    assert outcome.value == best
    if best is not None:
        assert outcome.bound == best


@BOTH_MODES
def test_an_empty_instance_has_an_optimum_of_zero(solver: str) -> None:
    outcome = solve(make_instance([]), solver=solver)
    assert (outcome.value, outcome.bound) == ((0,), (0,))


CASES = {
    "one block": make_instance([(0, 1, 5)], capacity=9),
    "nothing live together": make_instance([(0, 1, 5), (1, 2, 3), (2, 3, 4)], capacity=6),
    "all live together": make_instance([(0, 2, 2), (0, 2, 3), (1, 2, 1)], capacity=8),
    "exactly full": make_instance([(0, 2, 2), (0, 2, 3), (1, 2, 1)], capacity=6),
    "one too many": make_instance([(0, 2, 2), (0, 2, 3), (1, 2, 2)], capacity=6),
    "larger than its pool": make_instance([(0, 2, 7)], capacity=6),
    "alignments": make_instance([plain(0, 2, 3, alignment=2), plain(0, 2, 1, alignment=3), (1, 2, 2)], capacity=9),
    "residues": make_instance(
        [plain(0, 2, 2, alignment=4, residue=3), plain(0, 2, 2, alignment=3, residue=1), (0, 1, 1)], capacity=10
    ),
    "fixed in the way": make_instance([plain(0, 2, 2, fixed=3), (0, 1, 3), (1, 2, 4)], capacity=10),
    "max offset": make_instance([plain(0, 2, 2, max_offset=1), plain(0, 2, 3, max_offset=2), (0, 2, 1)], capacity=9),
    "two fixed on each other": make_instance([plain(0, 2, 2, fixed=3), plain(1, 2, 2, fixed=4)], capacity=9),
    "reserved": make_instance([(0, 2, 2), (0, 2, 3), (1, 2, 1)], pools=[PoolSpec(10, reserved=((1, 2), (4, 5)))]),
    "reserved, never live": make_instance([Block([(0, 3, [])])], pools=[PoolSpec(9, reserved=((1, 3),))]),
    "reserved and aligned": make_instance(
        [plain(0, 1, 2, alignment=2), plain(0, 1, 2, alignment=3)], pools=[PoolSpec(14, reserved=((2, 4), (8, 9)))]
    ),
    "all reserved": make_instance([(0, 1, 1)], pools=[PoolSpec(4, reserved=((0, 4),))]),
    "zero sizes": make_instance(
        [plain(0, 2, 0, alignment=4, residue=2), (0, 2, 3), plain(0, 2, 0, fixed=1)], capacity=8
    ),
    "only zero sizes": make_instance([(0, 2, 0), (0, 2, 0)], capacity=4),
    "a hole to sit in": make_instance(
        [Block([(0, 2, [(0, 3)]), (5, 6, [(0, 3)])]), (0, 3, 3), Block([(0, 1, [(0, 1), (2, 3)])])], capacity=8
    ),
    "a hole too small": make_instance([Block([(0, 2, [(0, 3)]), (4, 6, [(0, 3)])]), (0, 3, 3)], capacity=10),
    "parts of a block overlap": make_instance(
        [Block([(0, 4, [(0, 2)]), (1, 3, [(1, 4)]), (0, 4, [(3, 4)])]), (2, 3, 1), (0, 4, 2)], capacity=9
    ),
    "interlocking cycle": make_instance(
        [
            Block([(0, 2, [(0, 1)]), (2, 4, [(2, 3)])]),
            Block([(0, 2, [(1, 2)]), (2, 4, [(0, 1)])]),
            Block([(0, 2, [(2, 3)]), (2, 4, [(1, 2)])]),
        ],
        capacity=8,
    ),
    "several live intervals": make_instance(
        [Block([(0, 2, [(0, 1), (2, 3)])]), (1, 2, 3), (0, 3, 1), (2, 3, 2)], capacity=7
    ),
    "exclusion": make_instance([(0, 2, 3), (0, 2, 4), (1, 2, 2)], capacity=9, exclusions=[(0, 1)]),
    "exclusions in groups": make_instance(
        [(0, 2, 2), (0, 2, 2), (0, 2, 3), (0, 2, 1)], capacity=6, exclusions=[(0, 2), (0, 3), (1, 2), (1, 3)]
    ),
    "exclusion of one part of a block": make_instance(
        [Block([(0, 2, [(0, 2)]), (2, 4, [(0, 2)])]), (0, 2, 2), (1, 2, 1)], capacity=8, exclusions=[(0, 2)]
    ),
    "conflict without common time": make_instance([(0, 1, 3), (1, 2, 4), (2, 3, 2)], capacity=9, conflicts=[(0, 1)]),
    "conflicts only": make_instance(
        [Block([(0, size, [])]) for size in (2, 1, 3, 1)], capacity=6, conflicts=[(0, 1), (1, 2), (0, 2), (2, 3)]
    ),
    "odd cycle of conflicts": make_instance(
        [Block([(0, 2, [])])] * 5, capacity=6, conflicts=[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]
    ),
    "conflict with a part of length zero": make_instance([(0, 1, 0), (1, 2, 2)], capacity=4, conflicts=[(0, 1)]),
    "twins": make_instance([(0, 2, 2), (0, 2, 2), (0, 2, 2), (1, 3, 1)], capacity=7),
    "flat objective": make_instance([(0, 2, 2), (0, 2, 2)], pools=[PoolSpec(6, cost=0)]),
    "several terms on one pool": make_instance(
        [plain(0, 2, 2, access=[3]), plain(0, 2, 3, access=[4])],
        pools=[PoolSpec(7, cost=5)],
        terms=[Term.ACCESS_COST, Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.REUSE_COST],
    ),
}


@BOTH_MODES
@pytest.mark.parametrize("case", CASES)
def test_instances_of_one_pool_agree_with_brute_force(case: str, solver: str) -> None:
    agrees(CASES[case], solve(CASES[case], solver=solver))


@pytest.mark.parametrize("case", sorted(CASES.keys() - {"larger than its pool", "all reserved"}))
def test_the_model_of_orders_agrees_with_brute_force(case: str) -> None:
    agrees(CASES[case], solve(CASES[case], solver="cpsat_order"))


TWO = [PoolSpec(6, cost=2), PoolSpec(8, cost=1, reserved=((2, 3),))]
JOINT = {
    "a choice of pools": make_instance([(0, 2, 3), (0, 2, 2), (1, 2, 2)], pools=TWO),
    "largest peak": make_instance([(0, 2, 3), (0, 2, 2), (1, 2, 2)], pools=TWO, terms=[Term.LARGEST_PEAK]),
    "some must": make_instance([plain(0, 2, 3, pools=[0]), (0, 2, 2), plain(1, 2, 2, pools=[1])], pools=TWO),
    "together": make_instance([plain(0, 2, 3, pool_class=0), plain(0, 2, 2, pool_class=0), (0, 2, 3)], pools=TWO),
    "together, one cannot": make_instance(
        [plain(0, 2, 3, pool_class=0, pools=[1]), plain(0, 2, 2, pool_class=0), (0, 2, 3)], pools=TWO
    ),
    "together, impossible": make_instance(
        [plain(0, 2, 3, pool_class=0, pools=[1]), plain(0, 2, 2, pool_class=0, pools=[0])], pools=TWO
    ),
    "apart": make_instance([(0, 1, 1), (1, 2, 1), (0, 2, 2)], pools=TWO, apart=[(0, 1), (1, 2)]),
    "apart, impossible": make_instance([(0, 1, 1), (1, 2, 1), (0, 2, 2)], pools=TWO, apart=[(0, 1), (1, 2), (0, 2)]),
    "apart in one pool": make_instance([(0, 1, 1), (1, 2, 1)], capacity=4, apart=[(0, 1)]),
    "no room together": make_instance([(0, 1, 4), (0, 1, 4), (0, 1, 4)], pools=[PoolSpec(6), PoolSpec(6)]),
    "conflict only where they meet": make_instance([(0, 1, 2), (1, 2, 3)], pools=TWO, conflicts=[(0, 1)]),
    "exclusion with a choice": make_instance([(0, 1, 4), (0, 1, 5), (0, 1, 1)], pools=TWO, exclusions=[(0, 1)]),
    "access first": make_instance(
        [plain(0, 2, 3, access=[1, 5]), plain(0, 2, 4, access=[1, 2]), plain(0, 1, 2, access=[4, 4])],
        pools=TWO,
        terms=[Term.ACCESS_COST, Term.SUM_OF_PEAKS],
    ),
    "access last": make_instance(
        [plain(0, 2, 3, access=[1, 5]), plain(0, 2, 2, access=[1, 2]), plain(0, 1, 2, access=[4, 4])],
        pools=TWO,
        terms=[Term.LARGEST_PEAK, Term.SUM_OF_PEAKS, Term.ACCESS_COST],
    ),
    "penalty avoided": make_instance(
        [(0, 1, 2), (1, 2, 2), (2, 3, 2)], capacity=5, penalties=[(0, 1, 7), (1, 2, 3)], terms=[Term.REUSE_COST]
    ),
    "penalty after the peak": make_instance(
        [(0, 1, 2), (1, 2, 1), (2, 3, 3)],
        capacity=5,
        penalties=[(0, 1, 7), (1, 2, 3), (0, 2, 4)],
        terms=[Term.SUM_OF_PEAKS, Term.REUSE_COST],
    ),
    "penalty before the peak": make_instance(
        [(0, 1, 2), (1, 2, 1), (2, 3, 3)],
        pools=TWO,
        penalties=[(0, 1, 7), (1, 2, 3), (0, 2, 4)],
        terms=[Term.REUSE_COST, Term.SUM_OF_PEAKS],
    ),
    "penalties of parts of length zero and of one block": make_instance(
        [Block([(0, 2, [(0, 1)]), (1, 3, [(1, 2)])]), (1, 2, 0)],
        capacity=4,
        penalties=[(0, 1, 5), (0, 2, 3)],
        terms=[Term.REUSE_COST, Term.SUM_OF_PEAKS],
    ),
    "twins with a choice": make_instance([(0, 1, 2)] * 4, pools=TWO),
    "a pool for free": make_instance([(0, 1, 2), (0, 1, 3)], pools=[PoolSpec(4, cost=0), PoolSpec(6, cost=3)]),
}


@pytest.mark.parametrize("case", JOINT)
def test_several_pools_and_terms_agree_with_brute_force(case: str) -> None:
    agrees(JOINT[case], solve(JOINT[case]))


def random_instance(seed: int) -> Instance:
    """A random instance, small enough for brute force, with a bit of everything."""
    rng = random.Random(seed)
    pools = [PoolSpec(rng.randint(5, 7), cost=rng.randint(0, 3)) for _ in range(rng.choice([1, 1, 2]))]
    if rng.random() < 0.4:
        begin = rng.randint(0, 4)
        pools[0] = PoolSpec(pools[0].capacity, ((begin, begin + 1),), pools[0].cost)
    blocks = []
    for _ in range(rng.randint(2, 4 if len(pools) == 1 else 3)):
        parts: list[tuple[int, int, list[tuple[int, int]]]] = []
        for _ in range(rng.choice([1, 1, 2])):
            start = rng.randint(0, 3)
            live = [(start, start + rng.randint(1, 2))] if rng.random() < 0.9 else []
            low = rng.randint(0, 2) if parts else 0
            parts.append((low, low + rng.randint(0, 3), live))
        alignment = rng.choice([1, 1, 1, 2, 3])
        fixed = rng.randint(0, 3) if rng.random() < 0.15 else None
        blocks.append(
            Block(
                parts,
                alignment=1 if fixed is not None else alignment,
                residue=0 if fixed is not None else rng.randrange(alignment),
                fixed=fixed,
                access=[rng.randint(0, 3) for _ in pools],
                pool_class=rng.choice([None, None, 100]),
            )
        )
    owner = [b for b, block in enumerate(blocks) for _ in block.parts]
    strangers = [(a, b) for a in range(len(owner)) for b in range(a) if owner[a] != owner[b]]
    rng.shuffle(strangers)
    conflicts, exclusions = strangers[: rng.choice([0, 0, 1, 2])], strangers[2 : 2 + rng.choice([0, 0, 1, 3])]
    terms = rng.sample(list(Term), rng.choice([1, 1, 2, 3]))
    return make_instance(
        [
            Block(
                b.parts,
                b.alignment,
                b.residue,
                b.fixed,
                None,
                None,
                None,
                b.access,
                None if b.pool_class is None else len(blocks) - 1,
            )
            for b in blocks
        ],
        pools=pools,
        terms=terms,
        conflicts=conflicts,
        exclusions=exclusions,
        apart=[(0, 1)] if len(pools) > 1 and rng.random() < 0.2 else [],
        penalties=[(a, b, rng.randint(0, 4)) for a, b in strangers[:3]] if Term.REUSE_COST in terms else [],
    )


@pytest.mark.parametrize("seed", range(60 if NIGHTLY else 25))
def test_random_instances_agree_with_brute_force(seed: int) -> None:
    instance = random_instance(seed)
    agrees(instance, solve(instance, Task(seed=seed)))
