"""Lower bounds on the peak: they have the expected values and never exceed a reachable peak."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.bounds import one_pool
from solvers.bounds.one_pool import homeless, pool_bound, stack_height
from solvers.bounds.weighted_sections import busiest_section
from solvers.model.instance import Instance, PoolSpec
from solvers.model.outcome import Certificate, Proof
from tests.small.instances import Block, make_instance, plain


def bound(instance: Instance) -> Certificate:
    found = pool_bound(instance, 0)
    assert found is not None
    return found


def test_the_plain_bound_is_the_largest_live_sum_and_names_its_parts() -> None:
    found = bound(make_instance([(0, 2, 5), (1, 3, 4), (2, 4, 3), (5, 6, 8)]))
    assert (found.proof, found.value, found.section, found.parts) == (Proof.LIVE_TOGETHER, 9, 1, (0, 1))


def test_only_the_topmost_block_needs_no_padding() -> None:
    found = bound(
        make_instance([plain(0, 1, 5, alignment=4), plain(0, 1, 7, alignment=4), plain(0, 1, 1, alignment=4)])
    )
    assert found.value == 8 + 8 + 4 - 3


def test_mixed_alignments_count_only_their_common_divisor() -> None:
    assert bound(make_instance([plain(0, 1, 5, alignment=4), plain(0, 1, 5, alignment=6)])).value == 6 + 6 - 1


def test_a_residue_prevents_rounding_up() -> None:
    assert bound(make_instance([plain(0, 1, 5, alignment=4, residue=1), plain(0, 1, 5, alignment=4)])).value == 10


def test_excluded_pairs_count_once() -> None:
    found = bound(make_instance([(0, 1, 5), (0, 1, 4), (0, 1, 3)], exclusions=[(0, 1)]))
    assert found.value == 8
    assert found.parts == (0, 2)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=7), st.data())
def test_of_parts_that_exclude_each_other_at_least_the_larger_count(sizes: list[int], data: st.DataObject) -> None:
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a)]
    excluded = data.draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    taken: list[int] = []
    for part in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        if not any((part, other) in excluded or (other, part) in excluded for other in taken):
            taken.append(part)
    found = bound(make_instance([(0, 1, size) for size in sizes], exclusions=excluded))
    assert found.proof is Proof.LIVE_TOGETHER
    assert found.value == sum(sizes[part] for part in found.parts) >= sum(sizes[part] for part in taken)
    assert not any((a, b) in excluded or (b, a) in excluded for a in found.parts for b in found.parts)


def test_where_two_need_more_room_than_the_largest_it_is_left_out() -> None:
    found = bound(make_instance([(0, 1, 10), (0, 1, 8), (0, 1, 7), (0, 1, 2)], exclusions=[(0, 1), (0, 2)]))
    assert (found.value, found.parts) == (8 + 7 + 2, (1, 2, 3))


def test_excluded_pairs_count_in_every_section_for_itself() -> None:
    found = bound(make_instance([(0, 2, 5), (0, 4, 4), (1, 4, 3), (3, 4, 3)], exclusions=[(0, 1), (2, 3)]))
    assert (found.value, found.section, found.parts) == (8, 1, (0, 2))


def test_views_count_once() -> None:
    group = Block([(0, 10, [(0, 2)]), (2, 6, [(1, 3)]), (8, 10, [(2, 3)])])
    assert bound(make_instance([group, (0, 3, 1)])).value == 11
    assert bound(make_instance([Block([(0, 2, [(0, 1)]), (6, 8, [(0, 1)])]), (0, 1, 9)])).value == 13


def test_reserved_ranges_push_up_blocks_that_do_not_fit_below() -> None:
    low = make_instance([(0, 1, 4), (0, 1, 4)], pools=[PoolSpec(None, ((5, 20),))])
    assert bound(low).value == 24  # the 5 free bytes below the range hold one block only
    assert bound(make_instance([(0, 1, 6)], pools=[PoolSpec(None, ((5, 20),))])).value == 26
    assert bound(make_instance([(0, 1, 4)], pools=[PoolSpec(None, ((5, 20),))])).value == 4


def test_fixed_blocks_bound_the_peak() -> None:
    assert bound(make_instance([plain(0, 1, 4, fixed=100), (3, 4, 5)])).value == 104


def test_conflicts_without_time_form_cliques() -> None:
    timeless = [Block([(0, size, [])]) for size in (4, 3, 2)]
    found = bound(make_instance([*timeless, (0, 1, 1)], conflicts=[(0, 1), (1, 2), (0, 2)]))
    assert (found.proof, found.value, found.parts) == (Proof.CONFLICT_CLIQUE, 9, (0, 1, 2))


def test_parts_that_meet_in_pairs_at_different_moments_form_cliques() -> None:
    lives = [[(0, 1), (4, 5)], [(0, 1), (2, 3)], [(2, 3), (4, 5)]]
    found = bound(make_instance([Block([(0, size, live)]) for size, live in zip((4, 3, 2), lives, strict=True)]))
    assert (found.proof, found.value, found.section, found.parts) == (Proof.CONFLICT_CLIQUE, 9, None, (0, 1, 2))


def test_parts_that_meet_in_pairs_count_with_their_padding() -> None:
    # The first two with the third take 32 bytes and need no padding; with the last two they take 26, and 7 between them at least.
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4), (1, 4), (3, 4)]
    sizes = (8, 8, 16, 9, 1)
    blocks = [
        Block([(0, size, [(2 * at, 2 * at + 1) for at, pair in enumerate(pairs) if n in pair])], alignment=8)
        for n, size in enumerate(sizes)
    ]
    found = bound(make_instance(blocks))
    assert (found.proof, found.value, found.parts) == (Proof.CONFLICT_CLIQUE, 33, (0, 1, 3, 4))


def test_parts_of_one_block_that_overlap_hide_no_heavier_clique() -> None:
    lives = [[(0, 1), (4, 5)], [(0, 1), (2, 3)], [(2, 3), (4, 5)]]
    nested = Block([(0, 5, [(8, 9)]), (0, 5, [(8, 9)])])
    found = bound(
        make_instance([nested, *(Block([(0, size, live)]) for size, live in zip((4, 3, 2), lives, strict=True))])
    )
    assert (found.proof, found.value) == (Proof.CONFLICT_CLIQUE, 9)


def test_no_cliques_are_sought_once_time_is_over() -> None:
    instance = make_instance([Block([(0, size, [])]) for size in (4, 3, 2)], conflicts=[(0, 1), (1, 2), (0, 2)])
    found = pool_bound(instance, 0, stopped=lambda: "over")
    assert found is not None
    assert (found.proof, found.value) == (Proof.SINGLE_BLOCK, 4)


def test_blocks_with_a_choice_do_not_bound_a_single_pool() -> None:
    instance = make_instance([plain(0, 1, 9), plain(0, 1, 4, pools=[0])], pools=[PoolSpec(), PoolSpec()])
    assert bound(instance).value == 4
    assert pool_bound(instance, 1) is None


def test_the_busiest_section_counts_at_the_least_cost() -> None:
    found = busiest_section(make_instance([(0, 1, 9), (0, 1, 4)], pools=[PoolSpec(cost=3), PoolSpec(cost=2)]))
    assert found is not None
    assert found.value == 2 * 13


@pytest.mark.parametrize(
    ("pools", "least"),
    [
        ([PoolSpec(5, cost=0), PoolSpec(cost=2)], 2 * (13 - 5)),
        ([PoolSpec(5, cost=1), PoolSpec(cost=3)], 3 * (13 - 5) + 5),
        ([PoolSpec(9, cost=1), PoolSpec(20, cost=2), PoolSpec(20, cost=5)], 2 * (13 - 9) + 9),
        ([PoolSpec(5, cost=3), PoolSpec(cost=0)], 0),
    ],
)
def test_at_the_busiest_section_cheaper_pools_hold_no_more_than_they_can(pools: list[PoolSpec], least: int) -> None:
    found = busiest_section(make_instance([(0, 1, 9), (0, 1, 4)], pools=pools))
    assert found is not None
    assert found.value == least


def test_a_block_larger_than_every_pool_is_homeless() -> None:
    found = homeless(make_instance([(0, 1, 3), (0, 1, 9)], capacity=8))
    assert found is not None
    assert found.parts == (1,)
    assert homeless(make_instance([(0, 1, 8)], capacity=8)) is None


def test_a_stack_of_no_blocks_has_height_zero() -> None:
    assert stack_height(make_instance([(0, 1, 3)]), 0, []) == 0


@pytest.mark.parametrize(("is_over", "measured"), [(False, 6), (True, 1)])
def test_once_time_is_over_one_section_is_measured(
    monkeypatch: pytest.MonkeyPatch, is_over: bool, measured: int
) -> None:
    calls: list[list[int]] = []

    def counting(instance: Instance, pool: int, parts: list[int], known: int) -> int:
        calls.append(parts)
        return stack_height(instance, pool, parts, known)

    monkeypatch.setattr(one_pool, "stack_height", counting)
    instance = make_instance([plain(at, at + 2, 5 + at, alignment=2 + at) for at in (0, 2, 4)])
    found = pool_bound(instance, 0, stopped=lambda: is_over)
    assert found is not None
    assert (len(calls), found.value) == (measured, 9)


def test_a_heavy_clique_of_small_parts_is_found_among_many_conflicts() -> None:
    draw = random.Random(3)
    pairs = [pair for pair in combinations(range(400), 2) if draw.random() < 0.3]
    pairs += combinations(range(100, 124), 2)
    lives = [(n, n + 1, 30 if 100 <= n < 124 else draw.randint(40, 80)) for n in range(400)]
    found = bound(make_instance(lives, conflicts=sorted({*pairs})))
    assert found.proof is Proof.CONFLICT_CLIQUE
    assert {*range(100, 124)} <= {*found.parts}
