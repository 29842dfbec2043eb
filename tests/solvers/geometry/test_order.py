"""An order of blocks becomes exact offsets."""

from __future__ import annotations

import random

import numpy as np
import pytest

from solvers.geometry.order import least_offsets, place, repair, rules_from_offsets
from solvers.geometry.rules import violation
from solvers.geometry.separation import forbidden_bases, separations
from solvers.model.conflicts import part_pairs
from solvers.model.instance import Instance, Ints, Placement, PoolSpec
from solvers.model.objective import peaks
from tests.small.instances import Block, make_instance, plain


def offsets(instance: Instance, rules: list[tuple[int, int, int]]) -> list[int] | None:
    found = least_offsets(instance, np.zeros(instance.blocks, dtype=np.int64), table(rules))
    return None if found is None else found.tolist()


def table(rules: list[tuple[int, int, int]]) -> Ints:
    return np.array(rules, dtype=np.int64).reshape(-1, 3)


def test_without_rules_every_block_lies_at_its_lowest_place() -> None:
    instance = make_instance([(0, 1, 5), plain(0, 1, 3, alignment=8, residue=5), plain(0, 1, 2, fixed=40)])
    assert offsets(instance, []) == [0, 5, 40]


def test_rules_add_up_along_a_chain() -> None:
    instance = make_instance([(0, 1, 5), (0, 1, 3), (0, 1, 2)])
    assert offsets(instance, [(2, 1, 2), (1, 0, 3)]) == [5, 2, 0]


def test_a_raised_block_keeps_its_alignment() -> None:
    instance = make_instance([(0, 1, 5), plain(0, 1, 3, alignment=37, residue=4)])
    assert offsets(instance, [(0, 1, 5)]) == [0, 41]


def test_a_block_jumps_over_reserved_ranges_to_an_aligned_place() -> None:
    instance = make_instance([(0, 1, 5), plain(0, 1, 4, alignment=6)], pools=[PoolSpec(None, ((7, 13), (20, 31)))])
    assert offsets(instance, [(0, 1, 5)]) == [0, 36]


def test_a_gap_that_is_just_large_enough_is_used() -> None:
    instance = make_instance([(0, 1, 5), (0, 1, 7)], pools=[PoolSpec(None, ((6, 13), (20, 31)))])
    assert offsets(instance, [(0, 1, 5)]) == [0, 13]


def test_a_block_with_a_hole_straddles_a_reserved_range() -> None:
    hollow = Block([(0, 2, [(0, 1)]), (6, 8, [(0, 1)])])
    instance = make_instance([hollow], pools=[PoolSpec(None, ((2, 5),))])
    assert forbidden_bases(instance, 0, 0) == [(-6, -1), (0, 5)]
    assert offsets(instance, []) == [0]


def test_a_block_above_its_highest_place_has_no_offsets() -> None:
    instance = make_instance([(0, 1, 5), plain(0, 1, 3, max_offset=4)])
    assert offsets(instance, [(0, 1, 5)]) is None
    assert offsets(instance, [(1, 0, 3)]) == [3, 0]


def test_a_cycle_of_blocks_above_each_other_has_no_offsets() -> None:
    instance = make_instance([(0, 1, 5), (0, 1, 3)])
    assert offsets(instance, [(0, 1, 5), (1, 0, 3)]) is None


def test_interlocked_blocks_follow_rules_with_negative_distances() -> None:
    comb = Block([(0, 2, [(0, 1)]), (10, 12, [(1, 2)])])
    tooth = Block([(0, 3, [(0, 1)]), (4, 6, [(1, 2)])])
    instance = make_instance([comb, tooth])
    # The second block is above the first by its first part, and below it by its second part.
    assert offsets(instance, [(0, 1, 2), (1, 0, -4)]) == [0, 2]


def test_a_block_in_a_forbidden_pool_has_no_offsets() -> None:
    instance = make_instance([plain(0, 1, 5, pools=[1])], pools=[PoolSpec(), PoolSpec()])
    assert least_offsets(instance, np.array([0]), table([])) is None
    assert least_offsets(instance, np.array([1]), table([])) is not None


def test_separations_of_several_parts_are_merged_where_they_overlap() -> None:
    first = Block([(0, 4, [(0, 2)]), (10, 14, [(0, 2)])])
    instance = make_instance([first, (0, 2, 3)])
    choices = separations(instance, part_pairs(instance))
    found = list(zip(choices.below.tolist(), choices.above.tolist(), strict=True))
    assert found == [(-3, 4), (7, 14)]
    wide = make_instance([first, (0, 2, 7)])
    merged = separations(wide, part_pairs(wide))
    assert (merged.below.tolist(), merged.above.tolist()) == ([-7], [14])


def test_empty_instances_have_an_empty_order() -> None:
    instance = make_instance([])
    assert offsets(instance, []) == []
    assert len(separations(instance, part_pairs(instance))) == 0


@pytest.mark.parametrize("seed", range(40))
def test_blurred_offsets_become_exact_and_no_higher(seed: int) -> None:
    rng = random.Random(seed)
    instance = make_instance(
        [
            plain(
                s := rng.randrange(8),
                s + rng.randrange(1, 6),
                rng.randrange(0, 10**10),
                alignment=rng.choice([1, 1, 7, 64]),
            )
            for _ in range(10)
        ],
        pools=[PoolSpec(None, ((10**9, 2 * 10**9),))],
    )
    everywhere = np.zeros(10, dtype=np.int64)
    order = rng.sample(range(10), 10)
    choices = separations(instance, part_pairs(instance))
    valid = place(instance, everywhere, rules_from_offsets(choices, everywhere, np.argsort(order) * 10**11))
    assert valid is not None
    blurred = np.asarray(valid.offset * (1 + 1e-9 * rng.random()) + rng.random() / 3, dtype=np.float64)
    exact = repair(instance, everywhere, blurred)
    assert exact is not None
    assert violation(instance, exact) is None
    assert peaks(instance, exact) <= peaks(instance, valid)
    assert repair(instance, everywhere, exact.offset) is not None


def test_placements_that_no_order_can_repair_are_dropped() -> None:
    instance = make_instance([(0, 1, 5), (0, 1, 5)], capacity=9)
    assert repair(instance, np.zeros(2, dtype=np.int64), np.array([0.0, 5.0])) is None
    assert violation(instance, Placement.in_one_pool([0, 5])) is not None
