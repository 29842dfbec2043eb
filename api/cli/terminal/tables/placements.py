"""The tables of a plan: its pools, and where every buffer lies."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from planner.model.plan import Placement, Plan, PoolUse
from planner.model.problem import Pool

from ..text import grouped, percent, rough, visible
from .columns import LONGEST_NAME, MAX_ROWS, fill, new_table, shown_id


def pools_table(pools: Sequence[PoolUse], width: int) -> Table:
    """Return each pool's contents, its bound, and how full it is."""
    table = new_table()
    rows = [
        (
            "none" if pool.peak is None else grouped(pool.peak),
            "" if pool.peak is None or pool.peak < 1024 else rough(pool.peak),
            grouped(pool.bound),
            "unlimited" if pool.size is None else grouped(pool.size),
            "" if not pool.size else percent((pool.peak or 0) / pool.size),
        )
        for pool in pools[:MAX_ROWS]
    ]
    headings = ("Peak (B)", "", "Bound (B)", "Size (B)", "Used")
    names = [visible(pool.name[:LONGEST_NAME]) for pool in pools[:MAX_ROWS]]
    fill(table, [("Pool", names)], headings, rows, width)
    return table


def shown_placements(plan: Plan, pools: Sequence[Pool], rows: int) -> list[Placement]:
    """Return all by address, pools in the problem's order; if too many, those at their pool's peak, and the largest."""
    place = {pool.name: rank for rank, pool in enumerate(pools)}
    by_address = sorted(plan.placements, key=lambda p: (place.get(p.pool, len(place)), p.offset, p.offset + p.size))
    if len(by_address) <= rows:
        return by_address
    peaks = {pool.name: pool.peak for pool in plan.pools}
    return sorted(by_address, key=lambda p: (p.offset + p.size != peaks.get(p.pool), -p.size))[:rows]


def placements_table(ordered: Sequence[Placement], pools: Sequence[Pool], width: int) -> Table:
    """Return the table of these buffers' places."""
    table = new_table()
    bases = {pool.name: pool.base for pool in pools}
    has_base = any(bases.get(p.pool) is not None for p in ordered)
    rows = []
    for p in ordered:
        base = bases.get(p.pool)
        address = "" if base is None else f"{base + p.offset:#x}"
        rows.append((*((address,) if has_base else ()), grouped(p.offset), grouped(p.offset + p.size), grouped(p.size)))
    headings = (*(("Address",) if has_base else ()), "Offset", "End", "Size (B)")
    mixed = any(isinstance(p.id, int) for p in ordered)
    names = [("Buffer", [shown_id(p.id, quoting=mixed) for p in ordered])]
    if len(pools) > 1:
        names.append(("Pool", [visible(p.pool[:LONGEST_NAME]) for p in ordered]))
    fill(table, names, headings, rows, width)
    return table
