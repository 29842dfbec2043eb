"""Lower bounds on heights beside fixed blocks: they have the expected values and never exceed a placement's height."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.facts.possible_places import Places
from planner.model.problem import Buffer, Fixed, Pool, Problem
from planner.verifying.arguments import height as verifying
from planner.verifying.arguments.height import least_height
from solvers.bounds import beside_walls
from solvers.bounds.beside_walls import Piece, Sums, height_beside


@given(st.lists(st.integers(1, 40), min_size=1, max_size=7), st.integers(0, 200))
def test_the_largest_sum_within_a_limit_is_found(sizes: list[int], most: int) -> None:
    sums = [sum(some) for count in range(len(sizes) + 1) for some in combinations(sizes, count)]
    assert Sums(sizes).largest(most) == max(each for each in sums if each <= most)


def test_too_many_sums_are_not_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside_walls, "MOST_STEPS", 7)
    assert Sums([6, 9]).largest(14) == 12


def test_sums_are_formed_only_for_the_first_of_many_stretches() -> None:
    """The work of forming sums is limited for all stretches together; else thousands of ranges would take hours."""
    sums = Sums([(1 << 18) + k for k in range(40)])
    assert sums.largest(1 << 18) == 1 << 18
    for _ in range(2):
        found = sums.largest((1 << 19) - 1)
    assert found == (1 << 19) - 1


def test_pieces_larger_than_all_memory_are_in_no_sum() -> None:
    """A set of sums with one bit for each byte of a huge piece would take more memory than there is."""
    assert height_beside([Piece(0, 5, 1), Piece(0, 1 << 60, 1)], [(9, 10)]) == 10 + (1 << 60)
    wall = Buffer("wall", 1, live=((0, 1),), fixed=Fixed("ram", 9))
    free = [Buffer(name, size, live=((0, 1),)) for name, size in (("small", 5), ("huge", 1 << 60))]
    places = Places(Problem(buffers=(wall, *free), pools=(Pool("ram"),)))
    assert least_height(places, "ram", range(3)) == 10 + (1 << 60)


WALLS = st.lists(st.integers(1, 6), min_size=1, max_size=3)


@given(st.lists(st.tuples(st.integers(1, 9), st.sampled_from((1, 2, 4))), min_size=1, max_size=4), WALLS, WALLS)
def test_stacking_the_pieces_in_any_order_ends_no_lower(
    pieces: list[tuple[int, int]], gaps: list[int], thick: list[int]
) -> None:
    walls, end = [], 0
    for gap, size in zip(gaps, thick, strict=False):
        walls.append((end + gap, end + gap + size))
        end += gap + size
    found = height_beside([Piece(0, height, modulus) for height, modulus in pieces], walls)
    assert found <= min(_stacked(order, walls) for order in permutations(pieces))
    fixed = [Buffer(f"wall {begin}", end - begin, fixed=Fixed("ram", begin)) for begin, end in walls]
    free = [Buffer(f"{k}", height, alignment=modulus) for k, (height, modulus) in enumerate(pieces)]
    places = Places(Problem(buffers=(*fixed, *free), pools=(Pool("ram"),)))
    assert max(found, walls[-1][1]) <= least_height(places, "ram", range(len(fixed) + len(free)))


def test_sums_of_some_pieces_decide_the_height() -> None:
    assert height_beside([Piece(0, 5, 1), Piece(0, 5, 1), Piece(0, 6, 1)], [(9, 10)]) == 20


def test_the_verifier_computes_the_same_heights(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = Buffer("wall", 1, live=((0, 1),), fixed=Fixed("ram", 9))
    free = [Buffer(name, size, live=((0, 1),)) for name, size in (("a", 5), ("b", 5), ("c", 6))]
    places = Places(Problem(buffers=(fixed, *free), pools=(Pool("ram"),)))
    assert least_height(places, "ram", range(4)) == 20
    monkeypatch.setattr(verifying, "MOST_STEPS", 10)
    assert least_height(places, "ram", range(4)) == 17


def _stacked(order: tuple[tuple[int, int], ...], walls: list[tuple[int, int]]) -> int:
    """Return the height of the pieces if each is placed as low as possible, in this order."""
    taken, top = list(walls), 0
    for height, modulus in order:
        start = 0
        while hit := [end for begin, end in taken if begin < start + height and start < end]:
            start = -(-max(hit) // modulus) * modulus
        taken.append((start, start + height))
        top = max(top, start + height)
    return top
