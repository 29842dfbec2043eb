"""Outlines cover exactly the addresses of their blocks, each once, in the longest stretches possible."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.geometry.shape import outline, union
from tests.small.instances import Block, make_instance
from tests.small.strategies import effort

Row = tuple[int, int, int, int, int]

part = st.tuples(
    st.integers(0, 9), st.integers(0, 6), st.lists(st.integers(0, 12), min_size=2, max_size=4, unique=True).map(sorted)
).map(lambda p: (p[0], p[0] + p[1], list(zip(p[2][::2], p[2][1::2], strict=False))))
"""A part: low, high and one or two live intervals that do not touch."""
blocks = st.lists(st.lists(part, min_size=1, max_size=7).map(Block), min_size=1, max_size=4)


def outlines(given_blocks: list[Block]) -> list[Row]:
    shape = outline(make_instance(given_blocks))
    columns = (shape.block, shape.start, shape.end, shape.low, shape.high)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def slice_by_slice(block: Block) -> list[tuple[int, int, int, int]]:
    """Return a block's outline, cut wherever something begins or ends, with what continues unchanged joined."""
    rects = [(s, e, low, high) for low, high, live in block.parts for s, e in live]
    running: dict[tuple[int, int], int] = {}
    done = []
    times = sorted({t for s, e, *_ in rects for t in (s, e)})
    for here, _ in pairwise([*times, 1 << 20]):
        covered = union([(low, high) for s, e, low, high in rects if s <= here < e])
        done += [(running.pop(span), here, *span) for span in list(running) if span not in covered]
        for span in covered:
            running.setdefault(span, here)
    return done


@effort(60, 5000)
@given(blocks)
def test_outlines_agree_with_those_found_slice_by_slice(given_blocks: list[Block]) -> None:
    tangled = [b for b, block in enumerate(given_blocks) if len(block.parts) > 1]
    expected = sorted((b, *rect) for b in tangled for rect in slice_by_slice(given_blocks[b]))
    assert [row for row in outlines(given_blocks) if row[0] in tangled] == expected


@effort(20, 1000)
@given(blocks)
def test_every_live_address_is_covered_once(given_blocks: list[Block]) -> None:
    covered = np.zeros((len(given_blocks), 13, 16), dtype=np.int64)
    for b, start, end, low, high in outlines(given_blocks):
        covered[b, start:end, low:high] += 1
    live = np.zeros_like(covered)
    for b, block in enumerate(given_blocks):
        for low, high, spans in block.parts:
            for start, end in spans:
                live[b, start:end, low:high] = 1
    assert (covered == live).all()


def test_views_of_a_base_that_outlives_them_leave_one_rect() -> None:
    views = [(i, i + 3, [(i, i + 5)]) for i in range(5000)]
    assert outlines([Block([(0, 6000, [(0, 6000)]), *views])]) == [(0, 0, 6000, 0, 6000)]


def test_a_chain_in_place_is_one_rect_and_one_side_by_side_is_not() -> None:
    assert outlines([Block([(0, 4, [(i, i + 2)]) for i in range(5000)])]) == [(0, 0, 5001, 0, 4)]
    assert len(outlines([Block([(4 * i, 4 * i + 4, [(i, i + 2)]) for i in range(5000)])])) == 5001


def test_addresses_near_the_limit_are_exact() -> None:
    top = (1 << 62) - 1
    assert outlines([Block([(0, 2, [(0, 1)]), (top - 2, top, [(0, 2)]), (top - 3, top - 2, [(1, 2)])])]) == [
        (0, 0, 1, 0, 2),
        (0, 0, 1, top - 2, top),
        (0, 1, 2, top - 3, top),
    ]
