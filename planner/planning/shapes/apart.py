"""Which buffers must not share addresses in any shape, and which do in one: found by sweeps over time, not by comparing every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...facts.sweep import VERIFYING, Pieces, all_apart, exact_array, meetings
from ...model.deadline import in_time, tick
from ...model.problem import Problem
from ...verifying.permitted import Permitted


class Apart:
    """The buffers that are live together or in conflict. Tied buffers, and those that exclude each other, may share addresses."""

    def __init__(self, problem: Problem) -> None:
        self._permitted = Permitted(problem)
        spans = [
            (start, end, i)
            for i, buffer in enumerate(in_time(problem.buffers, VERIFYING))
            for start, end in buffer.live or ()
            if start < end
        ]
        spans.sort()
        self._start, self._end, self._owner = (exact_array([span[k] for span in spans]) for k in range(3))
        first = np.searchsorted(self._start, self._end) if spans else self._start
        self._later = first - np.arange(1, len(spans) + 1)
        """For each span, the number of those after it that begin before it ends."""
        index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        self._named = [(index[a], index[b]) for a, b in problem.constraints.conflicts]

    @property
    def meetings(self) -> int:
        """The number of pairs of spans that meet in time."""
        return int(self._later.sum())

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield every pair that must not share addresses, some more than once."""
        for k, later in enumerate(self._later.tolist()):
            tick(VERIFYING)
            others = self._owner[k + 1 : k + 1 + later]
            if later:
                mine = self._owner[k]
                others = others[(others != mine) & ~self._permitted.may_share(np.full(later, mine), others)]
                yield from ((int(mine), other) for other in others.tolist())
        yield from self._named

    def overlaps(self, pool: Sequence[int], low: Sequence[int], high: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs that share addresses, and must not, if each buffer lies there in that pool. Empty ones share none."""
        where, begin, end = exact_array(pool), exact_array(low), exact_array(high)
        for number in np.unique(where).tolist():
            chosen = np.flatnonzero((where[self._owner] == number) & (begin < end)[self._owner])
            owner = self._owner[chosen]
            used = Pieces(begin[owner], end[owner], self._start[chosen], self._end[chosen], owner)
            if not all_apart(used) and not all_apart(used, self._permitted.may_share):
                yield from dict.fromkeys(self._permitted.others(meetings(used)))
        for i, j in self._named:
            if pool[i] == pool[j] and max(low[i], low[j]) < min(high[i], high[j]):
                yield min(i, j), max(i, j)
