"""What can be proven without solvers for any number of pools: that nothing fits, if easy to see, or the bytes live at the busiest time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from math import ceil
from typing import NamedTuple

import numpy as np

from solvers.model.instance import ADDRESS_LIMIT, Bools, Ints, Term
from solvers.model.outcome import Proof

from ...facts.constants import spell_out_constants
from ...facts.intervals import merged
from ...facts.possible_places import LOOKING, Places
from ...model.columns.buffers import BufferColumns, ids, restricted, sizes
from ...model.columns.pools import PoolColumns, costs_of, names_of, sizes_of
from ...model.deadline import in_time, look
from ...model.plan import PlanCertificate
from ...model.problem import Buffer, BufferId, Problem
from ...verifying.arguments.prices import priced_bound

LOOK_EVERY = 128
"""Buffers between two looks at the clock: each may be compared with all pools."""


class EasyBound(NamedTuple):
    """The proven bound."""

    certificates: tuple[PlanCertificate, ...] = ()
    sum_of_peaks: int = 0
    """Each peak times its pool's cost."""
    is_infeasible: bool = False
    largest: int = 0
    """The bound of the largest peak, if the objective begins with that."""


def easy_bound(problem: Problem, places: Places) -> EasyBound:
    """Return the bound for the problem with all its pools."""
    looking = _Looking(problem, places)
    return looking.refusal() or looking.busiest()


def same_in_all_choices(problem: Problem) -> Problem:
    """Return what holds whichever alternatives are chosen: they add buffers, lifetimes and rules, and remove none."""
    return spell_out_constants(replace(problem, variants=None))


def refusal_of_any_choice(same: Problem) -> EasyBound | None:
    """Return a proof that nothing fits whichever alternatives are chosen, from what is the same in all choices."""
    looking = _Looking(same, Places(same))
    crowded = looking.crowded()
    # alternatives may let buffers of one pool share addresses
    return crowded if crowded is not None or same.constraints.same_pool else looking.homeless()


