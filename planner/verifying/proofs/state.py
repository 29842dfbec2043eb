"""What a proof knows at one point: each block's least remaining start, which blocks are placed, and the rules that change this.

A state stands for one sentence: "the blocks that are not placed cannot all start at their least starts or higher, beside those that are
placed". Each rule turns the sentence into others from which it follows; docs/proofs.md gives the reasons.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

from ...facts.intervals import merged
from .blocks import Blocks
from .reading import Refused

FAR = (1 << 63) - 1
"""Least starts are no higher: no block can begin so far."""
BYTES_OF_A_CHANGE = 20
BYTES_OF_A_POINTER = 8
BYTES_OF_A_HOLD = 136


class Member(NamedTuple):
    """A buffer of a clique."""

    buffer: int
    block: int
    low: int
    """Its distance above its block's start."""
    length: int
    """Its size; of a movable one, rounded up to the clique's grain."""
    top: int
    """Its greatest end, rounded up likewise."""


class Clique(NamedTuple):
    """Buffers of which no two share an address."""

    movers: tuple[Member, ...]
    walls: tuple[Member, ...]
    """Those already placed when the clique was named."""
    grain: int
    residue: int
    """All movable ones begin at this residue modulo the grain."""
    padding: int
    """The most by which a movable one's size was rounded up."""


class Hold(NamedTuple):
    """Starts that a placed block denies to another."""

    start: int
    end: int
    by: int


class _Mark(NamedTuple):
    """The numbers of changes, of placed blocks and of bytes at a mark, and a flag for each block that has changed since."""

    changed: int
    placed: int
    kept: int
    flags: bytearray


