"""The outline of blocks of several parts: which address ranges they cover at which time, each address once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..model.instance import Bools, Instance, Ints
from ..model.interruption import interruptible

FREE, COVERED = b"\0", b"\1"


def union(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that cover the same numbers, sorted, disjoint and not touching."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(r for r in ranges if r[1] > r[0]):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined


class Outline(NamedTuple):
    """Rectangles of blocks, no two of one block overlapping; together they cover what the block's rects cover."""

    block: Ints
    start: Ints
    end: Ints
    low: Ints
    high: Ints


_known: WeakKeyDictionary[Instance, Outline] = WeakKeyDictionary()
"""Outlines of instances that are still in use: several bounds and orders need the same."""


def outline(instance: Instance) -> Outline:
    """The outline of all blocks; for plain blocks these are their rects."""
    block = instance.part_block[instance.rect_part]
    low, high = instance.part_low[instance.rect_part], instance.part_high[instance.rect_part]
    start, end = instance.rect_start, instance.rect_end
    parts = np.bincount(instance.part_block, minlength=instance.blocks)
    tangled = parts[block] > 1
    if not tangled.any():
        return Outline(block, start, end, low, high)
    known = _known.get(instance)
    if known is not None:
        return known
    extra = np.array(_disjoint(*(a[tangled] for a in (block, start, end, low, high))), dtype=np.int64).reshape(-1, 5)
    keep = ~tangled
    found = Outline(*(np.concatenate([a[keep], extra[:, i]]) for i, a in enumerate((block, start, end, low, high))))
    _known[instance] = found
    return found


def _disjoint(block: Ints, start: Ints, end: Ints, low: Ints, high: Ints) -> list[tuple[int, int, int, int, int]]:
    """Disjoint rectangles that cover each block's rects, cut at the times at which a range of addresses grows, shrinks, splits or joins another.

    The work grows with the changes, not with the rects that are live meanwhile. Many long thin rects across many short high ones leave a grid of
    holes, which no smaller set of rectangles has.
    """
    solid = (high > low) & (end > start)
    block, start, end, low, high = (a[solid] for a in (block, start, end, low, high))
    column, owner, address = _columns(block, low, high)
    first, last = column[: len(block)], column[len(block) :]
    order = np.lexsort((-end, start))
    changes = _changes(len(owner), *(a[order] for a in (start, end, first, last)))
    places = owner.tolist(), address.tolist()
    rows: list[tuple[int, int, int, int, int]] = []
    for begun, ended, a, b in _stretches(len(owner), changes):
        rows.append((places[0][a], begun, ended, places[1][a], places[1][b]))
    return rows


def _columns(block: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Numbers the addresses at which a block's rects begin or end, block after block, so that one sweep serves all blocks.

    Column c reaches from address[c] to address[c + 1] of block owner[c]; the last column of a block is never covered.
    """
    blocks, addresses = np.concatenate([block, block]), np.concatenate([low, high])
    order = np.lexsort((addresses, blocks))
    blocks, addresses = blocks[order], addresses[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (np.diff(blocks) != 0) | (np.diff(addresses) != 0)
    column = np.empty(len(order), dtype=np.int64)
    column[order] = np.cumsum(fresh) - 1
    return column, blocks[fresh], addresses[fresh]


@dataclass(slots=True)
class _Change:
    """The ranges of columns that become covered at a time, and those that become free."""

    covered: list[tuple[int, int]] = field(default_factory=list)
    freed: list[tuple[int, int]] = field(default_factory=list)


def _changes(columns: int, start: Ints, end: Ints, first: Ints, last: Ints) -> dict[int, _Change]:
    """The changes at each time, for rects sorted by start. Tracking until when each column is covered makes a sweep over ends unnecessary."""
    changes: defaultdict[int, _Change] = defaultdict(_Change)
    until = np.full(columns, -1, dtype=np.int64)  # -1: not covered yet
    for s, e, a, b in interruptible(list(zip(*(x.tolist() for x in (start, end, first, last)), strict=True))):
        here = until[a:b]
        least = int(here.min())
        if least >= e:
            continue
        if least < s:
            alike = int(here.max()) == least
            for p, q, ended in [(0, b - a, least)] if alike else _runs(here, here < s):
                changes[s].covered.append((a + p, a + q))
                if ended >= 0:
                    changes[ended].freed.append((a + p, a + q))
        np.maximum(here, e, out=here)
    for p, q, ended in _runs(until, until >= 0):
        changes[ended].freed.append((p, q))
    return changes


def _runs(values: Ints, chosen: Bools) -> list[tuple[int, int, int]]:
    """The longest ranges of chosen indices with equal values, and these values."""
    places = np.flatnonzero(chosen)
    if not len(places):
        return []
    value = values[places]
    cuts = np.flatnonzero((np.diff(places) > 1) | (np.diff(value) != 0)) + 1
    begins, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [len(places)]]) - 1
    return list(zip(places[begins].tolist(), (places[ends] + 1).tolist(), value[begins].tolist(), strict=True))


def _stretches(columns: int, changes: dict[int, _Change]) -> Iterator[tuple[int, int, int, int]]:
    """Every longest range of covered columns, with the time from which it exists and the time at which it changes."""
    covered = bytearray(columns)
    since = [0] * columns
    """By the first column of a range."""
    for now in interruptible(sorted(changes)):
        for a, b in union(changes[now].freed):
            low, high = covered.rfind(FREE, 0, a) + 1, covered.find(FREE, b)
            if since[low] < now:
                yield since[low], now, low, high
            covered[a:b] = bytes(b - a)
            since[low] = since[b] = now
        for a, b in union(changes[now].covered):
            low, high = covered.rfind(FREE, 0, a) + 1, covered.find(FREE, b)
            for p, q in (low, a), (b, high):
                if p < q and since[p] < now:
                    yield since[p], now, p, q
            covered[a:b] = COVERED * (b - a)
            since[low] = now
