"""Pieces of memory that share an address at some time: a sweep over time, with the live pieces ordered by address.

`all_apart` answers the usual question, whether nothing overlaps, fast: it compares all pairs that are live together if these are few, and
otherwise only neighbours. `meetings` lists every overlapping pair, including permitted ones, in O((n + k) log n) for n pieces and k pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..model.deadline import look, tick

Integers: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
"""An array of int64, or of Python's own integers."""

SUMMABLE = 1 << 62
"""Sums and differences of two numbers of smaller magnitude fit into int64."""


Piece: TypeAlias = tuple[int, int, int, int, int]
"""An address range in use during an interval: (low, high, start, end, owner); both half-open, neither empty. A bare tuple for speed."""

PAIRS_PER_PIECE = 100
"""Up to this many pairs per piece that are live together, or share addresses, comparing them all in arrays is faster than a sweep."""
PIECES_PER_RANGE = 8
"""Ranges are compared instead of pieces if at least this many pieces, on average, have the same addresses."""
PIECES_PER_PIECE = 50
"""At most this many pieces are examined for each."""
PAIRS_AT_ONCE = 1 << 18
"""The number that fits the processor's cache."""

VERIFYING = "verifying the plan of"
WORD = 1024
"""Bits per word of a RankSet: Python's integers are fast at that length, and a thousand words cover a million pieces."""


def exact_array(numbers: Sequence[int] | Integers) -> Integers:
    """Return the numbers as int64 if any two can be added in it; otherwise as Python's integers, which are slower and never overflow."""
    found = np.array(numbers) if len(numbers) else np.zeros(0, np.int64)
    if found.dtype.kind == "i" and found.min(initial=0) > -SUMMABLE and found.max(initial=0) < SUMMABLE:
        return found.astype(np.int64, copy=False)
    return np.array(numbers, dtype=object)


