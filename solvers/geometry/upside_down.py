"""One pool seen from its end: where few blocks may end at the top, they are then the few that may begin at the bottom, which is where searches begin."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model.instance import Instance, Ints, Placement
from .simpler import stepped


@dataclass(frozen=True, slots=True, eq=False)
class UpsideDown:
    """An instance of one pool in whole steps, turned upside down."""

    instance: Instance
    ends: Ints
    """(n) what the base of a block and its base upside down add up to."""

    def upright(self, found: Placement) -> Placement:
        """The same placement in the pool as it is."""
        return Placement(found.pool, self.ends - found.offset)


def upside_down(instance: Instance) -> UpsideDown | None:
    """The instance of one pool from its end; None if as many may end there as in whole steps, or it has no end."""
    (pool,) = instance.pools
    if pool.capacity is None or (wide := stepped(instance)) is None:
        return None
    whole = wide.instance
    high, end = whole.block_high, whole.pools[0].capacity
    assert end is not None
    ends = end - high
    is_kept_below = (whole.highest + whole.modulus <= ends[:, None]) & (whole.lowest < whole.highest)
    if not is_kept_below.any():
        return None
    inside = [(begin, min(last, end)) for begin, last in whole.pools[0].reserved if begin < end]
    reserved = tuple((end - last, end - begin) for begin, last in reversed(inside))
    turned = replace(
        whole,
        pools=(replace(whole.pools[0], reserved=reserved),),
        part_low=high[whole.part_block] - whole.part_high,
        part_high=high[whole.part_block] - whole.part_low,
        residue=(ends[:, None] - whole.residue) % whole.modulus,
        lowest=ends[:, None] - whole.highest,
        highest=ends[:, None] - whole.lowest,
        hinted=whole.hinted & False,
        was=None,
    )
    return UpsideDown(turned, ends)
