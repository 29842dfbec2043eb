"""Finds simple plans of problems that are claimed to have none: groups of buffers one after the other, each where it first fits.

It may miss plans. Those it finds are checked like any plan, so they are real.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...facts.colocation import Group
from ...facts.intervals import merged, overlap
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import tick
from ...model.plan import Placement

MOST_BUFFERS = 400
MOST_SPANS = 4000
"""With more buffers or lifetimes than this, it only tries to stack them all."""
MOST_STACKED = 20_000
MOST_RANGES = 200
"""With more buffers, or more pools and reserved ranges, nothing is tried: it would take too long."""

Order = Callable[[int], tuple[int, ...]]


def counterexamples(
    places: Places, among: Sequence[int] | None = None, *, patience: int = 0
) -> Iterator[list[Placement | None]]:
    """Yield placements of these buffers (None: all), with None for the others; attempts that fail yield nothing.

    There are `patience` further attempts: in each, the buffer that found no place comes earlier.
    """
    buffers = range(len(places.problem.buffers)) if among is None else among
    problem = places.problem
    if len(buffers) > MOST_STACKED or sum(1 + len(pool.reserved) for pool in problem.pools) > MOST_RANGES:
        return
    rules = _Rules(places)
    sizes, spans = [buffer.size for buffer in problem.buffers], rules.spans
    orders: tuple[Order, ...] = (
        lambda i: (-sizes[i],),
        lambda i: (spans[i][0][0] if spans[i] else 0, -sizes[i]),
        lambda i: (-sum(end - start for start, end in spans[i]), -sizes[i]),
        lambda i: (-sizes[i] * sum(end - start for start, end in spans[i]),),
    )
    attempts = [_Attempt(rules, stacked=True)]
    if len(buffers) <= MOST_BUFFERS and sum(len(spans[i]) for i in buffers) <= MOST_SPANS:
        attempts += [_Attempt(rules, stacked=False) for _ in orders]
    for number, attempt in enumerate(attempts):
        found = attempt.place(sorted(buffers, key=orders[max(number - 1, 0)]))
        if found is not None:
            yield found
    order, dice = sorted(buffers, key=orders[0]), random.Random(0)
    for _ in range(patience if len(attempts) > 1 else 0):
        attempt = _Attempt(rules, stacked=False)
        found = attempt.place(order)
        if found is not None:
            yield found
        at = len(order) - 1 if attempt.stuck is None else order.index(attempt.stuck)
        order.insert(dice.randrange(at + 1), order.pop(at))


class _Rules:
    """The rules that all attempts keep."""

    def __init__(self, places: Places) -> None:
        self.places = places
        problem, index = places.problem, places.index
        self.spans = [merged(buffer.live or ()) for buffer in problem.buffers]
        self._conflicts = {frozenset((index[a], index[b])) for a, b in problem.constraints.conflicts}
        self._exclusions = {frozenset((index[a], index[b])) for a, b in problem.constraints.exclusions}
        self._meet: dict[tuple[int, int], bool] = {}
        self.apart: dict[int, list[int]] = {}
        """By the first buffer of those that must share a pool: the numbers of their lists of different pools."""
        for number, names in enumerate(problem.constraints.different_pool):
            for first in {places.tied(index[id_])[0] for id_ in names}:
                self.apart.setdefault(first, []).append(number)

    def meet(self, a: int, b: int) -> bool:
        """True if the two may not share an address."""
        key = (a, b) if a < b else (b, a)
        if key not in self._meet:
            tick(VERIFYING)
            pair = frozenset(key)
            live = pair not in self._exclusions and overlap(self.spans[a], self.spans[b])
            self._meet[key] = live or pair in self._conflicts
        return self._meet[key]


class _Attempt:
    """The placements so far."""

    def __init__(self, rules: _Rules, *, stacked: bool) -> None:
        self._rules, self._places, self._stacked = rules, rules.places, stacked
        self._home: dict[int, str] = {}
        """By the first of the buffers that must share a pool."""
        self._taken: dict[int, set[str]] = {}
        """By number of a list of different pools: the pools already in use."""
        self._there: dict[str, list[tuple[int, int, int]]] = {name: [] for name in self._places.pools}
        """For each pool: buffer, begin, end."""
        self._top = dict.fromkeys(self._places.pools, 0)
        self.stuck: int | None = None
        """The buffer that found no place."""

    def place(self, order: Iterable[int]) -> list[Placement | None] | None:
        """Return every buffer's place; None if one found none."""
        wanted = list(order)
        chosen = set(wanted)
        found: list[Placement | None] = [None] * len(self._places.problem.buffers)
        fixed_first = sorted(wanted, key=lambda i: self._places.problem.buffers[i].fixed is None)
        for buffer in fixed_first:
            if found[buffer] is not None:
                continue
            tick(VERIFYING)
            group = self._places.group(buffer)
            spot = self._spot(buffer)
            if spot is None:
                self.stuck = buffer
                return None
            pool, base = spot
            first = self._places.tied(buffer)[0]
            self._home[first] = pool
            for number in self._rules.apart.get(first, ()):
                self._taken.setdefault(number, set()).add(pool)
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
        if home is not None:
            base = self._base(buffer, home)
            return None if base is None else (home, base)
        taken = [self._taken.get(number, ()) for number in self._rules.apart.get(first, ())]
        for pool in self._places.possible_pools(buffer):
            base = None if any(pool in pools for pools in taken) else self._base(buffer, pool)
            if base is not None:
                return pool, base
        return None

    def _base(self, buffer: int, pool: str) -> int | None:
        """Return the lowest base at which the buffer's group meets no other; stacked: above all others."""
        group = self._places.group(buffer)
        spot = self._places.spot(group, pool)
        if spot is None:
            return None
        greatest = self._places.greatest(group, self._places.pools[pool])
        base = spot.least
        if self._stacked:
            base = self._places.lowest(group, pool, max(base, self._top[pool]), spot.rule)
        for low, high in () if self._stacked else self._closed(group, pool):
            if base <= low:
                break
            if base < high:
                base = spot.rule.at_least(high)
        if (spot.fixed is not None and base != spot.least) or (greatest is not None and base > greatest):
            return None
        return base

    def _closed(self, group: Group, pool: str) -> list[tuple[int, int]]:
        """Return the ranges of bases at which the group would meet something, in order."""
        found = []
        for member, low in zip(group.members, group.offsets, strict=True):
            size = self._places.problem.buffers[member].size
            if not size:
                continue
            met = ((begin, end) for other, begin, end in self._there[pool] if self._rules.meet(member, other))
            taken = (*self._places.pools[pool].reserved, *met)
            found += [(begin - low - size, end - low) for begin, end in taken if begin < end]
        return sorted(found)
