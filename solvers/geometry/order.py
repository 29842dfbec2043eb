"""From an order of blocks to exact offsets: the least ones that keep it, in integers.

An inexact solver is trusted only with the order. The order becomes rules `offset[j] >= offset[i] + distance`, and the offsets are computed anew:
raised from their least values until every rule, alignment and reserved range is kept. The result is the componentwise least solution, so no placement
with the same order ends lower.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model.conflicts import part_pairs
from ..model.instance import Instance, Ints, Placement
from ..model.objective import evaluate
from .rules import violation
from .separation import Separations, forbidden_bases, separations


def least_offsets(instance: Instance, pool: Ints, rules: Ints) -> Ints | None:
    """The least offset of every block in its pool such that offset[j] >= offset[i] + d for every rule (i, j, d).

    None if there are none within the blocks' bounds. A cycle of rules through alignments or reserved ranges may also give None, after more rounds
    than any other input needs.
    """
    n = instance.blocks
    if not instance.allowed[np.arange(n), pool].all():
        return None
    bases = [_Base(instance, block, int(pool[block])) for block in range(n)]
    offset: list[int] = []
    for base in bases:
        first = base.at_least(base.lowest)
        if first is None:
            return None
        offset.append(first)
    below: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for i, j, distance in rules.tolist():
        below[i].append((j, distance))
    jumps = sum(len(base.forbidden) for base in bases)
    changed = set(range(n))
    for _ in range(2 * n + jumps + 8):
        if not changed:
            return np.array(offset, dtype=np.int64)
        wave = sorted(changed, key=offset.__getitem__)
        changed = set()
        for i in wave:
            for j, distance in below[i]:
                if offset[i] + distance <= offset[j]:
                    continue
                raised = bases[j].at_least(offset[i] + distance)
                if raised is None:
                    return None
                offset[j] = raised
                changed.add(j)
    return None


class _Base:
    """The allowed bases of one block in one pool."""

    __slots__ = ("forbidden", "highest", "lowest", "modulus", "residue")

    def __init__(self, instance: Instance, block: int, pool: int) -> None:
        self.lowest = int(instance.lowest[block, pool])
        self.highest = int(instance.highest[block, pool])
        self.modulus = int(instance.modulus[block, pool])
        self.residue = int(instance.residue[block, pool])
        self.forbidden = forbidden_bases(instance, block, pool)

    def at_least(self, address: int) -> int | None:
        """The least allowed base from the address on."""
        base = address + (self.residue - address) % self.modulus
        for begin, end in self.forbidden:
            if begin < base < end:
                base = end + (self.residue - end) % self.modulus
        return base if base <= self.highest else None


def rules_from_offsets(choices: Separations, pool: Ints, offset: npt.NDArray[np.float64] | Ints) -> Ints:
    """Rules for the side of each choice that these offsets are nearer to; the offsets may be inexact. Blocks in different pools get no rules."""
    return rules_from_sides(
        choices, pool, offset[choices.second] - offset[choices.first] > (choices.below + choices.above) / 2
    )


def rules_from_sides(choices: Separations, pool: Ints, second_above: npt.NDArray[np.bool_]) -> Ints:
    """Rules for least_offsets; second_above is true for each choice whose second block's base is at least `above` past the first's."""
    together = pool[choices.first] == pool[choices.second]
    up, down = together & second_above, together & ~second_above
    lower = np.stack([choices.first[up], choices.second[up], choices.above[up]], axis=1)
    upper = np.stack([choices.second[down], choices.first[down], -choices.below[down]], axis=1)
    return np.concatenate([lower, upper])


def place(instance: Instance, pool: Ints, rules: Ints) -> Placement | None:
    """The least placement that keeps the rules; None if there is none, or if it breaks a rule of the instance."""
    offset = least_offsets(instance, pool, rules)
    if offset is None:
        return None
    placement = Placement(pool.copy(), offset)
    return placement if violation(instance, placement) is None else None


def repair(instance: Instance, pool: Ints, offset: npt.NDArray[np.float64] | Ints) -> Placement | None:
    """An exact placement in the order of these offsets, which may be inexact; None if there is none."""
    return place(instance, pool, rules_from_offsets(separations(instance, part_pairs(instance)), pool, offset))


def best_of(instance: Instance, candidates: Sequence[Placement | None]) -> Placement | None:
    """The placement of least value, the first of equals; None if there is none."""
    found = [c for c in candidates if c is not None]
    return min(found, key=lambda c: evaluate(instance, c), default=None)
