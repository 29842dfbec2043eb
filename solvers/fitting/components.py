"""Which blocks cannot meet, so that each group of the others is placed for itself."""

from __future__ import annotations

import numpy as np

from ..model.instance import Instance, Ints


def components(instance: Instance) -> Ints:
    """A number per block: blocks with different numbers neither are live at a common time nor meet in a pair. For one pool."""
    label = np.arange(instance.blocks, dtype=np.int64)
    block = instance.part_block[instance.rect_part]
    order = np.argsort(instance.rect_start, kind="stable")
    reach = np.maximum.accumulate(instance.rect_end[order])
    fresh = (
        np.concatenate([[True], instance.rect_start[order][1:] >= reach[:-1]])
        if len(order)
        else np.zeros(0, dtype=bool)
    )
    run = np.cumsum(fresh) - 1
    anchors = block[order][fresh]
    links = np.stack([anchors[run], block[order]], axis=1) if len(order) else np.zeros((0, 2), dtype=np.int64)
    extra = instance.part_block[instance.conflicts]
    return _connected(label, np.concatenate([links, extra]))


def _connected(label: Ints, links: Ints) -> Ints:
    """The least member of each connected set, by hooking and pointer jumping."""
    while True:
        a, b = label[links[:, 0]], label[links[:, 1]]
        low, high = np.minimum(a, b), np.maximum(a, b)
        if (low == high).all():
            return label
        np.minimum.at(label, high, low)
        while not (label == label[label]).all():
            label = label[label]
