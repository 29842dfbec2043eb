"""Buffers that overlap in a file while both are needed share their bytes on purpose, and do so in every plan."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from math import gcd

import numpy as np

from ...checks.report import Place, bad_input
from ...model.columns import BufferColumns, ids
from ...model.errors import Code
from ...model.problem import Buffer, Colocation, Constraints, Interval

MOST_PAIRS = 5_000_000
"""The most pairs of buffers examined for sharing."""
NEVER: tuple[Interval, ...] = ((0, 0),)


class OwnPlan:
    """What a file's own plan takes of each memory. Hints are the file's places."""

    def __init__(self) -> None:
        self.ends: dict[str, int] = {}
        self.steps: dict[str, int] = {}
        """The largest number of which all offsets are multiples; 0 if all are 0."""

    def add(self, pool: str, offset: int, size: int) -> None:
        self.ends[pool] = max(self.ends.get(pool, 0), offset + size)
        self.steps[pool] = gcd(self.steps.get(pool, 0), offset)

    def __str__(self) -> str:
        return f"{sum(self.ends.values())} bytes"


def tied(buffers: Sequence[Buffer], place: Place) -> tuple[Sequence[Buffer], Constraints]:
    """Return the buffers and the colocations between them. Raises BadInput."""
    found = tuple(_colocations(buffers, place))
    if found and isinstance(buffers, BufferColumns):
        buffers = buffers.kept()
    return buffers, Constraints(colocations=found)


def _colocations(buffers: Sequence[Buffer], place: Place) -> Iterator[Colocation]:
    """Return colocations that tie each buffer of such a group to its lowest. Raises BadInput.

    Hints are the file's places, and each buffer has one interval and one pool.
    """
    base: dict[int, int] = {}

    def root(i: int) -> int:
        while i in base:
            base[i] = base.get(base[i], base[i])
            i = base[i]
        return i

    start, end, home, low, size = array("q"), array("q"), array("q"), array("Q"), array("Q")
    memories: dict[tuple[str, ...] | None, int] = {}
    for buffer in buffers:
        ((first, last),) = buffer.live or NEVER
        start.append(first)
        end.append(last)
        home.append(memories.setdefault(buffer.pools, len(memories)))
        low.append(buffer.hint or 0)
        size.append(buffer.size)
    active: list[list[int]] = [[] for _ in memories]
    """The buffers that are needed now, by their memory."""
    looked = 0
    for i in np.argsort(np.frombuffer(start, np.int64), kind="stable").tolist():
        there = active[home[i]]
        there[:] = [j for j in there if end[j] > start[i]]
        looked += len(there)
        if looked > MOST_PAIRS:
            raise bad_input(Code.TOO_LARGE, place, "too many tensors are used at once")
        for j in there:
            if low[j] < low[i] + size[i] and low[i] < low[j] + size[j] and root(i) != root(j):
                lower, higher = sorted((root(i), root(j)), key=lambda k: (low[k], k))
                base[higher] = lower
        there.append(i)
    names = ids(buffers)
    for i in range(len(names)):
        if i in base:
            top = root(i)
            yield Colocation(names[i], names[top], low[i] - low[top])