class _Looking:
    """The examination of one problem."""

    def __init__(self, problem: Problem, places: Places) -> None:
        self._problem, self._places = problem, places
        self._is_plain = self._are_plain()
        self._lists: dict[int, tuple[str, ...]] = {}
        """By identity."""
        self._sizes = dict(zip(names_of(problem.pools), sizes_of(problem.pools), strict=True))
        self._equal: dict[tuple[str, ...], tuple[str, ...]] = {}

    def refusal(self) -> EasyBound | None:
        """Return a proof that nothing fits, if easy to see."""
        return self.homeless() or self.crowded() or self._too_much_of_a_list()

    def homeless(self) -> EasyBound | None:
        """Return a proof that some buffer has no possible pool."""
        places, problem = self._places, self._problem
        for count, i in enumerate(self._doubtful()):
            buffer = problem.buffers[i]
            if count % LOOK_EVERY == 0 or (buffer.pools is not None and len(buffer.pools) > LOOK_EVERY):
                look(LOOKING)
            if places.is_homeless(i):
                certificate = PlanCertificate(Proof.SINGLE_BLOCK, buffer.size, buffers=(buffer.id,))
                return EasyBound((certificate,), is_infeasible=True)
        return None

    def crowded(self) -> EasyBound | None:
        """Return a proof that there are too few pools for the buffers that must be in different ones."""
        look(LOOKING)
        for group in self._problem.constraints.different_pool:
            crowd = self._crowd(group)
            if crowd:
                certificate = PlanCertificate(Proof.TOO_FEW_POOLS, len(crowd), buffers=crowd)
                return EasyBound((certificate,), is_infeasible=True)
        return None

    def _too_much_of_a_list(self) -> EasyBound | None:
        for names, members in self._by_list().items():
            look(LOOKING)
            refusal = self._too_much(names, members)
            if refusal is not None:
                return refusal
        return None

    def _doubtful(self) -> Iterable[int]:
        """Yield the buffers that may have no possible pool: those with further rules, and those too large for some pool."""
        problem = self._problem
        if problem.constraints.colocations or problem.constraints.same_pool:
            return range(len(problem.buffers))
        pools = problem.pools
        free = (
            pools if isinstance(pools, PoolColumns) else [each for each in pools if not each.reserved and not each.base]
        )
        room = max((ADDRESS_LIMIT if size is None else size for size in sizes_of(free)), default=-1)
        large = np.flatnonzero(np.array(sizes(problem.buffers), dtype=np.int64) > room).tolist()
        return sorted({*large, *(i for i, _ in restricted(problem.buffers))})

    def _crowd(self, group: Sequence[BufferId]) -> tuple[BufferId, ...]:
        """Return members that outnumber all pools, or the list of pools that they share."""
        if len(group) > len(self._problem.pools):
            return tuple(group[: len(self._problem.pools) + 1])
        if isinstance(self._problem.buffers, BufferColumns):  # which list no pools
            return ()
        of_list: dict[int, list[BufferId]] = {}
        """By identity: to hash a long list takes as long as to read it."""
        for id_ in in_time(group, LOOKING):
            names = self._problem.buffers[self._places.index[id_]].pools
            if names is not None:
                mine = of_list.setdefault(id(self._alike(names)), [])
                mine.append(id_)
                if len(mine) > len(names):
                    return tuple(mine)
        return ()

    def _alike(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return one object for all equal lists: comparing long lists is slow, and most buffers share the same object."""
        known = self._lists.get(id(names))
        if known is None:
            known = self._lists[id(names)] = self._equal.setdefault(names, names)
        return known

    def _by_list(self) -> dict[tuple[str, ...], list[Buffer]]:
        """Return the buffers that share no bytes, by their lists of pools."""
        found: dict[int, list[Buffer]] = {}
        lists: dict[int, tuple[str, ...]] = {}
        for i, buffer in restricted(self._problem.buffers):
            if buffer.pools is not None and self._is_plain[i]:
                names = self._alike(buffer.pools)
                lists[id(names)] = names
                found.setdefault(id(names), []).append(buffer)
        return {lists[key]: members for key, members in found.items()}

    def _are_plain(self) -> Bools:
        """Return the buffers that have bytes at some time and share none of them."""
        buffers, places, constraints = self._problem.buffers, self._places, self._problem.constraints
        look(LOOKING)
        is_plain = np.array(sizes(buffers), dtype=np.int64) > 0
        if isinstance(buffers, BufferColumns):
            is_plain &= buffers.start < buffers.end
        else:
            is_plain &= np.fromiter((bool(buffer.live) for buffer in buffers), bool, len(buffers))
        is_plain[[places.index[id_] for pair in constraints.exclusions for id_ in pair]] = False
        if constraints.colocations:
            tied = (i for i in in_time(range(len(buffers)), LOOKING) if len(places.group(i).members) > 1)
            is_plain[[*tied]] = False
        return is_plain

    def _too_much(self, names: Sequence[str], members: Sequence[Buffer]) -> EasyBound | None:
        """Return a proof that nothing fits, if these members need more at some time than all of their pools have."""
        size_of = self._sizes
        of_pools = [size_of[name] for name in names]
        room = sum(size or 0 for size in of_pools)
        own, start, end, size = _lives(members, np.ones(len(members), dtype=bool))
        busiest, most = _busiest_time(start, end, size)
        if None in of_pools or busiest is None or most <= room:
            return None
        crowd = tuple(members[i].id for i in own[(start <= busiest) & (busiest < end)].tolist())
        weights = tuple((name, busiest, 1, 1) for name in names)
        certificate = PlanCertificate(Proof.POOL_SHARING, most - room, time=busiest, buffers=crowd, weights=weights)
        return EasyBound((certificate,), is_infeasible=True)

    def busiest(self) -> EasyBound:
        """Return the bound from the busiest time: what is live then needs room, wherever that is cheapest."""
        problem = self._problem
        own, start, end, size = _lives(problem.buffers, self._is_plain)
        busiest, most = _busiest_time(start, end, size)
        if busiest is None:
            return EasyBound()
        look(LOOKING)
        names = ids(problem.buffers)
        crowd = tuple(names[i] for i in own[(start <= busiest) & (busiest < end)].tolist())
        cost = min(costs_of(problem.pools))
        weights = (*zip(names_of(problem.pools), repeat(busiest), repeat(max(cost, 1)), repeat(1)),)
        of_pools = sizes_of(problem.pools)
        room = None if None in of_pools else sum(size or 0 for size in of_pools)
        if room is not None and most > room:
            missing = (most - room) * max(cost, 1)
            certificate = PlanCertificate(Proof.POOL_SHARING, missing, time=busiest, buffers=crowd, weights=weights)
            return EasyBound((certificate,), is_infeasible=True)
        largest = self._largest(busiest, crowd) if problem.terms[0] is Term.LARGEST_PEAK else None
        of_largest = () if largest is None else (largest,)
        least = 0 if largest is None else largest.value
        if not cost:
            return EasyBound(of_largest, largest=least)
        certificate = PlanCertificate(Proof.POOL_SHARING, cost * most, time=busiest, buffers=crowd, weights=weights)
        return EasyBound((certificate, *of_largest), cost * most, largest=least)

    def _largest(self, time: int, crowd: tuple[BufferId, ...]) -> PlanCertificate | None:
        """Return the bound of the largest peak if what is live at this time is shared out evenly."""
        names = names_of(self._problem.pools)
        weights = (*zip(names, repeat(time), repeat(1), repeat(len(names))),)
        certificate = PlanCertificate(Proof.PRICED_ROOM, 0, term=Term.LARGEST_PEAK, buffers=crowd, weights=weights)
        bound = priced_bound(self._places, certificate)
        return None if isinstance(bound, str) or bound <= 0 else replace(certificate, value=ceil(bound))


def _lives(buffers: Sequence[Buffer], chosen: Bools) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the lifetimes of the chosen buffers: owner, start, end, and the owner's size."""
    own = np.flatnonzero(chosen)
    if isinstance(buffers, BufferColumns):
        return own, buffers.start[own], buffers.end[own], buffers.size[own]
    rows = [
        (i, start, end, buffer.size)
        for i, buffer in enumerate(in_time(buffers, LOOKING))
        if chosen[i]
        for start, end in merged(buffer.live or ())
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3]


def _busiest_time(start: Ints, end: Ints, size: Ints) -> tuple[int | None, int]:
    """Return the first time at which most bytes are needed, and how many; None if none ever are."""
    times, at = np.unique(np.concatenate([start, end]), return_inverse=True)
    change = np.zeros(len(times), dtype=np.int64)
    np.add.at(change, at, np.concatenate([size, -size]))
    load = np.cumsum(change)
    if not load.any():
        return None, 0
    busiest = int(load.argmax())
    return int(times[busiest]), int(load[busiest])
