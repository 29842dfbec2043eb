"""What is smaller than a pixel colours it as far as it covers it, and several colours share pixels as they share the room."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planner.drawing.coverage import LEVELS, SCREEN, coloured, shares


def test_each_pixel_is_covered_as_far_as_rectangles_reach() -> None:
    covered = shares(np.array([[0.25, 2.5, 0.5, 1.0], [2.5, 3.0, 0.0, 2.0]]), 4, 3)
    assert covered == pytest.approx(np.array([[0.375, 0.5, 0.75, 0], [0, 0, 0.5, 0], [0, 0, 0, 0]]))


def test_the_whole_area_is_counted_and_nothing_beyond_the_field() -> None:
    chance = random.Random(1)
    edges = []
    for i in range(40):  # beside each other, so that none covers another
        left, upper = i + chance.random() / 2, 20 * chance.random()
        edges.append((left, left + chance.random() / 2, upper, upper + 10 * chance.random()))
    area = sum((right - left) * (min(lower, 25) - upper) for left, right, upper, lower in edges)
    covered = shares(np.array(edges), 40, 25)
    assert covered.sum() == pytest.approx(area)
    assert shares(np.array([[-3.0, 99.0, -3.0, 99.0]]), 4, 3) == pytest.approx(np.ones((3, 4)))


def test_rectangles_above_each_other_cover_a_pixel_once() -> None:
    assert shares(np.array([[0, 1, 0, 1]] * 3, dtype=float), 1, 1) == pytest.approx(np.ones((1, 1)))


def test_the_level_tells_how_much_is_covered_and_a_trace_is_seen() -> None:
    share = np.array([[0, 0.001, 0.25, 0.26, 0.5, 0.99, 1.0]])
    levels = np.zeros(7, dtype=int)
    for colour, level, pixels in coloured({3: share}):
        assert colour == 3
        levels[pixels[0]] = level
    assert levels.tolist() == [0, 1, 1, 2, 2, LEVELS, LEVELS]


@pytest.mark.parametrize("share", [0.0, 0.125, 0.5, 0.75, 1.0])
def test_a_colour_has_as_many_pixels_as_its_share(share: float) -> None:
    shape = (4 * len(SCREEN), 4 * len(SCREEN))
    both = {1: np.full(shape, 0.6 * share), 2: np.full(shape, 0.6 * (1 - share))}
    counts = {colour: pixels.sum() for colour, level, pixels in coloured(both) if level == 3}
    assert counts.get(1, 0) == pytest.approx(share * shape[0] * shape[1])
    assert sum(counts.values()) == shape[0] * shape[1]
