"""Storage objects shared by blocks that are each needed for one stretch of time: how many objects of each size, and which size each block uses.

Which object of that size need not be decided: for stretches of time, as many objects as are needed at once are always enough (interval graphs are
perfect). So the model only requires that no size has more users at a time than objects. Objects of one size are not distinguished, so they cause no
symmetry. Blocks are numbered by size, the largest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from .engine import ReadValue, new_model

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

Stretch: TypeAlias = tuple[int, int]
"""The first section in which a block is needed, and the number of sections."""


@dataclass(frozen=True, slots=True)
class SizesModel:
    """The model, and the variables for the size that each block uses."""

    cp: CpModel
    uses: list[dict[int, Any]]
    """By block: size -> literal."""
    spans: Sequence[Stretch]

    def objects(self, value: ReadValue) -> list[list[int]]:
        """The users of each object in a solution: blocks of one size take, in order of time, any object that is free."""
        users: dict[int, list[int]] = {}
        for number, sizes in enumerate(self.uses):
            chosen = next(size for size, literal in sizes.items() if value(literal))
            users.setdefault(chosen, []).append(number)
        found: list[list[int]] = []
        for numbers in users.values():
            free_from: list[tuple[int, list[int]]] = []
            for number in sorted(numbers, key=lambda n: self.spans[n]):
                start, length = self.spans[number]
                at = next((i for i, (end, _) in enumerate(free_from) if end <= start), None)
                members = [] if at is None else free_from.pop(at)[1]
                members.append(number)
                free_from.append((start + length, members))
            found += [members for _, members in free_from]
        return found


def sizes_terms(size: Sequence[int], cliques: Sequence[Sequence[int]]) -> int:
    """The size of the model."""
    rank = {level: number + 1 for number, level in enumerate(sorted(set(size), reverse=True))}
    return sum(rank[each] for each in size) + sum(rank[size[member]] for clique in cliques for member in clique)


def sizes_model(
    size: Sequence[int],
    cliques: Sequence[Sequence[int]],
    least: Sequence[int],
    below: int,
    spans: Sequence[Stretch],
    *,
    narrow: bool = False,
) -> SizesModel:
    """Builds a model that minimises the sum of the objects' sizes and requires it to be smaller than `below`.

    `cliques`: the blocks needed at one time; every block is in at least one. `least[k]`: proven least size of the k-th largest object. There is no
    hint: measured, it does harm. `narrow` leaves out arrangements with many more objects of a size than proven: solutions are valid, but answers
    prove nothing.
    """
    cp = new_model()
    levels = sorted(set(size), reverse=True)
    slack = below - 1 - sum(least)
    uses: list[dict[int, Any]] = []
    for number, own in enumerate(size):
        literals = {level: cp.new_bool_var(f"use{number}_{level}") for level in levels if level >= own}
        cp.add_exactly_one(literals.values())
        uses.append(literals)
    counts: list[Any] = []
    for level in levels:
        proven = sum(1 for each in least if each >= level)
        most = proven + max(slack, 0) // level if narrow else _most(level, least, proven, slack, len(size))
        count = cp.new_int_var(0, most, f"objects{level}")
        counts.append(count)
        cp.add(sum(counts) >= proven)
        for members in sorted({tuple(member for member in clique if size[member] <= level) for clique in cliques}):
            cp.add(sum(uses[member][level] for member in members) <= count)
    total = sum(level * count for level, count in zip(levels, counts, strict=True))
    cp.add(total >= sum(least))
    cp.add(total <= below - 1)
    cp.minimize(total)
    return SizesModel(cp, uses, spans)


def _most(level: int, least: Sequence[int], proven: int, slack: int, blocks: int) -> int:
    """The most objects of this size or more: each beyond the proven ones uses slack by the difference to its proven size."""
    most = proven
    while most < blocks:
        slack -= level - (least[most] if most < len(least) else 0)
        if slack < 0:
            break
        most += 1
    return most
