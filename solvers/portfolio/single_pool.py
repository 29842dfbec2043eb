"""A single pool whose peak is minimised: counted from its floor in the greatest unit, and cut into components that are solved one by one.

The pool's peak is the greatest of its components' peaks, so a component is done as soon as it ends no higher than the pool's bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..bounds.conflicts.weights import has_hidden_conflicts, weighed_conflicts
from ..bounds.one_pool import pool_bound
from ..geometry.presolve import Piece, above, cut, floor_of, restrict, scaled, unit
from ..geometry.simpler import below, raised, throughout, with_ranges
from ..heuristics.core import core_weight
from ..model.conflicts import components, live_pair_count
from ..model.instance import ADDRESS_LIMIT, Bools, Instance, Ints, Numbers, Placement, Term
from ..model.outcome import Certificate, Proof
from ..model.solver import never
from .execute import Earnings
from .kinds import Kind, kind_of

MOST_DOUBLINGS = 2
"""An engine's share doubles at most so often."""


@dataclass
class Component:
    """Blocks that influence only each other."""

    piece: Piece
    """Cut from the pool's scaled instance."""
    bound: int
    """Proven least peak, in the pool's units."""
    placement: Placement | None = None
    """Within the capacity, in the pool's units; None as long as none is known."""
    peak: int | None = None
    above: Placement | None = None
    """The lowest that is known above the capacity, as long as none within it is: what lowers peaks begins with it."""
    earnings: Earnings = field(default_factory=lambda: Earnings(MOST_DOUBLINGS))
    """What each engine has found here."""
    turns: int = 0
    """In how many rounds engines worked on it, without the short one."""
    had_short_turn: bool = False

    @property
    def blocks(self) -> int:
        return self.piece.instance.blocks

    @cached_property
    def pairs(self) -> int:
        """How many pairs of rectangles are live together, or in conflict whatever their lifetimes."""
        return live_pair_count(self.piece.instance) + len(self.piece.instance.conflicts)

    @cached_property
    def fill(self) -> int:
        """The percentage of the room below the bound that is in use; blocks of several rectangles count by their outlines."""
        instance = self.piece.instance
        span = int(instance.rect_end.max(initial=0) - instance.rect_start.min(initial=instance.sections))
        heights = instance.block_high[instance.part_block[instance.rect_part]]
        lives = instance.rect_end - instance.rect_start
        if int(heights.max(initial=0)) * int(lives.sum()) < ADDRESS_LIMIT:
            used = int(heights @ lives)
        else:
            used = sum(height * life for height, life in zip(heights.tolist(), lives.tolist(), strict=True))
        return 100 * used // max(self.bound * span, 1)

    @cached_property
    def core(self) -> int:
        """The percentage of the room in use that its few largest blocks take."""
        return core_weight(self.piece.instance)

    @cached_property
    def is_limited(self) -> bool:
        """Must some block that can move end below where others may?"""
        instance = self.piece.instance
        is_free = instance.lowest < instance.highest
        ends = instance.highest + instance.block_high[:, None]
        return bool((ends + instance.modulus)[is_free].min(initial=ADDRESS_LIMIT) <= ends.max(where=is_free, initial=0))

    @cached_property
    def hides_conflicts(self) -> bool:
        """Is who conflicts with whom not simply who is live with whom?"""
        return has_hidden_conflicts(self.piece.instance)

    @cached_property
    def sizes(self) -> int:
        """How many different heights its blocks have."""
        return len(np.unique(self.piece.instance.block_high))

    @cached_property
    def kind(self) -> Kind:
        return kind_of(self.piece.instance)

    @property
    def best_peak(self) -> int | None:
        """The lowest peak that is known, if need be above the capacity."""
        return self.peak if self.above is None else self.peak_of(self.above)

    @cached_property
    def uncapped(self) -> Instance:
        """Its instance without the capacity."""
        return without_capacity(self.piece.instance)

    def peak_of(self, placement: Placement) -> int:
        """The end of the placement's highest block."""
        return self.piece.instance.end_of(placement.offset)


