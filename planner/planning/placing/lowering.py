"""From names to numbers: turns a Problem into an Instance of blocks, with a Lift for the way back.

Part i of the Instance is buffer i of the Problem, so certificates only need their section translated to a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from solvers.geometry.presolve import ranked
from solvers.model.conflicts import distinct
from solvers.model.instance import Bools, Instance, Ints, Placement, PoolSpec, Source, Was

from ...checks.pool_choice import Classes
from ...facts.constants import spell_out_constants
from ...facts.costs import WEIGHS_ACCESS, costs_of, weighs_moves
from ...facts.figures import amounts, tied_groups
from ...facts.intervals import merged
from ...model.columns.buffers import BufferColumns, hints, ids, restricted, sizes
from ...model.columns.placements import PlacementColumns, pool_numbers
from ...model.columns.pools import any_reserved
from ...model.columns.pools import names_of as pool_names
from ...model.columns.texts import Texts
from ...model.deadline import PREPARING, in_time, look
from ...model.plan import Placement as PlanPlacement
from ...model.plan import Plan
from ...model.problem import BufferId, Pair, Problem
from .bases import Bases, Blocks

TENS = 10 ** np.arange(1, 19)

MOST_PAIRS = 1 << 22
"""The most pairs written down before duplicates are dropped."""
FEW_POOLS = 16
"""Up to this many pools are always examined one by one."""
MOST_PLACES = 1 << 18
"""The most entries in a table of buffers and pools, unless there are few pools."""


class Lowered(NamedTuple):
    """An Instance, and what is needed to translate its results."""

    instance: Instance
    times: Ints
    """The time at which each section begins."""


def has_many_pools(problem: Problem) -> bool:
    """True if solvers cannot examine every pool for every buffer."""
    return len(problem.pools) > FEW_POOLS and len(problem.pools) * len(problem.buffers) > MOST_PLACES


def lower(problem: Problem) -> Lowered:
    """Return the Instance of a checked Problem."""
    return _Lowering(spell_out_constants(problem)).run()


def lower_start(problem: Problem, lowered: Lowered, start: Plan) -> Placement | None:
    """Return where a plan puts the problem's blocks; None if it lacks buffers or tears blocks apart. Other rules are not checked."""
    return place_blocks(problem, lowered, start.placements)


def place_blocks(problem: Problem, lowered: Lowered, places: Sequence[PlanPlacement]) -> Placement | None:
    """Return where these places put the problem's blocks; None if they lack buffers or tear blocks apart. Other rules are not checked."""
    i, names, buffers = lowered.instance, pool_names(problem.pools), ids(problem.buffers)
    if isinstance(places, PlacementColumns) and places.ids == buffers:
        part_pool, part_base = pool_numbers(places, names), places.offset - i.part_low
        if (part_pool < 0).any():
            return None
    else:
        pools = {name: number for number, name in enumerate(names)}
        where = {place.id: (place.pool, place.offset) for place in places}
        try:
            part_pool = np.fromiter((pools[where[id_][0]] for id_ in buffers), np.int64, len(buffers))
            part_base = np.fromiter((where[id_][1] for id_ in buffers), np.int64, len(buffers)) - i.part_low
        except (KeyError, OverflowError):
            return None
    pool, offset = np.zeros(i.blocks, dtype=np.int64), np.zeros(i.blocks, dtype=np.int64)
    pool[i.part_block], offset[i.part_block] = part_pool, part_base
    whole = (pool[i.part_block] == part_pool).all() and (offset[i.part_block] == part_base).all()
    return Placement(pool, offset) if whole else None


class _OldPlace(NamedTuple):
    """Where an older plan has a buffer."""

    buffer: int
    pool: int | None
    """None: the problem, perhaps a part of another, lacks this pool."""
    offset: int


class _PossibleBases(NamedTuple):
    """Fields of the Instance: where each block may be."""

    allowed: Bools
    modulus: Ints
    residue: Ints
    lowest: Ints
    highest: Ints
    pool_class: Ints


class _Rects(NamedTuple):
    """The parts that are live, all times, and the lifetimes as indices of these."""

    part: Ints
    times: Ints
    start: Ints
    end: Ints


