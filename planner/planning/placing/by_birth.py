"""A quick plan for any number of pools: buffers in the order of their births, each in the first pool with room for it.

Each pool is a list of free ranges; a buffer that dies gives its range back. A buffer counts as live from its first moment to its last, and
always if a constraint keeps it apart from others whatever their lifetimes. So the plan keeps every rule, but may waste room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from solvers.kernels.interface import Hurry, Rooms, Units
from solvers.kernels.selection import active
from solvers.model.conflicts import distinct
from solvers.model.errors import StopReason
from solvers.model.instance import ADDRESS_LIMIT, Bools, Ints

from ...facts.colocation import Congruence, Group, joined
from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...model.columns.buffers import BufferColumns, alignments, ids, restricted, sizes
from ...model.columns.placements import placement_columns
from ...model.columns.pools import alignments_of as alignments_of_pools
from ...model.columns.pools import any_reserved, bases_of, names_of, sizes_of
from ...model.deadline import in_time, look
from ...model.plan import Placement
from ...model.problem import Buffer

BEFORE, AFTER = -ADDRESS_LIMIT - 1, ADDRESS_LIMIT + 1
"""The first moment and the last."""
FREE_TRIES = 5_000
FREE_TRIES_PER_BUFFER = 2
"""A group may be tried in vain in this many pools per buffer, even when time is up: there should be a plan even if time is short."""
LATE_TRIES = 64
"""The unused pools tried for each group once time is up."""
PLACING = "placing the buffers of"


def plan_by_birth(places: Places, order: Sequence[str], stopped: Callable[[], object]) -> Sequence[Placement] | None:
    """Return a place for every buffer; None if some buffer finds no room this way.

    `order` is the order in which pools are tried. Once the caller stops it, the remaining buffers go to unused pools, or get no room.
    """

    def ask(is_long: bool) -> int:
        look(PLACING)
        why = stopped() if is_long else None
        if not why:
            return Hurry.NO
        return Hurry.GIVE_UP if why is StopReason.CANCELLED else Hurry.LATE

    translated = _Translated(places, order)
    units = translated.units()
    if units is None:
        return None
    tries = FREE_TRIES + FREE_TRIES_PER_BUFFER * len(places.problem.buffers)
    found = active().kernels.by_birth(translated.rooms(), units, tries, LATE_TRIES, ask)
    return None if found is None else translated.placements(*found)


@dataclass
class _Rows:
    """One number for each buffer; groups that move as one, or must share a pool, are represented by their first buffer."""

    height: Ints
    modulus: Ints
    residue: Ints
    stride: Ints
    most: Ints
    fixed: Ints
    birth: Ints
    death: Ints
    is_never_live: Bools


class _Translated:
    """Translates a problem for the kernel, and the answer back."""

    def __init__(self, places: Places, order: Sequence[str]) -> None:
        self._places, self._problem, self._order = places, places.problem, order
        self._position = {name: i for i, name in enumerate(order)}
        count = len(self._problem.buffers)
        self._special = dict(restricted(self._problem.buffers))
        self._first, self._low = np.arange(count), np.zeros(count, dtype=np.int64)
        """Each buffer's first group member, and its distance above the group's lowest."""
        self._unit = np.arange(count)
        """Each buffer's unit: the first buffer that must share its pool."""
        self._groups: dict[int, list[int]] = {}
        """By unit: the first member of each of its groups, unless it is a single buffer."""
        self._members: dict[int, tuple[int, ...]] = {}
        self._sequence = np.zeros(0, dtype=np.int64)
        """The groups in the kernel's order."""
        self._of_unit = np.zeros(0, dtype=np.int64)
        """The unit of each group."""

    def rooms(self) -> Rooms:
        """Return the pools with their occupied ranges."""
        taken: dict[str, list[tuple[int, int]]] = {
            pool.name: [*pool.reserved]
            for pool in (self._problem.pools if any_reserved(self._problem.pools) else ())
            if pool.reserved
        }
        entered = np.zeros(len(self._order), dtype=np.int64)
        for i, buffer in self._special.items():
            if buffer.fixed is not None and buffer.fixed.offset is not None:
                group = self._places.group(i)
                base = buffer.fixed.offset - self._places.low(i)
                taken.setdefault(buffer.fixed.pool, []).append((base, base + self._places.height(group.members[0])))
                entered[self._position[buffer.fixed.pool]] = 1
        rows = [
            (at, max(low, 0), min(high, ADDRESS_LIMIT))
            for at, name in sorted((self._position[name], name) for name in taken)
            for low, high in merged(taken[name])
            if high > 0
        ]
        pools = self._problem.pools
        index = dict(zip(names_of(pools), range(len(pools)), strict=True))
        order = [index[name] for name in self._order]
        return Rooms(
            end=_ints([ADDRESS_LIMIT - 1 if size is None else size for size in sizes_of(pools)])[order],
            alignment=_ints(alignments_of_pools(pools))[order],
            base=_ints(bases_of(pools))[order],
            entered=entered,
            taken=_ints(rows).reshape(-1),
        )

    def units(self) -> Units | None:
        """Return the units in placing order; None if some buffer has no place anywhere."""
        rows = self._rows()
        if not self._tie(rows) or not self._fix(rows):
            return None
        look(PLACING)
        units = np.flatnonzero(self._unit == np.arange(len(self._unit)))
        is_fixed = self._is_fixed()[units]
        tallest = rows.height.copy()
        for unit, groups in self._groups.items():
            tallest[unit] = rows.height[groups].max()
        units = units[np.lexsort((units, -tallest[units], rows.birth[units], ~is_fixed))]
        look(PLACING)
        counts = np.ones(len(units), dtype=np.int64)
        rank = np.zeros(len(self._unit), dtype=np.int64)
        rank[units] = np.arange(len(units))
        for unit, groups in self._groups.items():
            counts[rank[unit]] = len(groups)
        begin = np.concatenate([[0], np.cumsum(counts)])
        self._sequence, self._of_unit = np.repeat(units, counts), np.repeat(np.arange(len(units)), counts)
        for unit, groups in self._groups.items():
            at = begin[rank[unit]]
            self._sequence[at : at + len(groups)] = groups
        listed, list_begin, list_pools = self._lists(units)
        set_begin, sets = self._sets(rank, len(units))
        look(PLACING)
        g = self._sequence
        return Units(
            birth=rows.birth[units],
            death=rows.death[units],
            group_begin=begin,
            listed=listed,
            set_begin=set_begin,
            sets=sets,
            height=rows.height[g],
            modulus=rows.modulus[g],
            residue=rows.residue[g],
            stride=rows.stride[g],
            most=rows.most[g],
            fixed=rows.fixed[g],
            list_begin=list_begin,
            list_pools=list_pools,
        )

    def placements(self, pool: Ints, base: Ints) -> Sequence[Placement]:
        """Return each buffer's place, from where the kernel put units and groups."""
        of_group = np.zeros((2, len(self._first)), dtype=np.int64)
        of_group[0, self._sequence], of_group[1, self._sequence] = pool[self._of_unit], base
        chosen, offset = of_group[0, self._first], of_group[1, self._first] + self._low
        buffers = self._problem.buffers
        return placement_columns(ids(buffers), self._order, chosen, offset, _ints(sizes(buffers)))

    def _rows(self) -> _Rows:
        """Return the rows as if every buffer were alone."""
        buffers = self._problem.buffers
        count = len(buffers)
        birth, death = _lives(buffers)
        is_never_live = birth == BEFORE
        for pair in in_time(self._problem.constraints.conflicts, PLACING):
            for id_ in pair:
                i = self._places.index[id_]
                birth[i], death[i], is_never_live[i] = BEFORE, AFTER, False
        most = np.full(count, ADDRESS_LIMIT, dtype=np.int64)
        for i, buffer in self._special.items():
            if buffer.max_offset is not None:
                most[i] = buffer.max_offset
            if buffer.fixed is not None:
                birth[i], death[i], is_never_live[i] = BEFORE, AFTER, False
        zeros = np.zeros(count, dtype=np.int64)
        height, modulus = _ints(sizes(buffers)), _ints(alignments(buffers))
        return _Rows(height, modulus, zeros, zeros.copy(), most, zeros - 1, birth, death, is_never_live)

    def _tie(self, rows: _Rows) -> bool:
        """Merge the rows of tied buffers; False if some can be aligned nowhere."""
        constraints = self._problem.constraints
        if not constraints.colocations and not constraints.same_pool:
            return True
        for number in in_time(range(len(self._unit)), PLACING, "buffer"):
            if self._unit[number] != number:
                continue
            members = self._places.tied(number)
            if len(members) == 1:
                continue
            self._unit[[*members]], self._members[number] = number, members
            alive = [member for member in members if not rows.is_never_live[member]] or [*members]
            rows.birth[number], rows.death[number] = rows.birth[alive].min(), rows.death[alive].max()
            firsts = dict.fromkeys(self._places.group(member).members[0] for member in members)
            if not all(self._join(rows, self._places.group(first)) for first in firsts):
                return False
            self._groups[number] = sorted(firsts, key=lambda first: (-rows.height[first], first))
        return True

    def _join(self, rows: _Rows, group: Group) -> bool:
        """Merge the rows of a group that moves as one."""
        if len(group.members) == 1:
            return True
        members, offsets = [*group.members], np.array(group.offsets)
        first = members[0]
        self._first[members], self._low[members] = first, offsets
        wanted = zip(rows.modulus[members].tolist(), group.offsets, strict=True)
        whole = joined(Congruence(alignment, -low % alignment) for alignment, low in wanted)
        if whole is None:
            return False
        # A modulus beyond all addresses allows only the first place.
        rows.modulus[first] = whole.modulus if whole.modulus <= ADDRESS_LIMIT else 0
        rows.residue[first] = whole.residue
        rows.height[first] = (rows.height[members] + offsets).max()
        rows.most[first] = max(int((rows.most[members] - offsets).min()), -1)
        rows.stride[first] = gcd(*group.offsets)
        return True

    def _fix(self, rows: _Rows) -> bool:
        """Put buffers with decided offsets there; False if that is impossible."""
        for i, buffer in self._special.items():
            if buffer.fixed is None or buffer.fixed.offset is None:
                continue
            group = self._places.group(i)
            spot = self._places.spot(group, buffer.fixed.pool)
            if spot is None or spot.fixed is None:
                return False
            rows.fixed[group.members[0]] = spot.fixed
        return True

    def _is_fixed(self) -> Bools:
        found = np.zeros(len(self._unit), dtype=bool)
        found[[int(self._unit[i]) for i, buffer in self._special.items() if buffer.fixed is not None]] = True
        return found

    def _lists(self, units: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the pools that each unit may use: its list's number, where each list begins, and the lists."""
        names_of: dict[int, Sequence[str]] = {}
        equal: dict[tuple[str, ...], tuple[str, ...]] = {}
        for i, buffer in self._special.items():
            unit = int(self._unit[i])
            if (buffer.pools is None and buffer.fixed is None) or unit in names_of:
                continue
            if unit in self._members or buffer.fixed is not None or buffer.pools is None:
                allowed = (*self._places.allowed_pools(self._members.get(unit, (i,))),)
                names_of[unit] = equal.setdefault(allowed, allowed)
            else:
                names_of[unit] = buffer.pools
        numbers: dict[int, int] = {}
        """By the identity of a list, which many buffers share."""
        lists: list[Ints] = []
        chosen = np.zeros(len(self._unit), dtype=np.int64)
        for unit, names in names_of.items():
            if id(names) not in numbers:
                look(PLACING)
                lists.append(distinct(_ints([self._position[name] for name in names])))
                numbers[id(names)] = len(lists)
            chosen[unit] = numbers[id(names)]
        begin = np.concatenate([[0], np.cumsum([len(each) for each in lists], dtype=np.int64)])
        return chosen[units], begin, np.concatenate(lists) if lists else begin[:0]

    def _sets(self, rank: Ints, count: int) -> tuple[Ints, Ints]:
        """Return the sets of units that must be in different pools, by unit."""
        index, different = self._places.index, self._problem.constraints.different_pool
        keys = [np.zeros(0, dtype=np.int64)]
        for number, group in enumerate(in_time(different, PLACING)):
            members = rank[self._unit[[index[id_] for id_ in group]]]
            keys.append(members * len(different) + number)
        every = distinct(np.concatenate(keys))
        return np.searchsorted(every // max(len(different), 1), np.arange(count + 1)), every % max(len(different), 1)


def _ints(values: object) -> Ints:
    return np.array(values, dtype=np.int64)


def _lives(buffers: Sequence[Buffer]) -> tuple[Ints, Ints]:
    """Return the first and the last moment of each; a buffer that is never live gets all time."""
    if isinstance(buffers, BufferColumns):
        never = buffers.start == buffers.end
        return np.where(never, BEFORE, buffers.start), np.where(never, AFTER, buffers.end)
    spans = [buffer.live or ((BEFORE, AFTER),) for buffer in in_time(buffers, PLACING, "buffer")]
    birth = [each[0][0] if len(each) == 1 else min(a for a, _ in each) for each in spans]
    death = [each[0][1] if len(each) == 1 else max(b for _, b in each) for each in spans]
    return _ints(birth), _ints(death)
