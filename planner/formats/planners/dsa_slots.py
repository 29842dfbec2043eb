"""Buffers in dsa-solver's files that either lie at one place or apart, and never overlap in part, as alternatives of a Problem.

`whole_slot_reuse` requires this of all buffers of a memory: a reused address must be the beginning of both. So memory consists of slots, each of
which is kept for its largest buffer throughout; every other buffer has a slot of its own or lies with a larger one. `no_partial_overlaps`
requires it of pairs, and that both have one size: a choice for each pair. Those that are needed together are apart anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

from ...checks.pool_choice import Classes
from ...checks.report import Place, bad_input
from ...facts.intervals import overlap
from ...model.deadline import tick
from ...model.errors import Code
from ...model.problem import (
    Alternative,
    Buffer,
    BufferId,
    Colocation,
    Constraints,
    MoreLife,
    Pick,
    Problem,
    VariantGroup,
    Variants,
)

MOST = 64
"""The most pairs, each of which is one choice."""
MOST_PLACES, MOST_RULES = 4096, 65536
"""The most ways in which a buffer may lie with another, and pairs of them that go not together."""
ONE, APART, OWN = "one place", "apart", "its own"


def with_slots(problem: Problem, pairs: Iterable[tuple[int, int]], *, whole: bool, place: Place) -> Problem:
    """Return the problem in which these pairs of buffers lie at one place or apart. Raises BadInput if they are too many.

    Pairs are positions; with `whole` all other pairs are included.
    """
    if whole and not problem.constraints.colocations and all(buffer.live is not None for buffer in problem.buffers):
        return _in_slots(problem, pairs, place)
    buffers = problem.buffers
    given = problem.constraints
    number, apart, never = _related(problem)
    equal = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    tied = Classes()
    for each in given.colocations:
        tied.join(number[each.buffer], number[each.base])
    named = {tied.of(i) for pair in equal for i in pair}
    looked_at = [i for i in range(len(buffers)) if whole or tied.of(i) in named]
    parted: set[frozenset[int]] = set()
    """Classes of tied buffers with some kept apart."""
    for i, j in combinations(looked_at if given.colocations else (), 2):
        tick("reading")
        pair = frozenset((i, j))
        meet = overlap(buffers[i].live or (), buffers[j].live or ()) and pair not in never
        if (pair in apart or meet) and _may_meet(buffers[i], buffers[j]):
            parted.add(frozenset((tied.of(i), tied.of(j))))
    groups: list[VariantGroup] = []
    chosen: set[frozenset[int]] = set()
    conflicts = [*given.conflicts]
    for i, j in combinations(looked_at, 2):
        tick("reading")
        first, second = buffers[i], buffers[j]
        pair = frozenset((i, j))
        if tied.of(i) == tied.of(j) or pair in apart or not _may_meet(first, second):
            continue
        together = overlap(first.live or (), second.live or ()) and pair not in never
        if not whole and (i, j) not in equal:
            if together:  # nor may each share its place with a third one
                conflicts.append((first.id, second.id))
            continue
        pinned = first.fixed is not None and second.fixed is not None
        if pinned and first.fixed == second.fixed:
            continue
        is_parted = frozenset((tied.of(i), tied.of(j))) in parted
        if together or pinned or is_parted or ((i, j) in equal and first.size != second.size):
            conflicts.append((first.id, second.id))
            continue
        one = Constraints(colocations=(Colocation(second.id, first.id, 0),))
        other = Constraints(conflicts=((first.id, second.id),))
        chosen.add(pair)
        groups.append(VariantGroup(f"{i} and {j}", (Alternative(ONE, (), (), one), Alternative(APART, (), (), other))))
        if len(groups) > MOST:
            text = f"more than {MOST} pairs of buffers may lie in one place or apart, and each is a choice: decide some (colocations, separations)"
            raise bad_input(Code.TOO_LARGE, place, text)
    # each refers only to earlier ones, so that choices form no cycle
    ordered = [sorted((each.buffer, each.base), key=number.__getitem__) for each in given.colocations]
    colocations = tuple(Colocation(later, earlier, 0) for earlier, later in ordered)
    # an exclusion lets a pair share addresses anywhere; these are apart, or share from a common beginning
    decided = {frozenset((number[a], number[b])) for a, b in conflicts} | chosen
    exclusions = tuple((a, b) for a, b in given.exclusions if frozenset((number[a], number[b])) not in decided)
    constraints = replace(given, conflicts=tuple(conflicts), exclusions=exclusions, colocations=colocations)
    made = replace(problem, constraints=constraints)
    return replace(made, terms=problem.terms[:1], variants=Variants(tuple(groups))) if groups else made


def _in_slots(problem: Problem, pairs: Iterable[tuple[int, int]], place: Place) -> Problem:
    """Return the problem in which memory consists of slots. Raises BadInput if too many buffers may lie with others."""
    buffers, given = problem.buffers, problem.constraints
    number, apart, never = _related(problem)
    equal = {frozenset(pair) for pair in pairs}

    def are_apart(i: int, j: int) -> bool:
        first, second, pair = buffers[i], buffers[j], frozenset((i, j))
        if pair in apart or (pair not in never and overlap(first.live or (), second.live or ())):
            return True
        is_pinned = first.fixed is not None and second.fixed is not None
        return (is_pinned and first.fixed != second.fixed) or (pair in equal and first.size != second.size)

    times = [time for buffer in buffers for span in buffer.live or () for time in span]
    always = ((min(times), max(times)),) if times else ()
    order = sorted((i for i, buffer in enumerate(buffers) if buffer.size), key=lambda i: (-buffers[i].size, i))
    guests: dict[int, list[int]] = {i: [] for i in order}
    groups: list[VariantGroup] = []
    requires: list[tuple[Pick, Pick]] = []
    forbids: list[tuple[Pick, Pick]] = []
    for rank, k in enumerate(order):
        own = buffers[k]
        ways = [Alternative(OWN, live=(MoreLife(own.id, always),))]
        for j in order[:rank]:
            tick("reading")
            if are_apart(j, k) or not _may_meet(buffers[j], own):
                continue
            with_j = f"with {j}"
            ways.append(
                Alternative(with_j, constraints=Constraints(colocations=(Colocation(own.id, buffers[j].id, 0),)))
            )
            requires.append(((str(k), with_j), (str(j), OWN)))
            forbids += [((str(m), with_j), (str(k), with_j)) for m in guests[j] if are_apart(m, k)]
            guests[j].append(k)
        groups.append(VariantGroup(str(k), tuple(ways)))
        if len(requires) > MOST_PLACES or len(forbids) > MOST_RULES:
            text = (
                f"buffers may lie with each other in more than {MOST_PLACES} ways, or in ways of which more than {MOST_RULES} pairs go not together: "
                "leave the rule out, and plan the slots with `memplan share`"
            )
            raise bad_input(Code.TOO_LARGE, place, text)
    # an exclusion lets a pair share addresses anywhere; these share from a common beginning
    kept = tuple((a, b) for a, b in given.exclusions if not _may_meet(buffers[number[a]], buffers[number[b]]))
    variants = Variants(tuple(groups), (), tuple(requires), tuple(forbids))
    constraints = replace(given, exclusions=kept)
    return replace(problem, constraints=constraints, terms=problem.terms[:1], variants=variants)


def _related(problem: Problem) -> tuple[dict[BufferId, int], set[frozenset[int]], set[frozenset[int]]]:
    """Return the buffers' positions, and which pairs must be apart or are never live together."""
    number = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    apart = {frozenset((number[a], number[b])) for a, b in problem.constraints.conflicts}
    never = {frozenset((number[a], number[b])) for a, b in problem.constraints.exclusions}
    return number, apart, never


def _may_meet(first: Buffer, second: Buffer) -> bool:
    """True if both have bytes, and some memory may hold both."""
    pools, others = ({*each.pools} if each.pools else None for each in (first, second))
    return bool(first.size and second.size) and (pools is None or others is None or not pools.isdisjoint(others))
