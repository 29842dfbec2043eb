"""Relay's PlanMemory: storage tokens, taken from a list of free ones of about the right size, and given back after the last use.

A token serves one buffer at a time and grows to the largest. In one step, allocations come first; then tokens after their last use are given back,
those of unused results before the others. A buffer that is never live needs no token.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import ClassVar

from ...model.solver import Feature
from .heuristic import Run
from .rigid import Rigid
from .shared_objects import Grid, OfObjects, SharedObject

MATCH_RANGE = 16
"""A free token fits if its size is within this factor of the wanted size."""


class RelayTokens(OfObjects):
    """See the module. A pool is a device: tokens are never shared between two."""

    name: ClassVar[str] = "relay_tokens"
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.CAPACITY, Feature.MULTI_RECT, Feature.EXCLUSIONS})

    def objects(self, blocks: Rigid, pool: int, members: list[int], grid: Grid, run: Run) -> list[SharedObject]:
        return tokens_of(blocks, members, grid, run)


def tokens_of(blocks: Rigid, members: list[int], grid: Grid, run: Run) -> list[SharedObject]:
    """The pool's tokens: first one for all blocks that are never live, then the others in the order of creation."""
    tokens: list[SharedObject] = []
    free = _FreeList()
    held: dict[int, SharedObject] = {}
    for _, begins, _, block in _events(blocks, members):
        run.spend(2)
        if not begins:
            free.add(held.pop(block))
            continue
        token = free.take(blocks.size[block])
        if token is None:
            token = SharedObject()
            tokens.append(token)
        at = grid.offset(block, 0)
        token.members.append((block, at))
        token.size = max(token.size, at + blocks.size[block])
        held[block] = token
    idle = [block for block in members if not blocks.is_live(block)]
    if idle:
        unused = SharedObject(0, [(block, grid.offset(block, 0)) for block in idle])
        tokens.insert(0, unused)
    return tokens


def _events(blocks: Rigid, members: list[int]) -> list[tuple[int, int, int, int]]:
    """(time, 1 if the block begins, rank among these, block), sorted."""
    live = [block for block in members if blocks.is_live(block)]
    ends = [(blocks.end[b], 0, int(blocks.start[b] + 1 < blocks.end[b]), b) for b in live]
    return sorted(ends + [(blocks.start[b], 1, 0, b) for b in live])


class _FreeList:
    """Free tokens by size; of equal ones, the one given back first comes first."""

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._tokens: list[SharedObject] = []

    def add(self, token: SharedObject) -> None:
        at = bisect_right(self._sizes, token.size)
        self._sizes.insert(at, token.size)
        self._tokens.insert(at, token)

    def take(self, size: int) -> SharedObject | None:
        """The smallest of at least this size and less than 16 times it, else the largest of at least a sixteenth; None if there is neither."""
        at = bisect_left(self._sizes, size)
        if at < len(self._sizes) and self._sizes[at] < max(size * MATCH_RANGE, 1):
            return self._pop(at)
        if at and self._sizes[at - 1] >= size // MATCH_RANGE:
            return self._pop(at - 1)
        return None

    def _pop(self, at: int) -> SharedObject:
        del self._sizes[at]
        return self._tokens.pop(at)
