"""Scaling, squeezing and splitting keep feasibility and values."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.geometry.presolve import Piece, by_pool, cut, ranked, restrict, scaled, unit
from solvers.model.conflicts import components
from solvers.model.instance import Instance, PoolSpec
from tests.small.instances import Block, make_instance, plain

spans = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=8)


def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@given(spans)
def test_squeezing_time_keeps_which_blocks_meet(rows: list[tuple[int, int]]) -> None:
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
def test_components_never_part_blocks_that_meet(rows: list[tuple[int, int]]) -> None:
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


def test_the_unit_ignores_alignments_that_divide_it() -> None:
    assert unit(make_instance([plain(0, 2, 2048, alignment=64), plain(1, 3, 1024, alignment=64)])) == 1024


def test_the_unit_respects_alignments_that_do_not_divide_it() -> None:
    instance = make_instance([plain(0, 2, 6, alignment=4), plain(1, 3, 12, alignment=1)])
    assert unit(instance) == 2


def test_the_unit_counts_residues_fixed_bases_and_reserved_ends() -> None:
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


def test_restricting_renumbers_pairs_and_drops_pairs_with_outsiders() -> None:
    instance = make_instance(
        [(0, 1, 1), (0, 1, 1), (0, 1, 1)], conflicts=[(0, 2), (0, 1)], exclusions=[(1, 2)], penalties=[(0, 2, 7)]
    )
    small = restrict(instance, np.array([0, 2]), [0]).instance
    assert small.conflicts.tolist() == [[0, 1]]
    assert small.exclusions.tolist() == []
    assert small.penalties.tolist() == [[0, 1, 7]]


def members(piece: Piece) -> list[object]:
    """Return a piece's fields in a form that can be compared."""
    values = [getattr(piece.instance, field.name) for field in fields(Instance)]
    values += [piece.blocks, piece.parts, piece.pools, piece.sections]
    return [(v.dtype, v.shape, v.tolist()) if isinstance(v, np.ndarray) else v for v in values]


@st.composite
def grouped(draw: st.DrawFn) -> tuple[Instance, list[list[int]]]:
    count = draw(st.integers(1, 7))
    live = st.tuples(st.integers(0, 9), st.integers(1, 5))
    blocks = []
    for i in range(count):
        spans = [draw(live) for _ in range(draw(st.integers(1, 2)))]
        parts = [(k, k + 2, [(start, start + length)]) for k, (start, length) in enumerate(spans)]
        blocks.append(Block(parts, alignment=i + 1, hint=i, access=[i, 2 * i], pool_class=i // 2))
    part_count = sum(len(block.parts) for block in blocks)

    def some(n: int) -> list[tuple[int, int]]:
        return draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=6))

    instance = make_instance(
        blocks,
        pools=[PoolSpec(50), PoolSpec(None, ((3, 5),))],
        conflicts=some(part_count),
        exclusions=some(part_count),
        penalties=[(a, b, 7) for a, b in some(part_count)],
        apart=some(count),
    )
    label = [draw(st.integers(0, 3)) for _ in range(count)]  # 3 means in no group
    order = draw(st.permutations(range(count)))
    return instance, [[b for b in order if label[b] == group] for group in range(3) if group in label]


@given(grouped())
def test_cutting_into_pieces_equals_restricting_to_each(case: tuple[Instance, list[list[int]]]) -> None:
    instance, groups = case
    chosen = [np.array(group, dtype=np.int64) for group in groups]
    pieces = list(cut(instance, chosen, 1))
    assert [members(piece) for piece in pieces] == [members(restrict(instance, blocks, [1])) for blocks in chosen]


@given(grouped())
def test_cutting_by_pools_equals_restricting_to_each(case: tuple[Instance, list[list[int]]]) -> None:
    instance, groups = case
    pool_of = np.ones(instance.blocks, dtype=np.int64)
    pool_of[groups[0] if groups else []] = 0
    blocks = [np.flatnonzero(pool_of == pool) for pool in (0, 1)]
    expected = [restrict(instance, those, [pool], squeeze=False) for pool, those in enumerate(blocks) if len(those)]
    assert [members(piece) for piece in by_pool(instance, pool_of)] == [members(piece) for piece in expected]


@given(grouped())
def test_a_piece_describes_its_blocks_as_the_whole_does(case: tuple[Instance, list[list[int]]]) -> None:
    instance, groups = case
    for group in groups:
        piece = restrict(instance, np.array(group, dtype=np.int64), [1, 0], squeeze=False)
        small = piece.instance
        parts = [k for k, b in enumerate(instance.part_block.tolist()) if b in group]
        assert piece.parts.tolist() == parts
        assert [group[b] for b in small.part_block.tolist()] == instance.part_block[parts].tolist()
        rects = [
            (part, start, end)
            for part, start, end in zip(
                instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
            )
            if part in parts
        ]
        assert (
            list(
                zip(
                    piece.parts[small.rect_part].tolist(),
                    small.rect_start.tolist(),
                    small.rect_end.tolist(),
                    strict=True,
                )
            )
            == rects
        )
        for name in ("conflicts", "exclusions", "penalties"):
            rows = [[parts[a], parts[b], *rest] for a, b, *rest in getattr(small, name).tolist()]
            assert rows == [row for row in getattr(instance, name).tolist() if row[0] in parts and row[1] in parts]
        apart = [[group[a], group[b]] for a, b in small.apart.tolist()]
        assert apart == [row for row in instance.apart.tolist() if row[0] in group and row[1] in group]
        assert small.hint.tolist() == group
        assert small.access_cost.tolist() == [[2 * b, b] for b in group]
        assert small.pools == (instance.pools[1], instance.pools[0])


def test_cutting_into_no_groups_gives_no_pieces() -> None:
    assert list(cut(make_instance([(0, 1, 1)]), [], 0)) == []


@pytest.mark.parametrize("spread", [3, 40, 10**6, 1 << 60])
@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_ranks_of_times_agree_whether_counted_or_sorted(spread: int, count: int) -> None:
    rng = np.random.default_rng(count + spread % 1000)
    start = rng.integers(-spread, spread, count)
    end = start + rng.integers(1, spread, count, endpoint=True)
    times, rank = np.unique(np.concatenate([start, end]), return_inverse=True)
    for found, wanted in zip(ranked(start, end), (times, rank[:count], rank[count:]), strict=True):
        assert found.dtype == np.int64
        assert found.tolist() == wanted.tolist()
