"""The part of an instance that every memory planner understands: boxes in one pool, each with a size and one lifetime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.errors import Unsupported
from ...model.instance import Instance, Ints, Placement


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The blocks with a size and a lifetime, in the user's order; all others lie at the bottom and obstruct nothing."""

    instance: Instance
    block: Ints
    """The block of each box."""
    size: list[int]
    start: list[int]
    end: list[int]
    """The first section after the box's life."""
    alignment: list[int]

    def placement(self, offsets: Sequence[int]) -> Placement | None:
        """The placement with these offsets of the boxes; None if one ends above the pool's capacity."""
        offset = self.instance.lowest[:, 0].copy()
        offset[self.block] = offsets
        if (offset > self.instance.highest[:, 0]).any():
            return None
        return Placement.in_one_pool(offset)


def boxes_of(solver: str, instance: Instance) -> Boxes:
    """The instance as boxes. Raises Unsupported if it has other features."""
    why = _what_is_more(instance)
    if why is not None:
        raise Unsupported(solver, why)
    part = instance.rect_part
    size = (instance.part_high - instance.part_low)[part]
    solid = size > 0
    block = instance.part_block[part][solid]
    boxes = Boxes(
        instance,
        block,
        size[solid].tolist(),
        instance.rect_start[solid].tolist(),
        instance.rect_end[solid].tolist(),
        instance.modulus[block, 0].tolist(),
    )
    if _is_held_down(boxes):
        raise Unsupported(solver, "it knows no greatest offsets")
    return boxes


def _what_is_more(instance: Instance) -> str | None:
    if len(instance.pools) != 1:
        return "it takes one pool"
    if instance.pools[0].reserved:
        return "it knows no reserved ranges"
    if len(instance.part_block) != instance.blocks or len(np.unique(instance.rect_part)) != len(instance.rect_part):
        return "it knows buffers of one lifetime alone, and no colocations"
    if len(instance.conflicts) or len(instance.exclusions) or len(instance.apart):
        return "lifetimes are all that it knows of conflicts"
    if instance.weighs_reuse:
        return "it knows no reuse penalties"
    if instance.weighs_moves:
        return "it does not count what moves"
    if not instance.allowed.all():
        return "a buffer fits nowhere"
    if instance.residue.any():
        return "it knows no base address"
    if (instance.lowest > 0).any():
        return "it knows no fixed offsets"
    return None


def _is_held_down(boxes: Boxes) -> bool:
    """True if a box has to end lower than another."""
    top = boxes.instance.highest[boxes.block, 0] + boxes.instance.block_high[boxes.block]
    return bool((top + boxes.instance.modulus[boxes.block, 0] <= top.max(initial=0)).any())
