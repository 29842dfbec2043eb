"""Blocks that must all be in different pools but have too few pools: then nothing fits, whatever the sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..model.instance import Instance
from ..model.interruption import interruptible
from ..model.outcome import Certificate, Proof
from ..model.solver import never

FREE_BLOCKS = 64
"""At least this many blocks are examined, even if the time is over."""
MOST_ROUNDS = 64
"""The most rounds in which pairs are left out. A chain of blocks loses only its two ends in each round."""


def crowded(instance: Instance, stopped: Callable[[], object] = never) -> Certificate | None:
    """A set of parts that may go to fewer pools than it has members; None if none is found, or none before the caller stops it."""
    if not len(instance.apart) or _all_have_homes(instance):
        return None
    homes = _homes(instance)
    for clique in _cliques(instance, stopped):
        short = _too_many(clique, homes)
        if short:
            return _certificate(instance, short)
    if stopped():  # not all were examined; two with the same only pool are found without a search
        single = np.where(instance.allowed.sum(axis=1) == 1, instance.allowed.argmax(axis=1), -1)
        a, b = instance.apart[:, 0], instance.apart[:, 1]
        torn = np.flatnonzero(
            (single[a] >= 0) & (single[a] == single[b]) & (instance.pool_class[a] != instance.pool_class[b])
        )
        if len(torn):
            return _certificate(instance, instance.apart[torn[0]].tolist())
    return None


def _all_have_homes(instance: Instance) -> bool:
    """True if a simple count rules out such sets: each member of one has at least as many blocks to keep apart from as it has pools."""
    homes = np.zeros(instance.blocks, dtype=np.int64)
    homes[instance.pool_class] = instance.allowed.sum(axis=1)
    pairs = instance.pool_class[instance.apart]
    if not homes[pairs].all():
        return False
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    for _ in range(MOST_ROUNDS):
        if not len(pairs):
            break
        others = np.bincount(pairs.reshape(-1), minlength=instance.blocks)
        kept = pairs[(homes <= others)[pairs].all(axis=1)]
        if len(kept) == len(pairs):
            return False
        pairs = kept
    return not len(pairs)


def _certificate(instance: Instance, blocks: list[int]) -> Certificate:
    parts = sorted(int(np.argmax(instance.part_block == block)) for block in blocks)
    return Certificate(Proof.TOO_FEW_POOLS, len(parts), parts=tuple(parts))


def _homes(instance: Instance) -> dict[int, list[int]]:
    """The allowed pools of each block that must keep apart from others. Blocks of one class have the same."""
    blocks = np.unique(instance.apart)
    row, pools = np.nonzero(instance.allowed[blocks])
    ends = np.searchsorted(row, np.arange(1, len(blocks) + 1)).tolist()
    listed = pools.tolist()
    return {block: listed[a:b] for block, a, b in zip(blocks.tolist(), [0, *ends], ends, strict=False)}


def _cliques(instance: Instance, stopped: Callable[[], object]) -> Iterator[list[int]]:
    """Sets of blocks that must all be in different pools; every pair is in one of them. One block stands for all of its class."""
    foes: dict[int, set[int]] = {}
    stands: dict[int, int] = {}
    of_class = instance.pool_class.tolist()
    for pair in interruptible(instance.apart.tolist()):
        a, b = (stands.setdefault(of_class[block], block) for block in pair)
        if a != b:
            foes.setdefault(a, set()).add(b)
            foes.setdefault(b, set()).add(a)
    seen: set[frozenset[int]] = set()
    covered: dict[int, set[int]] = {block: set() for block in foes}
    for number, a in enumerate(sorted(foes)):
        if number >= FREE_BLOCKS and stopped():
            return
        for b in sorted(foes[a]):
            if b in covered[a]:
                continue
            clique = [a, b]
            for other in sorted(foes[a] & foes[b]):
                if foes[other].issuperset(clique):
                    clique.append(other)
            for block in clique:
                covered[block].update(clique)
            key = frozenset(clique)
            if key not in seen:
                seen.add(key)
                yield clique


def _too_many(clique: list[int], homes: dict[int, list[int]]) -> list[int]:
    """Members that together have fewer pools than members (Hall's theorem, by augmenting paths); empty if each can have its own."""
    owner: dict[int, int] = {}
    """By pool: the member that it is given to."""
    owned: dict[int, int] = {}
    """By member: its pool."""
    for member in sorted(clique, key=lambda block: (len(homes[block]), block)):
        came_from: dict[int, int] = {}
        """By pool: the member from which it was reached."""
        reached = [member]
        free = _first_free(reached, homes, owner, came_from)
        if free is None:
            return reached
        while True:
            block = came_from[free]
            previous = owned.get(block)
            owner[free], owned[block] = block, free
            if previous is None:
                break
            free = previous
    return []


def _first_free(
    reached: list[int], homes: dict[int, list[int]], owner: dict[int, int], came_from: dict[int, int]
) -> int | None:
    """The nearest pool that is not given to any member. Fills in the members reached, and from which member each pool was."""
    for block in reached:
        for pool in homes[block]:
            if pool not in came_from:
                came_from[pool] = block
                if pool not in owner:
                    return pool
                reached.append(owner[pool])
    return None
