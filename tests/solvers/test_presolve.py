"""Scaling, squeezing and splitting keep what matters."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.instance import PoolSpec
from solvers.presolve import components, restrict, scaled, unit
from tests.support import Block, make_instance, plain

spans = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=8)


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@given(spans)
def test_squeezed_time_keeps_who_meets_whom(rows: list[tuple[int, int]]) -> None:
    live = [(start, start + length) for start, length in rows]
    instance = make_instance([(start, end, 1) for start, end in live])
    piece = restrict(instance, np.arange(len(live)), [0])
    small = piece.instance
    squeezed = list(zip(small.rect_start.tolist(), small.rect_end.tolist(), strict=True))
    for i, a in enumerate(live):
        assert all(overlap(a, b) == overlap(squeezed[i], squeezed[j]) for j, b in enumerate(live))
        for section in range(*squeezed[i]):
            assert a[0] <= piece.sections[section] < a[1]


@given(spans)
def test_components_never_cut_what_meets(rows: list[tuple[int, int]]) -> None:
    live = [(start, start + length) for start, length in rows]
    label = components(make_instance([(start, end, 1) for start, end in live]))
    for i, a in enumerate(live):
        assert all(label[i] == label[j] for j, b in enumerate(live) if overlap(a, b))
    assert len(set(label.tolist())) >= 1


def test_components_follow_conflicts_and_multi_interval_blocks() -> None:
    far = Block([(0, 2, [(0, 1), (10, 11)])])
    instance = make_instance([far, (0, 1, 3), (10, 11, 3), (20, 21, 3), (30, 31, 3)], conflicts=[(3, 4)])
    label = components(instance)
    assert label[0] == label[1] == label[2]
    assert label[3] == label[4] != label[0]


def test_unit_ignores_alignments_that_divide_it() -> None:
    assert unit(make_instance([plain(0, 2, 2048, alignment=64), plain(1, 3, 1024, alignment=64)])) == 1024


def test_unit_respects_alignments_that_do_not() -> None:
    instance = make_instance([plain(0, 2, 6, alignment=4), plain(1, 3, 12, alignment=1)])
    assert unit(instance) == 2


def test_unit_counts_residues_fixed_bases_and_reserved_ends() -> None:
    assert unit(make_instance([plain(0, 1, 8, alignment=8, residue=4)])) == 4
    assert unit(make_instance([plain(0, 1, 8, fixed=6)])) == 2
    assert unit(make_instance([(0, 1, 8)], pools=[PoolSpec(None, ((8, 11),))])) == 1


def test_scaling_divides_everything_and_rounds_capacity_down() -> None:
    instance = make_instance([plain(0, 1, 8, alignment=16, hint=17), plain(0, 1, 24)], pools=[PoolSpec(63, ((9, 16),))])
    g = unit(instance)
    assert g == 8
    small = scaled(instance, g)
    assert small.pools == (PoolSpec(7, ((1, 2),)),)
    assert small.part_high.tolist() == [1, 3]
    assert small.modulus[:, 0].tolist() == [2, 1]
    assert small.highest[:, 0].tolist() == [6, 4]
    assert small.hint.tolist() == [2, 0]


def test_restrict_renumbers_pairs_and_drops_those_with_outsiders() -> None:
    instance = make_instance(
        [(0, 1, 1), (0, 1, 1), (0, 1, 1)], conflicts=[(0, 2), (0, 1)], exclusions=[(1, 2)], penalties=[(0, 2, 7)]
    )
    small = restrict(instance, np.array([0, 2]), [0]).instance
    assert small.conflicts.tolist() == [[0, 1]]
    assert small.exclusions.tolist() == []
    assert small.penalties.tolist() == [[0, 1, 7]]
