"""Where each group of buffers can lie if nothing else is in the way: in which pools, and from which address on."""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm
from typing import NamedTuple, TypeAlias

from ..problem import Buffer, BufferId, Colocation, Pool, Problem
from .colocation import Congruence, Group, groups


class Spot(NamedTuple):
    """Where a group may begin in a pool if nothing else is in the way: from `least` on, wherever `rule` allows; or only at `fixed`, by decision or for want of room."""

    least: int
    rule: Congruence
    fixed: int | None = None


Kind: TypeAlias = int | tuple[int, int]
"""Size (where it matters) and alignment of plain buffers; of others, and of several together, the first one's number: they are of a kind of their own."""


class Places:
    """The places of each group of a problem's buffers; each is worked out when it is first asked for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.index: dict[BufferId, int] = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        self.pools: dict[str, Pool] = {pool.name: pool for pool in problem.pools}
        self._position = {name: i for i, name in enumerate(self.pools)}
        self._is_open = all(pool.size is None and not pool.reserved for pool in problem.pools)
        """Then a buffer's size does not matter to where it can begin."""
        self._spots: dict[tuple[Kind, str], Spot | None] = {}
        self._homes: dict[Kind, list[str]] = {}
        """By the buffers that must share a pool."""
        self._group: dict[int, Group] = {}
        self._low: dict[int, int] = {}
        for group in groups(self.index, problem.constraints.colocations):
            self._group.update(dict.fromkeys(group.members, group))
            self._low.update(zip(group.members, group.offsets, strict=True))
        self._class = self._classes()

    def _classes(self) -> dict[int, tuple[int, ...]]:
        """Buffers that same-pool constraints tie together, by any of them."""
        constraints = self.problem.constraints
        if not constraints.same_pool:
            return {}
        # As if they were colocated: who is tied to whom is the same question, and the distances are not looked at.
        ties = [Colocation(id_, names[0], 0) for names in constraints.same_pool for id_ in names[1:]]
        found: dict[int, tuple[int, ...]] = {}
        for tied in groups(self.index, (*constraints.colocations, *ties)):
            found.update(dict.fromkeys(tied.members, tied.members))
        return found

    def group(self, buffer: int) -> Group:
        """The group that the buffer moves with; often itself alone."""
        group = self._group.get(buffer)
        if group is None:
            group = self._group[buffer] = Group((buffer,), (0,))
        return group

    def low(self, buffer: int) -> int:
        """How far above its group's lowest member the buffer lies."""
        return self._low.get(buffer, 0)

    def possible_pools(self, buffer: int) -> list[str]:
        """The pools that the buffer can be in, as far as it and those that must share its pool have a say."""
        tied = self.tied(buffer)
        kind = self._kind(tied)
        homes = self._homes.get(kind)
        if homes is None:
            homes = [
                name for name in self.allowed_pools(tied) if all(self.spot(self.group(other), name) for other in tied)
            ]
            self._homes[kind] = homes
        return homes

    def allowed_pools(self, buffers: Iterable[int]) -> Iterable[str]:
        """The pools that the user allows to all of these buffers, in the problem's order; most often all there are."""
        named: set[str] | None = None
        for i in buffers:
            buffer = self.problem.buffers[i]
            for names in (buffer.pools, None if buffer.fixed is None else (buffer.fixed.pool,)):
                if names is not None:
                    named = set(names) if named is None else named.intersection(names)
        return self.pools if named is None else sorted(named.intersection(self.pools), key=self._position.__getitem__)

    def tied(self, buffer: int) -> tuple[int, ...]:
        """The buffers that must be in the same pool as this one, itself among them."""
        tied = self._class.get(buffer)
        if tied is None:
            group = self._group.get(buffer)
            tied = (buffer,) if group is None else group.members
        return tied

    def spot(self, group: Group, pool: str) -> Spot | None:
        """Where the group can lie in the pool; None: nowhere."""
        key = (self._kind(group.members), pool)
        if key not in self._spots:
            self._spots[key] = self._find(group, self.pools[pool])
        return self._spots[key]

    def _kind(self, members: tuple[int, ...]) -> Kind:
        """Buffers of one kind can go to the same places."""
        first = self.problem.buffers[members[0]]
        if len(members) == 1 and first.pools is None and first.fixed is None and first.max_offset is None:
            return 0 if self._is_open else first.size, first.alignment
        return members[0]

    def _find(self, group: Group, pool: Pool) -> Spot | None:
        rule: Congruence | None = None
        fixed: int | None = None
        for buffer, low in self._members(group):
            wanted = buffer.fixed
            if (buffer.pools is not None and pool.name not in buffer.pools) or (wanted and wanted.pool != pool.name):
                return None
            if wanted is not None and wanted.offset is not None:
                if fixed is not None and fixed != wanted.offset - low:
                    return None
                fixed = wanted.offset - low
            modulus = lcm(pool.alignment, buffer.alignment)
            mine = Congruence(modulus, -(low + (pool.base or 0)) % modulus)
            rule = mine if rule is None else rule.and_also(mine)
            if rule is None:
                return None
        assert rule is not None, "no group is empty"
        least = rule.at_least(0 if fixed is None else fixed)
        while True:
            higher = rule.at_least(self._beyond_reserved(group, pool, least))
            if higher == least:
                break
            least = higher
        if fixed is not None and (least != fixed or fixed < 0):
            return None
        greatest = self._greatest(group, pool)
        if greatest is not None and least > greatest:
            return None
        if greatest is not None and least + rule.modulus > greatest:
            fixed = least  # there is no other place
        return Spot(least, rule, fixed)

    def _greatest(self, group: Group, pool: Pool) -> int | None:
        """The greatest base that the pool's size and the members' greatest offsets allow; None: any."""
        limits = []
        for buffer, low in self._members(group):
            if pool.size is not None:
                limits.append(pool.size - low - buffer.size)
            if buffer.max_offset is not None:
                limits.append(buffer.max_offset - low)
        return min(limits, default=None)

    def _beyond_reserved(self, group: Group, pool: Pool, base: int) -> int:
        """A base that is not below the given one and from which a member would no longer touch the range it touches there."""
        for begin, end in pool.reserved:
            for buffer, low in self._members(group):
                if buffer.size and begin < end and base + low < end and begin < base + low + buffer.size:
                    base = end - low
        return base

    def _members(self, group: Group) -> list[tuple[Buffer, int]]:
        return [(self.problem.buffers[i], low) for i, low in zip(group.members, group.offsets, strict=True)]

    def end(self, group: Group, pool: str) -> int | None:
        """The lowest end that the group can have in the pool; None: it does not fit there."""
        spot = self.spot(group, pool)
        return None if spot is None else spot.least + max(low + buffer.size for buffer, low in self._members(group))
