"""ExecuTorch's planners for any target: naive, which shares nothing, and greedy, which lets buffers share objects.

Sizes are rounded up to the alignment. A graph's submodules, which have arenas of their own in ExecuTorch, do not occur in a flat list of buffers.
"""

from __future__ import annotations

from typing import ClassVar

from ...model.solver import Feature
from .heuristic import Run
from .rigid import Rigid
from .shared_objects import Grid, OfObjects, SharedObject

FEATURES = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.CONFLICTS, Feature.EXCLUSIONS})


class ExirNaive(OfObjects):
    """One buffer after the other, in input order."""

    name: ClassVar[str] = "exir_naive"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def objects(self, blocks: Rigid, pool: int, members: list[int], grid: Grid, run: Run) -> list[SharedObject]:
        objects = [SharedObject() for _ in members]
        for thing, block in zip(objects, members, strict=True):
            _put(blocks, pool, thing, block, grid.offset(block, 0))
        return objects


class ExirGreedy(OfObjects):
    """The largest first, each in the first object where it fits: at the object's begin if no member is live with it, else above all that are.

    An object is as large as its first buffer. Of equal sizes the last comes first, as ExecuTorch sorts them.
    """

    name: ClassVar[str] = "exir_greedy"
    features: ClassVar[frozenset[Feature]] = FEATURES

    def objects(self, blocks: Rigid, pool: int, members: list[int], grid: Grid, run: Run) -> list[SharedObject]:
        return greedy_objects(blocks, pool, members, grid, run)


def greedy_objects(
    blocks: Rigid, pool: int, members: list[int], grid: Grid, run: Run, *, inside: bool = True
) -> list[SharedObject]:
    """The pool's objects in the order of creation. Without `inside`, every block lies at its object's begin."""
    greedy = _Greedy(blocks, pool, grid, run)
    for block in sorted(members, key=lambda b: (-blocks.rounded(b, pool), -b)):
        greedy.put(block, inside=inside)
    return greedy.objects


class _Greedy:
    """The objects of one pool so far."""

    def __init__(self, blocks: Rigid, pool: int, grid: Grid, run: Run) -> None:
        self.objects: list[SharedObject] = []
        self._blocks, self._pool, self._grid, self._run = blocks, pool, grid, run
        self._meets = _Meetings(blocks)

    def put(self, block: int, *, inside: bool) -> None:
        """The first object in which nothing is live with the block takes it, else the first with room above what is, else a new one."""
        blocks, pool, grid = self._blocks, self._pool, self._grid
        size, start = blocks.rounded(block, pool), grid.offset(block, 0)
        tops: list[int] = []
        for thing in self.objects:
            self._run.spend(1 + len(thing.members) // 4)
            ends = (at + blocks.rounded(other, pool) for other, at in thing.members if self._meets(block, other))
            top = max(ends, default=0)
            if top == 0 and start + size <= thing.size:
                thing.members.append((block, start))
                return
            tops.append(top)
        for thing, top in zip(self.objects, tops, strict=True):
            at = grid.offset(block, top)
            if inside and top and at + size <= thing.size:
                thing.members.append((block, at))
                return
        self.objects.append(SharedObject())
        _put(blocks, pool, self.objects[-1], block, start)


class _Meetings:
    """Which blocks must not share addresses, by hull, constraint and exclusion."""

    def __init__(self, blocks: Rigid) -> None:
        self._start, self._end = blocks.start, blocks.end
        self._apart = _both_ways(blocks.instance.conflicts.tolist())
        self._free = _both_ways(blocks.instance.exclusions.tolist())

    def __call__(self, a: int, b: int) -> bool:
        if self._apart and (a, b) in self._apart:
            return True
        together = self._start[a] < self._end[b] and self._start[b] < self._end[a]
        return together and not (self._free and (a, b) in self._free)


def _both_ways(pairs: list[list[int]]) -> set[tuple[int, int]]:
    return {(a, b) for a, b in pairs} | {(b, a) for a, b in pairs}


def _put(blocks: Rigid, pool: int, thing: SharedObject, block: int, at: int) -> None:
    thing.members.append((block, at))
    thing.size = max(thing.size, at + blocks.rounded(block, pool))
