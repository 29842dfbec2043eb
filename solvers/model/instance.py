"""A problem as solvers see it: rigid blocks of address ranges, live in ranges of time, to be put into pools.

A *block* is what moves as one. It consists of *parts*: address ranges at fixed distances from the block's base (a plain buffer is one part;
views, slices and concatenations in place add more). A part is live in one or several *rects*: half-open ranges of sections, where a section is
a stretch of time in which nothing changes. Two parts of different blocks that are both live in some section must not share addresses of one
pool, unless the pair is excluded; parts of one block may. All numbers are exact int64, all addresses below ADDRESS_LIMIT.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

ADDRESS_LIMIT = 1 << 62


class Term(StrEnum):
    """One thing to minimise; an objective is a lexicographic list of them. The name of one that counts bytes ends with `bytes`, `peak` or `peaks`."""

    ACCESS_COST = "access_cost"
    SUM_OF_PEAKS = "sum_of_peaks"
    LARGEST_PEAK = "largest_peak"
    REUSE_COST = "reuse_cost"
    SPILLED_BYTES = "spilled_bytes"
    BALANCED = "balanced"
    MOVED_BUFFERS = "moved_buffers"
    MOVED_BYTES = "moved_bytes"
    STABILITY = "stability"


class Choice(Enum):
    """The cost of a block in a pool, whatever the peaks."""

    ACCESS = "access"
    """The cost of its uses there."""
    RANK = "rank"
    """Its bytes times the pool's rank."""


class Moved(Enum):
    """What a buffer counts that is not where it was; the value is its column in `Was`."""

    BUFFERS = 0
    BYTES = 1


@dataclass(frozen=True, slots=True)
class Linear:
    """What a term adds up: over blocks what each costs in its pool, over pools their peaks times their costs, and what moved."""

    choice: Choice | None = None
    peaks: bool = False
    moved: Moved | None = None

    @property
    def priced(self) -> bool:
        """True if a byte of the peaks counts what the user says that it is worth beside an access, or a byte that moved."""
        return self.peaks and (self.choice is Choice.ACCESS or self.moved is not None)


