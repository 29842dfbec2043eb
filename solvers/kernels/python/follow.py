"""Following divisions in numpy. It makes the same decisions as the native kernel: the tests' reference, and the fallback without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model.instance import Ints
from ...model.splitmix import SplitMix64
from ..interface import Change, Course, Divisions, Floats, Report
from .input import are_within, demand

# The same numbers stand in kernels/native/follow/following.cpp.
A_STEP, A_STATE, IN_ROOM, A_KEPT = 200, 12, 2, 14
PER_MICROSECOND = 1000
MOST_POOLS = 255


def follow(
    pools: int, divisions: Divisions, course: Course, cost: Floats, most: int, with_pools: bool, report: Report
) -> tuple[Ints, Floats, Ints, int]:
    """The divisions that are left, what the cheapest choice of each costs, its pools, and work."""
    _check(pools, divisions, course, cost, most)
    run = _Following(pools, divisions, course, cost.reshape(-1, pools), most)
    run.run(report)
    _, best = np.unique(run.division, return_index=True)
    found = run.pools_of(best) if with_pools else np.zeros(0, dtype=np.int64)
    return run.division[best], run.cost[best], found.reshape(-1), -(-run.work // PER_MICROSECOND)


class _Following:
    """Choices, those of a division together and the cheapest first."""

    def __init__(self, pools: int, divisions: Divisions, course: Course, due: Floats, most: int) -> None:
        self._course, self._due, self._most = course, due, most
        self._always, self._more = course.always.reshape(-1, pools), course.more.reshape(-1, pools)
        self._room = divisions.room.reshape(-1, pools).T.copy()
        count = self._room.shape[1]
        chosen = divisions.chosen.reshape(count, len(divisions.classes)).T
        self._pools = dict(zip(divisions.classes.tolist(), chosen, strict=True))
        """Where each class is that is there, choice by choice."""
        random = SplitMix64(0)
        self._mark = np.array([random.next() for _ in due], dtype=np.uint64)
        self._code = np.zeros(count, dtype=np.uint64)
        """The same for choices of a division that have the same classes in the same pools now."""
        for who, where in self._pools.items():
            self._code += self._marks(who, where)
        self.division, self.cost = np.arange(count), np.zeros(count)
        self._from = np.zeros(count, dtype=np.int64)
        self._arrivals = list[tuple[int, Ints, Ints]]()
        """Who came, which choice each comes of, and to which pool."""
        self.work = 0

    def run(self, report: Report) -> None:
        for step, (begin, end) in enumerate(zip(self._course.begin[:-1], self._course.begin[1:], strict=True)):
            if not len(self.division):
                return
            coming = begin + np.flatnonzero(self._course.kind[begin:end] == Change.COMES)
            self._go_to(self._always[step], range(begin, end - len(coming)))
            for change in coming.tolist():
                if report(None):
                    self._keep(np.zeros(0, dtype=np.int64))
                if not len(self.division):
                    return
                self._add(change)

    def _marks(self, who: int, pools: Ints) -> NDArray[np.uint64]:
        marks: NDArray[np.uint64] = self._mark[who] * (pools + 1).astype(np.uint64)
        return marks

    def _go_to(self, always: Ints, changes: range) -> None:
        """From now on this much is taken; what does not fit is left out, and of those that are the same now, all but the cheapest."""
        self.work += A_STEP + A_STATE * len(self.division)
        self._room -= always[:, None]
        every, goes = np.arange(len(self.division)), False
        for change in changes:
            who = int(self._course.who[change])
            where = self._pools[who]
            self._room[where, every] -= self._more[change, where]
            if self._course.kind[change] == Change.GOES:
                goes = True
                self._code -= self._marks(who, where)
                del self._pools[who]
        self._keep(np.flatnonzero((self._room >= 0).all(axis=0)))
        if goes:
            same = np.stack([self.division.astype(np.uint64), self._code])
            self._keep(np.sort(np.unique(same, axis=1, return_index=True)[1]))

    def _keep(self, some: Ints) -> None:
        self.division, self.cost, self._code = self.division[some], self.cost[some], self._code[some]
        self._room, self._from = self._room[:, some], self._from[some]
        self._pools = {who: where[some] for who, where in self._pools.items()}

    def _add(self, change: int) -> None:
        """Each goes on with the class in each pool that has room for it, at that cost; about as many as may be in all."""
        who, units = int(self._course.who[change]), self._more[change]
        self.work += IN_ROOM * len(self.division)
        fits = (self._room >= units[:, None]) & np.isfinite(self._due[who])[:, None]
        pools, before = np.nonzero(fits)
        cost = self.cost[before] + self._due[who, pools]
        order = np.lexsort((cost, self.division[before]))
        if len(order) > self._most:
            counts = np.bincount(self.division[before])
            rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[self.division[before[order]]]
            order = order[rank < max(self._most // np.count_nonzero(counts), 1)]
        before, pools = before[order], pools[order]
        self._keep(before)
        self._arrivals.append((who, self._from, pools))
        self._from, self.cost = np.arange(len(order)), cost[order]
        self._room[pools, self._from] -= units[pools]
        self._code += self._marks(who, pools)
        self._pools[who] = pools
        self.work += A_KEPT * len(order)

    def pools_of(self, some: Ints) -> Ints:
        """Who came to which pool in these choices."""
        at, found = self._from[some], np.full((len(some), len(self._mark)), -1, dtype=np.int64)
        for who, before, pools in reversed(self._arrivals):
            found[:, who] = pools[at]
            at = before[at]
        return found


def _check(pools: int, divisions: Divisions, course: Course, cost: Floats, most: int) -> None:
    """Checks the arguments as the native kernel does (native/follow/bindings.cpp)."""
    demand(len(divisions) == len(Divisions._fields), "not as many columns as there should be")
    demand(len(course) == len(Course._fields), "not as many columns as there should be")
    demand(0 < pools <= MOST_POOLS and most > 0, "one to 255 pools, and how many choices are followed is positive")
    classes, changes, begin = len(cost) // pools, len(course.who), course.begin
    demand(len(begin) and begin[0] == 0 and begin[-1] == changes, "changes belong to steps")
    demand((begin[1:] >= begin[:-1]).all(), "changes belong to steps")
    demand(len(cost) == classes * pools and len(course.always) == (len(begin) - 1) * pools, "one number a pool")
    demand(len(course.kind) == changes and len(course.more) == changes * pools, "one kind a change, one number a pool")
    demand(len(divisions.room) % pools == 0, "one number a pool")
    demand(len(divisions.chosen) == len(divisions.room) // pools * len(divisions.classes), "one pool a class")
    demand((np.isfinite(cost) | (cost > 0)).all(), "a cost is a number, or infinite")
    demand(are_within(divisions.chosen, 0, pools - 1), "a class is in a pool")
    for numbers in (divisions.classes, course.who):
        demand(are_within(numbers, 0, classes - 1), "who is there is a class")
    demand(are_within(course.kind, Change.OTHER, Change.COMES), "a change is of one of three kinds")
    here, gone = set(divisions.classes.tolist()), set[int]()
    demand(len(here) == len(divisions.classes), "who is there is there once")
    came = Change.OTHER
    starts = set(begin.tolist())
    for change, (kind, who) in enumerate(zip(course.kind.tolist(), course.who.tolist(), strict=True)):
        came = Change.OTHER if change in starts else came
        demand(kind == Change.COMES or came != Change.COMES, "those that come are the last changes of a step")
        demand((who in here) == (kind != Change.COMES) and who not in gone, "a class comes once, and goes once")
        came = kind
        here.add(who)
        if kind == Change.GOES:
            here.remove(who)
            gone.add(who)
