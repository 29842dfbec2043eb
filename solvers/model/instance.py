"""The solvers' view of a problem: rigid blocks of address ranges, live in ranges of time, to be placed in pools.

A *block* moves as one. It consists of *parts*: address ranges at fixed distances from the block's base (a plain buffer is one part; views, slices and
concatenations in place add more). A part is live in one or several *rects*: half-open ranges of sections. A section is a stretch of time in which
nothing changes. Two parts of different blocks that are live in the same section must not share addresses of one pool, unless the pair is excluded;
parts of one block may. All numbers are exact int64, all addresses below ADDRESS_LIMIT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Numbers = TypeVar("Numbers", int, Ints)

ADDRESS_LIMIT = 1 << 62


class Term(StrEnum):
    """One quantity to minimise; an objective is a lexicographic list of them. Names of terms that count bytes end with `bytes`, `peak` or `peaks`."""

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
    """How a block's pool is charged, whatever the peaks."""

    ACCESS = "access"
    """The cost of the block's accesses there."""
    RANK = "rank"
    """The block's bytes times the pool's rank."""


class Moved(Enum):
    """What is counted for a buffer that has moved; the value is its column in `Was`."""

    BUFFERS = 0
    BYTES = 1


@dataclass(frozen=True, slots=True)
class Linear:
    """The sums that a term adds up: each block's cost in its pool, the pools' peaks times their costs, and what moved."""

    choice: Choice | None = None
    peaks: bool = False
    moved: Moved | None = None

    @property
    def priced(self) -> bool:
        """True if bytes of the peaks are weighted by the user's price against accesses or moved bytes."""
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
"""All terms except the largest peak and the cost of reuse. Solvers, bounds and the verifier read this table, so a new row needs no code there."""


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """One memory: its capacity in units (None: unlimited), its reserved address ranges, and the cost of a unit of its peak."""

    capacity: int | None = None
    reserved: tuple[tuple[int, int], ...] = ()
    """Half-open address ranges, sorted and disjoint."""
    cost: int = 1
    rank: int = 0
    """Position in the order of preference; pool 0 is used first."""
    step: int = 1
    """Its peak is counted in whole steps, of which all bases in it are multiples. Heights need not be multiples, except in an instance of one pool.

    So engines that know nothing of steps may be asked about one pool, but not about several: what they prove of the peaks would be wrong.
    """

    def whole(self, units: Numbers) -> Numbers:
        """So many units, rounded up to whole steps."""
        return -(-units // self.step) * self.step


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Further facts of the user's problem, for planners that copy another system exactly; no search needs them."""

    times: Ints
    """(T + 1) the time at which each section begins, and the end of the last; empty without sections."""
    pinned: Bools
    """(n) true if the user fixed the block's pool."""
    placed: Bools
    """(n) true if the user fixed its offset too. (A block that exactly fills its pool has only one place, but is not fixed by the user.)"""
    listed: Ints
    """(l, 2) asymmetric conflict lists: the list of the first part names the second, which may be the same. Empty if the lists are plain pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class Was:
    """The blocks' places in an older plan, and the cost of leaving them."""

    cost: Ints
    """(n, 2) buffers and bytes of each block that the older plan places; not scaled with the unit of addresses."""
    stays: Ints
    """(s, 5) block, pool, base, and how many of these buffers and bytes stay in place if the block is there. Only allowed places."""


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
    """(m) the part of each rect; rects of one part do not overlap or touch."""
    rect_start: Ints
    """(m) first section in which the part is live."""
    rect_end: Ints
    """(m) the section after the last in which it is live."""

    allowed: Bools
    """(n, P) true if the block may be in the pool."""
    modulus: Ints
    """(n, P) the block's base in this pool is congruent to residue modulo this."""
    residue: Ints
    """(n, P) 0 <= residue < modulus."""
    lowest: Ints
    """(n, P) the least allowed base in this pool, congruent to residue."""
    highest: Ints
    """(n, P) the greatest allowed base (inclusive), congruent too, within capacity and horizon; equal to lowest if fixed."""
    access_cost: Ints
    """(n, P) the cost of having the block in this pool, for the access_cost term."""

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
    """(r, 3) pairs of parts and the cost if they share addresses of one pool."""

    hint: Ints
    """(n) the offset that the user prefers, where `hinted`."""
    hinted: Bools
    """(n) true where `hint` is set."""
    input_rank: Ints
    """(n) the block's position in the user's order."""
    name_rank: Ints
    """(n) the block's position by name, for planners that break ties by it."""
    source: Source | None = None
    """Set only in an instance as lowered, not in its pieces."""
    peak_price: int = 1
    """The weight of the cost-weighted sum of peaks against accesses (balanced term) or moved bytes (stability term)."""
    was: Was | None = None
    """None if no term counts moved blocks or there is no older plan."""

    @property
    def blocks(self) -> int:
        return len(self.allowed)

    @property
    def block_high(self) -> Ints:
        """(n) the end of each block, counted from its base."""
        high = np.zeros(self.blocks, dtype=np.int64)
        np.maximum.at(high, self.part_block, self.part_high)
        return high

    def end_of(self, offset: Ints) -> int:
        """Where the highest block ends, with these bases."""
        return int((offset + self.block_high).max(initial=0))

    @property
    def class_number(self) -> Ints:
        """(n) the number of each block's class, counted without gaps in the order of `pool_class`."""
        number: Ints = np.unique(self.pool_class, return_inverse=True)[1].reshape(-1)
        return number

    @property
    def first_of_class(self) -> Ints:
        """(n) the first block that must share a pool with each."""
        _, first, number = np.unique(self.pool_class, return_index=True, return_inverse=True)
        found: Ints = first[number.reshape(-1)]
        return found

    @property
    def has_one_home(self) -> Bools:
        """(n) true if the block may be in only one pool."""
        one_home: Bools = self.allowed.sum(axis=1) == 1
        return one_home

    @property
    def has_choice(self) -> bool:
        """True if some block may be in more than one pool."""
        return bool((self.allowed.sum(axis=1) > 1).any())

    @property
    def weighs_reuse(self) -> bool:
        """True if the objective counts the cost of sharing addresses and there are penalties."""
        return Term.REUSE_COST in self.terms and len(self.penalties) > 0

    @property
    def weighs_moves(self) -> bool:
        """True if the objective counts what moved."""
        return self.was is not None and any(LINEAR_TERMS.get(term, Linear()).moved is not None for term in self.terms)

    @property
    def is_plain(self) -> bool:
        """True if every block is one part with one rect, without extra pairs. Then the fast paths apply."""
        return (
            len(self.part_block) == len(self.rect_part) == self.blocks
            and not len(self.conflicts)
            and not len(self.exclusions)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The pool and base offset of every block."""

    pool: Ints
    offset: Ints

    @classmethod
    def in_one_pool(cls, offset: Ints | Sequence[int]) -> Placement:
        """Return the placement of all blocks in the first pool, which is mostly the only one."""
        offset = np.asarray(offset, dtype=np.int64)
        return cls(np.zeros(len(offset), dtype=np.int64), offset)
