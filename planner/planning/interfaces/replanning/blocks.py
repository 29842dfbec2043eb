"""A problem in arrays, made from what is known of its neighbour's buffers: blocks, their pools, and where they may lie there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import lcm
from typing import NamedTuple

import numpy as np

from solvers.geometry.presolve import ranked
from solvers.kernels.columns import Columns
from solvers.model.instance import ADDRESS_LIMIT, LINEAR_TERMS, Bools, Ints

from ....facts.figures import amounts, conflicts_in_numbers, homes, said, tied_groups
from ....facts.intervals import merged
from ....model.plan import Placement
from ....model.problem import Buffer, BufferId, Figures, Pair, Pool, Problem

NONE, NO_PAIRS = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
NEW = ADDRESS_LIMIT
"""The old address of a new buffer, which sorts it last."""
MOST_POOLS = 16


def is_covered(problem: Problem) -> bool:
    """True if these arrays can express all restrictions and terms."""
    if problem.was or problem.variants is not None or len(problem.pools) > MOST_POOLS:
        return False
    if problem.constraints.reuse_penalties or any(pool.read_only for pool in problem.pools):
        return False
    adds = [LINEAR_TERMS.get(term) for term in problem.terms]
    if any(each is None or each.moved is not None for each in adds):
        return False
    if len({each.choice for each in adds if each is not None and each.choice is not None}) > 1:
        return False
    return _are_addressable(problem)


def _are_addressable(problem: Problem) -> bool:
    """True if all buffers stacked end at an address, whatever pads them, so that no sum of their figures overflows."""
    known = amounts(problem)
    count = len(known.size) + len(known.owner)
    grain = lcm(*(pool.alignment for pool in problem.pools), *{*known.alignment.tolist()})
    tied = sum(abs(tie.offset) for tie in problem.constraints.colocations)
    return 2 * count * (int(known.size.max(initial=0)) + grain + tied) < ADDRESS_LIMIT


class Lives:
    """The lifetimes of buffers with bytes, in ranks of time."""

    def __init__(self, known: Figures) -> None:
        there = (known.size[known.owner] > 0).nonzero()[0]
        self.part = known.owner[there]
        self.times, self.start, self.end = ranked(known.start[there], known.end[there])
        self.sections = max(len(self.times) - 1, 0)

    def at(self, section: int, inside: Bools) -> Ints:
        """Return the buffers of these lifetimes that are live in the section."""
        here: Ints = self.part[(self.start <= section) & (section < self.end) & inside]
        return here


class InPool(NamedTuple):
    """The contents of one pool."""

    number: int
    pool: Pool
    blocks: Ints
    height: Ints
    parts: Ints
    inside: Bools
    """For each lifetime: does it belong to one of these parts?"""
    sections: int
    columns: Columns
    order: Ints
    """The blocks in placing order: fixed ones, then by old offset, larger first."""
    is_single: bool
    """True if each block is one buffer, and no two may share addresses while both are live."""
    is_plain: bool
    """True if nothing else is in their way either."""
    is_alike: bool
    """True if they also have the same alignment."""


def _old_places(
    problem: Problem, ids: Sequence[BufferId], before: Sequence[Placement]
) -> tuple[list[Placement | None], Sequence[int]]:
    """Return the old place of each buffer, and the buffers that the problem before did not have."""
    neighbour = problem.facts.neighbour
    rows = problem.facts.rows
    if neighbour is None or rows is None or len(neighbour.buffers) != len(before):
        # Another thread has planned since: this is not the neighbour's plan.
        new: Sequence[int] = range(len(ids))
        had: list[Placement | None] = [None] * len(ids)
    else:
        new, places = rows.new, [*before, *[None] * len(rows.new)]
        had = [*map(places.__getitem__, rows.at.tolist())]
    if new:
        sought = {ids[i] for i in new}
        moved = {place.id: place for place in before if place.id in sought}
        for i in new:
            had[i] = moved.get(ids[i])
    return had, new


class Blocks:
    """The problem's buffers by the blocks that they move in, each in its old pool or in one that it may use."""

    def __init__(self, problem: Problem, before: Sequence[Placement]) -> None:
        self.problem, self.known = problem, amounts(problem)
        self.ids = [buffer.id for buffer in problem.buffers]
        self.had, self.new = _old_places(problem, self.ids, before)
        """The old place of each buffer, and the buffers that the problem before did not have."""
        self.offset = np.array([NEW if old is None else old.offset for old in self.had], dtype=np.int64)
        self.lives = Lives(self.known)
        self._limited = [] if self.known.is_free else self._with_limits()
        count = len(self.ids)
        self.part_low = np.zeros(count, dtype=np.int64)
        self._every_part = self._every_block = np.arange(count, dtype=np.int64)
        self.part_block = self.first = self._every_part
        constraints = problem.constraints
        index = {}
        if constraints.conflicts or constraints.exclusions or constraints.colocations:
            index = self.index
        self.groups = tied_groups(problem, index)
        self.height = self.known.size
        if self.groups:
            self._join_groups()
        self.conflicts = conflicts_in_numbers(problem, index) if constraints.conflicts else NO_PAIRS
        self.exclusions = _pairs(index, constraints.exclusions)
        self.allowed = self._allowed()
        self.pool = self._pools()

    def _with_limits(self) -> list[tuple[int, Buffer]]:
        """Return the buffers that are fixed at an offset, or have a greatest one."""
        buffers = self.problem.buffers
        is_said = said(self.problem)
        some = [(i, buffers[i]) for i in (is_said[:, 1] | is_said[:, 2]).nonzero()[0].tolist()]
        return [(i, b) for i, b in some if b.fixed is None or b.fixed.offset is not None or b.max_offset is not None]

    def _join_groups(self) -> None:
        """Make one block of each group of colocated buffers."""
        root = self._every_part.copy()
        for group in self.groups:
            members = list(group.members)
            root[members], self.part_low[members] = members[0], group.offsets
        self.first, self.part_block = np.unique(root, return_inverse=True)
        self._every_block = np.arange(len(self.first))
        self.height = np.zeros(len(self.first), dtype=np.int64)
        np.maximum.at(self.height, self.part_block, self.part_low + self.known.size)

    @cached_property
    def index(self) -> dict[BufferId, int]:
        """Return the number of each buffer."""
        return {id_: i for i, id_ in enumerate(self.ids)}

    @property
    def has_choice(self) -> bool:
        """True if some block may use several pools."""
        if len(self.problem.pools) == 1:
            return False
        return self.allowed is None or bool((self.allowed.sum(axis=1) > 1).any())

    def _allowed(self) -> Bools | None:
        """Return, for each block and pool, whether it may be there; None if all may be anywhere."""
        if len(self.problem.pools) == 1 or self.known.is_free:
            return None
        of_part = homes(self.problem)
        if of_part.all():
            return None
        if not self.groups:
            return of_part
        allowed = np.ones((len(self.first), len(self.problem.pools)), dtype=bool)
        np.logical_and.at(allowed, self.part_block, of_part)
        return allowed

    def _pools(self) -> Ints:
        """Return each block's old pool if it may still be there, otherwise the first that it may use."""
        pools = self.problem.pools
        if len(pools) == 1:
            return np.zeros(len(self.first), dtype=np.int64)
        index = {pool.name: p for p, pool in enumerate(pools)}
        by_rank = sorted(range(len(pools)), key=lambda p: (pools[p].rank, p))
        chosen = np.array(
            [by_rank[0] if (old := self.had[i]) is None else index[old.pool] for i in self.first.tolist()],
            dtype=np.int64,
        )
        if self.allowed is None:
            return chosen
        for block in np.flatnonzero(~self.allowed[np.arange(len(chosen)), chosen]).tolist():
            chosen[block] = next((p for p in by_rank if self.allowed[block, p]), by_rank[0])
        return chosen

    def in_pool(self, p: int, *, keeps_size: bool = True) -> InPool | None:
        """Return the contents of the pool, or of one without end; None if these arrays cannot express them."""
        pool, lives = self.problem.pools[p], self.lives
        pool = pool if keeps_size or pool.size is None else replace(pool, size=None)
        is_all = len(self.problem.pools) == 1
        blocks = self._every_block if is_all else (self.pool == p).nonzero()[0]
        parts = self._every_part if is_all else (self.pool[self.part_block] == p).nonzero()[0]
        size, low = self.known.size[parts], self.part_low[parts]
        aligned = np.lcm(pool.alignment, self.known.alignment[parts])
        if len(aligned) and int(aligned.max()) >= ADDRESS_LIMIT:
            return None
        if (pool.base and (pool.base % aligned).any()) or (self.groups and (low % aligned).any()):
            return None
        new_block = _numbers(blocks, self._every_block)
        new_part = _numbers(parts, self._every_part)
        part_block = new_block[self.part_block[parts]]
        modulus = aligned
        if self.groups:
            modulus = np.ones(len(blocks), dtype=np.int64)
            np.lcm.at(modulus, part_block, aligned)
        limits = self._limits(pool, blocks, new_block, modulus)
        if limits is None:
            return None
        lowest, highest, pinned = limits
        inside = new_part[lives.part] >= 0
        columns = Columns(
            part_block=part_block,
            part_low=low,
            part_high=low + size,
            rect_part=new_part[lives.part[inside]],
            rect_start=lives.start[inside],
            rect_end=lives.end[inside],
            modulus=modulus,
            residue=np.zeros(len(blocks), dtype=np.int64),
            lowest=lowest,
            highest=highest,
            reserved=np.array(merged(pool.reserved), dtype=np.int64).reshape(-1) if pool.reserved else NONE,
            conflicts=_of_these(new_part, self.conflicts),
            exclusions=_of_these(new_part, self.exclusions),
        )
        is_single = not (self.groups or len(columns.exclusions))
        is_plain = is_single and not (pool.reserved or pinned or lowest.any())
        order = self._order(blocks, pinned)
        is_alike = is_plain and bool((modulus == modulus[:1]).all())
        height = self.height[blocks]
        return InPool(
            p, pool, blocks, height, parts, inside, lives.sections, columns, order, is_single, is_plain, is_alike
        )

    def _limits(self, pool: Pool, blocks: Ints, new_block: Ints, modulus: Ints) -> tuple[Ints, Ints, list[int]] | None:
        """Return the least and the greatest base of each block, and the fixed blocks; None if something fits nowhere, or above all addresses."""
        height = self.height[blocks]
        limited = [(int(new_block[self.part_block[i]]), i, buffer) for i, buffer in self._limited]
        limited = [each for each in limited if each[0] >= 0]
        fixed = [
            (block, buffer.fixed.offset - int(self.part_low[i]))
            for block, i, buffer in limited
            if buffer.fixed is not None and buffer.fixed.offset is not None
        ]
        floor = max([0, *(base for _, base in fixed), *(end for _, end in pool.reserved)])
        ceiling = floor + 2 * int(height.sum()) + int(modulus.sum())  # above even all blocks stacked
        if pool.size is not None:
            ceiling = min(ceiling, pool.size)
        if ceiling > ADDRESS_LIMIT:
            return None
        lowest, highest = np.zeros(len(blocks), dtype=np.int64), ceiling - height
        for block, i, buffer in limited:
            if buffer.max_offset is not None:
                highest[block] = min(int(highest[block]), buffer.max_offset - int(self.part_low[i]))
        highest -= highest % modulus
        for block, base in fixed:
            if not lowest[block] <= base <= highest[block] or base % int(modulus[block]):
                return None
            lowest[block] = highest[block] = base
        return None if (highest < lowest).any() else (lowest, highest, [block for block, _ in fixed])

    def _order(self, blocks: Ints, pinned: list[int]) -> Ints:
        first = self.first[blocks]
        offset = self.offset[first] - self.part_low[first]
        offset[pinned] = -1
        order: Ints = np.lexsort((-self.height[blocks], offset))
        return order


def _numbers(some: Ints, every: Ints) -> Ints:
    """Return the position in `some` of each of `every`; -1 if absent."""
    if len(some) == len(every):
        return every
    found = np.full(len(every), -1, dtype=np.int64)
    found[some] = np.arange(len(some))
    return found


def _pairs(index: Mapping[BufferId, int], pairs: Sequence[Pair]) -> Ints:
    return np.array([(index[a], index[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2) if pairs else NO_PAIRS


def _of_these(new_part: Ints, pairs: Ints) -> Ints:
    """Return the pairs whose two parts are both here, flattened."""
    if not len(pairs):
        return NONE
    named = new_part[pairs]
    return np.ascontiguousarray(named[(named >= 0).all(axis=1)]).reshape(-1)
