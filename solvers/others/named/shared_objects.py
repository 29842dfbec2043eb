"""Lays out storage that buffers share: objects one after the other, each as large as its members need.

Some planners only decide which buffers share storage; a runtime then allocates one object for each. As offsets, the objects lie side by side.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ...model.errors import Unsupported
from ...model.instance import Instance, Placement
from .heuristic import Heuristic, NothingFits, Run
from .rigid import Rigid


@dataclass(slots=True)
class SharedObject:
    """A piece of storage, and the blocks in it."""

    size: int = 0
    members: list[tuple[int, int]] = field(default_factory=list)
    """Blocks with their offsets in the object."""


class Grid:
    """The addresses at which objects of a pool may begin, so that members' alignments can be checked from the object's begin alone."""

    def __init__(self, blocks: Rigid, pool: int, members: list[int], solver: str) -> None:
        self._blocks, self._pool = blocks, pool
        coarsest = max(members, key=lambda b: blocks.modulus[b][pool])
        if any(blocks.modulus[coarsest][pool] % blocks.modulus[b][pool] for b in members):
            raise Unsupported(solver, "it takes only alignments that divide the largest one of their pool")
        self.residue = blocks.residue[coarsest][pool]

    def begin(self, address: int, members: Iterable[int]) -> int:
        """The first address from `address` on at which an object of these members may begin."""
        coarsest = max((self._blocks.modulus[b][self._pool] for b in members), default=1)
        return address + (self.residue - address) % coarsest

    def offset(self, block: int, start: int) -> int:
        """The first offset in an object, from `start` on, that has the block's alignment."""
        return self._blocks.aligned(block, self._pool, self.residue + start) - self.residue


class OfObjects(Heuristic):
    """A planner that decides which blocks share objects."""

    @abstractmethod
    def objects(self, blocks: Rigid, pool: int, members: list[int], grid: Grid, run: Run) -> list[SharedObject]:
        """The objects of one pool, in their order."""

    def place(self, instance: Instance, blocks: Rigid, run: Run) -> Placement:
        found: dict[int, tuple[Grid, list[SharedObject]]] = {}
        for pool, members in homes(instance).items():
            grid = Grid(blocks, pool, members, self.name)
            found[pool] = (grid, self.objects(blocks, pool, members, grid, run))
        return lay_out(blocks, found)


def homes(instance: Instance) -> dict[int, list[int]]:
    """The blocks of each pool, if none has a choice. Raises NothingFits if two that must be apart have the same one."""
    found: dict[int, list[int]] = {}
    home: list[int] = instance.allowed.argmax(axis=1).tolist()
    for a, b in instance.apart.tolist():
        if home[a] == home[b]:
            raise NothingFits(max(a, b))
    for block, pool in enumerate(home):
        found.setdefault(pool, []).append(block)
    return found


def lay_out(blocks: Rigid, objects: dict[int, tuple[Grid, list[SharedObject]]]) -> Placement:
    """Places the objects of each pool one after the other. Raises NothingFits for the first member that lies too high."""
    pool_of, offset = np.zeros(len(blocks), dtype=np.int64), np.zeros(len(blocks), dtype=np.int64)
    for pool, (grid, found) in objects.items():
        end = 0
        for thing in found:
            begin = grid.begin(end, (block for block, _ in thing.members))
            for block, at in thing.members:
                if blocks.base(block, pool, begin + at) != begin + at:
                    raise NothingFits(block)
                pool_of[block], offset[block] = pool, begin + at
            end = begin + thing.size
    return Placement(pool_of, offset)
