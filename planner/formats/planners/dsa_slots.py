"""Buffers of dsa-solver's files that lie in one place or apart, and never over each other in part, as alternatives of a Problem.

`whole_slot_reuse` asks it of all buffers of a memory: what uses an address again begins where the other one did. `no_partial_overlaps` asks it of pairs,
and that both be of one size. Those that are needed together are apart anyway.
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
from ...model.problem import Alternative, Buffer, Colocation, Constraints, Problem, VariantGroup, Variants

MOST = 8
"""Pairs of which each is one choice."""
ONE, APART = "one place", "apart"


def with_slots(problem: Problem, pairs: Iterable[tuple[int, int]], *, whole: bool, place: Place) -> Problem:
    """The problem in which these pairs of buffers (by position; with `whole` all others too) lie in one place or apart. Raises BadInput where they are too many."""
    buffers = problem.buffers
    given = problem.constraints
    number = {buffer.id: i for i, buffer in enumerate(buffers)}
    equal = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    asked = combinations(range(len(buffers)), 2) if whole else sorted(equal)
    apart = {frozenset((number[a], number[b])) for a, b in given.conflicts}
    never = {frozenset((number[a], number[b])) for a, b in given.exclusions}
    tied = Classes()
    for each in given.colocations:
        tied.join(number[each.buffer], number[each.base])
    groups: list[VariantGroup] = []
    conflicts = [*given.conflicts]
    for i, j in asked:
        tick("reading")
        first, second = buffers[i], buffers[j]
        pair = frozenset((i, j))
        if tied.of(i) == tied.of(j) or pair in apart or not _may_meet(first, second):
            continue
        together = overlap(first.live or (), second.live or ()) and pair not in never
        pinned = first.fixed is not None and second.fixed is not None
        if pinned and first.fixed == second.fixed:
            continue
        if together or pinned or ((i, j) in equal and first.size != second.size):
            conflicts.append((first.id, second.id))
            continue
        one = Constraints(colocations=(Colocation(second.id, first.id, 0),))
        other = Constraints(conflicts=((first.id, second.id),))
        groups.append(VariantGroup(f"{i} and {j}", (Alternative(ONE, (), (), one), Alternative(APART, (), (), other))))
        if len(groups) > MOST:
            text = f"more than {MOST} pairs of buffers may lie in one place or apart, and each is a choice"
            raise bad_input(Code.TOO_LARGE, place, text)
    made = replace(problem, constraints=replace(given, conflicts=tuple(conflicts)))
    return replace(made, terms=problem.terms[:1], variants=Variants(tuple(groups))) if groups else made


def _may_meet(first: Buffer, second: Buffer) -> bool:
    """Is there a memory that both may be in, and have they bytes?"""
    pools, others = ({*each.pools} if each.pools else None for each in (first, second))
    return bool(first.size and second.size) and (pools is None or others is None or not pools.isdisjoint(others))
