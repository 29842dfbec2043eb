"""Lower bounds on the sum of a pool's objects, with their proofs.

Blocks that clash pairwise use different objects. If such a set has k blocks of at least w bytes, there are k objects of at least w bytes: the k-th
largest object is at least as large as the k-th largest block of any such set. Summed over k, each with its best set, this bounds the sum of all
objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..model.errors import Unsupported
from ..model.instance import Instance, Ints
from .arrangement import homes
from .cliques import Independent, LiveBlocks, conflict_cliques, has_exclusions, live_sets

CHECK_EVERY = 256
"""Sets examined between two checks whether to stop."""
CLIQUE_PAIRS = 200_000
"""Cliques are looked for among so many clashing pairs: they are seldom larger than sets of blocks needed at one time."""
MOST_KEPT = 64
"""This many sets, and twice those that prove something, are kept before the others are dropped."""
SHARES = (1, 4, 1 << 62)
"""A set is named if it proves at least one in this many of the open ranks, round after round, so that few sets are named."""

Set: TypeAlias = tuple[int | None, Ints]
"""Blocks, as positions in an order, and the section in which all are needed; None: they clash pairwise."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Blocks that all use different objects."""

    section: int | None
    """The section in which all are needed; None: they clash pairwise, or it is a single block."""
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A lower bound on one pool's total."""

    sizes: tuple[int, ...]
    """The k-th largest object is at least as large as the k-th of these."""
    witnesses: tuple[Witness, ...]
    """Sets that together prove it."""

    @property
    def value(self) -> int:
        return sum(self.sizes)


def by_size(instance: Instance, pool: int) -> Ints:
    """The blocks of the pool that have bytes, the largest first, ties in input order."""
    high = instance.block_high
    members = np.flatnonzero((homes(instance) == pool) & (high > 0))
    order: Ints = members[np.argsort(-high[members], kind="stable")]
    return order


def ranked(instance: Instance, pool: int, is_over: Callable[[], bool] = lambda: False) -> Ranked:
    """The bound of a pool. If time runs out, it rests on the sets seen so far."""
    order = by_size(instance, pool)
    size = instance.block_high[order]
    least = np.zeros(len(order), dtype=np.int64)
    proven_by = np.full(len(order), -1, dtype=np.int64)
    kept: dict[int, Set] = {}
    most = MOST_KEPT
    independent = Independent(instance, order)

    def raised_by(members: Ints) -> Ints:
        return np.flatnonzero(size[members] > least[: len(members)])

    for number, (section, live) in enumerate(_sets(instance, order, is_over)):
        if not len(raised_by(live)):
            continue
        members = live if section is None else independent.of(live)
        raised = raised_by(members)
        least[raised] = size[members[raised]]
        proven_by[raised] = number
        kept[number] = section, members
        if len(kept) > most:
            kept = {number: kept[number] for number in np.unique(proven_by[proven_by >= 0]).tolist()}
            most = 2 * len(kept) + MOST_KEPT
    least[:1] = size[:1]
    return _shown(order, size, least[: int(np.count_nonzero(least))], list(kept.values()))


def _shown(order: Ints, size: Ints, least: Ints, sets: list[Set]) -> Ranked:
    """Few sets that together prove each rank's size; sets that prove more come first."""
    shown = np.zeros(len(least), dtype=bool)
    witnesses: list[Witness] = []
    for share in SHARES:
        wanted = -(-int(np.count_nonzero(~shown)) // share)
        for section, members in sets:
            if shown.all():
                break
            new = (size[members] == least[: len(members)]) & ~shown[: len(members)]
            if np.count_nonzero(new) >= max(wanted, 1):
                shown[: len(members)] |= new
                last = int(np.flatnonzero(new)[-1]) + 1
                witnesses.append(Witness(section, tuple(np.sort(order[members[:last]]).tolist())))
    if len(least) and not shown[0]:
        witnesses.append(Witness(None, (int(order[0]),)))
    return Ranked(tuple(least.tolist()), tuple(witnesses))


def _sets(instance: Instance, order: Ints, is_over: Callable[[], bool]) -> Iterator[Set]:
    """Blocks that are needed in one section, or clash pairwise, as positions in `order`, each set sorted."""
    if has_exclusions(instance, order):
        for number, found in enumerate(live_sets(instance, order)):
            yield found
            if number % CHECK_EVERY == 0 and is_over():
                return
    else:
        live = LiveBlocks(instance, order)
        for section in live.peak_sections(is_over):
            yield section, live.needed_in(section)
    try:
        for clique in conflict_cliques(instance, order, CLIQUE_PAIRS):
            yield None, np.array(clique, dtype=np.int64)
            if is_over():
                return
    except Unsupported:
        return  # too many pairs: the sets needed at one time have to be enough
