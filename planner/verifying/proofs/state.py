"""What a proof knows at one point: for each block the least start that is left, which blocks are placed, and the rules that change it.

A state stands for one sentence: "the blocks that are not placed cannot all start at their least starts or higher, beside those that are
placed". Each rule turns the sentence into others that it follows from; docs/proofs.md says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import NamedTuple

from ...facts.intervals import merged
from .blocks import Blocks
from .reading import Refused


class Member(NamedTuple):
    """A buffer of a clique."""

    buffer: int
    block: int
    low: int
    """How far above its block's start it begins."""
    length: int
    """Its size; of one that moves, rounded up to the clique's grain."""
    top: int
    """Its greatest end, rounded up alike."""


class Clique(NamedTuple):
    """Buffers of which no two have an address in common."""

    movers: tuple[Member, ...]
    walls: tuple[Member, ...]
    """Those that were placed when the clique was named."""
    grain: int
    residue: int
    """All movers begin at addresses of this residue modulo the grain."""
    padding: int
    """By how much the size of a mover was rounded up at most."""


class Hold(NamedTuple):
    """Starts that a placed block leaves to no other."""

    start: int
    end: int
    by: int


class State:
    """The least starts, and what is placed; changes can be taken back to a mark."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.low: dict[int, int] = {}
        """By block: its least start, or where it is placed. Aligned, and clear of what is reserved or placed."""
        self.placed: set[int] = set()
        self.holds: dict[int, tuple[Hold, ...]] = {}
        """By block: what placed ones take of the starts above its least one."""
        self.work = 0
        """Looks at buffers so far."""
        self._marks: list[dict[int, tuple[int, bool, tuple[Hold, ...]]]] = []

    def mark(self) -> None:
        """Remember how things are now."""
        self._marks.append({})

    def undo(self) -> None:
        """Back to the latest mark, which is forgotten."""
        for block, (low, was_placed, holds) in self._marks.pop().items():
            self.low[block], self.holds[block] = low, holds
            if not was_placed:
                self.placed.discard(block)

    def _before_change(self, block: int) -> None:
        if self._marks and block not in self._marks[-1]:
            self._marks[-1][block] = (self.low[block], block in self.placed, self.holds[block])

    def know(self, block: int) -> None:
        """Begin to look at a block."""
        if block not in self.low:
            self.low[block], self.holds[block] = self.blocks.block(block).first, ()

    def clique(self, buffers: Sequence[int]) -> Clique:
        """The clique of these buffers, of which it was made sure that no two may overlap."""
        blocks = self.blocks
        named = [(b, blocks.block_of[b]) for b in buffers if blocks.size[b]]
        for _, block in named:
            self.know(block)
        walls = tuple(Member(b, g, blocks.low[b], blocks.size[b], 0) for b, g in named if g in self.placed)
        loose = [(b, g) for b, g in named if g not in self.placed]
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
        """True if there is nowhere left for the block."""
        return self.low[block] > self.blocks.block(block).last

    def crowd(self, clique: Clique, first: int) -> tuple[list[tuple[int, Member]], int]:
        """The movers that cannot begin below where buffer `first` can, with their least addresses; and the greatest address at which the lowest can begin.

        Above that address there is not enough room for them all.
        """
        low, placed = self.low, self.placed
        self.work += len(clique.movers) + len(clique.walls) + len(self.blocks.reserved)
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
        """The crowd, its reach, and where those end at the earliest that can be the lowest; None: none can be."""
        crowd, reach = self.crowd(clique, first)
        return crowd, reach, min((least + m.length for least, m in crowd if least <= reach), default=None)

    def lift(self, clique: Clique, first: int, buffers: Iterable[int]) -> list[int]:
        """Raises buffers that cannot be the lowest of the crowd above the earliest end of one that can; the crowd's blocks."""
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
        """The block begins here or higher."""
        self._before_change(block)
        low = self.low[block] = self.clear(block, least)
        if self.holds[block]:
            self.holds[block] = tuple(hold for hold in self.holds[block] if hold.end > low)

    def clear(self, block: int, least: int) -> int:
        """The least start from here on that alignment, reserved ranges and placed blocks leave to the block."""
        shape, holds = self.blocks.block(block), self.holds[block]
        while True:
            self.work += 1 + len(holds) + len(self.blocks.reserved)
            least = self.blocks.start(shape, least)
            held = max((hold.end for hold in holds if hold.start <= least < hold.end), default=least)
            if held == least:
                return least
            least = held

    def place(self, block: int) -> list[int]:
        """Puts the block at its least start; the blocks that this keeps from some starts, so that they are raised or held."""
        if block in self.placed or self.is_empty(block):
            raise Refused(f"block {block} is placed already, or has nowhere to be")
        self._before_change(block)
        self.placed.add(block)
        self.work += len(self.blocks.distances(block))
        at, touched = self.low[block], []
        for other, ranges in self.blocks.distances(block).items():
            self.know(other)
            if other not in self.placed:
                low = self.low[other]
                holds = tuple(Hold(at + a, at + b, block) for a, b in ranges if at + b > low)
                if holds:
                    self._before_change(other)
                    self.holds[other] += holds
                    self.raise_to(other, low)
                    touched.append(other)
        return touched

    def alternative(self, block: int) -> int | None:
        """Where the block begins at least if not at its least start; None: nowhere.

        Of all placements the one with the least sum of starts is meant: there the block is kept from its least start by another, above which it lies.
        """
        at, best = self.low[block], None
        self.work += len(self.blocks.distances(block))
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
        """The block, and those that could change places with it as things are."""
        at = self.low[block]
        return [block, *(t for t in self.blocks.twins(block) if t not in self.placed and self.low.get(t) == at)]


def _reach(
    taken: Sequence[tuple[int, int]], floor: int, top: int, crowd: Sequence[tuple[int, Member]], clique: Clique
) -> int:
    """The greatest address from which up to the top there may be room for the crowd beside what is taken; below the floor if there is none."""
    need = sum(member.length for _, member in crowd)
    if not taken:
        return top - need
    shortest, whole = min(member.length for _, member in crowd), gcd(*(member.length for _, member in crowd))
    start = floor
    stretches = []
    for begin, end in taken:
        # What is the highest in a stretch may reach beyond its end by as much as its size was rounded up.
        if begin > start:
            stretches.append((start, begin + clique.padding))
        start = max(start, end + (clique.residue - end) % clique.grain)
    for begin, end in reversed([*stretches, (start, max(start, top))]):
        room = (end - begin) // whole * whole
        if room >= max(need, shortest):
            return end - max(need, shortest)
        need -= room if room >= shortest else 0
    return floor - 1
