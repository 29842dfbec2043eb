"""Checks of variants: names, costs, rules under which each alternative can be chosen, and that each alternative is sound with what it touches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from solvers.model.instance import Term

from ..facts.variants import positions, rules
from ..model.choice_columns import GroupColumns, are_different_within, together
from ..model.columns import ids
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
from .part import Examine, Parts
from .report import Place, Report, quoted
from .values import check_name, check_ranges

MEASURES = ((Term.SUM_OF_PEAKS,), (Term.LARGEST_PEAK,))
"""What a problem with variants may minimise besides the costs of the alternatives."""
MAX_COST_TERMS = 64
"""The most cost terms; each alternative has a cost for each."""
MOST_STEPS = 200_000
"""The most conclusions drawn from choices."""

Position: TypeAlias = tuple[int, int]
"""A group and one of its alternatives."""


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
    """Report alternatives that can never be chosen: with them, the rules leave some group without any.

    The search is limited: cases it misses are proven by the solvers, or never chosen.
    """
    if not variants.requires and not variants.forbids:
        return
    chances = _Chances(variants)
    for g, group in enumerate(in_time(variants.groups, CHECKING, "group")):
        for a, alternative in enumerate(group.alternatives):
            emptied = chances.emptied((g, a))
            if emptied is not None:
                text = (
                    f"nothing can choose {quoted(alternative.name)}: with it the rules leave no alternative of group "
                    f"{quoted(variants.groups[emptied].name)}"
                )
                report.add(Code.CONTRADICTION, ("variants", "groups", g, "alternatives", a), text)


class _Chances:
    """The conclusions that the rules allow from a choice."""

    def __init__(self, variants: Variants) -> None:
        self._counts = [len(group.alternatives) for group in variants.groups]
        self._implied: dict[Position, list[Position]] = {}
        self._needed: dict[int, list[tuple[Position, int]]] = {}
        """By group: which positions require which of its alternatives."""
        self._barred: dict[Position, list[Position]] = {}
        self._effort = MOST_STEPS
        requires, forbids = rules(variants)
        for first, second in requires:
            self._implied.setdefault(first, []).append(second)
            self._needed.setdefault(second[0], []).append((first, second[1]))
        for first, second in forbids:
            self._barred.setdefault(first, []).append(second)
            self._barred.setdefault(second, []).append(first)

    def emptied(self, supposed: Position) -> int | None:
        """Return the first group left without alternatives, by the rules and by groups with one alternative left."""
        left: dict[int, set[int]] = {}
        todo, taken = [supposed], {supposed}
        while todo and self._effort > 0:
            group, alternative = pick = todo.pop()
            if group in left and alternative not in left[group]:
                return group
            left[group] = {alternative}
            out: list[Position] = [
                *self._barred.get(pick, ()),
                *(who for who, what in self._needed.get(group, ()) if what != alternative),
            ]
            self._effort -= 1 + len(out) + len(self._needed.get(group, ())) + len(self._implied.get(pick, ()))
            for other, gone in out:
                if other not in left:
                    self._effort -= self._counts[other]
                    left[other] = set(range(self._counts[other]))
                left[other].discard(gone)
                if not left[other]:
                    return other
                if len(left[other]) == 1 and (last := (other, min(left[other]))) not in taken:
                    taken.add(last)
                    todo.append(last)
            for other_pick in self._implied.get(pick, ()):
                if other_pick not in taken:
                    taken.add(other_pick)
                    todo.append(other_pick)
        return None
