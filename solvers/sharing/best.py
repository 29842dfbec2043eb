"""The best objects found so far, pool by pool, and the arrangement that they make together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.instance import Instance
from .arrangement import Arrangement, homes


class Best:
    """Pools do not touch each other, so each keeps the best that was ever found for it."""

    def __init__(self, instance: Instance, start: Arrangement | None = None) -> None:
        self._size: list[int] = instance.block_high.tolist()
        self._home: list[int] = homes(instance).tolist()
        self._objects: dict[int, list[list[int]]] = {}
        self._total: dict[int, int] = {}
        for pool in range(len(instance.pools)):
            if not any(home == pool and size for home, size in zip(self._home, self._size, strict=True)):
                self.note(pool, [])
        if start is not None:
            self.offer(start)

    def total(self, pool: int) -> int | None:
        """What the pool's objects add up to; None: there are none yet."""
        return self._total.get(pool)

    def note(self, pool: int, objects: Sequence[Sequence[int]]) -> bool:
        """The users of each of the pool's objects, all blocks that have bytes; is that better than before?"""
        total = sum(max(self._size[block] for block in users) for users in objects)
        before = self._total.get(pool)
        if before is not None and total >= before:
            return False
        self._total[pool] = total
        self._objects[pool] = [list(users) for users in objects]
        return True

    def offer(self, arrangement: Arrangement) -> bool:
        """The same for all pools at once."""
        users: dict[int, dict[int, list[int]]] = {pool: {} for pool in set(self._home)}
        for block, number in enumerate(arrangement.storage.tolist()):
            if self._size[block]:
                users[self._home[block]].setdefault(number, []).append(block)
        better = [self.note(pool, list(objects.values())) for pool, objects in users.items()]
        return any(better)

    def arrangement(self) -> Arrangement | None:
        """Of all blocks; None while a pool has none. Blocks without bytes join the first object of their pool."""
        storage = np.zeros(len(self._size), dtype=np.int64)
        number = 0
        first: dict[int, int] = {}
        for pool in sorted(set(self._home)):
            objects = self._objects.get(pool)
            if objects is None:
                return None
            first[pool] = number
            for users in objects:
                storage[users] = number
                number += 1
            number += not objects
        for block, size in enumerate(self._size):
            if not size:
                storage[block] = first[self._home[block]]
        return Arrangement(storage)
