"""Makes simple plans of problems of which much is claimed: groups of buffers one after the other, each where it first fits.

It may miss plans. Those it finds are checked like any plan, so they are real. How much it tries is counted, so it takes little time at any size.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from solvers.model.instance import LINEAR_TERMS, Term

from ...facts.intervals import merged
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.columns.buffers import BufferColumns
from ...model.deadline import tick
from ...model.plan import Placement
from ...model.problem import Buffer, Interval, Problem
from ..objective import choice_cost, has_choice
from .addresses import IN_ARRAYS, FewTaken, ManyTaken, Relations, Taken

FEW_BUFFERS = 400
FEW_SPANS = 4000
"""With more buffers or lifetimes than this to be compared, what was placed is searched in arrays."""
EFFORT = 300_000_000
"""What is counted at most for any problem when nothing else is asked for: some tenths of a second."""
EFFORT_FOR_EACH = 50_000
"""What each entry of the problem adds to that."""
BRIEF = 10_000_000
"""The same for whoever makes plans, and has tried much more: some hundredths of a second."""
FOR_A_BUFFER = 30_000
"""What is counted for each buffer, and each pool in which it is tried: the comparisons that would take as long."""
FOR_A_POOL = 3_000
"""What is counted for each buffer, and each pool that is asked whether it could take it."""
FOR_A_LIFETIME = 1_000
"""What is counted for each lifetime in each attempt, for keeping and checking it."""

Order = Callable[[int], tuple[int, ...]]


class _Spent(Exception):
    """Enough was tried."""


@dataclass(slots=True)
class _Budget:
    left: int

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise _Spent


def usual_effort(problem: Problem) -> int:
    """Return how much is tried when nothing else is asked for. It grows with the problem."""
    return EFFORT + EFFORT_FOR_EACH * entries(problem)


def entries(problem: Problem) -> int:
    """Return the number of buffers, lifetimes, pools and alternatives."""
    count = len(problem.pools) + _entries(problem.buffers)
    for group in () if problem.variants is None else problem.variants.groups:
        count += len(group.alternatives)
        for each in group.alternatives:
            count += _entries(each.buffers) + sum(1 + len(more.live) for more in each.live)
    return count


def _entries(buffers: Sequence[Buffer]) -> int:
    if isinstance(buffers, BufferColumns):
        return 2 * len(buffers)
    return len(buffers) + sum(len(buffer.live or ()) for buffer in buffers)


def counterexamples(
    places: Places,
    among: Sequence[int] | None = None,
    *,
    patience: int = 0,
    effort: int,
    spared: Sequence[str] = (),
) -> Iterator[list[Placement | None]]:
    """Yield placements of these buffers (None: all), with None for the others; attempts that fail yield nothing.

    There are `patience` further attempts if there are few buffers: in each, the buffer that found no place comes earlier. `spared` are pools
    to which other attempts come last. The attempts end when `effort` comparisons were made.
    """
    try:
        yield from _counterexamples(places, among, patience, _Budget(effort), spared)
    except _Spent:
        return


def _counterexamples(
    places: Places, among: Sequence[int] | None, patience: int, budget: _Budget, spared: Sequence[str]
) -> Iterator[list[Placement | None]]:
    buffers = range(len(places.problem.buffers)) if among is None else among
    problem = places.problem
    budget.spend(len(problem.buffers) * FOR_A_BUFFER // 100)
    spans = [merged(buffer.live or ()) for buffer in problem.buffers]
    groups = {places.group(i).members[0]: places.group(i) for i in buffers}
    compared = {member for group in groups.values() for member in group.members}
    few = len(compared) <= FEW_BUFFERS and sum(len(spans[i]) for i in compared) <= FEW_SPANS
    rules = _Rules(places, spans, compared, few=few, budget=budget)
    sizes = [buffer.size for buffer in problem.buffers]
    births: dict[int, int] = {}
    """By first member, when each group begins."""
    for i in buffers:
        head, birth = places.group(i).members[0], spans[i][0][0] if spans[i] else 0
        births[head] = min(births.get(head, birth), birth)
    orders: tuple[Order, ...] = (
        lambda i: (-sizes[i],),
        lambda i: (births[places.group(i).members[0]], -sizes[i]),
        lambda i: (-sum(end - start for start, end in spans[i]), -sizes[i]),
        lambda i: (-sizes[i] * sum(end - start for start, end in spans[i]),),
    )
    by_size = sorted(buffers, key=orders[0])
    stacked = _Attempt(rules, stacked=True).place(by_size) if few else None
    if stacked is not None:
        yield stacked
    old = _old_bases(places)
    for sign in (1, -1) if old else ():  # the large ones stay first, or the small ones
        order = sorted(buffers, key=lambda i: (places.group(i).members[0] not in old, -sign * sizes[i]))
        kept = _Attempt(rules, stacked=False, old=old).place(order)
        if kept is not None:
            yield kept
    by_birth = 1
    for prefer in _preferences(places, spared):
        # In order of birth what has ended is forgotten, so that this takes least with very many buffers.
        for number in (by_birth, 0, 2, 3):
            a_buffer = FOR_A_BUFFER + IN_ARRAYS * len(buffers) // 2
            if number != by_birth and not few and budget.left < len(buffers) * a_buffer:
                continue  # it would hardly come to its end
            attempt = _Attempt(rules, stacked=False, prefer=prefer, forgets=number == by_birth)
            found = attempt.place(sorted(buffers, key=orders[number]), births)
            if found is not None:
                yield found
    order, dice = by_size, random.Random(0)
    for _ in range(patience if few else 0):
        attempt = _Attempt(rules, stacked=False)
        found = attempt.place(order)
        if found is not None:
            yield found
        at = len(order) - 1 if attempt.stuck is None else order.index(attempt.stuck)
        order.insert(dice.randrange(at + 1), order.pop(at))


def _old_bases(places: Places) -> dict[int, tuple[str, int]]:
    """Return for groups with old places, by first member, where they would begin if their first buffer with one stayed there."""
    found: dict[int, tuple[str, int]] = {}
    for was in places.problem.was:
        buffer = places.index.get(was.buffer)
        if buffer is not None:
            found.setdefault(places.group(buffer).members[0], (was.pool, was.offset - places.low(buffer)))
    return found


Preference = Callable[[int, "_Attempt"], list[str]]
"""Returns the pools in which a buffer is tried, the best first."""


def _preferences(places: Places, spared: Sequence[str]) -> Iterator[Preference | None]:
    """Yield orders of pools: the problem's; the cheapest first; the emptiest first; and those in which one comes last."""
    yield None
    if len(places.pools) == 1:
        return
    problem = places.problem
    for term in problem.terms:
        if has_choice(term):

            def cheapest(buffer: int, _: _Attempt, term: Term = term) -> list[str]:
                tied = [problem.buffers[other] for other in places.tied(buffer)]
                cost = {
                    name: sum(choice_cost(each, places.pools[name], term) for each in tied)
                    for name in places.possible_pools(buffer)
                }
                return sorted(cost, key=cost.__getitem__)

            yield cheapest
    if Term.LARGEST_PEAK in problem.terms:
        yield lambda buffer, attempt: sorted(places.possible_pools(buffer), key=attempt.top.__getitem__)
    if any(term in LINEAR_TERMS and LINEAR_TERMS[term].peaks for term in problem.terms):
        yield lambda buffer, _: sorted(places.possible_pools(buffer), key=lambda name: places.pools[name].cost)
    yield from (_sparing(places, pool) for pool in spared)


