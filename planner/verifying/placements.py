"""Checks each placement by itself: its pool, its limits, its alignment.

All placements are first checked in arrays; only doubtful ones, and those under further rules, are checked one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..facts.figures import amounts
from ..facts.intervals import first_meeting, merged
from ..facts.sweep import Integers, Pieces, exact_array
from ..model.columns.buffers import BufferColumns, restricted
from ..model.columns.buffers import sizes as sizes_of_buffers
from ..model.columns.placements import PlacementColumns, offsets_of, pool_numbers
from ..model.columns.placements import sizes_of as sizes_of_places
from ..model.columns.pools import alignments_of, any_reserved, bases_of, names_of, sizes_of
from ..model.errors import echo
from ..model.plan import Placement
from ..model.problem import Buffer, Figures, Interval, Pool, Problem
from .findings import AddressRange, FindingKind, PlanFindings

FEW_PIECES = 100
"""Pools with at most this many pieces are examined together."""


class PlacedBuffers(NamedTuple):
    """The placed buffers, with their places in arrays."""

    buffers: Sequence[Buffer]
    places: Sequence[Placement]
    number: Integers
    """Each buffer's number in the problem."""
    pool: Integers
    """The number of its pool."""
    offset: Integers
    size: Integers
    """The buffer's own size, whatever the plan says."""
    known: Figures | None
    """The problem's figures, if all buffers are placed."""


def placed_buffers(problem: Problem, where: Sequence[Placement | None]) -> PlacedBuffers:
    """Return the existing placements, whose pools must exist."""
    numbers: Sequence[int]
    places: Sequence[Placement]
    if isinstance(where, PlacementColumns):
        numbers, places, buffers = range(len(where)), where, problem.buffers
    else:
        numbers = [i for i, place in enumerate(where) if place is not None]
        places = [place for place in where if place is not None]
        buffers = problem.buffers if len(numbers) == len(where) else [problem.buffers[i] for i in numbers]
    known = None
    if len(places) == len(where):
        known = amounts(problem) if isinstance(problem.buffers, BufferColumns) else problem.facts.figures
    return PlacedBuffers(
        buffers,
        places,
        np.array(numbers, dtype=np.int64),
        pool_numbers(places, names_of(problem.pools)),
        exact_array(offsets_of(places)),
        exact_array(sizes_of_buffers(buffers)) if known is None else known.size,
        known,
    )


def peaks(problem: Problem, placed: PlacedBuffers) -> dict[str, int]:
    """Return the largest end offset in each pool; 0 for empty pools."""
    end = placed.offset + placed.size
    found = np.zeros(len(problem.pools), dtype=end.dtype)
    np.maximum.at(found, placed.pool, end)
    return dict(zip(names_of(problem.pools), found.tolist(), strict=True))


def check_each(problem: Problem, placed: PlacedBuffers, report: PlanFindings) -> None:
    """Report faults of the placements, each on its own."""
    pools = problem.pools
    doubtful = _is_doubtful(pools, placed)
    reserved = [merged(pool.reserved) for pool in pools] if any_reserved(pools) else []
    if reserved:
        doubtful |= _meets(reserved, placed)
    for i in np.flatnonzero(doubtful).tolist():
        p = int(placed.pool[i])
        _check(placed.buffers[i], placed.places[i], pools[p], reserved[p] if reserved else (), report)


def _is_doubtful(pools: Sequence[Pool], placed: PlacedBuffers) -> Integers:
    """True for each placement that needs a closer look."""
    here = placed.pool
    address = exact_array(bases_of(pools))[here] + placed.offset
    sizes = sizes_of(pools)
    limited = np.array([size is not None for size in sizes])[here]
    known = placed.known
    elsewhere = np.zeros(len(here), dtype=bool)
    if known is None or not known.is_plain:
        names, pool, offset = names_of(pools), here.tolist(), placed.offset.tolist()
        for i, buffer in restricted(placed.buffers):
            elsewhere[i] = not is_where_it_may_be(buffer, names[pool[i]], offset[i])
    alignment = exact_array([buffer.alignment for buffer in placed.buffers]) if known is None else known.alignment
    doubtful: Integers = (
        elsewhere
        | (exact_array(sizes_of_places(placed.places)) != placed.size)
        | (placed.offset < 0)
        | (limited & (placed.offset + placed.size > exact_array([size or 0 for size in sizes])[here]))
        | (address % exact_array(alignments_of(pools))[here] != 0)
        | (address % alignment != 0)
    )
    return doubtful


def is_where_it_may_be(buffer: Buffer, pool: str, offset: int) -> bool:
    """True if this place satisfies the buffer's own rules."""
    fixed = buffer.fixed
    return (
        (buffer.pools is None or pool in buffer.pools)
        and (fixed is None or (fixed.pool == pool and fixed.offset in (None, offset)))
        and (buffer.max_offset is None or offset <= buffer.max_offset)
    )