class State:
    """The least starts and the placed blocks; changes can be undone to a mark."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.low: dict[int, int] = {}
        """By block: its least start, or its place. Aligned, and clear of reserved ranges and placed blocks."""
        self.placed: set[int] = set()
        self.holds: dict[int, tuple[Hold, ...]] = {}
        """By block: the starts above its least one that placed blocks deny to it."""
        self.kept = 0
        """About the bytes of what can be undone, and of the holds that placed blocks made."""
        self._marks: list[_Mark] = []
        self._changed, self._lows = array("i"), array("q")
        """What can be undone, in order: blocks, their least starts before, and in `_holds` their holds before."""
        self._holds: list[tuple[Hold, ...]] = []
        self._placed: list[int] = []
        """Blocks that were placed since the first mark, in order."""

    @property
    def work(self) -> int:
        """The examinations of buffers and reserved ranges so far."""
        return self.blocks.looks

    def mark(self) -> None:
        """Mark the current state."""
        self._marks.append(_Mark(len(self._changed), len(self._placed), self.kept, bytearray(len(self.blocks.size))))

    def undo(self) -> None:
        """Return to the latest mark, and forget it."""
        changed, placed, self.kept, _ = self._marks.pop()
        for at in range(changed, len(self._changed)):
            block = self._changed[at]
            self.low[block], self.holds[block] = self._lows[at], self._holds[at]
        del self._changed[changed:], self._lows[changed:], self._holds[changed:]
        self.placed.difference_update(self._placed[placed:])
        del self._placed[placed:]

    def _before_change(self, block: int) -> None:
        if self._marks and not self._marks[-1].flags[block]:
            self._marks[-1].flags[block] = True
            self._changed.append(block)
            self._lows.append(self.low[block])
            self._holds.append(self.holds[block])
            self.kept += BYTES_OF_A_CHANGE + BYTES_OF_A_POINTER * len(self.holds[block])

    def know(self, block: int) -> None:
        """Begin to examine a block."""
        if block not in self.low:
            self.low[block], self.holds[block] = min(self.blocks.block(block).first, FAR), ()

    def clique(self, buffers: Sequence[int]) -> Clique:
        """Return the clique of these buffers, of which no two may overlap, as the caller ensured."""
        return self.clique_of(*self.walls_and_loose(buffers))

    def walls_and_loose(self, buffers: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return those of these buffers that are placed, and the others; ones without bytes are left out. Begin to examine all."""
        block_of = self.blocks.block_of
        named = [b for b in buffers if self.blocks.size[b]]
        for b in named:
            self.know(block_of[b])
        return [b for b in named if block_of[b] in self.placed], [b for b in named if block_of[b] not in self.placed]

    def clique_of(self, placed: Sequence[int], others: Sequence[int]) -> Clique:
        """Return the clique of buffers that were placed when it was named, and others; it is the same whatever has happened since."""
        blocks = self.blocks
        walls = tuple(Member(b, blocks.block_of[b], blocks.low[b], blocks.size[b], 0) for b in placed)
        loose = [(b, blocks.block_of[b]) for b in others]
        grain = residue = 0
        for b, g in loose:
            rule = blocks.block(g).rule
            grain = gcd(grain, rule.modulus)
            residue = residue if b != loose[0][0] else rule.residue + blocks.low[b]
            grain = gcd(grain, rule.residue + blocks.low[b] - residue)
        movers = []
        for b, g in loose:
            length = -(-blocks.size[b] // grain) * grain
            movers.append(Member(b, g, blocks.low[b], length, blocks.block(g).last + blocks.low[b] + length))
        padding = max((m.length - blocks.size[m.buffer] for m in movers), default=0)
        return Clique(tuple(movers), walls, grain or 1, residue, padding)

    def is_empty(self, block: int) -> bool:
        """True if the block has no start left."""
        return self.low[block] > self.blocks.block(block).last

    def crowd(self, clique: Clique, first: int) -> tuple[list[tuple[int, Member]], int]:
        """Return the movers that cannot begin below buffer `first`, with their least starts; and the greatest start of the lowest.

        Above that start there is not enough room for them all.
        """
        low, placed = self.low, self.placed
        self.blocks.looks += len(clique.movers) + len(clique.walls) + len(self.blocks.reserved)
        floor = next((low[m.block] + m.low for m in clique.movers if m.buffer == first and m.block not in placed), None)
        if floor is None:
            raise Refused(f"buffer {first} is not in the clique, or is placed")
        crowd = []
        top = 0
        for member in clique.movers:
            if member.block not in placed:
                least = low[member.block] + member.low
                if least >= floor:
                    crowd.append((least, member))
                    if member.top > top:
                        top = member.top
        walls = [(low[m.block] + m.low, m) for part in (clique.walls, clique.movers) for m in part if m.block in placed]
        taken = [(at, at + self.blocks.size[m.buffer]) for at, m in walls] + list(self.blocks.reserved)
        taken = [(start, end) for start, end in taken if end > floor and start < top]
        return crowd, _reach(merged(taken), floor, top, crowd, clique)

    def raised(self, clique: Clique, first: int) -> tuple[list[tuple[int, Member]], int, int | None]:
        """Return the crowd, its reach, and the earliest end of those that can be the lowest; None if none can."""
        crowd, reach = self.crowd(clique, first)
        return crowd, reach, min((least + m.length for least, m in crowd if least <= reach), default=None)

    def lift(self, clique: Clique, first: int, buffers: Iterable[int]) -> list[int]:
        """Raise buffers that cannot be the crowd's lowest above the earliest end of one that can; return the crowd's blocks."""
        crowd, reach, end = self.raised(clique, first)
        least_of = {member.buffer: (least, member) for least, member in crowd}
        for buffer in buffers:
            if end is None or buffer not in least_of or least_of[buffer][0] <= reach:
                raise Refused(
                    f"buffer {buffer} may be the lowest of its clique, or is not among those that are looked at"
                )
            member = least_of[buffer][1]
            if end > least_of[buffer][0]:
                self.raise_to(member.block, end - member.low)
        return [member.block for _, member in crowd]

    def raise_to(self, block: int, least: int) -> None:
        """Make the block begin at `least` or higher."""
        self._before_change(block)
        low = self.low[block] = min(self.clear(block, least), FAR)
        if self.holds[block]:
            self.holds[block] = tuple(hold for hold in self.holds[block] if hold.end > low)

    def clear(self, block: int, least: int) -> int:
        """Return the least start >= `least` that alignment, reserved ranges and placed blocks leave to the block."""
        shape, holds = self.blocks.block(block), self.holds[block]
        while True:
            self.blocks.looks += 1 + len(holds)
            least = self.blocks.start(shape, least)
            held = max((hold.end for hold in holds if hold.start <= least < hold.end), default=least)
            if held == least:
                return least
            least = held

    def place(self, block: int) -> list[int]:
        """Place the block at its least start; return the blocks that this raises or restricts."""
        if block in self.placed or self.is_empty(block):
            raise Refused(f"block {block} is placed already, or has nowhere to be")
        self._before_change(block)
        self.placed.add(block)
        if self._marks:
            self._placed.append(block)
        self.blocks.looks += len(self.blocks.distances(block))
        at, touched = self.low[block], []
        for other, ranges in self.blocks.distances(block).items():
            self.know(other)
            if other not in self.placed:
                low = self.low[other]
                holds = tuple(Hold(at + a, at + b, block) for a, b in ranges if at + b > low)
                if holds:
                    self._before_change(other)
                    before = len(self.holds[other])
                    self.holds[other] += holds
                    self.raise_to(other, low)
                    self.kept += BYTES_OF_A_HOLD * max(len(self.holds[other]) - before, 0)
                    touched.append(other)
        return touched

    def alternative(self, block: int) -> int | None:
        """Return the block's next start if it is not at its least start; None if there is none.

        This means the placement with the least sum of starts: there another block, on which it lies, keeps it from its least start.
        """
        at, best = self.low[block], None
        self.blocks.looks += len(self.blocks.distances(block))
        for other, ranges in self.blocks.distances(block).items():
            self.know(other)
            if other in self.placed:
                continue
            low, last = self.low[other], self.blocks.block(other).last
            for a, b in ranges:
                if low < at + b:
                    least = self.clear(other, max(low, at + a))
                    if least < at + b and least <= last and (best is None or least - a + 1 < best):
                        best = least - a + 1
        best = None if best is None else self.clear(block, best)
        return None if best is None or best > self.blocks.block(block).last else best

    def twins(self, block: int) -> list[int]:
        """Return the block and those that could currently change places with it."""
        at = self.low[block]
        return [block, *(t for t in self.blocks.twins(block) if t not in self.placed and self.low.get(t) == at)]


def _reach(
    taken: Sequence[tuple[int, int]], floor: int, top: int, crowd: Sequence[tuple[int, Member]], clique: Clique
) -> int:
    """Return the greatest start below the top that may leave room for the crowd beside what is taken; below the floor if none does."""
    need = sum(member.length for _, member in crowd)
    if not taken:
        return top - need
    shortest, whole = min(member.length for _, member in crowd), gcd(*(member.length for _, member in crowd))
    start = floor
    stretches = []
    for begin, end in taken:
        # The highest in a free range may extend beyond its end by the amount that its size was rounded up.
        if begin > start:
            stretches.append((start, begin + clique.padding))
        start = max(start, end + (clique.residue - end) % clique.grain)
    for begin, end in reversed([*stretches, (start, max(start, top))]):
        room = (end - begin) // whole * whole
        if room >= max(need, shortest):
            return end - max(need, shortest)
        need -= room if room >= shortest else 0
    return floor - 1
