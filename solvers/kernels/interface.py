"""What a set of kernels promises: the inner loops of the solvers, arrays in, arrays out.

There are two sets, each behind these functions: native/ in C++ (compiled as solvers.kernels._native) for speed, and python/ in plain Python for
machines without a compiler and as the oracle of the tests. They make the same decisions one by one, so the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from ..model.errors import SolverError
from ..model.instance import ADDRESS_LIMIT, Instance, Ints
from .columns import Columns

Report: TypeAlias = Callable[[Ints | None], bool]
"""Called every few milliseconds, with better offsets if there are any; true stops the kernel."""

SearchReport: TypeAlias = Callable[[Ints | None, int], bool]
"""The same, with the bound."""


class Hurry(IntEnum):
    """How urgent it is to finish placing by birth."""

    NO = 0
    LATE = 1
    """What is left goes to pools that nobody has been in yet, or gets no room."""
    GIVE_UP = 2


class Rooms(NamedTuple):
    """Pools in the order in which they are tried. All of int64 and contiguous, one number a pool but for `taken`."""

    end: Ints
    alignment: Ints
    base: Ints
    entered: Ints
    """1: somebody has a place there already."""
    taken: Ints
    """Ranges that are not free: pool, low, high, one after the other, by pool and address."""


class Units(NamedTuple):
    """Groups that must share a pool, unit by unit in the order in which they are placed: by their births, but for those that are fixed.

    All of int64 and contiguous. Rows of several numbers stand one after the other; `…_begin` says where each begins, and last where all end.
    """

    birth: Ints
    death: Ints
    """What ends when another begins makes room for it."""
    group_begin: Ints
    listed: Ints
    """The pools that the unit may be in: 0 all, 1 the first list, and so on."""
    set_begin: Ints
    sets: Ints
    """Units of one set are in different pools."""
    height: Ints
    """Here and below, one number a group."""
    modulus: Ints
    residue: Ints
    """It begins where its base and that of its pool together leave this residue; or only where they are it, if the modulus is 0."""
    stride: Ints
    """What its members' distances have in common, which the pool's alignment must divide; 0: there is one member."""
    most: Ints
    """The greatest base."""
    fixed: Ints
    """The base that is decided, whose range is taken; -1: none."""
    list_begin: Ints
    list_pools: Ints


class BadKernelInput(SolverError):
    """Arguments that break a kernel's contract: a fault of the caller, not of the problem."""


class TooLarge(SolverError):
    """There are more conflicting pairs, or members of cliques, than the search may list."""


class Kernels(Protocol):
    """All kernels. `sections` and `columns` are an instance of one pool (columns.py); offsets are one a block.

    Where the arguments make no sense they raise BadKernelInput.
    """

    def max_live(self, starts: Ints, ends: Ints, weights: Ints, sections: int) -> tuple[int, int | None]:
        """The largest sum of weights live in one section, and the first section where it occurs; (0, None) without sections.

        Weight i counts in the sections starts[i] <= s < ends[i]. The weights must add up to less than 2^62, so that no sum overflows.
        """

    def apart(self, starts: Ints, ends: Ints, pools: Ints, lows: Ints, highs: Ints) -> bool:
        """Has no address of a pool two rects at any time? Empty rects cover nothing."""

    def by_birth(
        self, rooms: Rooms, units: Units, tries: int, late_tries: int, ask: Callable[[bool], int]
    ) -> tuple[Ints, Ints] | None:
        """The pool of each unit and the base of each group: each unit in turn goes to the first pool with room. None if one finds none.

        `ask` is called every now and then and may raise; with true, after so many tries in vain, it says whether there is a Hurry. From then on
        `late_tries` pools that nobody has been in are tried for each unit.
        """

    def greedy(
        self,
        sections: int,
        columns: Columns,
        passes: Sequence[tuple[str, str]],
        start: Ints | None,
        enough: int | None,
        threads: int,
        work: int | None,
        report: Report,
    ) -> tuple[Ints | None, int]:
        """Of every component the best placement that the passes find: (offsets, or None if a component fits nowhere, work).

        A pass is an order and a fit, by name (fitting/orders.py). Of a component, the pass wins that ends lowest, where all ends up to `enough` are
        alike, and among equals the earlier one; so the answer depends on neither the number of threads nor their speed. A stop is heeded, but a first
        placement is finished in a hurry. The limit of work is for Python alone: native passes are over before it would matter, and count none.
        """

    def greedy_orders(self) -> list[str]:
        """The names of all orders."""

    def greedy_order(self, sections: int, columns: Columns, order: str) -> Ints:
        """The blocks in this order, fixed ones first."""

    def greedy_place(
        self, sections: int, columns: Columns, order: Ints, fit: str, hurries: Callable[[], bool] | None = None
    ) -> Ints | None:
        """Offsets of blocks placed one after the other; None if one fits nowhere.

        `hurries` is asked every now and then; from when it is true on, what is left is stacked on top where it can be.
        """

    def improve(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """Lowers the peak of a placement by ejection: offsets that are no worse than those of the start, and the work done.

        It ends at a peak of `enough`. Work is in about microseconds of the native kernel, as in those that follow.
        """

    def beam(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """The same for plain blocks, by sweeping through time."""

    def gluing(
        self, sections: int, columns: Columns, start: Ints, enough: int, seed: int, work: int, report: Report
    ) -> tuple[Ints, int]:
        """The same for plain blocks, by joining pieces until one is left."""

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

        Of the threads so many work as the one number of `active_threads` says, which may change meanwhile. The answer depends on neither.
        It ended "proved", "fits", "impossible", "work" or "stopped". Raises TooLarge where more than max_pairs pairs would have to be listed.
        """


class Sizes(NamedTuple):
    """The largest instances that a set of kernels takes; None: of any size."""

    sections: int | None
    """There are fewer sections,"""
    addresses: int | None
    """and all parts together end below this."""
    improve_pairs: int | None
    """Most conflicting pairs of an instance to be improved."""
    beam_blocks: int | None
    """Of more blocks no sweep would end in time."""
    search_pairs: int
    """Most conflicting pairs that the search lists where blocks are of several rectangles or pairs are given. Plain blocks need no list of pairs,
    and may be members of three times as many cliques."""

    def hold(self, instance: Instance) -> bool:
        """Are the instance's numbers of this size?"""
        if self.sections is not None and instance.sections >= self.sections:
            return False
        return self.addresses is None or float(instance.part_high.sum(dtype=np.float64)) < self.addresses


NATIVE_SIZES = Sizes(
    sections=1 << 31,
    addresses=ADDRESS_LIMIT // 2,
    improve_pairs=None,  # it lists none
    beam_blocks=None,
    search_pairs=20_000_000,
)
PYTHON_SIZES = Sizes(
    sections=None,
    addresses=None,
    improve_pairs=400_000,
    beam_blocks=300,
    search_pairs=500_000,  # each takes more memory, and it would not get far with more
)
