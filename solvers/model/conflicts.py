"""The pairs of parts that must not share addresses, and the connected components of blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import isqrt

import numpy as np

from .instance import Bools, Instance, Ints
from .interruption import check_interrupted, interruptible

CHUNK = 1 << 20
CELLS = 1 << 22
"""Most cells of a table of pairs and pools at a time."""
CONFLICTS_COUNTED = 16
"""With up to this many explicit conflicts, squared, exact engines take about as long as they count."""


def live_pair_count(instance: Instance) -> int:
    """The number of pairs of rects that overlap in time; cheap, even if they are too many to list."""
    starts = np.sort(instance.rect_start)
    reach = np.searchsorted(starts, instance.rect_end[np.argsort(instance.rect_start, kind="stable")], side="left")
    return int(np.maximum(reach - np.arange(1, len(starts) + 1), 0).sum())


def slowness(instance: Instance) -> int:
    """How many times as long as they count exact engines take, since the cliques of explicit conflicts are many and lie scattered.

    Measured: 3 times with 1 000 conflicts, 4 times with 4 000, 7 times with 16 000, for the search as for CP-SAT.
    """
    return 1 + isqrt(len(instance.conflicts)) // CONFLICTS_COUNTED


def live_pairs(instance: Instance) -> Iterator[Ints]:
    """Pairs of parts (a < b) of different blocks that are live together and not excluded, in chunks; a pair may come several times.

    Parts of length zero are left out.
    """
    solid = np.flatnonzero(instance.part_high[instance.rect_part] > instance.part_low[instance.rect_part])
    order = solid[np.argsort(instance.rect_start[solid], kind="stable")]
    starts, ends, parts = instance.rect_start[order], instance.rect_end[order], instance.rect_part[order]
    count = np.maximum(np.searchsorted(starts, ends, side="left") - np.arange(1, len(order) + 1), 0)
    excluded = pair_keys(instance, instance.exclusions)
    total = np.cumsum(count)
    begin = 0
    while begin < len(order):
        before = int(total[begin] - count[begin])
        end = max(begin + 1, int(np.searchsorted(total, before + CHUNK, side="right")))
        some = count[begin:end]
        first = np.repeat(np.arange(begin, end), some)
        step = np.arange(len(first)) - np.repeat(np.cumsum(some) - some, some)
        pairs = np.stack([parts[first], parts[first + 1 + step]], axis=1)
        pairs.sort(axis=1)
        pairs = pairs[instance.part_block[pairs[:, 0]] != instance.part_block[pairs[:, 1]]]
        if len(excluded):
            pairs = pairs[~np.isin(pair_keys(instance, pairs), excluded)]
        yield pairs
        check_interrupted()
        begin = end


def part_pairs(instance: Instance) -> Ints:
    """All pairs of parts (a < b) that must not share addresses of a pool: live together and not excluded, or in explicit conflict.

    Parts of one block, parts of length zero, and blocks without a common pool never conflict. Quadratic in the worst case: check live_pair_count
    first.
    """
    explicit = np.sort(instance.conflicts, axis=1)
    solid = instance.part_high > instance.part_low
    explicit = explicit[solid[explicit].all(axis=1)]
    explicit = explicit[instance.part_block[explicit[:, 0]] != instance.part_block[explicit[:, 1]]]
    pairs = np.concatenate([*live_pairs(instance), explicit]) if len(instance.rect_part) else explicit
    keys = distinct(pair_keys(instance, pairs))
    parts = max(len(instance.part_block), 1)
    pairs = np.stack([keys // parts, keys % parts], axis=1)
    return pairs[_have_common_pool(instance, pairs)] if len(instance.pools) > 1 else pairs


def _have_common_pool(instance: Instance, pairs: Ints) -> Bools:
    """True for each pair of parts whose blocks have a common pool. Works in chunks, as there may be many pools."""
    first, second = instance.part_block[pairs[:, 0]], instance.part_block[pairs[:, 1]]
    step = max(1, CELLS // len(instance.pools))
    return np.concatenate(
        [
            (instance.allowed[first[at : at + step]] & instance.allowed[second[at : at + step]]).any(axis=1)
            for at in range(0, max(len(pairs), 1), step)
        ]
    )


def partners(pairs: Collection[Sequence[int]]) -> dict[int, list[int]]:
    """By number: those that it forms a pair with, in the order of the pairs."""
    found: dict[int, list[int]] = {}
    for a, b in interruptible(pairs):
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def sets_of_partners(pairs: Collection[Sequence[int]]) -> dict[int, set[int]]:
    """The same, each only once."""
    return {one: set(others) for one, others in partners(pairs).items()}


def pair_keys(instance: Instance, pairs: Ints) -> Ints:
    """One sortable number per unordered pair of parts."""
    low, high = pairs.min(axis=1, initial=1 << 40), pairs.max(axis=1, initial=0)
    keys: Ints = low * np.int64(max(len(instance.part_block), 1)) + high
    return keys


def distinct(numbers: Ints) -> Ints:
    """The different numbers, ascending. For millions, numpy's own unique, by hashes, takes many times as long."""
    found = np.sort(numbers)
    return found[np.concatenate([[True], found[1:] != found[:-1]])] if len(found) else found


def components(instance: Instance) -> Ints:
    """A number per block: blocks with different numbers are never live together and are in no conflicting pair. For one pool."""
    label = np.arange(instance.blocks, dtype=np.int64)
    block = instance.part_block[instance.rect_part]
    order = np.argsort(instance.rect_start, kind="stable")
    reach = np.maximum.accumulate(instance.rect_end[order])
    fresh = (
        np.concatenate([[True], instance.rect_start[order][1:] >= reach[:-1]])
        if len(order)
        else np.zeros(0, dtype=bool)
    )
    run = np.cumsum(fresh) - 1
    anchors = block[order][fresh]
    links = np.stack([anchors[run], block[order]], axis=1) if len(order) else np.zeros((0, 2), dtype=np.int64)
    extra = instance.part_block[instance.conflicts]
    return connected(label, np.concatenate([links, extra]))


def connected(label: Ints, links: Ints) -> Ints:
    """The least member of each connected set, by hooking and pointer jumping."""
    while True:
        a, b = label[links[:, 0]], label[links[:, 1]]
        low, high = np.minimum(a, b), np.maximum(a, b)
        if (low == high).all():
            return label
        np.minimum.at(label, high, low)
        while not (label == label[label]).all():
            label = label[label]
