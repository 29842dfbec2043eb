"""A problem with a smaller memory, without the alternatives that this leaves no place."""

from __future__ import annotations

import re
from dataclasses import replace

from ...checks import check
from ...model.problem import Pick, Problem, Variants

ALTERNATIVE = re.compile(r"/variants/groups/(\d+)/alternatives/(\d+)(?:/|$)", re.ASCII)


def with_what_fits(problem: Problem) -> Problem | None:
    """Return the problem without the alternatives that contradict it: these sizes leave them no place. None if nothing can be chosen then.

    The problem must be sound with larger sizes.
    """
    while faults := check(problem):
        places = [ALTERNATIVE.match(fault.pointer) for fault in faults]
        if problem.variants is None or None in places:
            return None
        groups = problem.variants.groups
        named = [(groups[int(at[1])], int(at[2])) for at in places if at is not None]
        gone = {(group.name, group.alternatives[number].name) for group, number in named}
        problem = replace(problem, variants=_without(problem.variants, gone))
    return problem


def _without(variants: Variants, gone: set[Pick]) -> Variants:
    """Return the variants without these alternatives, and without those that require one of them."""
    while more := {first for first, second in variants.requires if second in gone} - gone:
        gone = gone | more
    groups = tuple(
        replace(group, alternatives=tuple(each for each in group.alternatives if (group.name, each.name) not in gone))
        for group in variants.groups
    )
    requires, forbids = (
        tuple(pair for pair in pairs if gone.isdisjoint(pair)) for pairs in (variants.requires, variants.forbids)
    )
    return replace(variants, groups=groups, requires=requires, forbids=forbids)
