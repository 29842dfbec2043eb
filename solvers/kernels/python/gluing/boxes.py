"""The few pieces that gluing leaves, as boxes that the exact search places, as in native/gluing/boxes.cpp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...columns import Columns
from ..search import search
from .forest import Forest


def placed_below(
    height: int, forest: Forest, seed: int, most_work: int, stopped: Callable[[], bool]
) -> tuple[list[int] | None, int]:
    """The bases of the loose pieces below this height, or None if there are none, or the search ends before it finds them; and its work."""
    boxes = [forest[node] for node in forest.loose]
    high = np.array([box.height for box in boxes], dtype=np.int64)
    rank, none = np.arange(len(boxes), dtype=np.int64), np.zeros(0, dtype=np.int64)
    columns = Columns(
        part_block=rank,
        part_low=0 * rank,
        part_high=high,
        rect_part=rank,
        rect_start=np.array([box.begin for box in boxes], dtype=np.int64),
        rect_end=np.array([box.end for box in boxes], dtype=np.int64),
        modulus=0 * rank + 1,
        residue=0 * rank,
        lowest=0 * rank,
        highest=height - high,
        reserved=none,
        conflicts=none,
        exclusions=none,
    )
    _, bases, _, _, work = search(
        max(box.end for box in boxes),
        columns,
        height,
        None,
        fit=True,
        seed=seed,
        threads=1,
        work=most_work,
        max_pairs=len(boxes) * (len(boxes) + 3),  # all there can be: each box takes the room of up to three
        report=lambda _bases, _bound: stopped(),
    )
    return None if bases is None else bases.tolist(), work
