"""Pieces that fit together exactly become one, and nothing overlaps in it."""

from __future__ import annotations

from itertools import combinations

import pytest

from planner.generate import Request, generate
from solvers.heuristics.mosaic.joining import Allows, joined
from solvers.heuristics.mosaic.pieces import Piece

PINWHEEL = [(0, 6, 2), (6, 9, 5), (4, 9, 3), (0, 4, 6), (4, 6, 3)]
"""Begin, end and height of four pieces around a fifth."""


def pieces(rows: list[tuple[int, int, int]]) -> list[Piece]:
    return [Piece(begin, end, height, ((number, 0),)) for number, (begin, end, height) in enumerate(rows)]


def always(_first: int, _second: int) -> bool:
    return True


def left(rows: list[tuple[int, int, int]], allows: Allows = always) -> list[Piece]:
    found = pieces(rows)
    for fewer in joined(found, allows):
        assert len(fewer) <= len(found)
        found = fewer
    for piece in found:
        keeps_rules(rows, piece)
    return found


def keeps_rules(rows: list[tuple[int, int, int]], piece: Piece) -> None:
    """No two members overlap, and they fill the piece."""
    boxes = [(*rows[block], base) for block, base in piece.members]
    for (begin, end, height, base), (other_begin, other_end, other_height, other_base) in combinations(boxes, 2):
        apart_in_time = end <= other_begin or other_end <= begin
        assert apart_in_time or base + height <= other_base or other_base + other_height <= base
    assert all(base + height <= piece.height for _, _, height, base in boxes)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 4, 3), (4, 9, 3)],
        [(0, 4, 3), (0, 4, 5)],
        [(0, 4, 3), (0, 4, 5), (4, 9, 8)],
        [(0, 4, 3), (0, 4, 5), (4, 9, 6), (4, 9, 2)],
        PINWHEEL,
        [(begin, end, height) for begin, end, height in PINWHEEL] + [(9, 20, 8)],
    ],
    ids=["chain", "stack", "two beside one", "two beside two", "pinwheel", "pinwheel in a chain"],
)
def test_what_fits_becomes_one(rows: list[tuple[int, int, int]]) -> None:
    assert len(left(rows)) == 1


def test_a_gap_in_time_in_which_nothing_begins_is_none() -> None:
    assert len(left([(0, 4, 3), (5, 9, 3)])) == 1
    assert len(left([(0, 4, 3), (6, 9, 3), (4, 5, 2)])) == 3


def test_a_chain_goes_before_a_stack() -> None:
    # Stacked, the first two would fit nothing; the second continues as the third.
    rows = [(0, 4, 3), (0, 4, 5), (4, 9, 5), (4, 7, 3), (7, 9, 3)]
    assert len(left(rows)) == 1


def test_joints_can_be_left_out() -> None:
    assert len(left(PINWHEEL, lambda _first, _second: False)) == len(PINWHEEL)


@pytest.mark.parametrize("seed", range(12))
def test_boxes_cut_up_leave_few_pieces(seed: int) -> None:
    problem = generate("packing", Request(300, seed))
    rows = [(*(buffer.live or ())[0], buffer.size) for buffer in problem.buffers]
    assert len(left(rows)) < 80