def _meets(reserved: Sequence[tuple[Interval, ...]], placed: PlacedBuffers) -> Integers:
    """True for each placement that touches a reserved range of its pool."""
    met: Integers = np.zeros(len(placed.places), dtype=bool)
    order = np.argsort(placed.pool, kind="stable")
    cuts = np.searchsorted(placed.pool[order], np.arange(len(reserved) + 1)).tolist()
    for ranges, first, last in zip(reserved, cuts, cuts[1:], strict=False):
        if not ranges or first == last:
            continue
        here = order[first:last]
        start, end = placed.offset[here], placed.offset[here] + placed.size[here]
        lows, highs = (exact_array(list(side)) for side in zip(*ranges, strict=True))
        above = np.minimum(np.searchsorted(highs, start, side="right"), len(ranges) - 1)
        met[here] = (start < end) & (lows[above] < end) & (start < highs[above])
    return met


def _check(buffer: Buffer, place: Placement, pool: Pool, reserved: tuple[Interval, ...], report: PlanFindings) -> None:
    offset, size = place.offset, buffer.size
    end = offset + size
    address = (pool.base or 0) + offset

    def complain(kind: FindingKind, what: str) -> None:
        here = AddressRange(place.pool, offset, end)
        report.add(kind, f"buffer {echo(buffer.id)} is at {here}: {what}", (buffer.id,), (here,))

    if place.size != size:
        text = f"buffer {echo(buffer.id)} has {size} bytes, the plan gives it {place.size}"
        report.add(FindingKind.WRONG_SIZE, text, (buffer.id,))
    if offset < 0 or (pool.size is not None and end > pool.size):
        room = "addresses" if pool.size is None else f"{pool.size} bytes"
        complain(FindingKind.OUTSIDE_POOL, f"outside the pool's {room}")
    if address % pool.alignment or address % buffer.alignment:
        asked = [str(buffer.alignment)] if address % buffer.alignment else []
        asked += [f"the pool's {pool.alignment}"] if address % pool.alignment else []
        above = f" above base {pool.base}" if pool.base else ""
        complain(FindingKind.MISALIGNED, f"not aligned to {' and '.join(asked)}{above}")
    if buffer.pools is not None and pool.name not in buffer.pools:
        complain(FindingKind.WRONG_POOL, "a pool it may not be in")
    fixed = buffer.fixed
    if fixed is not None and (place.pool != fixed.pool or (fixed.offset is not None and offset != fixed.offset)):
        there = f"pool {echo(fixed.pool)}" + ("" if fixed.offset is None else f" at {fixed.offset}")
        complain(FindingKind.FIXED_MOVED, f"although it is fixed in {there}")
    if buffer.max_offset is not None and offset > buffer.max_offset:
        complain(FindingKind.ABOVE_MAX_OFFSET, f"above its greatest offset {buffer.max_offset}")
    met = first_meeting(reserved, offset, end)
    if met is not None:
        complain(FindingKind.IN_RESERVED_RANGE, f"inside the reserved range [{met[0]}, {met[1]})")


def pieces(problem: Problem, placed: PlacedBuffers) -> list[Pieces]:
    """Yield the pieces in use in each pool, without those below it, which are reported already.

    There may be very many pools with few pieces. They are examined as one, each in its own period of time.
    """
    row, start, end = _lives(placed)
    inside = np.flatnonzero(placed.offset[row] >= 0)
    order = inside[np.argsort(placed.pool[row[inside]], kind="stable")]
    cuts = np.searchsorted(placed.pool[row[order]], np.arange(len(problem.pools) + 1))
    counts = np.diff(cuts)
    small = np.repeat(counts <= FEW_PIECES, counts)
    found = []
    for first, last in pairwise(cuts.tolist()):
        if last - first > FEW_PIECES:
            some = order[first:last]
            found.append(_pieces_of(placed, row[some], start[some], end[some]))
    if small.any():
        some = order[small]
        times, rank = np.unique(np.concatenate([start[some], end[some]]), return_inverse=True)
        rank = rank.reshape(-1) + np.tile(placed.pool[row[some]] * len(times), 2)
        found.append(_pieces_of(placed, row[some], rank[: len(some)], rank[len(some) :]))
    return found


def _lives(placed: PlacedBuffers) -> tuple[Integers, Integers, Integers]:
    """Return each lifetime of a buffer with bytes: its number among the placed ones, begin and end."""
    known = placed.known
    if known is not None:
        there = np.flatnonzero((known.size[known.owner] > 0) & (known.start < known.end))
        return known.owner[there], known.start[there], known.end[there]
    rows: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    for number, buffer in enumerate(placed.buffers):
        live = buffer.live
        if live and buffer.size:
            for begin, until in live if len(live) == 1 else merged(live):
                if begin < until:
                    rows.append(number)
                    starts.append(begin)
                    ends.append(until)
    return np.array(rows, dtype=np.int64), exact_array(starts), exact_array(ends)


def _pieces_of(placed: PlacedBuffers, row: Integers, start: Integers, end: Integers) -> Pieces:
    low = placed.offset[row]
    return Pieces(low, low + placed.size[row], start, end, placed.number[row])
