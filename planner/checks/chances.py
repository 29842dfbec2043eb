"""Which alternatives some choice can contain, and which groups leave none: by drawing conclusions from rules, and by search.

Both are limited, in steps that are counted. What stays undecided is left to the solvers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..facts.variants import rules
from ..model.deadline import CHECKING, tick
from ..model.problem import Variants

MOST_STEPS = 200_000
"""The most conclusions drawn from choices; as many again are drawn in the search, and to find out which groups are to blame."""
FIRST_CONFLICTS = 16
"""How often the search may go back for one alternative, once each has been tried without; then four times as often, and so on."""

Position: TypeAlias = tuple[int, int]
"""A group and one of its alternatives."""


@dataclass(frozen=True, slots=True)
class Hopeless:
    """An alternative that no choice can contain, or a group none of whose alternatives any choice can."""

    group: int
    alternative: int | None
    others: tuple[int, ...]
    """The groups that leave it no way."""


class _OutOfSteps(Exception):
    """It stays undecided."""


class Chances:
    """What is left of each group after some choices, and how to take that back."""

    def __init__(self, variants: Variants) -> None:
        self.steps = MOST_STEPS
        self._implied: dict[Position, list[Position]] = {}
        self._needing: dict[Position, list[Position]] = {}
        """Which alternatives require this one."""
        self._needs: dict[int, list[tuple[Position, int]]] = {}
        """By group: which alternatives require which of its."""
        self._barred: dict[Position, list[Position]] = {}
        requires, forbids = rules(variants)
        for first, second in requires:
            self._implied.setdefault(first, []).append(second)
            self._needing.setdefault(second, []).append(first)
            self._needs.setdefault(second[0], []).append((first, second[1]))
        for first, second in forbids:
            self._barred.setdefault(first, []).append(second)
            self._barred.setdefault(second, []).append(first)
        self._tied = _tied([(first[0], second[0]) for first, second in (*requires, *forbids)])
        self._counts = {group: len(variants.groups[group].alternatives) for group in self._tied}
        self._unseen = {group: (1 << count) - 1 for group, count in self._counts.items()}
        """The alternatives that no choice found so far contains."""
        self._blamed = dict.fromkeys(self._tied, 0)
        """How often a group was left without alternatives."""
        self._left: dict[int, int] = {}
        self._changed: list[tuple[int, int]] = []

    def hopeless(self) -> Iterator[Hopeless]:
        """Return what no choice can contain, as far as that is found. Where groups have no choice at all, one of them is named."""
        lost, without = self._lost()
        self.steps = MOST_STEPS
        for begin in sorted(without):
            first, *others = self._to_blame(self._tied[begin], None)
            yield Hopeless(first, None, tuple(others))
        for group, alternative in lost:
            if self._tied[group][0] not in without:
                _, *others = self._to_blame(self._tied[group], (group, alternative))
                yield Hopeless(group, alternative, tuple(others))

    def _lost(self) -> tuple[list[Position], set[int]]:
        """Return the alternatives that no choice can contain, and the first of all groups that have no choice."""
        lost: list[Position] = []
        without: set[int] = set()
        for group, tied in self._tied.items():
            if group == tied[0] and not self._begin(tied):
                without.add(group)
        undecided = [(group, a) for group in sorted(self._tied) for a in range(self._counts[group])]
        conflicts: int | None = None
        while undecided and self.steps > 0:
            todo, undecided = undecided, []
            for pick in todo:
                tick(CHECKING)
                tied = self._tied[pick[0]]
                if tied[0] in without or not self._unseen[pick[0]] >> pick[1] & 1:
                    continue
                is_possible = self._is_possible(pick, tied, conflicts)
                if is_possible is None:
                    undecided.append(pick)
                elif not is_possible:
                    lost.append(pick)
                    if not self._leave_out(pick):
                        without.add(tied[0])
            if conflicts is None:
                self.steps = MOST_STEPS
            conflicts = 0 if conflicts is None else conflicts * 4 or FIRST_CONFLICTS
        return sorted(lost), without

    def _begin(self, groups: Sequence[int]) -> bool:
        """Nothing is chosen in these groups but what must be. False if that leaves no choice."""
        for group in (
            groups
        ):  # where there is one alternative, another is added that is then left out, so that the consequences are drawn
            self._left[group] = max((1 << self._counts[group]) - 1, 3)
        single = [((group, 0), True) for group in groups if self._counts[group] == 1]
        try:
            return self._conclude(single) is None
        except _OutOfSteps:
            return True
        finally:
            self._changed.clear()

    def _leave_out(self, pick: Position) -> bool:
        """Leave the alternative out from now on. False if that leaves no choice."""
        try:
            return self._conclude([(pick, False)]) is None
        except _OutOfSteps:
            return True
        finally:
            self._changed.clear()

    def _to_blame(self, tied: Sequence[int], pick: Position | None) -> list[int]:
        """Return groups whose rules leave no choice by themselves, few if there are steps; the alternative's own is the first."""
        own = [] if pick is None else [pick[0]]
        blamed = [group for group in tied if group not in own]
        size = len(blamed)
        while size:
            at = 0
            while at < len(blamed):
                fewer = [*own, *blamed[:at], *blamed[at + size :]]
                self._left.clear()
                if not self._begin(fewer) or self._is_possible(pick, fewer, 16 * FIRST_CONFLICTS) is False:
                    blamed[at : at + size] = []
                else:
                    at += size
            size = min(size, len(blamed)) // 2
        return own + blamed

    def _is_possible(self, pick: Position | None, groups: Sequence[int], conflicts: int | None) -> bool | None:
        """True if some choice of these groups contains the alternative; None if that is not known after so many conflicts."""
        try:
            if pick is not None and self._conclude([(pick, True)]) is not None:
                return False
            return None if conflicts is None else self._search(groups, conflicts)
        except _OutOfSteps:
            return None
        finally:
            self._take_back(0)

    def _search(self, groups: Sequence[int], most: int) -> bool:
        self._spend(len(groups) >> 3)
        order = sorted(groups, key=lambda group: -self._blamed[group])
        taken: list[tuple[int, int, Position]] = []
        position = conflicts = 0
        while True:
            while position < len(order) and _is_single(self._left[order[position]]):
                position += 1
            if position == len(order):
                for group in order:
                    self._unseen[group] &= ~self._left[group]
                return True
            left = self._left[order[position]]
            pick = (order[position], _lowest(left & self._unseen[order[position]] or left))
            taken.append((len(self._changed), position, pick))
            emptied = self._conclude([(pick, True)])
            while emptied is not None:
                self._blamed[emptied] += 1
                if not taken:
                    return False
                conflicts += 1
                if conflicts > most:
                    raise _OutOfSteps
                begin, position, pick = taken.pop()
                self._take_back(begin)
                emptied = self._conclude([(pick, False)])

    def _take_back(self, begin: int) -> None:
        while len(self._changed) > begin:
            group, before = self._changed.pop()
            self._left[group] = before

    def _spend(self, steps: int) -> None:
        if self.steps <= 0:
            raise _OutOfSteps
        tick(CHECKING)
        self.steps -= steps

    def _conclude(self, todo: list[tuple[Position, bool]]) -> int | None:
        """Take alternatives or leave them out, with all that follows. Return the first group that has none left, if there is one."""
        while todo:
            pick, is_taken = todo.pop()
            group, alternative = pick
            before = self._left.get(group)
            if before is None:  # a group that is left aside
                continue
            after = before & 1 << alternative if is_taken else before & ~(1 << alternative)
            if not after:
                return group
            self._spend(1 + (self._counts[group] >> 10))
            if after == before:
                continue
            self._changed.append((group, before))
            self._left[group] = after
            if not is_taken:
                todo += [(each, False) for each in self._needing.get(pick, ())]
            if _is_single(after):
                last = (group, _lowest(after))
                needs = self._needs.get(group, ())
                self._spend(len(needs))
                todo += [(who, False) for who, what in needs if what != last[1]]
                todo += [(each, False) for each in self._barred.get(last, ())]
                todo += [(each, True) for each in self._implied.get(last, ())]
        return None


def _is_single(left: int) -> bool:
    return not left & (left - 1)


def _lowest(left: int) -> int:
    return (left & -left).bit_length() - 1


def _tied(pairs: Sequence[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """Return for each group that rules name, in order, all groups that they tie to it."""
    beside: dict[int, list[int]] = {}
    for first, second in pairs:
        beside.setdefault(first, []).append(second)
        beside.setdefault(second, []).append(first)
    found: dict[int, tuple[int, ...]] = {}
    for group in sorted(beside):
        if group in found:
            continue
        seen, todo = {group}, [group]
        while todo:
            new = [other for other in beside[todo.pop()] if other not in seen]
            seen.update(new)
            todo += dict.fromkeys(new)
        tied = tuple(sorted(seen))
        found.update(dict.fromkeys(tied, tied))
    return found
