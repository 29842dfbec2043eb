"""Many placements as columns of numbers: objects are made on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from solvers.model.instance import Ints

from ..plan import Placement
from ..problem import BufferId
from .rows import FEW, Columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlacementColumns(Columns[Placement]):
    """Buffers' places in pools. The arrays never change."""

    ids: Sequence[BufferId]
    pools: Sequence[str]
    """The names of pools, some of them perhaps without a buffer."""
    pool: Ints
    """The number of each buffer's pool among these."""
    offset: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.ids)

    def row(self, i: int) -> Placement:
        return Placement(self.ids[i], self.pools[self.pool[i]], int(self.offset[i]), int(self.size[i]))

    def __iter__(self) -> Iterator[Placement]:
        pools = map(self.pools.__getitem__, self.pool.tolist())
        return map(Placement, self.ids, pools, self.offset.tolist(), self.size.tolist())


def placement_columns(
    ids: Sequence[BufferId], pools: Sequence[str], pool: Ints, offset: Ints, size: Ints
) -> Sequence[Placement]:
    """Return the placements, as objects if they are few."""
    columns = PlacementColumns(ids, pools, pool, offset, size)
    return tuple(columns) if len(ids) <= FEW else columns


def ids_of(places: Sequence[Placement]) -> Sequence[BufferId]:
    """Return the id of each buffer."""
    return places.ids if isinstance(places, PlacementColumns) else [place.id for place in places]


def pools_of(places: Sequence[Placement]) -> set[str]:
    """Return the names of the pools that buffers are in."""
    if isinstance(places, PlacementColumns):
        return {places.pools[p] for p in np.flatnonzero(np.bincount(places.pool)).tolist()}
    return {place.pool for place in places}


def peaks_of(places: Sequence[Placement]) -> dict[str, int]:
    """Return the largest end in each pool that buffers are in. In columns, no end may exceed an int64."""
    peaks: dict[str, int] = {}
    if isinstance(places, PlacementColumns):
        highest = np.full(len(places.pools), -1, dtype=np.int64)
        np.maximum.at(highest, places.pool, places.offset + places.size)
        return {places.pools[p]: int(highest[p]) for p in np.flatnonzero(highest >= 0).tolist()}
    for place in places:
        end = place.offset + place.size
        if end >= peaks.get(place.pool, 0):
            peaks[place.pool] = end
    return peaks


def pool_numbers(places: Sequence[Placement], names: Sequence[str]) -> Ints:
    """Return the number of each buffer's pool among these names, of which it must be one."""
    if isinstance(places, PlacementColumns):
        if places.pools == names:
            return places.pool
        index = dict(zip(names, range(len(names)), strict=True))
        return np.array([index.get(name, -1) for name in places.pools], dtype=np.int64)[places.pool]
    index = dict(zip(names, range(len(names)), strict=True))
    return np.array([index[place.pool] for place in places], dtype=np.int64)


def offsets_of(places: Sequence[Placement]) -> Sequence[int] | Ints:
    """Return the offset of each buffer."""
    return places.offset if isinstance(places, PlacementColumns) else [place.offset for place in places]


def sizes_of(places: Sequence[Placement]) -> Sequence[int] | Ints:
    """Return the size of each buffer."""
    return places.size if isinstance(places, PlacementColumns) else [place.size for place in places]
