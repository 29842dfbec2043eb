"""The few moments that say all there is to say of how many large objects are needed at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernels import active
from ..model.instance import Instance, Ints
from .interference import merged_spans


class Moments:
    """When the blocks of an order, the largest first, are needed."""

    def __init__(self, instance: Instance, order: Ints) -> None:
        spans = merged_spans(instance)
        rows = [(number, start, end) for number, block in enumerate(order.tolist()) for start, end in spans[block]]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._member, self._start, self._end = (np.ascontiguousarray(column) for column in table.T)
        self._sections = instance.sections
        self._size = instance.block_high[order]

    def needed_in(self, section: int) -> Ints:
        """Who is, as positions in the order."""
        members: Ints = np.unique(self._member[(self._start <= section) & (self._end > section)])
        return members

    def telling(self, is_over: Callable[[], bool]) -> list[int]:
        """Sections of which, for every size, one has as many blocks of that size or more as any has.

        The number only grows as the size falls, so sizes between two of equal number need not be looked at.
        """
        last_of_size = np.flatnonzero(np.append(self._size[1:] != self._size[:-1], True)).tolist()
        found: dict[int, None] = {}
        todo = [(0, len(last_of_size) - 1)] if len(self._member) else []
        counted: dict[int, int] = {}

        def count(level: int) -> int:
            if level not in counted:
                rows = int(np.searchsorted(self._member, last_of_size[level], side="right"))
                ones = np.ones(rows, dtype=np.int64)
                most, section = active().kernels.max_live(self._start[:rows], self._end[:rows], ones, self._sections)
                counted[level] = int(most)
                if section is not None:
                    found[int(section)] = None
            return counted[level]

        while todo and not is_over():
            low, high = todo.pop()
            if count(high) > count(low) and high - low > 1:
                middle = (low + high) // 2
                todo += [(low, middle), (middle, high)]
        return list(found)
