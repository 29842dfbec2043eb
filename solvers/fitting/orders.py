"""In which order to place blocks. No order wins everywhere, so the portfolio tries them all; ties end at the block's number.

Names say by what is sorted, greatest first: size (height of the block), width (sections it is live in), area (size x width),
total (the greatest sum of sizes live in any of its sections). Births and deaths run with and against time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.instance import Instance, Ints
from .gaps import Fit

PASSES = (
    ("size", Fit.LOWEST),
    ("total_width_area", Fit.BEST),
    ("total_area_width", Fit.BEST),
    ("death", Fit.LOWEST),
    ("total_size", Fit.BEST),
    ("area", Fit.BEST),
    ("total_size", Fit.LOWEST),
    ("area", Fit.LOWEST),
    ("birth", Fit.BEST),
    ("width_area_total", Fit.LOWEST),
    ("total_area_width", Fit.LOWEST),
    ("total_width_area", Fit.LOWEST),
    ("size_width", Fit.LOWEST),
    ("width_size", Fit.LOWEST),
    ("birth", Fit.LOWEST),
    ("size", Fit.BEST),
    ("width_area_total", Fit.BEST),
    ("size_width", Fit.BEST),
    ("width_size", Fit.BEST),
    ("death", Fit.BEST),
)
"""What is tried in one pool: each pass is the one that gained most beside those before it, on generated problems of eight kinds."""


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """What orders sort by, per block."""

    size: Ints
    width: Ints
    area: Ints
    total: Ints
    birth: Ints
    death: Ints


def measure(instance: Instance) -> Measures:
    """All measures, in O(n log n)."""
    size = instance.block_high
    block = instance.part_block[instance.rect_part]
    width = np.zeros(instance.blocks, dtype=np.int64)
    np.add.at(width, block, instance.rect_end - instance.rect_start)
    birth = np.full(instance.blocks, instance.sections, dtype=np.int64)
    np.minimum.at(birth, block, instance.rect_start)
    death = np.zeros(instance.blocks, dtype=np.int64)
    np.maximum.at(death, block, instance.rect_end)
    load = np.zeros(instance.sections + 1, dtype=np.int64)
    length = (instance.part_high - instance.part_low)[instance.rect_part]
    np.add.at(load, instance.rect_start, length)
    np.subtract.at(load, instance.rect_end, length)
    total = np.zeros(instance.blocks, dtype=np.int64)
    np.maximum.at(total, block, _range_maxima(np.cumsum(load)[:-1], instance.rect_start, instance.rect_end))
    # Areas only rank blocks, so a float that cannot overflow serves; ranks keep the sort total.
    area = np.unique(size.astype(np.float64) * width, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Measures(size, width, area, total, birth, death)


def _range_maxima(values: Ints, start: Ints, end: Ints) -> Ints:
    """max(values[start:end]) of each query, by doubling windows; all queries of one window size are answered together."""
    answer = np.zeros(len(start), dtype=np.int64)
    level = np.floor(np.log2(np.maximum(end - start, 1))).astype(np.int64)
    window = values
    for k in range(int(level.max(initial=0)) + 1):
        here = level == k
        answer[here] = np.maximum(window[start[here]], window[end[here] - (1 << k)])
        if len(window) > 1 << k:
            window = np.maximum(window[: -(1 << k)], window[1 << k :])
    return answer


def orders(instance: Instance) -> dict[str, Ints]:
    """All orders of the portfolio, by name; the ones that win most often come first."""
    m = measure(instance)

    def by(*keys: Ints) -> Ints:
        sequence: Ints = np.lexsort((np.arange(instance.blocks), *reversed(keys)))
        return sequence

    return {
        "size": by(-m.size, m.birth),
        "area": by(-m.area, -m.size),
        "width_area_total": by(-m.width, -m.area, -m.total),
        "total_area_width": by(-m.total, -m.area, -m.width),
        "total_width_area": by(-m.total, -m.width, -m.area),
        "total_size": by(-m.total, -m.size),
        "size_width": by(-m.size, -m.width),
        "width_size": by(-m.width, -m.size),
        "birth": by(m.birth, -m.size),
        "death": by(-m.death, -m.size),
    }
