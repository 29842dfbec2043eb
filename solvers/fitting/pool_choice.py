"""The pools that a block may still go to, given the pools of its class and of the blocks it must keep apart from."""

from __future__ import annotations

import numpy as np

from ..model.conflicts import partners
from ..model.instance import Instance

CLOSED = -1
"""In place of a pool that a block may not go to."""


class PoolChoice:
    """The pools each block may go to, in its order of preference, without those that placed blocks rule out."""

    def __init__(self, instance: Instance) -> None:
        self._choices = _choices(instance)
        self._class_of: list[int] = instance.pool_class.tolist()
        self._decided: dict[int, int] = {}
        self._apart = partners(instance.apart.tolist())
        self._pool: dict[int, int] = {}
        self._is_free = len(instance.pools) == 1 and not self._apart

    def open(self, block: int) -> list[int]:
        """The pools that the block may go to now."""
        if self._is_free:
            return self._choices[block]
        decided = self._decided.get(self._class_of[block])
        pools = self._choices[block] if decided is None else [decided]
        taken = {self._pool.get(other) for other in self._apart.get(block, ())}
        return [pool for pool in pools if pool not in taken]

    def put(self, block: int, pool: int) -> None:
        """Records that the block is in this pool."""
        if not self._is_free:
            self._pool[block] = pool
            self._decided[self._class_of[block]] = pool


def _choices(instance: Instance) -> list[list[int]]:
    if len(instance.pools) == 1:
        return [[0] if ok else [] for ok in instance.allowed[:, 0].tolist()]
    ranked = np.argsort(instance.preference, axis=1, kind="stable")
    ranked = np.where(np.take_along_axis(instance.allowed, ranked, axis=1), ranked, CLOSED)
    lists: dict[bytes, list[int]] = {}
    found = []
    for row in ranked:
        key = row.tobytes()
        if key not in lists:  # few are different, and blocks share them
            lists[key] = row[row != CLOSED].tolist()
        found.append(lists[key])
    return found
