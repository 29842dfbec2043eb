"""The functions that a set of kernels provides: arrays in, arrays out.

There are two sets: native/ in C++ (compiled as solvers.kernels._native) for speed, and python/ for machines without a compiler and as the tests'
reference. Both make the same decisions in the same order, so their answers are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..model.errors import SolverError
from ..model.instance import ADDRESS_LIMIT, Instance, Ints
from .columns import Columns

Floats: TypeAlias = npt.NDArray[np.float64]

Report: TypeAlias = Callable[[Ints | None], bool]
"""Called every few milliseconds, with better offsets if there are any; returning true stops the kernel."""

SearchReport: TypeAlias = Callable[[Ints | None, int], bool]
"""The same, with the current lower bound as second argument."""


class Hurry(IntEnum):
    """How placing by birth goes on when time is short."""

    NO = 0
    LATE = 1
    """Each remaining unit is tried only in pools that are still unused; if it fits in none, placing fails."""
    GIVE_UP = 2


class Rooms(NamedTuple):
    """The pools, in the order in which they are tried: contiguous int64 arrays, all but `taken` with one number per pool."""

    end: Ints
    alignment: Ints
    base: Ints
    entered: Ints
    """1 if the pool already holds a block."""
    taken: Ints
    """The occupied ranges as triples (pool, low, high), sorted by pool and address."""


class Units(NamedTuple):
    """The units in the order in which they are placed: fixed ones first, then by birth. A unit is the groups that must share a pool.

    Contiguous int64 arrays. Rows of different lengths are concatenated; `…_begin` holds the index at which each row begins and, last, the total
    length.
    """

    birth: Ints
    death: Ints
    """The room of a unit that dies when another is born can be reused by the other."""
    group_begin: Ints
    listed: Ints
    """Number of the unit's list of allowed pools; 0 means all pools."""
    set_begin: Ints
    sets: Ints
    """The sets that the unit belongs to. Units of one set are in different pools."""
    height: Ints
    """From here on, one number per group."""
    modulus: Ints
    residue: Ints
    """The sum of the group's base and its pool's base is `residue` modulo `modulus`; with modulus 0, it equals `residue`."""
    stride: Ints
    """The gcd of the distances between the group's members, which the pool's alignment must divide; 0 if there is one member."""
    most: Ints
    """The greatest allowed base."""
    fixed: Ints
    """The fixed base, whose range is in `taken`; -1 if the group is free."""
    list_begin: Ints
    list_pools: Ints


class Homes(NamedTuple):
    """What holds of each block in each pool, block by block, and then of pools and blocks: contiguous flat int64 arrays."""

    cost: Ints
    """Not negative; all together are 2^52 at most."""
    lowest: Ints
    highest: Ints
    """The least and the greatest base; a block may not be where the greatest is below the least."""
    modulus: Ints
    residue: Ints
    endless: Ints
    """(P) 1 where whoever comes finds room: addresses there are not looked at."""
    taken: Ints
    """Ranges where nobody comes: triples (pool, low, high)."""
    stays: Ints
    """(n) 1 for a block that is not moved."""


class Divisions(NamedTuple):
    """Where some divisions of what is live begin to be followed: contiguous flat int64 arrays."""

    classes: Ints
    """Those that are there."""
    chosen: Ints
    """The pool of each of them, division by division."""
    room: Ints
    """What is left in each pool then."""


class Course(NamedTuple):
    """What happens to divisions, step by step: contiguous flat int64 arrays."""

    always: Ints
    """How much more is taken in each pool in any case."""
    begin: Ints
    """Index of the first change of each step, and last their number. Those that come are the last changes of a step."""
    kind: Ints
    """A Change each."""
    who: Ints
    more: Ints
    """How much more that class takes in each pool."""


class Change(IntEnum):
    """What happens to a class."""

    OTHER = 0
    """It only takes more or less."""
    GOES = 1
    COMES = 2


class BadKernelInput(SolverError):
    """Arguments that break a kernel's contract: a fault of the calling code, not of the problem."""


class TooLarge(SolverError):
    """There are more conflicting pairs, or more members of cliques, than the search may list."""


