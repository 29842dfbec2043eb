"""Buffers in dsa-solver's files that begin at one address or lie apart, and never overlap otherwise, as alternatives of a Problem.

Two rules demand this: `whole_slot_reuse` of all buffers of a memory, `no_partial_overlaps` of pairs, which must have one size, too. Where it is
demanded of all pairs of some buffers, memory consists of slots for them: each buffer has a slot of its own, or lies in that of one that is as
large or larger. That is one choice for each buffer. Other pairs are a choice each. Buffers that colocations tie are placed as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations

from ...checks.pool_choice import Classes
from ...checks.report import Place, bad_input
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import (
    Alternative,
    BufferId,
    Colocation,
    Constraints,
    MoreLife,
    Pair,
    Pick,
    Problem,
    VariantGroup,
    Variants,
)
from .dsa_units import Units

MOST_PAIRS = 64
"""The most pairs that are a choice each."""
MOST_PLACES, MOST_RULES = 4096, 65536
"""The most ways in which a buffer may lie with another, and the most pairs of such ways that exclude each other."""
MOST_LOOKED_AT = 5_000_000
"""The most pairs of buffers that are looked at."""
ONE, APART, OWN = "one place", "apart", "its own"
PLAN_SLOTS = "leave the rule out, and plan the slots with `memplan share`"


def with_slots(problem: Problem, pairs: Iterable[tuple[int, int]], *, whole: bool, place: Place) -> Problem:
    """Return the problem in which these pairs of buffers (positions) lie at one place or apart. Raises BadInput if they are too many.

    With `whole`, all other pairs do, too; then memory consists of slots.
    """
    units = Units(problem)
    named: dict[tuple[int, int], list[Pair]] = {}
    """The pairs between each two units."""
    apart: set[tuple[int, int]] = set()
    """Units that have pairs of unequal sizes."""
    for i, j in dict.fromkeys((min(pair), max(pair)) for pair in pairs):
        u, v = units.of.get(i), units.of.get(j)
        if u is not None and v is not None and u != v and units.share_memories(u, v):
            first, second = problem.buffers[i], problem.buffers[j]
            named.setdefault((min(u, v), max(u, v)), []).append((first.id, second.id))
            if first.size != second.size:
                apart.add((min(u, v), max(u, v)))
    choices = _Choices(units, place)
    whole = whole or _are_all_named(units, named)
    constraints = (_in_slots if whole else _pair_by_pair)(choices, problem.constraints, named, apart)
    made = replace(problem, constraints=replace(constraints, colocations=units.colocations()))
    if not choices.groups:
        return made
    variants = Variants(tuple(choices.groups), (), tuple(choices.requires), tuple(choices.forbids))
    return replace(made, terms=problem.terms[:1], variants=variants)


def _are_all_named(units: Units, named: Mapping[tuple[int, int], list[Pair]]) -> bool:
    """True if all pairs of buffers that could share addresses are named."""
    members = [len(unit.members) for unit in units.units]
    is_few = len(members) * (len(members) - 1) // 2 <= MOST_LOOKED_AT
    return (
        bool(named)
        and is_few
        and all(
            not units.share_memories(u, v) or len(named.get((u, v), ())) == members[u] * members[v]
            for u, v in combinations(range(len(members)), 2)
        )
    )


@dataclass(slots=True)
class _Choices:
    """Choices as they are found."""

    units: Units
    place: Place
    groups: list[VariantGroup] = field(default_factory=list)
    requires: list[tuple[Pick, Pick]] = field(default_factory=list)
    forbids: list[tuple[Pick, Pick]] = field(default_factory=list)

    def first(self, u: int) -> int:
        """Return the buffer that stands for a unit."""
        return self.units.units[u].first

    def id(self, u: int) -> BufferId:
        return self.units.buffers[self.first(u)].id

    def in_order(self, units: Iterable[int]) -> list[int]:
        """Return large units first. In this order they refer to each other, so that choices make no circle."""
        return sorted(units, key=lambda u: (-self.units.units[u].size, self.first(u)))

    def at_place_of(self, host: int, u: int) -> Constraints:
        return Constraints(colocations=(Colocation(self.id(u), self.id(host), 0),))

    def pair(self, u: int, v: int, conflicts: list[Pair]) -> None:
        """Add the choice between one place and these conflicts. Raises BadInput if there are too many."""
        host, guest = self.in_order((u, v))
        one = Alternative(ONE, constraints=self.at_place_of(host, guest))
        other = Alternative(APART, constraints=Constraints(conflicts=tuple(conflicts)))
        self.groups.append(VariantGroup(f"{self.first(host)} and {self.first(guest)}", (one, other)))

    def slots(
        self, order: list[int], are_apart: Callable[[int, int], bool], own: Callable[[list[int], int], Alternative]
    ) -> None:
        """Add a choice for each of these units, large ones first: its own slot, or that of an earlier one. Raises BadInput if there are too many."""
        guests: dict[int, list[int]] = {u: [] for u in order}
        if len(order) * (len(order) - 1) // 2 > MOST_LOOKED_AT:
            raise bad_input(Code.TOO_LARGE, self.place, f"more than {MOST_LOOKED_AT} pairs of buffers: {PLAN_SLOTS}")
        for rank, u in enumerate(order):
            ways = [own(order[:rank], u)]
            name = str(self.first(u))
            for host in order[:rank]:
                tick("reading")
                if are_apart(host, u) or not self.units.share_memories(host, u):
                    continue
                with_host = f"with {self.first(host)}"
                ways.append(Alternative(with_host, constraints=self.at_place_of(host, u)))
                self.requires.append(((name, with_host), (str(self.first(host)), OWN)))
                for guest in guests[host]:
                    if are_apart(guest, u) or not self.units.share_memories(guest, u):
                        self.forbids.append(((str(self.first(guest)), with_host), (name, with_host)))
                guests[host].append(u)
            self.groups.append(VariantGroup(name, tuple(ways)))
            if len(self.requires) > MOST_PLACES:
                text = f"buffers may lie with each other in more than {MOST_PLACES} ways: {PLAN_SLOTS}"
                raise bad_input(Code.TOO_LARGE, self.place, text)
            if len(self.forbids) > MOST_RULES:
                text = f"more than {MOST_RULES} times, two buffers may each lie with a third one, but not both: {PLAN_SLOTS}"
                raise bad_input(Code.TOO_LARGE, self.place, text)


def _in_slots(
    choices: _Choices, given: Constraints, named: Mapping[tuple[int, int], list[Pair]], apart: set[tuple[int, int]]
) -> Constraints:
    """Add choices for memories that consist of slots, each kept for its largest buffer throughout; return the constraints beside them."""
    units = choices.units
    begins = [unit.live[0][0] for unit in units.units if unit.live]
    ends = [unit.live[-1][1] for unit in units.units if unit.live]
    always = ((min(begins), max(ends)),) if begins else ()

    def are_apart(u: int, v: int) -> bool:
        return units.are_apart(u, v) or (min(u, v), max(u, v)) in apart

    def own(earlier: list[int], u: int) -> Alternative:
        return Alternative(OWN, live=(MoreLife(choices.id(u), always),))

    choices.slots(choices.in_order(range(len(units.units))), are_apart, own)
    return replace(given, exclusions=units.without(given.exclusions, units.share_memories))


def _pair_by_pair(
    choices: _Choices, given: Constraints, named: Mapping[tuple[int, int], list[Pair]], apart: set[tuple[int, int]]
) -> Constraints:
    """Add choices for the named pairs; return the constraints beside them."""
    units = choices.units
    apart = apart | {pair for pair in named if units.are_apart(*pair)}
    are_one = {pair for pair in named if pair not in apart and all(units.units[u].fixed is not None for u in pair)}
    conflicts = [each for pair, between in named.items() if pair in apart for each in between]
    slots, single, met = _parts(named, apart | are_one)
    if len(single) > MOST_PAIRS:
        text = f"more than {MOST_PAIRS} pairs of buffers may lie in one place or apart, and each is a choice: decide some (colocations, separations)"
        raise bad_input(Code.TOO_LARGE, choices.place, text)
    for u, v in single:
        choices.pair(u, v, named[u, v])
    for part in met:  # members of one place may overlap, so those needed together must not get there by way of others
        for u, v in combinations(part, 2):
            meeting = None if (u, v) in named else units.meeting(u, v)
            conflicts += [] if meeting is None else [meeting]

    def are_apart(u: int, v: int) -> bool:
        return (min(u, v), max(u, v)) in apart

    def own(earlier: list[int], u: int) -> Alternative:
        each = [pair for v in earlier if not are_apart(u, v) for pair in named[min(u, v), max(u, v)]]
        return Alternative(OWN, constraints=Constraints(conflicts=tuple(each)))

    for part in slots:
        choices.slots(choices.in_order(part), are_apart, own)
    decided = {frozenset(each) for pair, between in named.items() if pair not in are_one for each in between}
    decided |= {frozenset(each) for each in conflicts}
    exclusions = tuple(each for each in given.exclusions if frozenset(each) not in decided)
    return replace(given, conflicts=(*given.conflicts, *conflicts), exclusions=exclusions)


def _parts(
    named: Mapping[tuple[int, int], list[Pair]], decided: set[tuple[int, int]]
) -> tuple[list[list[int]], list[tuple[int, int]], list[list[int]]]:
    """Return the sets of units of which all pairs are named, the other pairs that are a choice each, and the sets of units that these connect."""
    joined = Classes()
    for u, v in named:
        if (u, v) not in decided:
            joined.join(u, v)
    parts: dict[int, list[tuple[int, int]]] = {}
    for u, v in named:
        if joined.of(u) == joined.of(v):
            parts.setdefault(joined.of(u), []).append((u, v))
    slots, single, met = [], [], []
    for pairs in parts.values():
        part = sorted({u for pair in pairs for u in pair})
        buffers = {each for pair in pairs for between in named[pair] for each in between}
        if len(part) > 2 and len(pairs) == len(part) * (len(part) - 1) // 2 and len(buffers) == len(part):
            slots.append(part)
        elif found := [pair for pair in pairs if pair not in decided]:
            single += found
            met.append(part)
    return slots, single, met
