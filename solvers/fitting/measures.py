"""The sort keys of orders: size, lifetime and live sum of each block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.instance import Instance, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """One number per block. `area` is a rank: blocks of the least area have 0."""

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
    # Areas only rank blocks, so a float that cannot overflow is enough; ranks keep the sort total.
    area = np.unique(size.astype(np.float64) * width, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return Measures(size, width, area, total, birth, death)


def _range_maxima(values: Ints, start: Ints, end: Ints) -> Ints:
    """max(values[start:end]) for each query, by doubling windows; all queries of one window size are answered together."""
    answer = np.zeros(len(start), dtype=np.int64)
    level = np.floor(np.log2(np.maximum(end - start, 1))).astype(np.int64)
    window = values
    for k in range(int(level.max(initial=0)) + 1):
        here = level == k
        answer[here] = np.maximum(window[start[here]], window[end[here] - (1 << k)])
        if len(window) > 1 << k:
            window = np.maximum(window[: -(1 << k)], window[1 << k :])
    return answer
