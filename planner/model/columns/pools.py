"""Many memories as columns of numbers: objects are made on demand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import cast

import numpy as np

from solvers.model.instance import Bools, Ints

from ..problem import Pool
from .rows import FEW, Kept, KeptColumns
from .texts import GatheredTexts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PoolColumns(KeptColumns[Pool]):
    """Memories with only a name, a size, an alignment, a cost and a rank. The arrays never change."""

    texts: Sequence[str]
    """The name of each."""
    size: Ints
    """0 where the size is unlimited."""
    is_limited: Bools
    alignment: Ints
    cost: Ints
    rank: Ints
    _names: list[list[str]] = field(default_factory=list, init=False)
    _sizes: list[list[int | None]] = field(default_factory=list, init=False)
    _kept: Kept[Pool] = field(default_factory=Kept, init=False)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def names(self) -> list[str]:
        """Return the name of each, always the same list."""
        if not self._names:
            self._names.append([*self.texts])
        return self._names[0]

    @property
    def sizes(self) -> list[int | None]:
        """Return the size of each, always the same list; None: unlimited."""
        if not self._sizes:
            pairs = zip(self.size.tolist(), self.is_limited.tolist(), strict=True)
            self._sizes.append([size if limited else None for size, limited in pairs])
        return self._sizes[0]

    def made(self) -> Iterator[Pool]:
        alignment, cost, rank = (column.tolist() for column in (self.alignment, self.cost, self.rank))
        return map(Pool, self.names, self.sizes, alignment, repeat(None), repeat(()), cost, rank)

    def row(self, i: int) -> Pool:
        size = int(self.size[i]) if self.is_limited[i] else None
        return Pool(self.texts[i], size, int(self.alignment[i]), cost=int(self.cost[i]), rank=int(self.rank[i]))


def named_pools(names: Collection[str]) -> Sequence[Pool]:
    """Return memories of nothing but a name, in columns if they are many."""
    count = len(names)
    if count <= FEW:
        return tuple(map(Pool, names))
    zero, one = (np.broadcast_to(np.int64(number), count) for number in (0, 1))
    texts = GatheredTexts()
    for name in names:
        texts.append(name)
    return PoolColumns(cast(Sequence[str], texts.all()), zero, zero != 0, one, one, zero)


class PoolsByName(Mapping[str, Pool]):
    """Memories by their names, in order."""

    def __init__(self, pools: PoolColumns) -> None:
        self._pools = pools
        self._index = dict(zip(pools.names, range(len(pools.names)), strict=True))

    def __getitem__(self, name: str) -> Pool:
        return self._pools[self._index[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index


def by_name(pools: Sequence[Pool]) -> Mapping[str, Pool]:
    """Return the memories by their names."""
    return PoolsByName(pools) if isinstance(pools, PoolColumns) else {pool.name: pool for pool in pools}


def names_of(pools: Sequence[Pool]) -> list[str]:
    """Return the name of each."""
    return pools.names if isinstance(pools, PoolColumns) else [pool.name for pool in pools]


def texts_of(pools: Sequence[Pool]) -> Sequence[str]:
    """Return the name of each, for going through them once."""
    return pools.texts if isinstance(pools, PoolColumns) else names_of(pools)


def sizes_of(pools: Sequence[Pool]) -> list[int | None]:
    """Return the size of each; None: unlimited."""
    return pools.sizes if isinstance(pools, PoolColumns) else [pool.size for pool in pools]


def costs_of(pools: Sequence[Pool]) -> list[int]:
    return pools.cost.tolist() if isinstance(pools, PoolColumns) else [pool.cost for pool in pools]


def ranks_of(pools: Sequence[Pool]) -> list[int]:
    return pools.rank.tolist() if isinstance(pools, PoolColumns) else [pool.rank for pool in pools]


def highest_rank(pools: Sequence[Pool]) -> int:
    return int(pools.rank.max()) if isinstance(pools, PoolColumns) else max((pool.rank for pool in pools), default=0)


def alignments_of(pools: Sequence[Pool]) -> list[int]:
    return pools.alignment.tolist() if isinstance(pools, PoolColumns) else [pool.alignment for pool in pools]


def bases_of(pools: Sequence[Pool]) -> list[int]:
    """Return the base address of each; 0 if it is not known."""
    return [0] * len(pools) if isinstance(pools, PoolColumns) else [pool.base or 0 for pool in pools]


def any_reserved(pools: Sequence[Pool]) -> bool:
    """True if any has reserved ranges."""
    return not isinstance(pools, PoolColumns) and any(pool.reserved for pool in pools)


def cost_one_byte(pools: Sequence[Pool]) -> bool:
    """True if a byte costs 1 in each."""
    if isinstance(pools, PoolColumns):
        return bool((pools.cost == 1).all())
    return all(pool.cost == 1 for pool in pools)
