"""Choices without a search: for when time ran out before any question about choices was answered, and to hold claims against."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from solvers.model.instance import Ints

from ..model.columns.choices import GroupColumns, first_of_each
from ..model.deadline import PREPARING, look, tick
from ..model.problem import MAX_ADDRESS, Alternative, Problem, Variants
from .variants import rules, weighted_cost

Choice: TypeAlias = tuple[int, ...]
"""The position of the chosen alternative in each group."""
Pick: TypeAlias = tuple[int, int]
"""A group and one of its alternatives."""


def plain_choices(problem: Problem) -> list[Choice]:
    """Return the choices of the smallest and of the cheapest alternatives that the rules allow, without those that reach a dead end."""
    variants = problem.variants
    assert variants is not None
    if isinstance(variants.groups, GroupColumns) and not variants.requires and not variants.forbids:
        quick = _without_rules(variants, variants.groups)
        if quick is not None:
            return quick
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}

    def size(alternative: Alternative) -> int:
        """Return the bytes of its buffers, each times the length of its lifetimes."""
        needed = [(buffer.size, buffer.live or ((0, 1),)) for buffer in alternative.buffers]
        needed += [(sizes[more.buffer], more.live) for more in alternative.live]
        return sum(size * (end - start) for size, times in needed for start, end in times)

    def cost(alternative: Alternative) -> int:
        return weighted_cost(variants, alternative.costs)

    def worths(worth: Callable[[Alternative], tuple[int, int]]) -> list[list[tuple[int, int]]]:
        return [[worth(each) for each in group.alternatives] for group in variants.groups]

    smallest = _Left(variants).choice(worths(lambda each: (size(each), cost(each))))
    cheapest = _Left(variants).choice(worths(lambda each: (cost(each), size(each))))
    return [choice for choice in dict.fromkeys((smallest, cheapest)) if choice is not None]


def _without_rules(variants: Variants, groups: GroupColumns) -> list[Choice] | None:
    """Return the same choices where nothing relates groups to each other; None if the numbers are too large for arrays."""
    own = groups.buffers
    lasting = np.where(own.end > own.start, own.end - own.start, 1)
    if int(own.size.max(initial=0)) * int(lasting.max(initial=0)) * max(len(own), 1) >= MAX_ADDRESS:
        return None
    sums = np.concatenate([[0], np.cumsum(own.size * lasting)])
    size = sums[groups.own[1:]] - sums[groups.own[:-1]]
    cost = _costs(variants, groups)
    if cost is None:
        return None
    look(PREPARING)
    found = [first_of_each(groups.begin, *keys) for keys in ((size, cost), (cost, size))]
    return [*dict.fromkeys(tuple(choice.tolist()) for choice in found)]


def _costs(variants: Variants, groups: GroupColumns) -> Ints | None:
    """Return the cost of each alternative; None if sums of them may be too large for arrays."""
    weights = [term.weight for term in variants.costs]
    if sum(weights) * int(np.abs(groups.costs).max(initial=0)) * max(len(groups), 1) >= MAX_ADDRESS:
        return None
    found: Ints = groups.costs @ np.array(weights, dtype=np.int64)
    return found


class _Left:
    """The alternatives that the rules leave as groups are decided one by one. Decisions are never undone."""

    def __init__(self, variants: Variants) -> None:
        self._left = [set(range(len(group.alternatives))) for group in variants.groups]
        requires, forbids = rules(variants)
        self._needs: dict[Pick, list[Pick]] = {}
        self._needed_by: dict[Pick, list[Pick]] = {}
        self._excludes: dict[Pick, list[Pick]] = {}
        for one, other in requires:
            self._needs.setdefault(one, []).append(other)
            self._needed_by.setdefault(other, []).append(one)
        for one, other in forbids:
            self._excludes.setdefault(one, []).append(other)
            self._excludes.setdefault(other, []).append(one)

    def choice(self, worth: list[list[tuple[int, int]]]) -> Choice | None:
        """Return the least alternative left in each group in turn; None at a dead end."""
        # A group of one has nothing to decide, but others may not go with it.
        todo = [(g, next(iter(left))) for g, left in enumerate(self._left) if len(left) == 1]
        if not self._decide(todo):
            return None
        for g, of in enumerate(worth):
            best = min(sorted(self._left[g]), key=of.__getitem__)
            if len(self._left[g]) > 1 and not self._decide([(g, best)]):
                return None
        return tuple(next(iter(left)) for left in self._left)

    def _decide(self, chosen: list[Pick]) -> bool:
        """Decide these and what follows from them; False if some group is left without alternatives."""
        while chosen:
            tick(PREPARING)
            g, a = chosen.pop()
            gone = [(g, b) for b in self._left[g] if b != a]
            gone += [(h, c) for h, b in self._needs.get((g, a), ()) for c in self._left[h] if c != b]
            gone += self._excludes.get((g, a), ())
            while gone:
                h, b = gone.pop()
                if b not in self._left[h]:
                    continue
                self._left[h].remove(b)
                if not self._left[h]:
                    return False
                gone += self._needed_by.get((h, b), ())
                if len(self._left[h]) == 1 and h != g:
                    chosen.append((h, next(iter(self._left[h]))))
        return True


def least_cost(problem: Problem) -> int:
    """Return a lower bound of every choice's cost."""
    variants = problem.variants
    assert variants is not None
    groups = variants.groups
    costs = _costs(variants, groups) if isinstance(groups, GroupColumns) else None
    if costs is not None and isinstance(groups, GroupColumns):
        return int(np.minimum.reduceat(costs, groups.begin[:-1]).sum())
    return sum(min(weighted_cost(variants, each.costs) for each in group.alternatives) for group in variants.groups)
