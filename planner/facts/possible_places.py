"""Where each group of buffers can lie on its own: in which pools, and from which address on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from itertools import accumulate, islice, pairwise
from math import inf, lcm
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from ..model.columns.buffers import ids
from ..model.columns.pools import any_reserved, by_name, sizes_of
from ..model.deadline import in_time, tick
from ..model.problem import Buffer, BufferId, Colocation, Interval, Pool, Problem
from .colocation import Congruence, Group, groups, joined
from .figures import tied_groups
from .intervals import merged
from .partners import Partners


class Spot(NamedTuple):
    """Where a group may begin in a pool on its own: from `least` on, wherever `rule` allows; only at `fixed` if that is decided, or if only that fits."""

    least: int
    rule: Congruence
    fixed: int | None = None


Kind: TypeAlias = int | tuple[int, int, int]
"""A key for equal places. Plain buffers: size (if it matters), alignment and list of allowed pools; all others: the first member's number."""

LOOKING = "looking at the pools of"
MOST_LISTS = 16
"""Up to this many lists of pools are kept sorted."""
FIRST_LOOK = 16
"""The number of gaps between reserved ranges that are examined first; then four times as many, and so on."""


class _Walls:
    """The reserved ranges of one pool, however many."""

    def __init__(self, pool: Pool) -> None:
        self._ranges = merged(pool.reserved)
        self._gaps = np.array([b - a for (_, a), (b, _) in pairwise(self._ranges)], dtype=np.int64)
        """The room above each range but the last."""

    def denied(self, low: int, size: int) -> Interval | None:
        """Return the first starts above `low`, or around it, at which `size` bytes touch a range, or any next one too near above it; None if none do."""
        at = bisect_right(self._ranges, low, key=itemgetter(1))
        if at == len(self._ranges):
            return None
        first, look = self._ranges[at][0] - size + 1, FIRST_LOOK
        while at < len(self._gaps):
            wide = np.flatnonzero(self._gaps[at : at + look] >= size)
            if len(wide):
                return first, self._ranges[at + int(wide[0])][1]
            at, look = at + look, 4 * look
        return first, self._ranges[-1][1]


