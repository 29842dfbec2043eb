"""Which distances between the bases of two blocks are forbidden, and which starts fixed blocks forbid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....interface import TooLarge
from ..watch import Watch
from .given import Given, Pair, Range


@dataclass(frozen=True, slots=True)
class Edge:
    """A conflict with another block: distances x[other] - x[block] strictly within a gap are forbidden."""

    other: int
    gaps: tuple[Range, ...]
    """Open intervals, sorted and disjoint."""

    @property
    def low(self) -> int:
        return self.gaps[0][0]

    @property
    def high(self) -> int:
        return self.gaps[-1][1]

    def open_from(self, apart: int) -> int:
        """The least allowed distance x[other] - x[block] from `apart` on."""
        for low, high in self.gaps:
            if low < apart < high:
                apart = high
        return apart

    def open_seen_from_other(self, apart: int) -> int:
        """The same for x[block] - x[other]."""
        for low, high in reversed(self.gaps):
            if -high < apart < -low:
                apart = -low
        return apart


def merged(ranges: Sequence[Range]) -> tuple[Range, ...]:
    """The ranges sorted, disjoint and not touching; empty ones are left out."""
    out: list[Range] = []
    for start, end in sorted(ranges):
        if start >= end:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Apart:
    """All forbidden distances and starts."""

    edges: tuple[tuple[Edge, ...], ...]
    stops: tuple[tuple[Range, ...], ...]
    contradiction: str | None


class Distances:
    """Collects the forbidden distances and starts, pair by pair."""

    def __init__(self, given: Given, moving: Sequence[int | None], unit: int, origin: int) -> None:
        self.given = given
        self.moving = moving
        self.unit = unit
        self.origin = origin
        count = sum(number is not None for number in moving)
        self.gaps: list[dict[int, list[Range]]] = [{} for _ in range(count)]
        self.stops: list[list[Range]] = [[] for _ in range(count)]
        self.contradiction: str | None = None
        self.pairs = 0

    def collect(self, plain: bool, max_pairs: int, watch: Watch) -> Apart:
        """The conflicts of plain blocks follow from cliques, so only pairs with a fixed block are looked up for them."""
        for p, q in self._live_pairs(fixed_only=plain, watch=watch):
            if not self.given.excluded(p, q):
                self._keep_apart(p, q)
            if self.pairs > max_pairs:
                raise TooLarge("it has too many conflicting pairs")
        parts = self.given.parts
        for p, q in self.given.conflicts:
            if not parts[p].is_empty and not parts[q].is_empty and parts[p].block != parts[q].block:
                self._keep_apart(p, q)
        self._keep_off_reserved_ranges()
        edges = () if plain else tuple(tuple(Edge(k, _gaps(row[k])) for k in sorted(row)) for row in self.gaps)
        return Apart(edges, tuple(merged(row) for row in self.stops), self.contradiction)

    def _live_pairs(self, fixed_only: bool, watch: Watch) -> Iterator[Pair]:
        """Solid parts of different blocks that are live together, once for each pair of rects; with fixed_only, only pairs with a fixed block."""
        events: list[tuple[int, bool, int, int]] = []
        for p, part in enumerate(self.given.parts):
            for start, end in () if part.is_empty else part.live:
                rect = len(events)
                events += [(start, True, rect, p), (end, False, rect, p)]  # ends before begins of the same section
        live: dict[bool, dict[int, int]] = {True: {}, False: {}}
        for _, begins, rect, p in sorted(events):
            watch.look()
            block = self.given.parts[p].block
            moves = self.moving[block] is not None
            if not begins:
                del live[moves][rect]
                continue
            for others_move, others in live.items():
                if fixed_only and moves and others_move:
                    continue
                for q in others.values():
                    if self.given.parts[q].block != block:
                        yield p, q
            live[moves][rect] = p

    def _keep_apart(self, p: int, q: int) -> None:
        first, second = self.given.parts[p], self.given.parts[q]
        a, b = first.block, second.block
        # Distances from a's base to b's are forbidden strictly between these.
        low, high = first.low - second.high, first.high - second.low
        j, k = self.moving[a], self.moving[b]
        if j is None and k is None:
            if low < self.given.blocks[b].lowest - self.given.blocks[a].lowest < high:
                self.contradiction = "two fixed blocks overlap"
        elif j is None and k is not None:
            at = self.given.blocks[a].lowest
            self._forbid(k, at + low, at + high)
        elif j is not None and k is None:
            at = self.given.blocks[b].lowest
            self._forbid(j, at - high, at - low)
        elif j is not None and k is not None:
            below, above = low // self.unit, -(-high // self.unit)
            self.gaps[j].setdefault(k, []).append((below, above))
            self.gaps[k].setdefault(j, []).append((-above, -below))
            self.pairs += 1

    def _forbid(self, block: int, above: int, below: int) -> None:
        """Forbids the bases strictly between the two addresses, as starts in units."""
        start, end = (above - self.origin) // self.unit + 1, -(-(below - self.origin) // self.unit)
        self.stops[block].append((start, end))

    def _keep_off_reserved_ranges(self) -> None:
        for part in self.given.parts:
            if part.is_empty:
                continue
            j = self.moving[part.block]
            at = self.given.blocks[part.block].lowest
            for start, end in self.given.reserved:
                if j is not None:
                    self._forbid(j, start - part.high, end - part.low)
                elif start - part.high < at < end - part.low:
                    self.contradiction = "a fixed block lies in a reserved range"


def _gaps(ranges: list[Range]) -> tuple[Range, ...]:
    """Merges overlapping open intervals. Touching ones stay apart: the distance between them is allowed."""
    out: list[Range] = []
    for low, high in sorted(ranges):
        if out and low < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)
