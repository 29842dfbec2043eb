"""The outline of blocks of several parts: which address ranges they cover at which time, each address once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .instance import Instance, Ints


def union(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that cover the same numbers, sorted, disjoint and not touching."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(r for r in ranges if r[1] > r[0]):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Rectangles of blocks in which no two of one block overlap; together they cover what the block's rects cover."""

    block: Ints
    start: Ints
    end: Ints
    low: Ints
    high: Ints


def outline(instance: Instance) -> Outline:
    """The outline of all blocks; for plain blocks these are their rects."""
    block = instance.part_block[instance.rect_part]
    low, high = instance.part_low[instance.rect_part], instance.part_high[instance.rect_part]
    start, end = instance.rect_start, instance.rect_end
    parts = np.bincount(instance.part_block, minlength=instance.blocks)
    tangled = parts[block] > 1
    if not tangled.any():
        return Outline(block, start, end, low, high)
    rows: list[tuple[int, int, int, int, int]] = []
    by_block: dict[int, list[tuple[int, int, int, int]]] = {}
    for b, s, e, lo, hi in zip(*(a[tangled].tolist() for a in (block, start, end, low, high)), strict=True):
        by_block.setdefault(b, []).append((s, e, lo, hi))
    for b, rects in by_block.items():
        rows.extend((b, *rect) for rect in _disjoint(rects))
    extra = np.array(rows, dtype=np.int64).reshape(-1, 5)
    keep = ~tangled
    return Outline(*(np.concatenate([a[keep], extra[:, i]]) for i, a in enumerate((block, start, end, low, high))))


def _disjoint(rects: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Cut at every time where something begins or ends, join what continues unchanged."""
    times = sorted({t for s, e, *_ in rects for t in (s, e)})
    done: list[tuple[int, int, int, int]] = []
    running: dict[tuple[int, int], int] = {}
    for here, after in pairwise(times):
        covered = union([(lo, hi) for s, e, lo, hi in rects if s <= here and e >= after])
        for span in [span for span in running if span not in covered]:
            done.append((running.pop(span), here, *span))
        for span in covered:
            running.setdefault(span, here)
    done.extend((begun, times[-1], *span) for span, begun in running.items())
    return done
