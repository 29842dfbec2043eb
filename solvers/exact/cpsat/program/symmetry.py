"""Interchangeable blocks: an order among them leaves the solver only one of their arrangements."""

from __future__ import annotations

import numpy as np

from ....model.instance import Instance


def twins(instance: Instance) -> tuple[tuple[int, ...], ...]:
    """Groups of blocks that are equal in all their data and in no rule by name."""
    parts: list[list[tuple[int, int, tuple[tuple[int, int], ...]]]] = [[] for _ in range(instance.blocks)]
    rects: dict[int, list[tuple[int, int]]] = {}
    for part, start, end in zip(
        instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True
    ):
        rects.setdefault(part, []).append((start, end))
    bounds = zip(instance.part_block.tolist(), instance.part_low.tolist(), instance.part_high.tolist(), strict=True)
    for part, (block, low, high) in enumerate(bounds):
        parts[block].append((low, high, tuple(sorted(rects.get(part, ())))))
    special = _special(instance)
    class_size = np.bincount(instance.pool_class, minlength=1)
    groups: dict[object, list[int]] = {}
    for block in range(instance.blocks):
        if block in special or (instance.lowest[block] == instance.highest[block]).all():
            continue
        tables = (
            instance.allowed,
            instance.modulus,
            instance.residue,
            instance.lowest,
            instance.highest,
            instance.access_cost,
        )
        shared_class = int(instance.pool_class[block])
        key = (
            tuple(sorted(parts[block])),
            tuple(tuple(table[block].tolist()) for table in tables),
            shared_class if class_size[shared_class] > 1 else None,
        )
        groups.setdefault(key, []).append(block)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _special(instance: Instance) -> set[int]:
    """Blocks that a pair rule or an old place names."""
    named = [instance.conflicts, instance.exclusions, instance.penalties[:, :2]]
    return {
        *instance.apart.reshape(-1).tolist(),
        *(() if instance.was is None else instance.was.stays[:, 0].tolist()),
        *(b for pairs in named for b in instance.part_block[pairs].reshape(-1).tolist()),
    }
