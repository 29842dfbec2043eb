"""Proofs by cases, for problems with several memories or alternatives: which alternatives are chosen, and which memory each buffer is in.

A case knows less than the whole problem says, so it rules out no plan that the problem allows; docs/proofs.md gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from solvers.model.instance import LINEAR_TERMS, Term

from ...facts.colocation import groups
from ...facts.constants import spell_out_constants
from ...facts.intervals import merged
from ...facts.variants import rules, weighted_cost, with_alternatives
from ...model.problem import BufferId, Colocation, Pair, Problem
from ..objective import choice_cost, has_choice, price_of_peaks
from .blocks import BEYOND, Blocks

ANY_VALUE = 10**20 - 1
"""The greatest value that can be written."""
MOST_LOOSE = 200
"""Up to this many buffers that open alternatives may tie are compared pair by pair; with more, nothing is proven."""


class Claim(NamedTuple):
    """What must be shown: no plan has a value this low, among choices that cost at most this much."""

    value: int
    """A value of the objective's first term; with one memory, the greatest end in it."""
    within: int | None = None


def has_cases(problem: Problem) -> bool:
    """True if there is anything to choose besides addresses, or rules about that."""
    return len(problem.pools) > 1 or problem.variants is not None or bool(problem.constraints.different_pool)


