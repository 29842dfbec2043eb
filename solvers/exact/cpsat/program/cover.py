"""Covers all pairs of parts that must keep apart with as few constraints as possible.

A set of parts in which every two that are live together must keep apart becomes one two-dimensional constraint over their outlines. Parts with
exclusions between them never share a set. The remaining pairs (live together but in no common set, or in conflict without being live together) are
gathered into cliques.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ....geometry.shape import Outline, outline
from ....model.conflicts import live_pair_count, pair_keys, part_pairs, sets_of_partners
from ....model.errors import Unsupported
from ....model.instance import Bools, Instance, Ints

MOST_SETS = 8
FEWEST_PAIRS_FOR_A_SET = 3
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Sets and cliques that together cover all pairs of part_pairs."""

    sets: tuple[Outline, ...]
    cliques: tuple[tuple[int, ...], ...]
    """Sets of parts that conflict pairwise."""


def cover(instance: Instance) -> Cover:
    """A cover of all pairs of parts that must not share addresses."""
    if not len(instance.exclusions):
        everything = np.ones(len(instance.part_block), dtype=bool)
        return Cover((_outline_of(instance, everything),), tuple(cliques_of(_explicit_pairs(instance))))
    if live_pair_count(instance) > MOST_PAIRS:
        raise Unsupported("cpsat", "too large for this solver: too many buffers are live together")
    foes = sets_of_partners(instance.exclusions.tolist())
    left = part_pairs(instance)
    keys = pair_keys(instance, left)
    explicit = np.isin(keys, pair_keys(instance, np.sort(instance.conflicts, axis=1)))
    sets: list[Outline] = []
    while len(sets) < MOST_SETS:
        members = _independent(instance, left[~explicit], foes)
        covered = members[left].all(axis=1) & ~explicit
        if covered.sum() < FEWEST_PAIRS_FOR_A_SET:
            break
        sets.append(_outline_of(instance, members))
        left, explicit = left[~covered], explicit[~covered]
    return Cover(tuple(sets), tuple(cliques_of(left)))


def _outline_of(instance: Instance, members: Bools) -> Outline:
    """The outlines of the blocks restricted to these parts."""
    rects = members[instance.rect_part] & (instance.part_high > instance.part_low)[instance.rect_part]
    return outline(
        replace(
            instance,
            rect_part=instance.rect_part[rects],
            rect_start=instance.rect_start[rects],
            rect_end=instance.rect_end[rects],
        )
    )


def _explicit_pairs(instance: Instance) -> Ints:
    pairs = np.unique(np.sort(instance.conflicts, axis=1), axis=0)
    solid = instance.part_high > instance.part_low
    blocks = instance.part_block[pairs]
    meet = (instance.allowed[blocks[:, 0]] & instance.allowed[blocks[:, 1]]).any(axis=1)
    kept: Ints = pairs[solid[pairs].all(axis=1) & (blocks[:, 0] != blocks[:, 1]) & meet]
    return kept


def _independent(instance: Instance, pairs: Ints, foes: dict[int, set[int]]) -> Bools:
    """A set of parts without exclusions between them; parts with the most pairs left to cover come first."""
    count = np.bincount(pairs.reshape(-1), minlength=len(instance.part_block))
    chosen: set[int] = set()
    for part in np.argsort(-count, kind="stable").tolist():
        if not (foes.get(part, set()) & chosen):
            chosen.add(part)
    members = np.zeros(len(instance.part_block), dtype=bool)
    members[list(chosen)] = True
    return members


def cliques_of(pairs: Ints) -> Iterator[tuple[int, ...]]:
    """Cliques that together contain each of the pairs: each grows greedily from a pair that no earlier one contains."""
    if len(pairs) > MOST_PAIRS:
        raise Unsupported("cpsat", "too large for this solver: too many conflicts")
    friends = sets_of_partners(pairs.tolist())
    left = {part: set(others) for part, others in friends.items()}
    for a, b in pairs.tolist():
        if b not in left[a]:
            continue
        clique = [a, b]
        # For each candidate, the number of uncovered pairs it forms with the clique.
        gains = {c: (c in left[a]) + (c in left[b]) for c in friends[a] & friends[b]}
        while gains:
            # Ties are broken by number, so that every run decides alike.
            best = max(gains, key=lambda c: (gains[c], -c))
            clique.append(best)
            new = left[best]
            gains = {c: gain + (c in new) for c, gain in gains.items() if c in friends[best]}
        for member in clique:
            left[member].difference_update(clique)
        yield tuple(sorted(clique))
