"""A problem of one memory as proofs see it: blocks that move up and down, where each may begin, and which must not overlap.

A block is a buffer, or the buffers tied by colocations. It has only rules that the problem states, so what is proven impossible here is
impossible there. Rules about choosing memories play no part, as there is only one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heapreplace
from itertools import pairwise
from math import lcm
from typing import NamedTuple, TypeAlias

from ...facts.colocation import Congruence, groups, joined
from ...facts.intervals import merged, overlap
from ...model.problem import Interval, Problem
from .kept import Distances

Key: TypeAlias = tuple[object, ...]

BEYOND = 1 << 62
"""Addresses end below this, even in memories without a size."""


class Block(NamedTuple):
    """Buffers that move as one, and where they may begin below the height."""

    members: tuple[int, ...]
    rule: Congruence
    first: int
    """The least possible start."""
    last: int
    """The greatest possible start; less than the first if there is none."""
    runs: tuple[Interval, ...] = ()
    """The bytes of all members, from the start."""


class Blocks:
    """The blocks of a problem that must end at or below a height. Raises ValueError unless the problem has one memory."""

    def __init__(self, problem: Problem, height: int) -> None:
        (self.pool,) = problem.pools
        buffers = problem.buffers
        index = {buffer.id: number for number, buffer in enumerate(buffers)}
        constraints = problem.constraints
        self.size = [buffer.size for buffer in buffers]
        self.live = [merged(buffer.live or ()) for buffer in buffers]
        self.reserved = merged(self.pool.reserved)
        self._ends = [end for _, end in self.reserved]
        self.looks = 0
        """The examinations of buffers and reserved ranges so far."""
        self._conflicts: defaultdict[int, set[int]] = defaultdict(set)
        self._exclusions: defaultdict[int, set[int]] = defaultdict(set)
        for pairs, found in ((constraints.conflicts, self._conflicts), (constraints.exclusions, self._exclusions)):
            for a, b in pairs:
                found[index[a]].add(index[b])
                found[index[b]].add(index[a])
        self.low = [0] * len(buffers)
        """The distance of each buffer above its block's start."""
        self.block_of = list(range(len(buffers)))
        """The number of each buffer's block, which is its first member's."""
        self._tied: dict[int, tuple[int, ...]] = {}
        for group in groups(index, constraints.colocations):
            for member, low in zip(*group, strict=True):
                self.low[member], self.block_of[member] = low, group.members[0]
            self._tied[group.members[0]] = group.members
        self.problem = problem
        self._height = min(height, BEYOND if self.pool.size is None else self.pool.size)
        self._found: dict[int, Block] = {}
        self._distances: dict[int, Distances] = {}
        self._twins: dict[int, list[int]] = {}
        self._by_key: defaultdict[Key, list[int]] = defaultdict(list)

    def block(self, number: int) -> Block:
        """Return the block of this number, computed when first requested."""
        if number not in self._found:
            self._found[number] = self._find(self._tied.get(number, (number,)))
        return self._found[number]

    def _find(self, members: tuple[int, ...]) -> Block:
        pool = self.pool
        rules = []
        first, last = 0, self._height
        for number in members:
            buffer, low = self.problem.buffers[number], self.low[number]
            modulus = lcm(pool.alignment, buffer.alignment)
            rules.append(Congruence(modulus, -(low + (pool.base or 0)) % modulus))
            last = min(last, self._height - low - buffer.size)
            if buffer.max_offset is not None:
                last = min(last, buffer.max_offset - low)
            if buffer.fixed is not None and buffer.fixed.offset is not None:
                first, last = max(first, buffer.fixed.offset - low), min(last, buffer.fixed.offset - low)
        rule = joined(rules)
        if rule is None:
            return Block(members, Congruence(), 0, -1)
        runs = merged((self.low[number], self.low[number] + self.size[number]) for number in members)
        bare = Block(members, rule, first, rule.at_most(last), runs)
        return bare._replace(first=self.start(bare, first))

    def start(self, block: Block, least: int) -> int:
        """Return the least start >= `least` that alignment and reserved ranges allow."""
        least = block.rule.at_least(least)
        todo = [(least, number) for number in range(len(block.runs))] if self.reserved else []
        while todo and todo[0][0] <= least:  # by the least start at which the run meets a reserved range again
            self.looks += 1
            number = todo[0][1]
            low, high = block.runs[number]
            at = bisect_right(self._ends, least + low)
            if at == len(self._ends):
                heappop(todo)
                continue
            first = self.reserved[at][0] - high + 1
            if first <= least:
                least = block.rule.at_least(self._ends[at] - low)
            heapreplace(todo, (max(first, least), number))
        return least

    def live_at(self, time: int) -> tuple[int, ...]:
        """Return the buffers live at a time."""
        return tuple(b for b, spans in enumerate(self.live) if self.size[b] and any(s <= time < e for s, e in spans))

    def sharing_among(self, buffers: Sequence[int]) -> tuple[int, int] | None:
        """Return two of these buffers, all live at one time, that may still share an address."""
        chosen = set(buffers)
        for a in chosen & self._exclusions.keys():
            for b in chosen & self._exclusions[a]:
                if not self.must_be_apart(a, b):
                    return a, b
        for a, b in pairwise(sorted(chosen, key=lambda each: (self.block_of[each], self.low[each]))):
            if self.block_of[a] == self.block_of[b] and not self.must_be_apart(a, b):
                return a, b
        return None

    def conflicts(self) -> list[tuple[int, int]]:
        """Return the pairs of buffers that conflict whatever their lifetimes, the lower number first."""
        return sorted((a, b) for a, others in self._conflicts.items() for b in others if a < b)

    def must_be_apart(self, a: int, b: int) -> bool:
        """True if the two buffers may not share an address, including two of one block that do not."""
        if not (self.size[a] and self.size[b]):
            return False
        if self.block_of[a] == self.block_of[b]:
            return self.low[a] + self.size[a] <= self.low[b] or self.low[b] + self.size[b] <= self.low[a]
        if b in self._conflicts[a]:
            return True
        return b not in self._exclusions[a] and overlap(self.live[a], self.live[b])

    def distances(self, number: int) -> Distances:
        """Return the blocks that are restricted relative to this one, each with the forbidden differences of starts."""
        if number not in self._distances:
            found: defaultdict[int, list[Interval]] = defaultdict(list)
            for a in self.block(number).members:
                for b, other in enumerate(self.block_of):
                    if other != number and self.must_be_apart(a, b):
                        apart = self.low[a] - self.low[b]
                        found[other].append((apart - self.size[b] + 1, apart + self.size[a]))
            self._distances[number] = Distances({other: merged(ranges) for other, ranges in found.items()})
        return self._distances[number]

    def twins(self, number: int) -> list[int]:
        """Return blocks of one buffer that cannot overlap this one and are otherwise equivalent to it."""
        if number not in self._twins:
            kin = self._kin()[self._key(number)] if number not in self._tied else []
            self._twins[number] = [other for other in kin if other != number and self._alike(number, other)]
        return self._twins[number]

    def _kin(self) -> dict[Key, list[int]]:
        """Return the single-buffer blocks by size, lifetimes and places."""
        if not self._by_key:
            for number, block in enumerate(self.block_of):
                if number == block and number not in self._tied:
                    self._by_key[self._key(number)].append(number)
        return self._by_key

    def _key(self, number: int) -> Key:
        return self.size[number], self.live[number], self.block(number)[1:]

    def _alike(self, a: int, b: int) -> bool:
        """True if two buffers of the same key must be apart, and apart from the same others."""
        lists = (self._conflicts, self._exclusions)
        return self.must_be_apart(a, b) and all(pairs[a] - {b} == pairs[b] - {a} for pairs in lists)
