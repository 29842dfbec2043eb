"""Plain sharings, made without the solvers: against these is held what searches are said to have shown.

A few orders, each group of buffers into an object that is free. How much is tried is counted, so it takes little time at any size.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ...facts.intervals import merged
from ...facts.sweep import VERIFYING
from ...model.deadline import tick
from ...model.problem import Interval
from ...model.storage import Kind
from .kinds import kinds_of
from .users import Users

EFFORT = 4_000_000
"""The most objects that are looked at when nothing else is asked for: some seconds with very many buffers."""
BRIEF = 40_000
"""The same for whoever makes sharings, and has tried much more."""


class _Spent(Exception):
    """Enough was tried."""


class _Group(NamedTuple):
    """Buffers that use one object."""

    head: int
    need: int
    live: tuple[Interval, ...]
    is_special: bool
    """True if not its times alone decide with which others it may share."""

    @property
    def begin(self) -> int:
        return self.live[0][0] if self.live else 0

    @property
    def end(self) -> int:
        return self.live[-1][1] if self.live else 0


class _Object:
    """The groups that use one object."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._all: list[_Group] = []
        self._is_mixed = False
        """True if some that are needed at one time share it, so that its times are no list of separate ones."""
        self.size = 0

    def is_free_for(self, group: _Group) -> bool:
        if group.is_special or self._is_mixed:
            return not any(self._users.groups_clash(group.head, other.head) for other in self._all)
        return not self._meets(group)

    def _meets(self, group: _Group) -> bool:
        for begin, end in group.live:
            at = bisect_right(self._begins, begin)
            if (at and self._ends[at - 1] > begin) or (at < len(self._begins) and self._begins[at] < end):
                return True
        return False

    def add(self, group: _Group) -> None:
        self._is_mixed = self._is_mixed or self._meets(group)
        self._all.append(group)
        self.size = max(self.size, group.need)
        for begin, end in group.live:
            at = bisect_left(self._begins, begin)
            self._begins.insert(at, begin)
            self._ends.insert(at, end)


class _Budget:
    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self) -> None:
        tick(VERIFYING)
        self.left -= 1
        if self.left < 0:
            raise _Spent


def plain_totals(users: Users, kinds: Iterable[Kind], effort: int = EFFORT) -> dict[Kind, int]:
    """Return the least total of each of these kinds that plain sharings reach; what was not tried to the end is left out."""
    budget, least, groups = _Budget(effort), dict[Kind, int](), _by_kind(users)
    for kind in kinds:
        for total in _totals(users, groups.get(kind, []), budget):
            least[kind] = min(least.get(kind, total), total)
    return least


def _by_kind(users: Users) -> dict[Kind, list[_Group]]:
    kinds, found = kinds_of(users.problem), dict[Kind, list[_Group]]()
    special = users.related
    for head in dict.fromkeys(map(users.group, range(len(kinds)))):
        tick(VERIFYING)
        members = users.members(head)
        live = merged(span for member in members for span in users.live(member))
        is_special = not special.isdisjoint(members)
        found.setdefault(kinds[head], []).append(_Group(head, users.need_in(head, kinds[head].pool), live, is_special))
    return found


def _totals(users: Users, groups: Sequence[_Group], budget: _Budget) -> Iterator[int]:
    """Yield the totals of several sharings."""
    orders: tuple[Callable[[_Group], tuple[int, ...]], ...] = (
        lambda each: (-each.need, each.begin),
        lambda each: (-each.need, each.begin - each.end),
        lambda each: (-each.need, -each.end),
    )
    try:
        yield _in_order_of_time(users, groups, budget)
        for order in orders:
            objects: list[_Object] = []
            for group in sorted(groups, key=order):
                free = next((there for there in _counted(objects, budget) if there.is_free_for(group)), None)
                if free is None:
                    free = _Object(users)
                    objects.append(free)
                free.add(group)
            yield sum(there.size for there in objects)
    except _Spent:
        return


def _counted(objects: Sequence[_Object], budget: _Budget) -> Iterator[_Object]:
    for there in objects:
        budget.spend()
        yield there


def _in_order_of_time(users: Users, groups: Sequence[_Group], budget: _Budget) -> int:
    """Return the total if each takes the smallest free object that is large enough, or else the largest free one."""
    objects: list[_Object] = []
    free: list[tuple[int, int]] = []
    """Size and number of the objects whose users have all ended, sorted."""
    busy: list[tuple[int, int]] = []
    for group in sorted(groups, key=lambda each: (each.begin, -each.need)):
        budget.spend()
        while busy and busy[0][0] <= group.begin:
            number = heappop(busy)[1]
            insort(free, (objects[number].size, number))
        at = bisect_left(free, (group.need, -1))
        wanted = (*range(at, min(at + 4, len(free))), *range(at - 1, max(at - 5, -1), -1))
        chosen = next((n for n in wanted if not group.is_special or objects[free[n][1]].is_free_for(group)), None)
        if chosen is None:
            number = len(objects)
            objects.append(_Object(users))
        else:
            number = free.pop(chosen)[1]
        objects[number].add(group)
        heappush(busy, (max(group.begin, group.end), number))
    return sum(there.size for there in objects)
