"""The places that a file gives its buffers: hints, or what it fixes."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.plan import Placement
from ..model.problem import Buffer, BufferId, Problem


def own_place(problem: Problem, buffer: Buffer) -> Placement | None:
    """Return where the file puts the buffer. One without bytes is at the beginning of its memory unless the file says otherwise."""
    fixed = buffer.fixed
    offset = buffer.hint if fixed is None or fixed.offset is None else fixed.offset
    if offset is None and buffer.size:
        return None
    pool = (buffer.pools or (problem.pools[0].name,))[0] if fixed is None else fixed.pool
    return Placement(buffer.id, pool, offset or 0, buffer.size)


def own_places(problem: Problem) -> tuple[Placement, ...] | BufferId:
    """Return the places of all buffers in their order; or the first buffer that has none."""
    found = []
    for buffer in problem.buffers:
        place = own_place(problem, buffer)
        if place is None:
            return buffer.id
        found.append(place)
    return tuple(found)


def own_peaks(problem: Problem) -> dict[str, int] | None:
    """Return the peak of each memory with the file's own places; None unless every buffer has one, and one has bytes."""
    places = own_places(problem)
    if not isinstance(places, tuple) or not any(place.size for place in places):
        return None
    return peaks_of(problem, places)


def peaks_of(problem: Problem, places: Sequence[Placement]) -> dict[str, int]:
    """Return how high these places reach in each memory."""
    ends = dict.fromkeys((pool.name for pool in problem.pools), 0)
    for place in places:
        ends[place.pool] = max(ends[place.pool], place.offset + place.size)
    return ends