class Kernels(Protocol):
    """All kernels. `sections` and `columns` describe an instance with one pool (columns.py); offsets are one number per block.

    Arguments that break the contract raise BadKernelInput.
    """

    def max_live(self, starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]:
        """The largest sum of weights live in one section, and the first section where it occurs; (0, None) without sections.

        Weight i counts in the sections starts[i] <= s < ends[i]. The weights must add up to less than 2^62, so that no sum overflows.
        """

    def apart(self, starts: Ints, ends: Ints, pools: Ints, lows: Ints, highs: Ints) -> bool:
        """True if no two rects of a pool cover the same address at the same time. Empty rects cover nothing."""

    def by_birth(
        self, rooms: Rooms, units: Units, tries: int, late_tries: int, ask: Callable[[bool], int]
    ) -> tuple[Ints, Ints] | None:
        """The pool of each unit and the base of each group, or None if a unit fits nowhere. Each unit in turn goes to the first pool with room.

        `ask(False)` is called regularly and may raise. After `tries` failed tries `ask(True)` is called regularly; it returns a Hurry. After LATE, at
        most `late_tries` unused pools are tried for each unit.
        """

    def greedy(
        self,
        sections: int,
        columns: Columns,
        passes: Sequence[tuple[str, str]],
        start: Ints | None,
        enough: int | None,
        threads: int,
        report: Report,
    ) -> Ints | None:
        """The best placement of each component over all passes; None if a component fits nowhere.

        A pass is an order and a fit, by name (fitting/orders.py). For each component the pass with the lowest peak wins; all peaks up to `enough`
        count as equal, and of equals the earlier pass wins. So the answer does not depend on the number or the speed of threads. A stop ends the
        kernel, but a first placement is completed quickly. Passes are not counted as work: the native ones take hardly any time.
        """

    def greedy_orders(self) -> list[str]:
        """The names of all orders."""

    def greedy_order(self, sections: int, columns: Columns, order: str) -> Ints:
        """The blocks in this order, fixed ones first."""

    def greedy_place(
        self, sections: int, columns: Columns, order: Ints, fit: str, hurries: Callable[[], bool] | None = None
    ) -> Ints | None:
        """Offsets of the blocks, placed in this order; None if one fits nowhere.

        `hurries` is called regularly; once it returns true, the remaining blocks are stacked on top where possible.
        """

    def greedy_fill(
        self, sections: int, columns: Columns, order: Ints, fit: str, hurries: Callable[[], bool] | None = None
    ) -> tuple[Ints, Ints]:
        """The same where not all need fit: (offsets, the blocks left out, in order). Once it hurries, what cannot be stacked on top is left out."""

    def improve(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """Lowers the peak of a placement by ejecting and replacing blocks: (offsets that are no worse than the start, work).

        It ends at a peak of `enough`. Here and below, work is given in approximate microseconds of the native kernel.
        """

    def displace(
        self,
        sections: int,
        columns: Columns,
        homes: Homes,
        pool: Ints,
        offset: Ints,
        seed: int,
        work: int,
        report: Report,
    ) -> tuple[Ints, Ints, int]:
        """Lowers what it costs to have blocks in their pools: (pools, offsets, work). The start is valid but for pools without an end.

        Of the columns, those of one number for each block are not read: `homes` says that pool by pool. `report` gets no offsets.
        """

    def follow(
        self,
        pools: int,
        divisions: Divisions,
        course: Course,
        cost: Floats,
        most: int,
        with_pools: bool,
        report: Report,
    ) -> tuple[Ints, Floats, Ints, int]:
        """Follows choices below the heights of divisions: (the divisions that are left, what the cheapest choice of each costs, its pools, work).

        A choice goes on with a class that comes in each pool that has room for it, at the `cost` of that class and pool, infinite where it may not be. Once there
        are more than `most`, only the cheapest of each division go on, as many of each. Of choices that do not differ any more only the cheapest goes on. The pools
        are those of each class, division by division, -1 if it does not come; there are none unless they are wanted. After a stop no division is left.
        """

    def beam(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """The same for plain blocks, by a beam search that sweeps through time."""

    def gluing(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """The same for plain blocks, by joining pieces until one is left."""

    def glued_pieces(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, Ints, int]:
        """The same with the pieces, in which the blocks stay: (offsets, parents, work).

        The parent of each block, and then of each piece of several, is the number of the piece that it is part of, -1 if it is part of none. There are no
        parents if nothing better than the start is found.
        """

    def search(
        self,
        sections: int,
        columns: Columns,
        bound: int,
        incumbent: int | None,
        fit: bool,
        seed: int,
        threads: int,
        work: int | None,
        max_pairs: int,
        report: SearchReport,
        active_threads: Ints | None = None,
    ) -> tuple[str, Ints | None, int, int, int]:
        """Searches for the least peak: (how it ended, offsets better than the incumbent's or None, bound, nodes, work).

        `active_threads` holds one number: how many of the threads work; it may change during the search. The answer does not depend on either number.
        The search ends as "proved", "fits", "impossible", "work" or "stopped". Raises TooLarge if it would have to list more than max_pairs pairs.
        """


class Sizes(NamedTuple):
    """The largest instances that a set of kernels takes; None means no limit."""

    sections: int | None
    """The number of sections is below this."""
    addresses: int | None
    """The sum of all parts' upper ends is below this."""
    improve_pairs: int | None
    """The most conflicting pairs of an instance that `improve` takes."""
    beam_blocks: int | None
    """With more blocks a sweep of the beam would take too long."""
    search_pairs: int
    """The most conflicting pairs that the search lists, where blocks have several rectangles or pairs are given.

    Plain blocks need no list of pairs: they may be members of eight times as many cliques, less 23 for each block.
    """

    def hold(self, instance: Instance) -> bool:
        """True if the instance is within the limits of sections and addresses."""
        if self.sections is not None and instance.sections >= self.sections:
            return False
        return self.addresses is None or float(instance.part_high.sum(dtype=np.float64)) < self.addresses


NATIVE_SIZES = Sizes(
    sections=1 << 31,
    addresses=ADDRESS_LIMIT // 2,
    improve_pairs=None,  # the native kernel lists no pairs
    beam_blocks=None,
    search_pairs=4_000_000,  # with the memberships, 0.5 GiB; eight times as many members of plain blocks, 0.7 GB
)
PYTHON_SIZES = Sizes(
    sections=None,
    addresses=None,
    improve_pairs=400_000,
    beam_blocks=300,
    search_pairs=500_000,  # each pair takes more memory, and a larger search would not get far
)