def _sparing(places: Places, pool: str) -> Preference:
    return lambda buffer, _: sorted(places.possible_pools(buffer), key=lambda name: name == pool)


class _Rules:
    """The rules that all attempts keep."""

    def __init__(
        self, places: Places, spans: Sequence[Sequence[Interval]], compared: Set[int], *, few: bool, budget: _Budget
    ) -> None:
        self.places, self.spans, self.few, self.budget = places, spans, few, budget
        problem, index = places.problem, places.index
        self.relations = Relations(problem.constraints, index, spans, compared if few else ())
        self.lifetimes = sum(map(len, spans))
        self.walls = {name: merged(pool.reserved) for name, pool in places.pools.items()}
        self.apart: dict[int, list[int]] = {}
        """By the first buffer of those that must share a pool: the numbers of their lists of different pools."""
        for number, names in enumerate(problem.constraints.different_pool):
            for first in {places.tied(index[id_])[0] for id_ in names}:
                self.apart.setdefault(first, []).append(number)


class _Attempt:
    """The placements so far."""

    def __init__(
        self,
        rules: _Rules,
        *,
        stacked: bool,
        prefer: Preference | None = None,
        forgets: bool = False,
        old: Mapping[int, tuple[str, int]] | None = None,
    ) -> None:
        self._rules, self._places, self._stacked = rules, rules.places, stacked
        self._prefer, self._forgets, self._old = prefer, forgets, old or {}
        self._home: dict[int, str] = {}
        """By the first of the buffers that must share a pool."""
        self._different: dict[int, set[str]] = {}
        """By number of a list of different pools: the pools already in use."""
        self._there: dict[str, Taken] = {}
        self.top = dict.fromkeys(self._places.pools, 0)
        self.stuck: int | None = None
        """The buffer that found no place."""

    def place(self, order: Iterable[int], births: dict[int, int] | None = None) -> list[Placement | None] | None:
        """Return every buffer's place; None if one found none. In order of their births, what has ended may be forgotten."""
        self._rules.budget.spend(FOR_A_LIFETIME * self._rules.lifetimes)
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
                self._different.setdefault(number, set()).add(pool)
            there = self._in(pool)
            if self._forgets and births is not None and self._places.problem.buffers[buffer].fixed is None:
                there.forget(births[group.members[0]])
            for member, low in zip(group.members, group.offsets, strict=True):
                if member in chosen:
                    data = self._places.problem.buffers[member]
                    found[member] = Placement(data.id, pool, base + low, data.size)
                    there.add(member, base + low, base + low + data.size)
                    self.top[pool] = max(self.top[pool], base + low + data.size)
        return found

    def _in(self, pool: str) -> Taken:
        there = self._there.get(pool)
        if there is None:
            kind = FewTaken if self._rules.few else ManyTaken
            there = self._there[pool] = kind(self._rules.relations, self._rules.walls[pool])
        return there

    def _spot(self, buffer: int) -> tuple[str, int] | None:
        first = self._places.tied(buffer)[0]
        home = self._home.get(first)
        taken = [self._different.get(number, ()) for number in self._rules.apart.get(first, ())]
        old = self._old.get(self._places.group(buffer).members[0])
        if (
            old is not None
            and home in (None, old[0])
            and not any(home is None and old[0] in others for others in taken)
        ):
            possible = home is not None or old[0] in self._places.possible_pools(buffer)
            if possible and self._base(buffer, old[0], old[1]) == old[1]:
                return old
        if home is not None:
            base = self._base(buffer, home)
            return None if base is None else (home, base)
        self._rules.budget.spend(FOR_A_POOL * len(self._places.tied(buffer)) * self._most_pools(buffer))
        pools = self._places.possible_pools(buffer)
        if self._prefer is not None:
            self._rules.budget.spend(FOR_A_POOL * len(pools))
            pools = self._prefer(buffer, self)
        for pool in pools:
            base = None if any(pool in others for others in taken) else self._base(buffer, pool)
            if base is not None:
                return pool, base
        return None

    def _most_pools(self, buffer: int) -> int:
        named = self._places.problem.buffers[buffer].pools
        return len(self._places.pools) if named is None else len(named)

    def _base(self, buffer: int, pool: str, floor: int = 0) -> int | None:
        """Return the lowest base from the floor on at which the buffer's group meets no other; stacked: above all others."""
        group = self._places.group(buffer)
        self._rules.budget.spend(FOR_A_BUFFER * len(group.members))
        spot = self._places.spot(group, pool)
        if spot is None:
            return None
        greatest = self._places.greatest(group, self._places.pools[pool])
        base = spot.least if floor <= spot.least else self._places.lowest(group, pool, floor, spot.rule)
        if self._stacked:
            base = self._places.lowest(group, pool, max(base, self.top[pool]), spot.rule)
        else:
            there = self._in(pool)
            lifetimes = sum(max(len(self._rules.spans[member]), 1) for member in group.members)  # or conflicts alone
            self._rules.budget.spend(len(there) * lifetimes)
            sizes = [self._places.problem.buffers[member].size for member in group.members]
            base = there.lowest(group.members, group.offsets, sizes, base, spot.rule)
        if (spot.fixed is not None and base != spot.least) or (greatest is not None and base > greatest):
            return None
        return base
