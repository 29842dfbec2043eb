"""Plans that are easy to find, of a problem that is said to have none: one group of buffers after the other where it fits first.

It need not find a plan where there is one. What it finds is checked as any plan is, so it cannot be wrong about what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ..facts.intervals import merged, overlap
from ..facts.places import Places
from ..model.plan import Placement
from ..model.problem import Interval

MOST_BUFFERS = 400
"""Of more than this it is only tried whether they can all stand on top of each other."""
MOST_STACKED = 20_000
MOST_RANGES = 200
"""With more buffers, or more pools and reserved ranges, nothing is tried: it would take longer than it is worth."""

Order = Callable[[int], tuple[int, ...]]


def counterexamples(places: Places, among: Sequence[int] | None = None) -> Iterator[list[Placement | None]]:
    """Placements of the buffers (None: of all), None for others; those that find no place end an attempt."""
    buffers = range(len(places.problem.buffers)) if among is None else among
    problem = places.problem
    if len(buffers) > MOST_STACKED or sum(1 + len(pool.reserved) for pool in problem.pools) > MOST_RANGES:
        return
    sizes = [buffer.size for buffer in problem.buffers]
    spans = [merged(buffer.live or ()) for buffer in problem.buffers]
    orders: tuple[Order, ...] = (
        lambda i: (-sizes[i],),
        lambda i: (spans[i][0][0] if spans[i] else 0, -sizes[i]),
        lambda i: (-sum(end - start for start, end in spans[i]), -sizes[i]),
        lambda i: (-sizes[i] * sum(end - start for start, end in spans[i]),),
    )
    attempts = [_Attempt(places, spans, stacked=True)]
    if len(buffers) <= MOST_BUFFERS:
        attempts += [_Attempt(places, spans, stacked=False) for _ in orders]
    for number, attempt in enumerate(attempts):
        found = attempt.place(sorted(buffers, key=orders[max(number - 1, 0)]))
        if found is not None:
            yield found


class _Attempt:
    """What is placed so far."""

    def __init__(self, places: Places, spans: Sequence[tuple[Interval, ...]], *, stacked: bool) -> None:
        self._places, self._spans, self._stacked = places, spans, stacked
        problem = places.problem
        index = places.index
        self._conflicts = {frozenset((index[a], index[b])) for a, b in problem.constraints.conflicts}
        self._exclusions = {frozenset((index[a], index[b])) for a, b in problem.constraints.exclusions}
        self._apart: dict[int, list[tuple[int, ...]]] = {}
        for names in problem.constraints.different_pool:
            members = tuple(places.tied(index[id_])[0] for id_ in names)
            for member in members:
                self._apart.setdefault(member, []).append(members)
        self._home: dict[int, str] = {}
        """By the first of the buffers that must share a pool."""
        self._there: dict[str, list[tuple[int, int, int]]] = {name: [] for name in places.pools}
        """Of each pool: buffer, begin, end."""
        self._top = dict.fromkeys(places.pools, 0)

    def place(self, order: Iterable[int]) -> list[Placement | None] | None:
        """Every buffer's place; None: one found none."""
        wanted = list(order)
        chosen = set(wanted)
        found: list[Placement | None] = [None] * len(self._places.problem.buffers)
        fixed_first = sorted(wanted, key=lambda i: self._places.problem.buffers[i].fixed is None)
        for buffer in fixed_first:
            if found[buffer] is not None:
                continue
            group = self._places.group(buffer)
            spot = self._spot(buffer)
            if spot is None:
                return None
            pool, base = spot
            self._home[self._places.tied(buffer)[0]] = pool
            for member, low in zip(group.members, group.offsets, strict=True):
                if member in chosen:
                    data = self._places.problem.buffers[member]
                    found[member] = Placement(data.id, pool, base + low, data.size)
                    self._there[pool].append((member, base + low, base + low + data.size))
                    self._top[pool] = max(self._top[pool], base + low + data.size)
        return found

    def _spot(self, buffer: int) -> tuple[str, int] | None:
        first = self._places.tied(buffer)[0]
        home = self._home.get(first)
        for pool in self._places.possible_pools(buffer) if home is None else (home,):
            taken = {
                self._home.get(other) for members in self._apart.get(first, ()) for other in members if other != first
            }
            base = None if pool in taken else self._base(buffer, pool)
            if base is not None:
                return pool, base
        return None

    def _base(self, buffer: int, pool: str) -> int | None:
        """The lowest base at which the buffer's group meets nobody; stacked: above all that is there."""
        group, there = self._places.group(buffer), self._places.pools[pool]
        spot = self._places.spot(group, pool)
        if spot is None:
            return None
        greatest = self._places.greatest(group, there)
        base = spot.least
        while True:
            higher = self._above(group.members, group.offsets, pool, base)
            if higher == base:
                return base
            base = spot.rule.at_least(higher)
            if spot.fixed is not None or (greatest is not None and base > greatest):
                return None

    def _above(self, members: Sequence[int], offsets: Sequence[int], pool: str, base: int) -> int:
        """A base that is out of the way of the first thing in the way; the same if nothing is."""
        if self._stacked and base < self._top[pool]:
            return self._top[pool]
        for member, low in zip(members, offsets, strict=True):
            begin, end = base + low, base + low + self._places.problem.buffers[member].size
            for start, stop in self._places.pools[pool].reserved:
                if max(start, begin) < min(stop, end):
                    return stop - low
            for other, start, stop in () if self._stacked else self._there[pool]:
                if max(start, begin) < min(stop, end) and self._meet(member, other):
                    return stop - low
        return base

    def _meet(self, a: int, b: int) -> bool:
        pair = frozenset((a, b))
        return pair in self._conflicts or (pair not in self._exclusions and overlap(self._spans[a], self._spans[b]))
