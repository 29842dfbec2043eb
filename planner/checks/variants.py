"""Checks of variants: names, costs, rules under which each alternative can be chosen, and that each alternative is sound with what it touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from solvers.model.instance import Term

from ..facts.variants import positions
from ..model.columns.buffers import ids
from ..model.columns.choices import GroupColumns, are_different_within, together
from ..model.deadline import CHECKING, in_time, look, tick
from ..model.errors import Code
from ..model.problem import (
    MAX_ADDRESS,
    MAX_TEXT,
    MAX_TIME,
    NO_CONSTRAINTS,
    Alternative,
    Buffer,
    BufferId,
    Problem,
    Variants,
)
from .chances import Chances
from .part import Examine, Parts
from .report import Place, Report, quoted
from .values import check_name, check_ranges

MEASURES = ((Term.SUM_OF_PEAKS,), (Term.LARGEST_PEAK,))
"""What a problem with variants may minimise besides the costs of the alternatives."""
MAX_COST_TERMS = 64
"""The most cost terms; each alternative has a cost for each."""
MOST_NAMES = 3
"""The most names of groups in one finding, if there are many."""


def check_variants(problem: Problem, report: Report, examine: Examine) -> None:
    """Report faults of the variants of a problem that is otherwise sound."""
    variants = problem.variants
    assert variants is not None
    if problem.terms not in MEASURES:
        text = "with variants it must be sum_of_peaks or largest_peak alone; the cost of alternatives is separate"
        report.add(Code.NOT_SUPPORTED_YET, ("objective", "terms"), text)
    groups = variants.groups
    is_plain = isinstance(groups, GroupColumns) and _are_plain(problem, groups, variants)
    _check_cost_names(variants, report)
    if not is_plain:
        _check_costs(variants, report)
        _check_groups(variants, report)
    if report:
        return
    _check_rules(variants, report)
    if not is_plain:
        _check_ids(problem, variants, report)
    if report:
        return
    if not _are_sound_together(problem, variants, examine):
        parts = Parts(problem, examine)
        for place, alternative in _places(variants):
            before = report.found
            _check_lives(parts, alternative, place, report)
            if report.found == before:
                parts.check(alternative, place, report)
    if not report:
        _check_chances(variants, report)


def _are_sound_together(problem: Problem, variants: Variants, examine: Examine) -> bool:
    """True if alternatives only add buffers, and the problem with all of them is sound: then it is sound with each."""
    own: list[Buffer] = []
    if isinstance(variants.groups, GroupColumns):
        every = together(problem.buffers, variants.groups.buffers)
        return not examine(replace(problem, variants=None, buffers=every))
    for _, alternative in _places(variants):
        if alternative.live or alternative.constraints != NO_CONSTRAINTS:
            return False
        own += alternative.buffers
    look(CHECKING)
    return not examine(replace(problem, variants=None, buffers=(*problem.buffers, *own)))


def _places(variants: Variants) -> Iterable[tuple[Place, Alternative]]:
    for g, group in enumerate(variants.groups):
        for a, alternative in enumerate(group.alternatives):
            tick(CHECKING)
            yield ("variants", "groups", g, "alternatives", a), alternative


def check_cost_terms(count: int, report: Report) -> None:
    """Check that there are not too many cost terms."""
    if count > MAX_COST_TERMS:
        text = f"must have at most {MAX_COST_TERMS} cost terms, not {count}"
        report.add(Code.TOO_LARGE, ("variants", "costs"), text)


def _are_plain(problem: Problem, groups: GroupColumns, variants: Variants) -> bool:
    """True in the usual case, found quickly: costs are small, all names are sound and new, and all buffers have different ids."""
    look(CHECKING)
    dearest = sum(max(term.weight, 1) for term in variants.costs) * int(np.abs(groups.costs).max(initial=0))
    names = (groups.names, groups.alternatives)
    if dearest * len(groups) >= MAX_ADDRESS or len(set(groups.names)) < len(groups):
        return False
    if not all(0 < min(map(len, each)) <= max(map(len, each)) <= MAX_TEXT for each in names):
        return False
    look(CHECKING)
    every = [*ids(problem.buffers), *groups.buffers.ids]
    return are_different_within(groups) and len({*every}) == len(every)


def _check_cost_names(variants: Variants, report: Report) -> None:
    check_cost_terms(len(variants.costs), report)
    seen: set[str] = set()
    for k, term in enumerate(variants.costs):
        place: Place = ("variants", "costs", k)
        _check_new_name(report, (*place, "name"), term.name, "a cost term", seen, "there are two cost terms")
        if type(term.weight) is not int or not 0 <= term.weight <= MAX_ADDRESS:
            report.add(Code.OUT_OF_RANGE, (*place, "weight"), "must be an integer from 0 to 2^62")


def _check_costs(variants: Variants, report: Report) -> None:
    for place, alternative in _places(variants):
        if len(alternative.costs) != len(variants.costs):
            text = f"has {len(alternative.costs)} costs, and there are {len(variants.costs)} cost terms"
            report.add(Code.INVALID_VALUE, (*place, "costs"), text)
        elif any(type(cost) is not int for cost in alternative.costs):
            report.add(Code.WRONG_TYPE, (*place, "costs"), "costs are integers")
    if report:
        return
    most = 0
    for group in variants.groups:
        of_each = [
            sum(max(term.weight, 1) * abs(cost) for term, cost in zip(variants.costs, each.costs, strict=True))
            for each in group.alternatives
        ]
        most += max(of_each, default=0)
    if most >= MAX_ADDRESS:
        text = "costs times weights add up to 2^62 or more; scale them down"
        report.add(Code.TOO_LARGE, ("variants", "costs"), text)


def _check_groups(variants: Variants, report: Report) -> None:
    if not variants.groups:
        report.add(Code.INVALID_VALUE, ("variants", "groups"), "must have at least one group")
    groups: set[str] = set()
    for g, group in enumerate(variants.groups):
        place: Place = ("variants", "groups", g)
        _check_new_name(report, (*place, "name"), group.name, "a group", groups, "there are two groups")
        if not group.alternatives:
            report.add(Code.INVALID_VALUE, (*place, "alternatives"), "must have at least one alternative")
        names: set[str] = set()
        for a, alternative in enumerate(group.alternatives):
            tick(CHECKING)
            there = (*place, "alternatives", a, "name")
            _check_new_name(report, there, alternative.name, "an alternative", names, "the group has two alternatives")


def _check_new_name(report: Report, place: Place, name: str, what: str, seen: set[str], twice: str) -> None:
    """Check that the name is new, and record it."""
    check_name(report, place, name, what)
    if name in seen:
        report.add(Code.DUPLICATE_ID, place, f"{twice} {quoted(name)}")
    seen.add(name)


def _check_rules(variants: Variants, report: Report) -> None:
    known = positions(variants)
    for kind, pairs in (("requires", variants.requires), ("forbids", variants.forbids)):
        for k, pair in enumerate(in_time(pairs, CHECKING)):
            for side, pick in enumerate(pair):
                if pick not in known:
                    text = f"there is no alternative {quoted(pick[1])} of a group {quoted(pick[0])}"
                    report.add(Code.UNKNOWN_ALTERNATIVE, ("variants", kind, k, side), text)


def _check_ids(problem: Problem, variants: Variants, report: Report) -> None:
    """Check that buffers that may exist together have different ids."""
    owner: dict[BufferId, int | None] = {buffer.id: None for buffer in problem.buffers}
    for g, group in enumerate(variants.groups):
        for a, alternative in enumerate(group.alternatives):
            place: Place = ("variants", "groups", g, "alternatives", a, "buffers")
            tick(CHECKING)
            for i, buffer in enumerate(alternative.buffers):
                if isinstance(buffer.id, (int, str)) and owner.setdefault(buffer.id, g) != g:
                    whose = owner[buffer.id]
                    other = (
                        "one of the problem" if whose is None else f"one of group {quoted(variants.groups[whose].name)}"
                    )
                    text = (
                        f"has the same id {quoted(buffer.id)} as {other}; only alternatives of one group may share ids"
                    )
                    report.add(Code.DUPLICATE_ID, (*place, i, "id"), text)


def _check_lives(parts: Parts, alternative: Alternative, place: Place, report: Report) -> None:
    for k, more in enumerate(alternative.live):
        if more.buffer not in parts.index:
            text = f"there is no buffer {quoted(more.buffer)} of the problem itself"
            report.add(Code.UNKNOWN_BUFFER, (*place, "live", k, "buffer"), text)
        check_ranges(report, (*place, "live", k, "live"), more.live, -MAX_TIME, MAX_TIME)


def _check_chances(variants: Variants, report: Report) -> None:
    """Report what can never be chosen: alternatives with which the rules leave some group without any, and groups without a choice.

    The search is limited: cases it misses are proven by the solvers, or never chosen.
    """
    if not variants.requires and not variants.forbids:
        return
    for found in Chances(variants).hopeless():
        group = variants.groups[found.group]
        others = _listed([quoted(variants.groups[other].name) for other in found.others])
        place: Place = ("variants", "groups", found.group)
        if found.alternative is None:
            beside = f" that goes with one of {others}" if others else ""
            text = f"nothing can be chosen in group {quoted(group.name)}: the rules leave no alternative{beside}"
        else:
            place = (*place, "alternatives", found.alternative)
            left = (
                f"no {'choice' if len(found.others) > 1 else 'alternative'} of {others}"
                if others
                else "not even itself"
            )
            text = f"nothing can choose {quoted(group.alternatives[found.alternative].name)}: with it the rules leave {left}"
        report.add(Code.CONTRADICTION, place, text)
        if report.is_full:
            return


def _listed(names: list[str]) -> str:
    """Return the names of groups for a message: "group 'a'", "groups 'a', 'b' and 'c'", "groups 'a', 'b', 'c' and 7 more"."""
    if len(names) < 2:
        return "".join(f"group {name}" for name in names)
    shown = names if len(names) <= MOST_NAMES + 1 else [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more"]
    return f"groups {', '.join(shown[:-1])} and {shown[-1]}"