class SinglePool:
    """A single pool's blocks, what is known of their peak, and the components still open."""

    def __init__(
        self,
        cut: Piece,
        stopped: Callable[[], object] = never,
        *,
        is_quick: bool = False,
        whole: Instance | None = None,
    ) -> None:
        """With `is_quick` the bound is a cheap one, until `measure` is called. `whole`: the same pool, where it ends higher than it need be looked at."""
        pool, blocks = int(cut.pools[0]), cut.blocks
        single = replace(cut.instance, terms=(Term.SUM_OF_PEAKS,), pools=(replace(cut.instance.pools[0], cost=1),))
        self.number = pool
        self.blocks = blocks
        self.settled: Ints = blocks[:0]
        """Blocks that need the pool at all times: they have their places, and the others work around them."""
        self.settled_at: Ints = blocks[:0]
        open_ones = single
        if (always := throughout(single)) is not None:
            self.blocks, self.settled = blocks[~always.blocks], blocks[always.blocks]
            self.settled_at = always.offset[always.blocks]
            ends = self.settled_at + single.block_high[always.blocks]
            rest = restrict(single, np.flatnonzero(~always.blocks), [0], squeeze=False)
            ranges = list(zip(self.settled_at.tolist(), ends.tolist(), strict=True))
            open_ones = with_ranges(rest.instance, ranges)
        self.floor = floor_of(open_ones)
        """Addresses count from here: below it all is reserved."""
        lifted = above(open_ones, self.floor)
        self.unit = unit(lifted)
        self.instance = scaled(lifted, self.unit)
        self._cut, self._whole, self._is_quick, self._own_end = cut, whole or single, is_quick, whole is None
        self._bound_by(stopped if not is_quick else lambda: True)
        self.capacity = self.instance.pools[0].capacity
        self.offset: Ints = np.zeros(len(self.blocks), dtype=np.int64)
        """A base for every block that is placed, in the pool's units."""
        self.placed = np.zeros(len(self.blocks), dtype=bool)
        self.open: list[Component] = []
        self._hopeless = self._has_first = False

    def address(self, units: Numbers) -> Numbers:
        """The address that is so many units above the floor."""
        return units * self.unit + self.floor

    def in_units(self, address: Numbers) -> Numbers:
        """How many units above the floor the address is."""
        return (address - self.floor) // self.unit

    def moved(self, offset: Ints) -> Ints:
        """The bases of its blocks, in units, in a placement of all: what is settled changes places with all that is below it."""
        at, was = offset[self.blocks], offset[self.settled]
        heights = self._cut.instance.block_high[np.isin(self._cut.blocks, self.settled)]
        order = np.argsort(was, kind="stable")
        above = np.append(np.cumsum(heights[order][::-1])[::-1], 0)
        is_free = bool((was != self.settled_at).any())
        moved: Ints = at + above[np.searchsorted(was[order], at, side="right")] if is_free else at
        return self.in_units(moved)

    def _bound_by(self, stopped: Callable[[], object]) -> None:
        found = pool_bound(self._whole, 0, stopped=stopped)
        assert found is not None, "every pool has blocks, and all of them are forced into its pool"
        self._take(found)

    def _take(self, found: Certificate) -> None:
        """Take a proof about the pool as it was cut."""
        self.certificate = replace(
            found,
            pool=self.number,
            section=None if found.section is None else int(self._cut.sections[found.section]),
            parts=self._of_whole(found.parts),
            sets=tuple((self._of_whole(parts), amount, of) for parts, amount, of in found.sets),
        )
        # The certificate is no proof of the next unit, if it ends between two: where fixed blocks overlap, or the pool is looked at below its end.
        self.bound = max(self.in_units(found.value), 0)

    def _of_whole(self, parts: Sequence[int]) -> tuple[int, ...]:
        """The numbers of the parts in the whole instance."""
        return tuple(self._cut.parts[list(parts)].tolist())

    def weigh(self, work: int, stopped: Callable[[], object] = never) -> int:
        """Look for a better bound by weights of what conflicts, and return the work that took."""
        if not has_hidden_conflicts(self._whole):
            return 0
        enough = None if self.peak is None else self.address(self.peak)
        found, spent = weighed_conflicts(self._whole, 0, self.certificate.value, enough, work, stopped)
        if found is not None and self.in_units(found.value) > self.bound:
            self._take(found)
        return spent

    def measure(self, stopped: Callable[[], object]) -> None:
        """Work out the bound, if that has been left out."""
        if self._is_quick:
            self._is_quick = False
            self._bound_by(stopped)

    @property
    def impossible(self) -> bool:
        """True if it is proven that the blocks do not fit."""
        return self._hopeless or (self.capacity is not None and self.bound > self.capacity)

    def give_up(self, solver: str | None) -> None:
        """Note that a solver proved that a component fits nowhere."""
        self._hopeless = True
        if self.capacity is None or not self._own_end:
            self.certificate = Certificate(Proof.SEARCH, 0, solver=solver)
            return
        self.bound = max(self.bound, self.capacity + 1)
        self.certificate = Certificate(Proof.SEARCH, self.address(self.bound), self.number, solver=solver)

    @property
    def peak(self) -> int | None:
        """In units; None unless every block is placed."""
        return self.instance.end_of(self.offset) if self.placed.all() else None

    @property
    def done(self) -> bool:
        return self.peak is not None and self.peak <= self.bound

    def uncapped(self) -> Instance:
        """The instance without its capacity, so that components that fit are found even if others do not."""
        return without_capacity(self.instance)

    def fits(self, offset: Ints) -> bool:
        """True if this placement keeps to the capacity."""
        return self.capacity is None or self.instance.end_of(offset) <= self.capacity

    def accept(self, offset: Ints, stopped: Callable[[], object] = never, *, is_last: bool = False) -> None:
        """Take a first placement of the uncapped instance: components that end above the bound become open. Once stopped, no component gets a bound of its own.

        If it is the last placement as well, it needs no components, unless it ends above the capacity.
        """
        self.offset, self._has_first = offset, True
        if self.instance.end_of(offset) <= self.bound or (is_last and self.fits(offset)):
            self.placed[:] = True
            return
        label = components(self.instance)
        top = np.zeros(self.instance.blocks, dtype=np.int64)
        np.maximum.at(top, label, offset + self.instance.block_high)
        self.placed = (top <= self.capacity)[label] if self.capacity is not None else np.ones(len(offset), dtype=bool)
        self._open(label, top > self.bound, stopped)

    def split_all(self, stopped: Callable[[], object] = never) -> None:
        """Open every component, without a first placement."""
        label = components(self.instance)
        self._open(label, np.ones(len(label), dtype=bool), stopped)

    def _open(self, label: Ints, wanted: Bools, stopped: Callable[[], object]) -> None:
        """Open the components whose labels are wanted."""
        order = np.argsort(label, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
        chosen = [blocks for blocks in groups if len(blocks) and wanted[label[blocks[0]]]]
        if chosen and stopped():  # no engine will work on them one by one
            every = np.sort(np.concatenate(chosen))
            chosen = [part for part in (every[self.placed[every]], every[~self.placed[every]]) if len(part)]
        self.open = [self._component(piece, stopped) for piece in cut(self.instance, chosen, 0)]

    def _component(self, piece: Piece, stopped: Callable[[], object]) -> Component:
        blocks = piece.blocks
        bound = self.bound
        if len(blocks) < len(self.blocks) or piece.instance.sections < self.instance.sections:
            found = pool_bound(piece.instance, 0) if not stopped() else None
            bound = 0 if found is None else found.value
        first = Placement.in_one_pool(self.offset[blocks])
        if not self.placed[blocks].all():
            return Component(piece, bound, above=first if self._has_first else None)
        peak = piece.instance.end_of(first.offset)
        return Component(piece._replace(instance=below(piece.instance, peak)), bound, first, peak)

    def improve(self, component: Component, placement: Placement, peak: int) -> bool:
        """Take a better placement of a component; False if it is no better, or ends above the capacity: then it is only a start."""
        known = component.best_peak
        if known is not None and peak >= known:
            return False
        if self.capacity is not None and peak > self.capacity:
            component.above = placement
            return False
        component.placement, component.peak, component.above = placement, peak, None
        self.offset = self.offset.copy()
        self.offset[component.piece.blocks] = placement.offset
        self.placed[component.piece.blocks] = True
        return True

    def refute(self, component: Component, bound: int, solver: str) -> bool:
        """Take a component's higher bound, proven by a solver; true if it raises the pool's bound."""
        component.bound = max(component.bound, bound)
        if component.bound <= self.bound or self.impossible:
            return False
        self.raise_to(self.address(component.bound), solver)
        return True

    def raise_to(self, address: int, solver: str | None) -> None:
        """Take a higher bound, proven by a solver."""
        self.bound = max(self.bound, -((self.floor - address) // self.unit))
        self.certificate = Certificate(Proof.SEARCH, self.address(self.bound), self.number, solver=solver)
        if self.impossible and not self._own_end:
            self.give_up(solver)

    def begin_above(self, address: int, proof: Certificate) -> None:
        """Take the bound that follows from a proof that all blocks do not fit below a range: a search's, or an argument about the whole pool, which says more."""
        if proof.proof is Proof.SEARCH:
            self.raise_to(address, proof.solver)
        elif self.in_units(proof.value) > self.bound:
            self.bound, self.certificate = self.in_units(proof.value), proof

    def close(self) -> None:
        """Forget the components that no longer matter."""
        self.open = [c for c in self.open if c.peak is None or c.peak > self.bound]


def without_capacity(instance: Instance) -> Instance:
    """The instance of one pool without the pool's capacity."""
    capacity = instance.pools[0].capacity
    if capacity is None:
        return instance
    roof = (
        int(instance.lowest.max(initial=0))
        + int((instance.block_high + instance.modulus[:, 0]).sum())
        + max((end for _, end in instance.pools[0].reserved), default=0)
    )
    lifted = raised(instance, capacity, min(roof, ADDRESS_LIMIT - 1))
    return replace(lifted, pools=(replace(instance.pools[0], capacity=None),))