class Places:
    """The places of each group of a problem's buffers, computed when first requested."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.index: dict[BufferId, int] = {id_: i for i, id_ in enumerate(ids(problem.buffers))}
        self.pools = by_name(problem.pools)
        has_walls = any_reserved(problem.pools)
        self._is_open = not has_walls and set(sizes_of(problem.pools)) <= {None}
        """Where a buffer can begin does then not depend on its size."""
        self._walls = {pool.name: _Walls(pool) for pool in problem.pools if pool.reserved} if has_walls else {}
        self._spots: dict[tuple[Kind, str], Spot | None] = {}
        self._shapes: dict[int, _Shape] = {}
        self._in_order: dict[int, list[str]] = {}
        """By identity of such a set: its pools in the problem's order."""
        self._sets: dict[int, frozenset[str]] = {}
        """By identity of a list: its set."""
        self._rules: dict[tuple[int, int, int], Congruence | None] = {}
        """By first member, pool alignment and pool base."""
        self._homeless: dict[Kind, bool] = {}
        self._homes: dict[Kind, list[str]] = {}
        """The possible pools of buffers of each kind."""
        self._list_of_id: dict[int, int] = {}
        self._lists: dict[tuple[str, ...], int] = {}
        self._group: dict[int, Group] = {}
        self._low: dict[int, int] = {}
        for group in tied_groups(problem, self.index):
            tick(LOOKING)
            self._group.update(dict.fromkeys(group.members, group))
            self._low.update(zip(group.members, group.offsets, strict=True))
        self._class = self._classes()
        self._class_height: dict[int, int] = {}
        """By the first buffer of those that must share a pool."""
        self.partners = Partners(problem, self.index)

    @cached_property
    def _position(self) -> dict[str, int]:
        """Return each pool's number in the problem's order."""
        return {name: i for i, name in enumerate(self.pools)}

    def _classes(self) -> dict[int, tuple[int, ...]]:
        """Return for each buffer the buffers that same-pool constraints tie to it."""
        constraints = self.problem.constraints
        if not constraints.same_pool:
            return {}
        # Treated as colocations: both tie buffers together, and the distances do not matter here.
        colocations = [Colocation(id_, names[0], 0) for names in constraints.same_pool for id_ in names[1:]]
        found: dict[int, tuple[int, ...]] = {}
        for tied in groups(self.index, (*constraints.colocations, *colocations)):
            tick(LOOKING)
            found.update(dict.fromkeys(tied.members, tied.members))
        return found

    def group(self, buffer: int) -> Group:
        """Return the group that the buffer moves with, often only itself."""
        group = self._group.get(buffer)
        if group is None:
            group = self._group[buffer] = Group((buffer,), (0,))
        return group

    def low(self, buffer: int) -> int:
        """Return the buffer's distance above its group's lowest member."""
        return self._low.get(buffer, 0)

    def possible_pools(self, buffer: int) -> list[str]:
        """Return the pools allowed to the buffer and to all that must share its pool."""
        tied = self.tied(buffer)
        kind = self._kind(tied)
        homes = self._homes.get(kind)
        if homes is None:
            if isinstance(kind, int):
                height = self.class_height(buffer)
                names = (name for name in self.allowed_pools(tied) if height <= self._room(name))
                homes = [name for name in names if all(self.spot(self.group(other), name) for other in tied)]
            else:
                homes = self._with_room(self.problem.buffers[buffer])
            self._homes[kind] = homes
        return homes

    def is_homeless(self, buffer: int) -> bool:
        """True if no pool can take the buffer."""
        tied = self.tied(buffer)
        kind = self._kind(tied)
        if kind not in self._homeless:
            height, is_plain = self.class_height(buffer), not isinstance(kind, int)
            first = islice(self.problem.buffers[buffer].pools or self.pools, FIRST_LOOK)
            if is_plain and any(self._lies_at_the_bottom(buffer, name) for name in first):
                self._homeless[kind] = False
                return False
            names = (name for name in self.allowed_pools(tied) if height <= self._room(name))
            self._homeless[kind] = not any(
                (is_plain and self._lies_at_the_bottom(buffer, name))
                or all(self.spot(self.group(each), name) for each in tied)
                for name in names
            )
        return self._homeless[kind]

    def fits_alone(self, buffer: int) -> bool:
        """True if a pool could take the buffer and its group, if nothing else had to be there."""
        group = self.group(buffer)
        return any(self.spot(group, name) for name in self.allowed_pools(group.members))

    def _lies_at_the_bottom(self, buffer: int, name: str) -> bool:
        """True if a plain buffer can lie at offset 0, as most can. Finding its spot takes twenty times as long."""
        pool, wanted = self.pools[name], self.problem.buffers[buffer]
        has_room = pool.size is None or wanted.size <= pool.size
        is_aligned = not pool.base or not (pool.base % wanted.alignment or pool.base % pool.alignment)
        return has_room and is_aligned and not pool.reserved

    def class_height(self, buffer: int) -> int:
        """Return a lower bound of the bytes that the buffers sharing this one's pool need at some time, leaving out those that may share addresses."""
        tied = self.tied(buffer)
        if len(tied) == 1 or len(tied) == len(self.group(buffer).members):
            return 0
        if tied[0] not in self._class_height:
            change: dict[int, int] = {}
            for i in in_time(tied, LOOKING, "buffer"):
                each = self.problem.buffers[i]
                if i in self.partners.exclusions or len(self.group(i).members) > 1:
                    continue
                for start, end in merged(each.live or ()):
                    change[start] = change.get(start, 0) + each.size
                    change[end] = change.get(end, 0) - each.size
            self._class_height[tied[0]] = max(accumulate(change[time] for time in sorted(change)), default=0)
        return self._class_height[tied[0]]

    def _room(self, name: str) -> float:
        """Return the bytes of the pool."""
        pool = self.pools[name]
        return inf if pool.size is None else pool.size

    def _with_room(self, buffer: Buffer) -> list[str]:
        """Return the pools with room for a plain buffer on its own. Pools that differ only in size are examined together."""
        least: dict[tuple[int, int, str | None], int] = {}
        homes, solid = [], merged(((0, buffer.size),))
        for name in self.allowed_pools((self.index[buffer.id],)):
            pool = self.pools[name]
            shape = (pool.alignment, pool.base or 0, name if pool.reserved else None)
            start = least.get(shape)
            if start is None:
                rule = _rule(buffer.alignment, 0, pool)
                start = least[shape] = self._lowest(solid, pool, rule, 0) if pool.reserved else rule.residue
            if pool.size is None or start + buffer.size <= pool.size:
                homes.append(name)
        return homes

    def allowed_pools(self, buffers: Iterable[int]) -> Iterable[str]:
        """Return the pools that the user allows to all of these buffers, in the problem's order; usually all."""
        named: frozenset[str] | None = None
        for i in buffers:
            buffer = self.problem.buffers[i]
            if buffer.pools is not None:
                names = self._set_of(buffer.pools)
                named = names if named is None or named is names else named & names
            if buffer.fixed is not None:
                only = frozenset((buffer.fixed.pool,))
                named = only if named is None else named & only
        if named is None:
            return self.pools
        known = self._in_order.get(id(named))
        if known is None:
            known = sorted(named.intersection(self.pools), key=self._position.__getitem__)
            if len(self._sets) <= MOST_LISTS and any(named is names for names in self._sets.values()):
                self._in_order[id(named)] = known
        return known

    def tied(self, buffer: int) -> tuple[int, ...]:
        """Return the buffers that must be in the same pool as this one, including itself."""
        tied = self._class.get(buffer)
        if tied is None:
            group = self._group.get(buffer)
            tied = (buffer,) if group is None else group.members
        return tied

    def spot(self, group: Group, pool: str) -> Spot | None:
        """Return where the group can lie in the pool; None if nowhere."""
        key = (self._kind(group.members), pool)
        if key not in self._spots:
            tick(LOOKING)
            self._spots[key] = self.find(group, self.pools[pool])
        return self._spots[key]

    def _kind(self, members: tuple[int, ...]) -> Kind:
        """Return the kind of the members: buffers of one kind can go to the same places."""
        first = self.problem.buffers[members[0]]
        if len(members) == 1 and first.fixed is None and first.max_offset is None:
            return 0 if self._is_open else first.size, first.alignment, self._list_number(first.pools)
        return members[0]

    def _list_number(self, names: tuple[str, ...] | None) -> int:
        """Return one number for all lists of the same pools, -1 for all pools. Many buffers have the very same list, which may be long."""
        if names is None:
            return -1
        number = self._list_of_id.get(id(names))
        if number is None:
            number = self._list_of_id[id(names)] = self._lists.setdefault(tuple(names), len(self._lists))
        return number

    def find(self, group: Group, pool: Pool, *, bounded: bool = True) -> Spot | None:
        """Return its spot in a pool like this; not `bounded`: as if the pool were unlimited and nothing had a greatest offset."""
        shape = self._shape(group)
        if shape.is_torn or (shape.pools is not None and pool.name not in shape.pools):
            return None
        greatest = self.greatest(group, pool) if bounded else None
        if greatest is not None and greatest < 0:
            return None
        rule = self._rule(group, shape, pool)
        if rule is None:
            return None
        fixed = shape.fixed
        least = self._lowest(shape.solid, pool, rule, 0 if fixed is None else fixed)
        if fixed is not None and (least != fixed or fixed < 0):
            return None
        if greatest is not None and least > greatest:
            return None
        if greatest is not None and least + rule.modulus > greatest:
            fixed = least  # no other place is allowed
        return Spot(least, rule, fixed)

    def _shape(self, group: Group) -> _Shape:
        first = group.members[0]
        shape = self._shapes.get(first)
        if shape is None:
            rows = in_time(list(zip(*group, strict=True)), LOOKING, "buffer")
            members = [(self.problem.buffers[i], low) for i, low in rows]
            lists = {id(buffer.pools): buffer.pools for buffer, _ in members if buffer.pools is not None}
            shape = self._shapes[first] = _shape_of(members, [self._set_of(names) for names in lists.values()])
        return shape

    def _set_of(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return one set for each list object, which many buffers may share."""
        if id(names) not in self._sets:
            self._sets[id(names)] = frozenset(names)
        return self._sets[id(names)]

    def _rule(self, group: Group, shape: _Shape, pool: Pool) -> Congruence | None:
        """Return where the group may begin so that all members are aligned; None if nowhere, as no address is above 2^62 in any pool."""
        if len(group.members) == 1:
            return _rule(*shape.aligned[0], pool)
        key = (group.members[0], pool.alignment, pool.base or 0)
        if key not in self._rules:
            self._rules[key] = joined(
                _rule(alignment, low, pool) for alignment, low in in_time(shape.aligned, LOOKING, "buffer")
            )
        return self._rules[key]

    def lowest(self, group: Group, pool: str, floor: int, rule: Congruence) -> int:
        """Return the least base >= `floor` that satisfies the rule and keeps the group off reserved ranges."""
        return self._lowest(self._shape(group).solid, self.pools[pool], rule, floor)

    def greatest(self, group: Group, pool: Pool) -> int | None:
        """Return the greatest base that the pool's size and the members' greatest offsets allow; None if any."""
        shape = self._shape(group)
        if pool.size is None:
            return shape.greatest
        of_pool = pool.size - shape.height
        return of_pool if shape.greatest is None else min(of_pool, shape.greatest)

    def _lowest(self, solid: Sequence[Interval], pool: Pool, rule: Congruence, floor: int) -> int:
        """Return the least base >= `floor` that satisfies the rule and keeps what is solid off reserved ranges."""
        walls = self._walls.get(pool.name) if pool.reserved else None
        least = rule.at_least(floor)
        if walls is None:
            return least
        near = [(*met, run) for run in solid if (met := _denied(walls, run, least)) is not None]
        heapify(near)  # the bases that each run denies next
        while near and near[0][0] <= least:
            tick(LOOKING)
            _, end, run = near[0]
            least = rule.at_least(max(least, end))
            met = _denied(walls, run, least)
            if met is None:
                heappop(near)
            else:
                heapreplace(near, (*met, run))
        return least

    def height(self, buffer: int) -> int:
        """Return the bytes from the group's lowest address to its highest."""
        return self._shape(self.group(buffer)).height

    def end(self, group: Group, pool: str) -> int | None:
        """Return the lowest end that the group can have in the pool, possibly beyond the pool's end; None if it can be nowhere there."""
        spot = self.spot(group, pool) or self.find(group, self.pools[pool], bounded=False)
        return None if spot is None else spot.least + self._shape(group).height


class _Shape(NamedTuple):
    """What of a group decides where it can lie."""

    height: int
    solid: tuple[Interval, ...]
    """The bytes of all members, from the base."""
    aligned: tuple[tuple[int, int], ...]
    """Alignment and distance from the base."""
    pools: frozenset[str] | None
    """Pools that all members may use; None: all."""
    fixed: int | None
    """The base, if it is decided."""
    greatest: int | None
    """The greatest base that the members' greatest offsets allow."""
    is_torn: bool
    """True if members are fixed at contradictory places."""


def _denied(walls: _Walls, run: Interval, base: int) -> Interval | None:
    """Return the next bases, from this one on, at which the run of bytes meets reserved ranges."""
    low, high = run
    met = walls.denied(base + low, high - low)
    return None if met is None else (met[0] - low, met[1] - low)


def _shape_of(members: Sequence[tuple[Buffer, int]], allowed: Sequence[frozenset[str]]) -> _Shape:
    named = [*allowed, *(frozenset((b.fixed.pool,)) for b, _ in members if b.fixed is not None)]
    pools = named[0] if named else None
    for others in named[1:]:
        pools = others if pools is None else pools & others
    bases = {b.fixed.offset - low for b, low in members if b.fixed is not None and b.fixed.offset is not None}
    return _Shape(
        height=max(low + b.size for b, low in members),
        solid=merged((low, low + b.size) for b, low in members),
        aligned=tuple(dict.fromkeys((b.alignment, low) for b, low in members)),
        pools=pools,
        fixed=min(bases, default=None),
        greatest=min((b.max_offset - low for b, low in members if b.max_offset is not None), default=None),
        is_torn=len(bases) > 1,
    )


def _rule(alignment: int, low: int, pool: Pool) -> Congruence:
    """Return where a group may begin so that a member at `low` above its base is aligned."""
    modulus = lcm(pool.alignment, alignment)
    return Congruence(modulus, -(low + (pool.base or 0)) % modulus)
