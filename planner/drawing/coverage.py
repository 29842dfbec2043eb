"""Rectangles smaller than pixels: how much of each pixel they cover, and in which colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt

LEVELS = 4
"""A pixel's colour is as strong as the pixel is covered, in this many steps: the least shows that something is there."""
NOTHING = 1e-6
"""What is covered less is only touched."""
SEEN = 1 / 8
"""The least share of the pixels that a colour gets in which it is."""

Shares = npt.NDArray[np.float64]


def shares(edges: npt.NDArray[np.float64], width: int, height: int) -> Shares:
    """Return how much of each pixel is covered by rectangles, given as rows of their left, right, upper and lower edges."""
    changes = np.zeros((height + 1) * (width + 1))
    across, down = _changes(edges[:, 0], edges[:, 1], width), _changes(edges[:, 2], edges[:, 3], height)
    for (x, more), (y, deeper) in product(across, down):
        changes += np.bincount(y * (width + 1) + x, more * deeper, len(changes))
    grid = changes.reshape(height + 1, width + 1)[:height, :width]
    covered: Shares = np.clip(grid.cumsum(0).cumsum(1), 0, 1)
    return covered


def _changes(
    low: npt.NDArray[np.float64], high: npt.NDArray[np.float64], length: int
) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
    """Return where along an axis the covered share of pixels changes, and by how much: at each edge in its pixel and in the next one."""
    found = []
    for edge, sign in ((low, 1.0), (high, -1.0)):
        at = np.clip(edge, 0, length)
        pixel = np.minimum(at.astype(np.int64), length - 1)
        rest = at - pixel
        found += [(pixel, sign * (1 - rest)), (pixel + 1, sign * rest)]
    return found


def screen(size: int) -> Shares:
    """Return thresholds from 0 to 1 for so many pixels squared, as printers use them: those of neighbours are far apart."""
    order = np.zeros((1, 1))
    while len(order) < size:
        order = np.block([[4 * order, 4 * order + 2], [4 * order + 3, 4 * order + 1]])
    return (order + 0.5) / order.size


SCREEN = screen(8)


def coloured(by_colour: Mapping[int, Shares]) -> Iterator[tuple[int, int, npt.NDArray[np.bool_]]]:
    """Yield the pixels of each colour and level (1 to LEVELS). Where several colours share pixels, each has as many as its share, and some in any case."""
    total: Shares = np.sum(list(by_colour.values()), axis=0)
    weights = {
        colour: np.where(share > NOTHING, np.maximum(share, SEEN * total), 0) for colour, share in by_colour.items()
    }
    level = np.where(total > NOTHING, np.ceil(np.clip(total - NOTHING, 0, 1) * LEVELS), 0)
    height, width = total.shape
    down, across = height // len(SCREEN) + 1, width // len(SCREEN) + 1
    wanted = np.sum(list(weights.values()), axis=0) * np.tile(SCREEN, (down, across))[:height, :width]
    free, reached = level > 0, np.zeros_like(total)
    for colour, weight in weights.items():
        reached += weight
        here = free & (reached > wanted)
        free &= ~here
        for each in range(1, LEVELS + 1):
            pixels = here & (level == each)
            if pixels.any():
                yield colour, each, pixels