class RankSet:
    """A set of small integers that finds the next and the previous member."""

    def __init__(self, size: int) -> None:
        self._words = [0] * (size // WORD + 1)
        self._summary = 0
        """One bit for each word that is not zero."""

    def add(self, rank: int) -> None:
        word, bit = divmod(rank, WORD)
        self._words[word] |= 1 << bit
        self._summary |= 1 << word

    def discard(self, rank: int) -> None:
        word, bit = divmod(rank, WORD)
        self._words[word] &= ~(1 << bit)
        if not self._words[word]:
            self._summary &= ~(1 << word)

    def before(self, rank: int) -> int | None:
        """Return the greatest member below rank."""
        word, bit = divmod(rank, WORD)
        below = self._words[word] & ((1 << bit) - 1)
        if not below:
            words = self._summary & ((1 << word) - 1)
            if not words:
                return None
            word = words.bit_length() - 1
            below = self._words[word]
        return word * WORD + below.bit_length() - 1

    def after(self, rank: int) -> int | None:
        """Return the least member above rank."""
        word, bit = divmod(rank, WORD)
        above = self._words[word] >> (bit + 1) << (bit + 1)
        if not above:
            words = self._summary >> (word + 1) << (word + 1)
            if not words:
                return None
            word = _lowest_bit(words)
            above = self._words[word]
        return word * WORD + _lowest_bit(above)


def _lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _moments(start: Sequence[int], end: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yield (rank, True for a begin or False for an end) in order of time; at one moment, ends come first."""
    ending = sorted(range(len(end)), key=end.__getitem__)
    done = 0
    for rank in sorted(range(len(start)), key=start.__getitem__):
        now = start[rank]
        while end[ending[done]] <= now:
            yield ending[done], False
            done += 1
        yield rank, True


class Pieces(NamedTuple):
    """Many pieces, as arrays."""

    low: Integers
    high: Integers
    start: Integers
    end: Integers
    owner: Integers

    @classmethod
    def of(cls, rows: Sequence[Piece]) -> Pieces:
        return (
            cls(*(exact_array(numbers) for numbers in zip(*rows, strict=True)))
            if rows
            else cls(*(exact_array([]),) * 5)
        )

    def rows(self) -> list[Piece]:
        return list(zip(*(c.tolist() for c in (self.low, self.high, self.start, self.end, self.owner)), strict=True))

    def __len__(self) -> int:
        return len(self.low)


MayShare: TypeAlias = Callable[[Integers, Integers], Integers]
"""Takes two lists of owners and tells of each pair whether they may share addresses."""


def all_apart(pieces: Pieces, may_share: MayShare | None = None) -> bool:
    """True if no two pieces share an address at any time, except pairs whose owners may.

    With `may_share`, also False if too many are live together, and too many share addresses, for comparing every such pair.
    """
    low, high, start, end, owner = pieces
    for begin, stop, bottom, top in ((start, end, low, high), (low, high, start, end)):
        order = np.argsort(begin, kind="stable")
        later = np.searchsorted(begin[order], stop[order]) - np.arange(1, len(order) + 1)
        """The number of pieces that follow each in this order and begin before it ends: in time, then by address."""
        if int(later.sum()) <= PAIRS_PER_PIECE * len(order):
            return _pairs_apart(bottom[order], top[order], later, owner[order], may_share)
    if may_share is not None:
        return False
    ranges = _Ranges.of(pieces)
    return _neighbours_apart(pieces) if ranges is None else ranges.are_apart()


def _pairs_apart(
    low: Integers, high: Integers, later: Integers, owner: Integers, may_share: MayShare | None = None
) -> bool:
    """Compare each piece with the `later` ones that follow it, in batches: do they share addresses, or times?"""
    total = np.cumsum(later)
    begin = 0
    while begin < len(later):
        before = int(total[begin] - later[begin])
        end = max(begin + 1, int(np.searchsorted(total, before + PAIRS_AT_ONCE, side="right")))
        some = later[begin:end]
        each = np.arange(begin, end)
        # A piece's pairs are numbered 1, 2, ... from its first.
        second = np.arange(1, int(some.sum()) + 1) + np.repeat(each - total[begin:end] + some + before, some)
        met = (np.repeat(low[begin:end], some) < high[second]) & (low[second] < np.repeat(high[begin:end], some))
        if met.any() and (
            may_share is None or not may_share(owner[np.repeat(each, some)[met]], owner[second[met]]).all()
        ):
            return False
        begin = end
    return True


class _Ranges(NamedTuple):
    """Few address ranges, each used at many times: pieces in the order of their ranges, then of time."""

    start: Integers
    end: Integers
    first: Integers
    """For each range the number of its first piece."""
    reach: Integers
    """For each range the first that follows it by address without touching it."""

    @classmethod
    def of(cls, pieces: Pieces) -> _Ranges | None:
        """Return the ranges; None if there are too many, or too many that overlap."""
        if any(column.dtype == object for column in pieces):
            return None
        order = np.lexsort((pieces.start, pieces.owner, pieces.high, pieces.low))
        low, high, owner = pieces.low[order], pieces.high[order], pieces.owner[order]
        fresh = (np.diff(low) != 0) | (np.diff(high) != 0) | (np.diff(owner) != 0)
        first = np.concatenate([[0], np.flatnonzero(fresh) + 1, [len(order)]])
        if len(first) * PIECES_PER_RANGE > len(order):
            return None
        heads = first[:-1]
        reach = np.searchsorted(low[heads], high[heads])
        if int((first[reach] - first[1:]).sum()) > PIECES_PER_PIECE * len(order):
            return None
        return cls(pieces.start[order], pieces.end[order], first, reach)

    def are_apart(self) -> bool:
        """True if no range is in use twice at a time, nor together with an overlapping one."""
        first, reach = self.first.tolist(), self.reach.tolist()
        for number, (begin, end) in enumerate(pairwise(first)):
            start, stop = self.start[begin:end], self.end[begin:end]
            if (start[1:] < stop[:-1]).any():
                return False
            others = slice(end, first[reach[number]])
            begun = np.searchsorted(start, self.end[others])
            ended = np.searchsorted(stop, self.start[others], side="right")
            if (begun > ended).any():
                return False
        return True


def _neighbours_apart(pieces: Pieces) -> bool:
    """A sweep over time: as long as nothing overlaps, a new piece can overlap only its live neighbours."""
    order = np.argsort(pieces.low, kind="stable")
    low, high = pieces.low[order].tolist(), pieces.high[order].tolist()
    live = RankSet(len(order))
    for rank, begins in _moments(pieces.start[order].tolist(), pieces.end[order].tolist()):
        if not begins:
            live.discard(rank)
            continue
        tick(VERIFYING)
        below, above = live.before(rank), live.after(rank)
        if (below is not None and high[below] > low[rank]) or (above is not None and low[above] < high[rank]):
            return False
        live.add(rank)
    return True


def meetings(pieces: Pieces) -> Iterator[tuple[int, int]]:
    """Return every pair of owners whose pieces overlap in address and time, lower number first; a pair may appear several times."""
    look(VERIFYING)
    ordered = sorted(pieces.rows())
    look(VERIFYING)
    low = [piece[0] for piece in ordered]
    live, tops = RankSet(len(ordered)), _Tops(len(ordered))
    for rank, begins in _moments([piece[2] for piece in ordered], [piece[3] for piece in ordered]):
        if not begins:
            live.discard(rank)
            tops.put(rank, None)
            continue
        _, top, _, _, mine = ordered[rank]
        tick(VERIFYING)
        met = list(tops.above(low[rank], rank))
        other = live.after(rank)
        while other is not None and low[other] < top:
            met.append(other)
            other = live.after(other)
        for other in met:
            theirs = ordered[other][4]
            if theirs != mine:
                yield (mine, theirs) if mine < theirs else (theirs, mine)
        live.add(rank)
        tops.put(rank, top)


class _Tops:
    """The upper ends of live pieces by rank, in a tree of maxima that finds those above an address."""

    def __init__(self, size: int) -> None:
        self._leaves = 1 << max(size - 1, 0).bit_length()
        self._tree = [-1] * (2 * self._leaves)

    def put(self, rank: int, top: int | None) -> None:
        node = rank + self._leaves
        self._tree[node] = -1 if top is None else top
        node >>= 1
        while node:
            best = max(self._tree[2 * node], self._tree[2 * node + 1])
            if best == self._tree[node]:
                return
            self._tree[node] = best
            node >>= 1

    def above(self, address: int, stop: int) -> Iterator[int]:
        """Yield the ranks below `stop` whose pieces end above the address."""
        todo = [(1, 0, self._leaves)]
        while todo:
            node, first, count = todo.pop()
            if first >= stop or self._tree[node] <= address:
                continue
            if count == 1:
                yield first
                continue
            half = count // 2
            todo.append((2 * node + 1, first + half, half))
            todo.append((2 * node, first, half))
