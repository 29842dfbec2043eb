"""What the objects of a pool add up to at least, and why.

Blocks that clash pairwise use different objects. So if a set of them has k that need w bytes or more, there are k objects of w bytes or more: the
k-th largest object is at least as large as the k-th largest block of any such set. Added up over k, taking for each the set that says most, that
bounds the sum of all objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..model.errors import Unsupported
from ..model.instance import Instance, Ints
from .arrangement import homes
from .cliques import Independent, LiveBlocks, conflict_cliques, has_exclusions, live_sets

CHECK_EVERY = 256
"""Sets looked at between two questions whether to stop."""
SHARES = (1, 4, 1 << 62)
"""Of what is still to be shown a set must show one part in so many to be named, search after search: so that few are named."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Blocks that all use different objects."""

    section: int | None
    """They are all needed in it; None: they clash pairwise, or it is one block alone."""
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A bound of one pool's total."""

    sizes: tuple[int, ...]
    """The k-th largest object is at least as large as the k-th of these."""
    witnesses: tuple[Witness, ...]
    """Sets that together show it."""

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
    """The bound of a pool. Where time is over it rests on the sets seen by then."""
    order = by_size(instance, pool)
    size = instance.block_high[order]
    least = np.zeros(len(order), dtype=np.int64)
    least[:1] = size[:1]
    sets = list(_sets(instance, order, is_over))
    for _, members in sets:
        np.maximum(least[: len(members)], size[members], out=least[: len(members)])
    return _shown(order, size, least[: int(np.count_nonzero(least))], sets)


def _shown(order: Ints, size: Ints, least: Ints, sets: list[tuple[int | None, Ints]]) -> Ranked:
    """A few sets of which for each k one has the k-th largest size that was found; those first that show most."""
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


def _sets(instance: Instance, order: Ints, is_over: Callable[[], bool]) -> Iterator[tuple[int | None, Ints]]:
    """Sets of blocks that clash pairwise, as positions in `order`, each sorted."""
    if has_exclusions(instance, order):
        independent = Independent(instance, order)
        for number, (section, members) in enumerate(live_sets(instance, order)):
            yield section, independent.of(members)
            if number % CHECK_EVERY == 0 and is_over():
                return
    else:
        live = LiveBlocks(instance, order)
        for section in live.peak_sections(is_over):
            yield section, live.needed_in(section)
    try:
        for clique in conflict_cliques(instance, order):
            yield None, np.array(clique, dtype=np.int64)
            if is_over():
                return
    except Unsupported:
        return  # too many pairs: what is needed together has to do
