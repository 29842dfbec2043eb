"""Values of placements, and violations with each rule broken once."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from planner.model.problem import Buffer, Pool, Problem
from solvers.geometry.presolve import restrict, scaled, unit
from solvers.geometry.rules import violation
from solvers.model.conflicts import live_pair_count, part_pairs
from solvers.model.instance import ADDRESS_LIMIT, Instance, Placement, PoolSpec, Term, Was
from solvers.model.linear_terms import choice_cost, is_counted_in_bytes, peak_worth
from solvers.model.objective import evaluate, peaks
from solvers.model.outcome import Value
from tests.small.instances import Block, make_instance, plain
from tests.small.oracle import IN_BYTES, WORTH, Counted, worth
from tests.small.strategies import NIGHTLY


def placed(offsets: list[int], pools: list[int] | None = None) -> Placement:
    return Placement(np.array(pools or [0] * len(offsets), dtype=np.int64), np.array(offsets, dtype=np.int64))


def test_the_oracle_knows_every_term() -> None:
    assert set(WORTH) == set(Term)
    assert {term for term in Term if is_counted_in_bytes(term)} <= IN_BYTES


def test_a_choice_that_costs_nothing_anywhere_has_no_cost() -> None:
    """What counts it then goes as what counts peaks alone, or nothing."""
    pools = [PoolSpec(9), PoolSpec(None)]
    unused = make_instance([plain(0, 1, 4), plain(0, 1, 6)], pools=pools)
    for term in (Term.ACCESS_COST, Term.BALANCED, Term.SPILLED_BYTES):
        assert choice_cost(unused, term) is None
    used = make_instance([plain(0, 1, 4), plain(0, 1, 6, access=[0, 1])], pools=[*pools[:1], replace(pools[1], rank=1)])
    for term in (Term.ACCESS_COST, Term.BALANCED, Term.SPILLED_BYTES):
        assert choice_cost(used, term) is not None


TWO_POOLS = [PoolSpec(20, cost=3, rank=0), PoolSpec(None, cost=1, rank=1)]


def test_every_term_counts_the_quantity_it_names() -> None:
    instance = make_instance(
        [plain(0, 1, 4, access=[0, 5]), plain(0, 1, 6, access=[0, 7]), plain(2, 3, 2, access=[0, 1])],
        pools=TWO_POOLS,
        terms=list(Term),
        penalties=[(0, 2, 10), (0, 1, 100)],
    )
    stays = np.array([[0, 0, 0, 1, 4], [1, 0, 0, 1, 6], [2, 0, 2, 1, 2]], dtype=np.int64)
    instance = replace(instance, was=Was(np.array([[1, 4], [1, 6], [1, 2]], dtype=np.int64), stays), peak_price=1)
    placement = placed([0, 0, 3], [0, 1, 0])
    assert peaks(instance, placement) == (5, 6)
    buffers = (Buffer("a", 4, accesses=5), Buffer("b", 6, accesses=7), Buffer("c", 2, accesses=1))
    near, far = Pool("near", cost=3), Pool("far", rank=1)
    counted = Counted((5, 6), [*zip(buffers, (near, far, near), strict=True)], reused=10, moved=(2, 6 + 2))
    expected = {term: worth(Problem(buffers, (near, far)), counted, term) for term in Term}
    assert dict(zip(Term, evaluate(instance, placement), strict=True)) == expected
    assert (expected[Term.SUM_OF_PEAKS], expected[Term.BALANCED], expected[Term.STABILITY]) == (21, 7 + 21, 8 + 21)


def test_the_balanced_term_weighs_peaks_by_their_price_in_any_unit() -> None:
    instance = replace(
        make_instance(
            [plain(0, 1, 8, access=[0, 5]), plain(0, 1, 16, access=[0, 7])], pools=TWO_POOLS, terms=[Term.BALANCED]
        ),
        peak_price=4,
    )
    whole = placed([0, 0], [0, 1])
    assert evaluate(instance, whole) == (7 + 4 * (3 * 8 + 16),)
    assert evaluate(scaled(instance, 8), whole) == evaluate(instance, whole)


def test_moves_count_the_same_in_any_unit_and_piece() -> None:
    terms = [Term.STABILITY, Term.MOVED_BYTES, Term.MOVED_BUFFERS]
    made = make_instance([plain(0, 1, 8), plain(0, 1, 16), plain(0, 1, 8)], pools=TWO_POOLS, terms=terms)
    stays = np.array([[0, 0, 8, 1, 8], [1, 1, 0, 1, 16], [2, 1, 16, 2, 3]], dtype=np.int64)
    instance = replace(made, was=Was(np.array([[1, 8], [1, 16], [2, 8]], dtype=np.int64), stays), peak_price=4)
    whole = placed([8, 0, 16], [0, 1, 1])
    assert evaluate(instance, whole) == (5 + 4 * (3 * 16 + 24), 5, 0)
    assert unit(instance) == 8
    small = placed([1, 0, 2], [0, 1, 1])
    assert evaluate(scaled(instance, 8), small) == evaluate(instance, whole)
    piece = restrict(instance, np.array([1, 2]), [1])
    assert evaluate(piece.instance, placed([0, 24])) == (8 + 4 * 32, 8, 2)


BROKEN: dict[str, tuple[Instance, Placement, str]] = {
    "overlap": (make_instance([(0, 2, 4), (1, 3, 4)]), placed([0, 3]), "overlap"),
    "overlap_of_parts": (
        make_instance([Block([(0, 2, [(0, 2)]), (4, 6, [(0, 2)])]), (1, 3, 3)]),
        placed([0, 2]),
        "overlap",
    ),
    "outside": (make_instance([(0, 1, 4)], capacity=6), placed([3]), "outside"),
    "misaligned": (make_instance([plain(0, 1, 4, alignment=4)]), placed([2]), "alignment"),
    "not_fixed": (make_instance([plain(0, 1, 4, fixed=8)]), placed([0]), "bounds"),
    "wrong_pool": (make_instance([plain(0, 1, 4, pools=[1])], pools=TWO_POOLS), placed([0]), "pool"),
    "no_such_pool": (make_instance([(0, 1, 4)]), placed([0], [1]), "does not exist"),
    "reserved": (make_instance([(0, 1, 4)], pools=[PoolSpec(None, ((3, 5),))]), placed([0]), "reserved"),
    "conflict": (make_instance([(0, 1, 4), (5, 6, 4)], conflicts=[(0, 1)]), placed([0, 0]), "conflicting"),
    "apart": (make_instance([(0, 1, 4), (5, 6, 4)], pools=TWO_POOLS, apart=[(0, 1)]), placed([0, 0]), "different"),
    "class": (
        make_instance([plain(0, 1, 4, pool_class=0), plain(5, 6, 4, pool_class=0)], pools=TWO_POOLS),
        placed([0, 0], [0, 1]),
        "share a pool",
    ),
    "too_few": (make_instance([(0, 1, 4)]), placed([]), "0 offsets"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_violation_is_named(name: str) -> None:
    instance, placement, word = BROKEN[name]
    found = violation(instance, placement)
    assert found is not None
    assert word in found


def test_allowed_overlaps_are_no_violation() -> None:
    views = Block([(0, 8, [(0, 2)]), (2, 4, [(1, 3)])])
    assert violation(make_instance([views, (2, 3, 2)]), placed([0, 0])) is None
    assert violation(make_instance([(0, 2, 4), (1, 3, 4)], exclusions=[(0, 1)]), placed([0, 0])) is None
    assert violation(make_instance([(0, 2, 4), (1, 3, 4)], pools=TWO_POOLS), placed([0, 0], [0, 1])) is None
    assert violation(make_instance([(0, 2, 0), (1, 3, 4)]), placed([2, 0])) is None


def test_touching_in_time_or_space_is_no_overlap() -> None:
    assert violation(make_instance([(0, 2, 4), (2, 3, 4), (0, 3, 2)]), placed([0, 0, 4])) is None


def test_part_pairs_are_exactly_the_binding_ones() -> None:
    instance = make_instance(
        [(0, 2, 4), (1, 3, 4), (1, 2, 0), (1, 2, 5), Block([(0, 1, [(0, 1)]), (3, 5, [(1, 2)])]), (9, 10, 1)],
        conflicts=[(0, 6), (2, 5)],
        exclusions=[(0, 3)],
    )
    assert part_pairs(instance).tolist() == [[0, 1], [0, 4], [0, 5], [0, 6], [1, 3], [1, 5], [3, 5]]
    assert live_pair_count(make_instance([(0, 2, 1), (1, 3, 1), (2, 4, 1)])) == 2
    assert part_pairs(make_instance([])).tolist() == []


def test_pools_without_a_common_one_do_not_bind() -> None:
    instance = make_instance([plain(0, 1, 4, pools=[0]), plain(0, 1, 4, pools=[1]), (0, 1, 1)], pools=TWO_POOLS)
    assert part_pairs(instance).tolist() == [[0, 2], [1, 2]]


ORDERS = [terms for count in (1, 2, 3) for terms in permutations(Term, count)]
HIGHEST = 8


@pytest.mark.parametrize("cost", [0, 1, 3])
def test_the_highest_allowed_peak_is_the_greatest(cost: int) -> None:
    for terms in ORDERS if NIGHTLY else ORDERS[cost::4]:
        instance = make_instance(
            [plain(0, 1, 4, access=[2])], pools=[PoolSpec(None, cost=cost, rank=1)], terms=list(terms)
        )
        values = [value(instance, peak) for peak in range(HIGHEST)]
        for most in product(range(5), repeat=len(terms)):
            fine = [peak for peak in range(HIGHEST) if values[peak] <= most]
            expected = None if not fine else ADDRESS_LIMIT if len(fine) == HIGHEST else fine[-1]
            assert peak_worth(instance, most) == expected, (terms, most)


def value(instance: Instance, peak: int) -> Value:
    """Return the value of one buffer that is used twice, in a pool of rank 1 with this peak."""
    buffer = Buffer("a", 4, accesses=2)
    pool = Pool("p", cost=instance.pools[0].cost, rank=1)
    counted = Counted([peak], [(buffer, pool)])
    return tuple(worth(Problem((buffer,), (pool,)), counted, term) for term in instance.terms)
