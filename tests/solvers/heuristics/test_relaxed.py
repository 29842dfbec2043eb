"""Gluing where blocks are fixed, have gaps in their lives, or conflict though they are not live together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.improve import Gluing
from solvers.heuristics.relaxed.mending import LOOKS_A_RULE, LOOKS_A_SEARCH, LOOKS_A_TILE, Mending
from solvers.heuristics.relaxed.pieces import Pieces
from solvers.heuristics.relaxed.tiles import Tiles
from solvers.kernels import Kernels, Origin, Selection
from solvers.kernels.columns import columns
from solvers.model.instance import Instance, Ints, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.heuristics.test_gluing import packing
from tests.solvers.heuristics.test_improve import first_placement, never, peak
from tests.solvers.kernels.kernel_sets import native, reference, use_reference, where_native_run

HEIGHT = 1 << 20


def outcome_of(instance: Instance, work: int, enough: int = 0, seed: int = 1) -> Outcome | None:
    start = first_placement(instance)
    if start is None:
        return None
    task = Task(limits=Limits(work=work), start=Placement.in_one_pool(start), bound=(enough,), seed=seed)
    return Gluing().solve(instance, task, Silent())


def ruled(seed: int) -> Instance:
    """Few blocks, many of which are fixed, kept low, aligned, or have gaps or several parts; and some pairs that conflict or may overlap."""
    rng = random.Random(seed)
    blocks = []
    for _ in range(rng.randint(2, 14)):
        size, start = rng.randint(0, 6), rng.randint(0, 8)
        end = start + rng.randint(1, 6)
        kind = rng.randint(0, 11)
        if kind == 0:
            blocks.append(Block([(0, size, [(start, end), (end + 1, end + 2)])], alignment=rng.choice((1, 2))))
        elif kind == 1:
            blocks.append(Block([(0, size, [(start, end)]), (1, size + 2, [(end, end + 2)])]))
        elif kind == 2:
            blocks.append(plain(start, end, size, max_offset=rng.randint(0, 12)))
        elif kind == 3:
            blocks.append(plain(start, end, size, fixed=rng.choice((0, 0, 4, 12, 18))))
        else:
            blocks.append(plain(start, end, size, alignment=rng.choice((1, 1, 1, 2, 3))))
    parts = [i for i, block in enumerate(blocks) for _ in block.parts]
    pairs = [(a, b) for a in range(len(parts)) for b in range(a) if parts[a] != parts[b]]
    some = [rng.sample(pairs, min(len(pairs), rng.choice((0, 0, 1, 3)))) for _ in range(2)]
    return make_instance(blocks, conflicts=some[0], exclusions=[pair for pair in some[1] if pair not in some[0]])


@pytest.fixture
def seeds(request: pytest.FixtureRequest) -> range:
    return range(3_000) if NIGHTLY else range(300)


def test_all_rules_are_kept_and_both_kernels_decide_alike(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    native()
    mended = 0
    work = 3_000 if NIGHTLY else 1_000  # the reference comes through no fewer branches with the less
    instances = [ruled(seed) for seed in seeds]
    found = [outcome_of(instance, work) for instance in instances]
    use_reference(monkeypatch)
    for instance, outcome in zip(instances, found, strict=True):
        again = outcome_of(instance, work)
        if outcome is None or again is None:
            continue
        assert outcome.placement is not None
        assert again.placement is not None
        assert violation(instance, outcome.placement) is None
        start = first_placement(instance)
        assert start is not None
        assert peak(instance, outcome.placement.offset) <= peak(instance, start)
        assert again.placement.offset.tolist() == outcome.placement.offset.tolist()
        assert again.work == outcome.work
        mended += peak(instance, outcome.placement.offset) < peak(instance, start)
    assert mended > len(seeds) // 50


def fixed_where_it_lies(instance: Instance, base: Ints, block: int) -> Instance:
    lowest, highest = instance.lowest.copy(), instance.highest.copy()
    lowest[block, 0] = highest[block, 0] = base[block]
    return replace(instance, lowest=lowest, highest=highest)


def fixed_at_the_bottom(instance: Instance, base: Ints, block: int) -> Instance:
    return fixed_where_it_lies(instance, 0 * base, block)


def with_a_gap(instance: Instance, base: Ints, block: int) -> Instance:
    """The block is not live in the middle of its life."""
    start, end = int(instance.rect_start[block]), int(instance.rect_end[block])
    part = (end - start) // 3
    rect_end = instance.rect_end.copy()
    rect_end[block] = start + part
    return replace(
        instance,
        rect_part=np.append(instance.rect_part, block),
        rect_start=np.append(instance.rect_start, end - part),
        rect_end=np.append(rect_end, end),
    )


def with_a_conflict(instance: Instance, base: Ints, block: int) -> Instance:
    """The block must not share addresses with one that is not live with it, and does not where they lie."""
    is_apart = (instance.rect_end <= instance.rect_start[block]) | (instance.rect_start >= instance.rect_end[block])
    top = base + instance.block_high
    other = int(np.flatnonzero(is_apart & ((top <= base[block]) | (top[block] <= base)))[0])
    return replace(instance, conflicts=np.array([[block, other]], dtype=np.int64))


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
@pytest.mark.parametrize("rule", [fixed_where_it_lies, fixed_at_the_bottom, with_a_gap, with_a_conflict])
def test_packings_with_one_rule_are_packed_again(rule: Callable[[Instance, Ints, int], Instance]) -> None:
    plain_instance = packing(300, seed=5)
    whole = outcome_of(plain_instance, 300_000, HEIGHT)
    assert whole is not None
    assert whole.placement is not None
    assert peak(plain_instance, whole.placement.offset) == HEIGHT
    life = plain_instance.rect_end - plain_instance.rect_start
    for block in np.argsort(-life)[20:60:8].tolist():
        instance = rule(plain_instance, whole.placement.offset, block)
        found = outcome_of(instance, 300_000, HEIGHT, seed=7)
        assert found is not None
        assert found.placement is not None
        assert violation(instance, found.placement) is None
        assert peak(instance, found.placement.offset) == HEIGHT


def test_pieces_are_the_same_and_cover_their_blocks() -> None:
    for seed in range(6):
        instance = packing(60, seed, dropped=seed % 3)
        start = first_placement(instance)
        assert start is not None
        rows = [
            kernels.glued_pieces(instance.sections, columns(instance), start, 0, seed, 20_000, never)
            for kernels in (native(), reference())
        ]
        assert rows[0][2] == rows[1][2]
        for mine, other in zip(rows[0][:2], rows[1][:2], strict=True):
            assert mine.tolist() == other.tolist()
        offset, parents, _ = rows[0]
        assert len(parents) > instance.blocks
        members: dict[int, list[int]] = {}
        for block in range(instance.blocks):
            piece = int(parents[block])
            while piece >= 0:
                members.setdefault(piece, []).append(block)
                piece = int(parents[piece])
        top = offset + instance.block_high
        for own in members.values():
            others = np.setdiff1d(np.arange(instance.blocks), own)
            begin, end = instance.rect_start[own].min(), instance.rect_end[own].max()
            meets = (instance.rect_start[others] < end) & (begin < instance.rect_end[others])
            beside = (top[others] <= offset[own].min()) | (offset[others] >= top[own].max())
            assert not (meets & ~beside).any()


def glued(count: int, seed: int) -> tuple[Tiles, Ints, Ints]:
    """The tiles of a packing, where they lie once glued, and the parents of tiles and pieces."""
    instance = packing(count, seed)
    start = first_placement(instance)
    assert start is not None
    low, parents, _ = native().glued_pieces(instance.sections, columns(instance), start, 0, seed, 1_000 * count, never)
    number = np.arange(instance.blocks, dtype=np.int64)
    return Tiles(number, instance.rect_start, instance.rect_end, instance.block_high, 1), low, parents


@pytest.mark.parametrize("seed", range(8))
def test_what_moves_as_a_whole_lies_in_a_rectangle_of_its_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tiles, low, parents = glued(80, seed)
    pieces = Pieces(tiles, low, parents)
    undisturbed = pieces.boxes(low, [])
    assert len(undisturbed) == np.count_nonzero(parents < 0)
    larger = 0
    for moved in (1, 3, 10):
        loose = rng.choice(80, moved, replace=False).tolist()
        above = low.copy()
        above[rng.choice(80, moved)] += int(rng.integers(1, 1 << 19))
        boxes = pieces.boxes(above, loose)
        assert sorted(np.concatenate(boxes).tolist()) == list(range(80))
        rectangles = [
            (
                tiles.begin[own].min(),
                tiles.end[own].max(),
                above[own].min(),
                (above + tiles.size)[own].max(),
                (low + tiles.size)[own].max() - low[own].min(),
            )
            for own in boxes
        ]
        for n, (begin, end, bottom, top, height) in enumerate(rectangles):
            if len(boxes[n]) == 1:
                continue
            larger += 1
            assert not {*loose} & {*boxes[n].tolist()}
            assert top - bottom <= height
            for other in (*rectangles[:n], *rectangles[n + 1 :]):
                assert other[1] <= begin or end <= other[0] or other[3] <= bottom or top <= other[2]
    assert larger > 3


@pytest.mark.parametrize("until", [1, 1_000_000])
def test_a_rule_and_a_search_cost_something_although_nothing_comes_of_them(until: int) -> None:
    tiles, low, parents = glued(40, 3)
    apart = np.array(list(combinations(range(40), 2)), dtype=np.int64)
    instance = replace(packing(40, 3), conflicts=apart)
    searches = list[int]()

    def search(*, work: int, **_: Any) -> tuple[None, None, None, None, int]:
        searches.append(work)
        return None, None, None, None, 7

    kernels = cast("Kernels", SimpleNamespace(search=search))
    mending = Mending(instance, tiles, Selection(Origin.REFERENCE, kernels))
    broken = len(mending.broken(low))
    assert broken > 1
    found = mending.mend(Pieces(tiles, low, parents), low, HEIGHT, 2 * HEIGHT, 1, until, lambda _: False)
    assert found.tolist() == low.tolist()
    rules = broken if until > 1 else 1
    assert bool(searches) is (until > 1)
    assert mending.done == rules * (LOOKS_A_TILE * 40 + LOOKS_A_RULE) + len(searches) * (LOOKS_A_SEARCH + 7)