class Case:
    """A problem in which some choices are made and some memories excluded."""

    def __init__(self, problem: Problem, claim: Claim, choice: tuple[int | None, ...] | None = None) -> None:
        self.problem, self.claim = problem, claim
        self.choice = choice if choice is not None else (None,) * _groups(problem)
        """The chosen alternative of each group; None: open."""
        self.known = spell_out_constants(_known(problem, self.choice))
        """What holds whatever else is chosen."""
        self.pools = problem.pools
        self.heights = [-1] * len(self.pools)
        """For each memory: nothing in it ends at or below this address."""
        self.unit_of, self.homes = _units(self.known)
        """The first of the buffers that share a memory with each buffer, and by these the memories left to them."""
        self.is_divided = False
        """True once memories have been distinguished; from then on no more alternatives are chosen."""
        too_many = any(len(group) > len(self.pools) for group in self.known.constraints.different_pool)
        self._apart = {} if too_many else _apart(self.known, self.unit_of)
        self.is_out = too_many or not self._settle()
        """True if the case is impossible."""

    def copy(self) -> Case:
        """Return a copy to continue from."""
        other = object.__new__(Case)
        other.__dict__.update(self.__dict__)
        other.homes = dict(self.homes)
        other.heights = list(self.heights)
        return other

    @property
    def extent(self) -> int:
        """Return the effort of examining and keeping the case."""
        return sum(map(len, self.homes.values())) + len(self.known.buffers) + len(self.pools)

    @cached_property
    def blocks(self) -> Blocks:
        """Return all buffers as blocks, to see which must be apart within one memory."""
        return Blocks(replace(self.known, pools=self.pools[:1]), BEYOND)

    def alternatives(self, group: int) -> Iterator[Case]:
        """Return a case for each alternative of a group that may be chosen."""
        variants = self.problem.variants
        assert variants is not None
        for a in range(len(variants.groups[group].alternatives)):
            choice = (*self.choice[:group], a, *self.choice[group + 1 :])
            if self._may_be_chosen(choice):
                case = Case(self.problem, self.claim, choice)
                if not case.is_out:
                    yield case

    def _may_be_chosen(self, choice: Sequence[int | None]) -> bool:
        variants = self.problem.variants
        assert variants is not None
        requires, forbids = rules(variants)
        if any(choice[g] == a and choice[h] not in (None, b) for (g, a), (h, b) in requires):
            return False
        if any(choice[g] == a and choice[h] == b for (g, a), (h, b) in forbids):
            return False
        costs = [[weighted_cost(variants, each.costs) for each in group.alternatives] for group in variants.groups]
        least = sum(min(of) if a is None else of[a] for of, a in zip(costs, choice, strict=True))
        return self.claim.within is None or least <= self.claim.within

    def memories(self, unit: int) -> Iterator[Case]:
        """Return a case for each memory that the unit's buffers may be in; equivalent memories give one case."""
        tried: list[int] = []
        for p in sorted(self.homes[unit]):
            if any(self._are_alike(p, q) for q in tried):
                continue
            tried.append(p)
            case = self.copy()
            case.is_divided = True
            case.homes[unit] = frozenset((p,))
            if case._settle():
                yield case

    def _are_alike(self, p: int, q: int) -> bool:
        """True if exchanging the contents of these memories turns plans into plans."""
        one, other = self.pools[p], self.pools[q]
        if None in self.choice:  # later choices may distinguish them
            return False
        if replace(one, name="") != replace(other, name="") or self.heights[p] != self.heights[q]:
            return False
        fixed = {buffer.fixed.pool for buffer in self.known.buffers if buffer.fixed is not None}
        return fixed.isdisjoint((one.name, other.name)) and all((p in it) == (q in it) for it in self.homes.values())

    def _settle(self) -> bool:
        """Remove memories that are taken by units with only one left. False: some unit has none."""
        todo = [unit for unit, pools in self.homes.items() if len(pools) == 1]
        while todo:
            unit = todo.pop()
            for other in self._apart.get(unit, ()):
                left = self.homes[other] - self.homes[unit]
                if len(left) < len(self.homes[other]):
                    self.homes[other] = left
                    if len(left) == 1:
                        todo.append(other)
        return all(self.homes.values()) and not any(unit in others for unit, others in self._apart.items())

    def within(self, pool: int) -> Problem:
        """Return the buffers that can only be in this memory, with it."""
        buffers = tuple(b for b, u in zip(self.known.buffers, self.unit_of, strict=True) if self.homes[u] == {pool})
        ids = {buffer.id for buffer in buffers}
        old = self.known.constraints
        constraints = replace(
            old,
            conflicts=tuple(pair for pair in old.conflicts if ids.issuperset(pair)),
            exclusions=tuple(pair for pair in old.exclusions if ids.issuperset(pair)),
            colocations=tuple(tie for tie in old.colocations if tie.buffer in ids),
            same_pool=(),
            different_pool=(),
            reuse_penalties=(),
            listed=(),
        )
        return replace(self.known, buffers=buffers, pools=(self.pools[pool],), constraints=constraints, was=())

    # lower bounds of a plan's value

    @cached_property
    def prices(self) -> tuple[int, ...]:
        """Return the price of a byte of each memory's peak."""
        if len(self.pools) == 1:
            return (1,)
        if self._term is Term.LARGEST_PEAK:
            return (0,) * len(self.pools)
        return tuple(price_of_peaks(self.problem, self._term) * pool.cost for pool in self.pools)

    @property
    def _term(self) -> Term:
        return self.problem.terms[0]

    @property
    def is_largest(self) -> bool:
        """True if the greatest peak counts instead of a sum."""
        return len(self.pools) > 1 and self._term is Term.LARGEST_PEAK

    @cached_property
    def _choice_costs(self) -> dict[int, list[int]]:
        """Return, by unit, what each memory adds to the value, whatever the peaks."""
        if len(self.pools) == 1 or not has_choice(self._term):
            return {}
        found: dict[int, list[int]] = {}
        for buffer, unit in zip(self.known.buffers, self.unit_of, strict=True):
            costs = found.setdefault(unit, [0] * len(self.pools))
            for p, pool in enumerate(self.pools):
                costs[p] += choice_cost(buffer, pool, self._term)
        return found

    def least_choice(self) -> int:
        """Return the value with every unit at its cheapest."""
        return sum(min(costs[p] for p in self.homes[unit]) for unit, costs in self._choice_costs.items())

    def size(self, pool: int) -> int:
        """Return the end of the memory's addresses."""
        size = self.pools[pool].size
        return BEYOND if size is None else size

    def room(self, pool: int) -> int:
        """Return the most bytes that can be in the memory at a time in a plan of the claimed value."""
        size, value, price = self.size(pool), self.claim.value, self.prices[pool]
        if self.is_largest:
            size = min(size, value)
        elif price:
            size = min(size, value // price)
        return size - sum(min(end, size) - start for start, end in merged(self.pools[pool].reserved) if start < size)

    def is_closed(self) -> bool:
        """True if the known heights exclude all plans."""
        if any(height >= self.size(p) for p, height in enumerate(self.heights)):
            return True
        if self.is_largest:
            return max(self.heights) >= self.claim.value
        peaks = sum(price * (height + 1) for price, height in zip(self.prices, self.heights, strict=True))
        return peaks + self.least_choice() > self.claim.value

    def is_outweighed(self, clique: Iterable[int], value: int, rooms: Sequence[int]) -> bool:
        """True if live buffers exceed the room, with these weights of the value and each memory's room."""
        costs, prices, homes = self._choice_costs, self.prices, self.homes
        sizes: dict[int, int] = {}
        for b in clique:
            unit = self.unit_of[b]
            sizes[unit] = sizes.get(unit, 0) + self.known.buffers[b].size
        taken = 0
        for unit in sizes.keys() | costs.keys():
            size, extra = sizes.get(unit, 0), costs.get(unit)
            taken += min(
                size * (value * prices[p] + rooms[p]) + (value * extra[p] if extra else 0) for p in homes[unit]
            )
        return taken > value * self.claim.value + sum(w * self.room(p) for p, w in enumerate(rooms) if w)


def _groups(problem: Problem) -> int:
    return 0 if problem.variants is None else len(problem.variants.groups)


def _known(problem: Problem, choice: Sequence[int | None]) -> Problem:
    """Return the problem with the choices made. Buffers that open alternatives could let share addresses are not kept apart."""
    if problem.variants is None:
        return problem
    groups_ = problem.variants.groups
    known = with_alternatives(
        problem, [group.alternatives[a] for group, a in zip(groups_, choice, strict=True) if a is not None]
    )
    open_ = [each for group, a in zip(groups_, choice, strict=True) if a is None for each in group.alternatives]
    ids = {buffer.id for buffer in known.buffers}
    loose = {pair for each in open_ for pair in each.constraints.exclusions if ids.issuperset(pair)}
    colocations = [tie for each in open_ for tie in each.constraints.colocations]
    for tied in _tied((*known.constraints.colocations, *colocations), {tie.buffer for tie in colocations}):
        loose.update(_pairs(tied & ids))
    constraints = replace(
        known.constraints,
        conflicts=tuple((a, b) for a, b in known.constraints.conflicts if loose.isdisjoint(((a, b), (b, a)))),
        exclusions=(*known.constraints.exclusions, *sorted(loose, key=str)),
    )
    return replace(known, constraints=constraints) if loose else known


def _tied(colocations: Sequence[Colocation], some: set[BufferId]) -> list[set[BufferId]]:
    """Return the buffers that colocations tie, directly or not, to any of these."""
    ids = list(dict.fromkeys(id_ for tie in colocations for id_ in (tie.buffer, tie.base)))
    found = [{ids[i] for i in group.members} for group in groups(ids, colocations)]
    return [tied for tied in found if not tied.isdisjoint(some)]


def _pairs(ids: set[BufferId]) -> Iterator[Pair]:
    if len(ids) > MOST_LOOSE:
        raise TooLoose("open alternatives may tie too many buffers together")
    yield from combinations(sorted(ids, key=str), 2)


class TooLoose(ValueError):
    """Open alternatives may tie too many buffers together."""


def _units(problem: Problem) -> tuple[list[int], dict[int, frozenset[int]]]:
    """Return, by buffer, the first of those that share its memory; and by these the memories left to them."""
    index = {buffer.id: number for number, buffer in enumerate(problem.buffers)}
    root = list(range(len(index)))

    def find(number: int) -> int:
        while root[number] != number:
            root[number] = number = root[root[number]]
        return number

    constraints = problem.constraints
    for together in (*((tie.buffer, tie.base) for tie in constraints.colocations), *constraints.same_pool):
        for other in together[1:]:
            one, two = sorted((find(index[together[0]]), find(index[other])))
            root[two] = one
    position = {pool.name: p for p, pool in enumerate(problem.pools)}
    unit_of = [find(number) for number in range(len(index))]
    every = frozenset(position.values())
    same: dict[frozenset[int], frozenset[int]] = {}
    """Each set of memories once."""
    homes: dict[int, frozenset[int]] = {}
    for buffer, unit in zip(problem.buffers, unit_of, strict=True):
        names = buffer.pools if buffer.fixed is None else (buffer.fixed.pool,)
        mine = every if names is None else frozenset(position[name] for name in names)
        mine &= homes.get(unit, mine)
        homes[unit] = same.setdefault(mine, mine)
    return unit_of, homes


def _apart(problem: Problem, unit_of: Sequence[int]) -> dict[int, set[int]]:
    """Return, by unit, the units that must be in other memories."""
    index = {buffer.id: number for number, buffer in enumerate(problem.buffers)}
    found: dict[int, set[int]] = {}
    for group in problem.constraints.different_pool:
        units = [unit_of[index[id_]] for id_ in group]
        for one, other in combinations(units, 2):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return found


def can_be_claimed(problem: Problem) -> bool:
    """True if the objective's first term can have claims."""
    return len(problem.pools) == 1 or problem.terms[0] is Term.LARGEST_PEAK or problem.terms[0] in LINEAR_TERMS