class _Lowering:
    """The translation of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.buffers = problem.buffers
        self.pools = problem.pools
        self.known = amounts(problem) if problem.facts.neighbour is not None else None
        """The same in arrays, if much of them is known of a similar problem."""
        self.special = [] if self.known is not None and self.known.is_free else [*restricted(self.buffers)]
        """Buffers that may not be just anywhere: usually few."""
        self.index: dict[BufferId, int] = {}
        self.pool_index = {pool.name: p for p, pool in enumerate(self.pools)}
        count = len(self.buffers)
        self.size = np.array(sizes(self.buffers), dtype=np.int64) if self.known is None else self.known.size
        self.part_low = np.zeros(count, dtype=np.int64)
        self.part_block = np.arange(count, dtype=np.int64)
        self.blocks = count

    def run(self) -> Lowered:
        self._number_ids()
        was = self._places_that_were()
        blocks = self._group()
        look(PREPARING)
        bases = self._possible_bases(blocks, was)
        look(PREPARING)
        rects = self._rects()
        look(PREPARING)
        hint, hinted = self._hints()
        c = self.problem.constraints
        instance = Instance(
            pools=tuple(PoolSpec(p.size, merged(p.reserved), p.cost, p.rank) for p in self.pools),
            terms=self.problem.terms,
            sections=max(len(rects.times) - 1, 0),
            part_block=self.part_block,
            part_low=self.part_low,
            part_high=self.part_low + self.size,
            rect_part=rects.part,
            rect_start=rects.start,
            rect_end=rects.end,
            allowed=bases.allowed,
            modulus=bases.modulus,
            residue=bases.residue,
            lowest=bases.lowest,
            highest=bases.highest,
            access_cost=self._access_cost(),
            pool_class=bases.pool_class,
            preference=self._preferences(blocks.first),
            apart=self._apart(),
            conflicts=self._pairs(c.conflicts),
            exclusions=self._pairs(c.exclusions),
            penalties=self._penalties(),
            hint=hint,
            hinted=hinted,
            input_rank=blocks.first,
            name_rank=self._ranks_by_name(blocks.first),
            source=Source(rects.times, *self._pinned(), self._pairs(c.listed)),
            peak_price=self.problem.peak_price,
            was=self._was(was, bases) if was else None,
        )
        return Lowered(instance, rects.times)

    def _number_ids(self) -> None:
        """Give each buffer its number, if any rule names buffers."""
        c = self.problem.constraints
        if any((c.conflicts, c.listed, c.exclusions, c.colocations, c.same_pool, c.different_pool, c.reuse_penalties)):
            self.index = {id_: i for i, id_ in enumerate(ids(self.buffers))}

    def _possible_bases(self, blocks: Blocks, was: Sequence[_OldPlace]) -> _PossibleBases:
        bases = Bases(self.problem, blocks, self.special, self.pool_index)
        modulus, residue, allowed = bases.rules()
        look(PREPARING)
        size = self.size.tolist()
        lowest, highest = bases.bounds(modulus, residue, [offset + size[i] for i, _, offset in was])
        pool_class = self._pool_classes()
        allowed = _agree(allowed & (highest >= lowest), pool_class)
        if len(self.pools) > 1 and any_reserved(self.pools):
            held = _agree(allowed & bases.held(modulus, residue, lowest, highest), pool_class)
            is_told = ~held.any(axis=1) & (allowed.sum(axis=1) == 1)  # the only pool's bounds say how much is missing
            allowed[~is_told] = held[~is_told]
        return _PossibleBases(allowed, modulus, residue, lowest, highest, pool_class)

    def _ranks_by_name(self, first: Ints) -> Ints:
        ranks = np.empty(self.blocks, dtype=np.int64)
        ranks[self._by_name(first)] = np.arange(self.blocks)
        return ranks

    def _by_name(self, first: Ints) -> Ints | list[int]:
        """Return the blocks in the order of their first members' ids as text."""
        is_counted = isinstance(self.buffers, BufferColumns) and isinstance(self.buffers.ids, range)
        if is_counted and self.blocks == len(self.buffers):
            number = np.arange(len(self.buffers))
            digits = np.searchsorted(TENS, number, side="right") + 1
            return np.lexsort((digits, number * 10 ** (digits.max(initial=1) - digits)))
        names = ids(self.buffers)
        if isinstance(names, Texts) and self.blocks == len(names):
            return names.order()
        is_named = self.blocks == len(names) and {*map(type, names)} == {str}
        id_of = cast(Sequence[str], names) if is_named else [str(names[i]) for i in first.tolist()]
        return sorted(range(self.blocks), key=id_of.__getitem__)

    def _places_that_were(self) -> list[_OldPlace]:
        """Return the old places, if they count."""
        if not weighs_moves(self.problem):
            return []
        index = self.index or {id_: i for i, id_ in enumerate(ids(self.buffers))}
        places = ((index.get(was.buffer), self.pool_index.get(was.pool), was.offset) for was in self.problem.was)
        return [_OldPlace(i, pool, offset) for i, pool, offset in places if i is not None]

    def _was(self, places: Sequence[_OldPlace], bases: _PossibleBases) -> Was:
        _, modulus, _, lowest, highest, _ = bases
        part = np.array([i for i, _, _ in places], dtype=np.int64)
        block, size = self.part_block[part], self.size[part]
        cost = np.zeros((self.blocks, 2), dtype=np.int64)
        np.add.at(cost, block, np.stack([np.ones_like(size), size], axis=1))
        pool = np.array([-1 if pool is None else pool for _, pool, _ in places], dtype=np.int64)
        base = np.array([offset for _, _, offset in places], dtype=np.int64) - self.part_low[part]
        fits = (pool >= 0) & bases.allowed[block, pool]
        fits &= (lowest[block, pool] <= base) & (base <= highest[block, pool])
        fits &= (base - lowest[block, pool]) % modulus[block, pool] == 0
        stays: dict[tuple[int, int, int], list[int]] = {}
        for *place, bytes_ in zip(*(column[fits].tolist() for column in (block, pool, base, size)), strict=True):
            counts = stays.setdefault((place[0], place[1], place[2]), [0, 0])
            counts[0] += 1
            counts[1] += bytes_
        rows = [(*place, *counts) for place, counts in stays.items()]
        return Was(cost, np.array(rows, dtype=np.int64).reshape(-1, 5))

    def _group(self) -> Blocks:
        """Join colocated buffers to blocks, numbered in the order of their first members."""
        found = tied_groups(self.problem, self.index) if self.index else ()
        if found:
            root = np.arange(len(self.buffers), dtype=np.int64)
            for group in found:
                root[list(group.members)] = group.members[0]
                self.part_low[list(group.members)] = group.offsets
            _, self.part_block = np.unique(root, return_inverse=True)
            self.blocks = int(self.part_block.max()) + 1
        members = {int(self.part_block[group.members[0]]): group.members for group in found}
        first = np.zeros(self.blocks, dtype=np.int64)
        first[self.part_block[::-1]] = np.arange(len(self.buffers) - 1, -1, -1)
        height = np.zeros(self.blocks, dtype=np.int64)
        np.maximum.at(height, self.part_block, self.part_low + self.size)
        return Blocks(self.part_block, self.part_low, first, members, height)

    def _pool_classes(self) -> Ints:
        """Give blocks that must share a pool the least number among them."""
        classes = Classes()
        for group in in_time(self.problem.constraints.same_pool, PREPARING, "same_pool"):
            blocks = [int(self.part_block[self.index[id_]]) for id_ in group]
            for other in blocks[1:]:
                classes.join(blocks[0], other)
        return np.array([classes.of(i) for i in range(self.blocks)]) if classes.are_any else np.arange(self.blocks)

    def _rects(self) -> _Rects:
        """Return when each part is live; empty intervals and buffers are left out."""
        if isinstance(self.buffers, BufferColumns):
            columns = self.buffers
            there = np.flatnonzero((columns.size > 0) & (columns.end > columns.start))
            return _Rects(there, *ranked(columns.start[there], columns.end[there]))
        if self.known is not None:
            known = self.known
            there = (known.size[known.owner] > 0).nonzero()[0]
            return _Rects(known.owner[there], *ranked(known.start[there], known.end[there]))
        parts: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for i, buffer in enumerate(in_time(self.buffers, PREPARING, "buffer")):
            if buffer.size and buffer.live:
                for start, end in buffer.live if len(buffer.live) == 1 else merged(buffer.live):
                    if end > start:
                        parts.append(i)
                        starts.append(start)
                        ends.append(end)
        part, first, last = (np.array(each, dtype=np.int64) for each in (parts, starts, ends))
        return _Rects(part, *ranked(first, last))

    def _hints(self) -> tuple[Ints, Bools]:
        hint, hinted = np.zeros(self.blocks, dtype=np.int64), np.zeros(self.blocks, dtype=bool)
        for i, wish in hints(self.buffers):
            block = self.part_block[i]
            if not hinted[block]:
                hint[block], hinted[block] = max(wish - int(self.part_low[i]), 0), True
        return hint, hinted

    def _access_cost(self) -> Ints:
        """Return the cost of the members' uses in each pool."""
        total = np.zeros((self.blocks, len(self.pools)), dtype=np.int64)
        if WEIGHS_ACCESS.intersection(self.problem.terms):
            found = costs_of(self.problem)
            look(PREPARING)
            if found:
                np.add.at(total, self.part_block[[i for i, _ in found]], np.array([costs for _, costs in found]))
        return total

    def _preferences(self, first: Ints) -> Ints:
        by_rank = sorted(range(len(self.pools)), key=lambda p: (self.pools[p].rank, p))
        usual = np.empty(len(self.pools), dtype=np.int64)
        usual[by_rank] = np.arange(len(self.pools))
        preference = np.tile(usual, (self.blocks, 1))
        places: dict[int, Ints] = {}
        """By the identity of a list, which lives as long as the problem."""
        for i, buffer in self.special:
            block, chosen = self.part_block[i], buffer.pools
            if chosen is not None and first[block] == i:
                if id(chosen) not in places:
                    named = dict.fromkeys(self.pool_index[name] for name in chosen)
                    order = [*named, *(p for p in by_rank if p not in named)]
                    places[id(chosen)] = np.argsort(order, kind="stable")
                preference[block] = places[id(chosen)]
        return preference

    def _pinned(self) -> tuple[Bools, Bools]:
        """Return the blocks whose pool the user decided, and those whose offset is decided too."""
        pinned, placed = np.zeros(self.blocks, dtype=bool), np.zeros(self.blocks, dtype=bool)
        for i, buffer in self.special:
            if buffer.fixed is not None:
                block = self.part_block[i]
                pinned[block], placed[block] = True, placed[block] or buffer.fixed.offset is not None
        return pinned, placed

    def _apart(self) -> Ints:
        # If a group has more members than there are pools, any (pools + 1) of them already show that nothing fits;
        # the pairs of the others, millions in a large group, would add nothing.
        enough = len(self.pools) + 1
        found = np.zeros(0, dtype=np.int64)
        fresh: list[Ints] = []
        waiting = 0
        twos: list[tuple[int, int]] = []
        """Most groups are just two."""
        every_two: dict[int, tuple[Ints, ...]] = {}
        """By size of group: the pairs of its members. Most groups are small."""
        for group in in_time(self.problem.constraints.different_pool, PREPARING, "different_pool"):
            members = [self.index[id_] for id_ in group[:enough]]
            if len(members) == 2:
                twos.append((members[0], members[1]))
                continue
            blocks = self.part_block[members]
            if len(blocks) not in every_two:
                every_two[len(blocks)] = np.triu_indices(len(blocks), 1)
            n, m = every_two[len(blocks)]
            a, b = blocks[n], blocks[m]
            fresh.append(np.minimum(a, b) * self.blocks + np.maximum(a, b))
            waiting += len(n)
            if waiting > MOST_PAIRS:
                found, fresh, waiting = distinct(np.concatenate([found, *fresh])), [], 0
        if twos:
            both = self.part_block[np.array(twos)]
            fresh.append(both.min(axis=1) * self.blocks + both.max(axis=1))
        if fresh:  # only if needed: it imports a part of numpy that loads slowly
            found = distinct(np.concatenate([found, *fresh]))
        return np.stack([found // max(self.blocks, 1), found % max(self.blocks, 1)], axis=1)

    def _penalties(self) -> Ints:
        rules = self.problem.constraints.reuse_penalties
        rows = [(self.index[rule.first], self.index[rule.second], rule.cost) for rule in rules]
        return np.array(rows, dtype=np.int64).reshape(-1, 3)

    def _pairs(self, pairs: Sequence[Pair]) -> Ints:
        return np.array([(self.index[a], self.index[b]) for a, b in pairs], dtype=np.int64).reshape(-1, 2)


def _agree(allowed: Bools, pool_class: Ints) -> Bools:
    """Close a pool to a whole class if one member may not use it."""
    common = np.ones_like(allowed)
    np.logical_and.at(common, pool_class, allowed)
    agreed: Bools = common[pool_class]
    return agreed