LINEAR_TERMS = {
    Term.ACCESS_COST: Linear(Choice.ACCESS),
    Term.SUM_OF_PEAKS: Linear(peaks=True),
    Term.SPILLED_BYTES: Linear(Choice.RANK),
    Term.BALANCED: Linear(Choice.ACCESS, peaks=True),
    Term.MOVED_BUFFERS: Linear(moved=Moved.BUFFERS),
    Term.MOVED_BYTES: Linear(moved=Moved.BYTES),
    Term.STABILITY: Linear(peaks=True, moved=Moved.BYTES),
}
"""All terms but the largest peak and the cost of reuse. Solvers, bounds and the verifier go by what stands here: another row needs none of their code."""


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One memory: its capacity in units (None: unlimited), the address ranges nothing may touch, and what a unit of its peak costs."""

    capacity: int | None = None
    reserved: tuple[tuple[int, int], ...] = ()
    """Half-open address ranges, sorted and disjoint."""
    cost: int = 1
    rank: int = 0
    """Order of preference, 0 is the pool to use first."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Further facts of the user's problem, for planners that follow another system to the letter; no search needs them."""

    times: Ints
    """(T + 1) the time at which each section begins, and the last one's end; empty without sections."""
    pinned: Bools
    """(n) did the user decide the block's pool?"""
    placed: Bools
    """(n) and its offset there? (A block that just fills its pool has only one place too, but may find it itself.)"""
    listed: Ints
    """(l, 2) conflict lists that are not symmetric: the list of the first part names the second, perhaps itself. Empty where lists are plain pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Was:
    """The blocks' places in an older plan, and the cost of leaving them."""

    cost: Ints
    """(n, 2) buffers and bytes of each block that an older plan had somewhere; as they are, in whatever unit addresses are counted."""
    stays: Ints
    """(s, 5) block, pool, base, and how many of these buffers and bytes stay where they were if the block is there. Only places that it may have."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Instance:
    """n blocks, k parts, m rects and P pools, as arrays."""

    pools: tuple[PoolSpec, ...]
    terms: tuple[Term, ...]
    sections: int

    part_block: Ints
    """(k) the block of each part."""
    part_low: Ints
    """(k) where the part begins, counted from the block's base; the least of a block is 0."""
    part_high: Ints
    """(k) where the part ends (exclusive)."""

    rect_part: Ints
    """(m) the part of each rect; rects of one part neither overlap nor touch."""
    rect_start: Ints
    """(m) first section in which the part is live."""
    rect_end: Ints
    """(m) first section after that in which it is not."""

    allowed: Bools
    """(n, P) may the block live in the pool at all?"""
    modulus: Ints
    """(n, P) the block's base in this pool is congruent to residue modulo this."""
    residue: Ints
    """(n, P) 0 <= residue < modulus."""
    lowest: Ints
    """(n, P) least base that the block may have in this pool (it is congruent to residue)."""
    highest: Ints
    """(n, P) greatest base (inclusive, congruent too). Capacity and horizon are already in it; lowest == highest: fixed."""
    access_cost: Ints
    """(n, P) what it costs to have the block in this pool, for the access_cost term."""

    pool_class: Ints
    """(n) blocks of the same class must share a pool."""
    preference: Ints
    """(n, P) position of the pool in the block's order of preference, 0 first."""
    apart: Ints
    """(d, 2) pairs of blocks that must be in different pools."""
    conflicts: Ints
    """(c, 2) pairs of parts that must not share addresses of one pool, whatever their lifetimes."""
    exclusions: Ints
    """(e, 2) pairs of parts that may share addresses although they are live together."""
    penalties: Ints
    """(r, 3) pairs of parts and what it costs if they share addresses of one pool."""

    hint: Ints
    """(n) an offset that the user would like, where hinted."""
    hinted: Bools
    """(n)"""
    input_rank: Ints
    """(n) the block's place in the user's order."""
    name_rank: Ints
    """(n) the block's place if sorted by name, for planners that break ties by it."""
    source: Source | None = None
    """Only in an instance as lowered: what is cut from it has none."""
    peak_price: int = 1
    """What a unit of the cost-weighted sum of peaks counts beside the access cost, in the balanced term, and beside a byte that moved."""
    was: Was | None = None
    """None: no term counts moved blocks, or there is no older plan."""

    @property
    def blocks(self) -> int:
        return len(self.allowed)

    @property
    def block_high(self) -> Ints:
        """(n) where each block ends, counted from its base."""
        high = np.zeros(self.blocks, dtype=np.int64)
        np.maximum.at(high, self.part_block, self.part_high)
        return high

    @property
    def has_one_home(self) -> Bools:
        """(n) Is there just one pool that the block may live in?"""
        one_home: Bools = self.allowed.sum(axis=1) == 1
        return one_home

    @property
    def has_choice(self) -> bool:
        """May some block go to more than one pool?"""
        return bool((self.allowed.sum(axis=1) > 1).any())

    @property
    def weighs_reuse(self) -> bool:
        """Does the objective count what sharing addresses costs, and does it cost anything here?"""
        return Term.REUSE_COST in self.terms and len(self.penalties) > 0

    @property
    def weighs_moves(self) -> bool:
        """Does the objective count what moved?"""
        return self.was is not None and any(LINEAR_TERMS.get(term, Linear()).moved is not None for term in self.terms)

    @property
    def is_plain(self) -> bool:
        """Is every block one part with one rect, with no extra pairs? Then the fast paths apply."""
        return (
            len(self.part_block) == len(self.rect_part) == self.blocks
            and not len(self.conflicts)
            and not len(self.exclusions)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Where every block is: its pool and its base offset there."""

    pool: Ints
    offset: Ints
