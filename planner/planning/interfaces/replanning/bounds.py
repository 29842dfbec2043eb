"""Lower bounds of peaks that are quick to find: what is live at one time, and what the certificates of the earlier plan still prove."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from solvers.kernels import active
from solvers.model.instance import Ints, Term
from solvers.model.outcome import Proof

from ....facts.possible_places import Places
from ....model.plan import PlanCertificate
from ....verifying.arguments.height import least_height, places_of
from .blocks import Blocks, InPool


class Bounds:
    """Certificates for one problem, some taken over from the earlier plan."""

    def __init__(self, blocks: Blocks, before: Sequence[PlanCertificate]) -> None:
        self._blocks, self._before = blocks, before
        self._sections: list[int] = []
        """The sections of the last pool in which more may be provable than the live bytes."""

    def of_all(self) -> PlanCertificate | None:
        """Return the bound of the sum of all peaks if blocks may use several pools: what is live at the busiest time."""
        blocks = self._blocks
        if blocks.groups or len(blocks.exclusions):
            return None
        lives = blocks.lives
        size = blocks.known.size[lives.part]
        value, section = active().kernels.max_live(lives.start, lives.end, size, lives.sections)
        if section is None:
            return None
        time = int(blocks.lives.times[section])
        weights = tuple((pool.name, time, 1, 1) for pool in blocks.problem.pools)
        return PlanCertificate(Proof.POOL_SHARING, value, None, time, (), weights, term=Term.SUM_OF_PEAKS)

    def share(self, here: InPool, together: PlanCertificate) -> PlanCertificate:
        """Return the pool's part of that for the chosen pools; it proves nothing."""
        blocks = self._blocks
        assert together.time is not None
        live = self._live(here, int(np.searchsorted(blocks.lives.times, together.time)))
        return PlanCertificate(Proof.LIVE_TOGETHER, int(blocks.known.size[live].sum()), here.pool.name)

    def of_choice(self, here: InPool) -> PlanCertificate:
        """Return what lives at one time in the pool with the chosen pools; it proves nothing of other choices."""
        size = self._blocks.known.size
        section = self._busiest(here, size[here.parts])
        value = 0 if section is None else int(size[self._live(here, section)].sum())
        return PlanCertificate(Proof.LIVE_TOGETHER, value, here.pool.name)

    def of_pool(self, here: InPool) -> PlanCertificate:
        """Return the bound of one pool whose contents can be nowhere else."""
        blocks, name = self._blocks, here.pool.name
        size = blocks.known.size[here.parts]
        grain = int(np.gcd.reduce(here.columns.modulus))
        padding = -size % grain
        section = self._busiest(here, size + padding)
        sections = [] if section is None else [section]
        found: list[PlanCertificate] = []
        for old in self._before:
            if old.pool != name:
                continue
            if old.proof is Proof.LIVE_TOGETHER and old.time is not None and not here.is_alike:
                there = int(np.searchsorted(blocks.lives.times, old.time, side="right")) - 1
                if 0 <= there < blocks.lives.sections and there != section and len(self._live(here, there)):
                    sections.append(there)
            elif old.proof is Proof.CONFLICT_CLIQUE:
                found += self._clique(here, old)
        found += [self._stacked(here, each) if here.is_single else self._measured(here, each) for each in sections]
        self._sections = [] if here.is_plain or not here.is_single else sections
        return max(found, key=lambda each: each.value, default=PlanCertificate(Proof.SINGLE_BLOCK, 0, name))

    def above(self, here: InPool, block: int, end: int) -> Iterator[PlanCertificate]:
        """Yield further certificates for a block that ends higher: it is fixed there, or what is live with it needs the room."""
        blocks = self._blocks
        parts = here.parts[here.columns.part_block == block]
        if here.columns.lowest[block] == here.columns.highest[block]:
            ids = (blocks.ids[int(parts[0])],)
            yield PlanCertificate(Proof.SINGLE_BLOCK, end, here.pool.name, buffers=ids)
        for section in reversed(self._sections):
            yield self._measured(here, section)
        if here.is_alike or not here.sections:
            return
        columns = here.columns
        size = (columns.part_high - columns.part_low)[columns.rect_part]
        load = np.zeros(here.sections + 1, dtype=np.int64)
        np.add.at(load, columns.rect_start, size)
        np.subtract.at(load, columns.rect_end, size)
        load = np.cumsum(load)[:-1]
        lives = np.zeros(here.sections, dtype=bool)
        for k in np.flatnonzero(columns.part_block[columns.rect_part] == block).tolist():
            lives[int(columns.rect_start[k]) : int(columns.rect_end[k])] = True
        if lives.any():
            section = int(np.argmax(np.where(lives, load, -1)))
            if section not in self._sections:
                yield self._stacked(here, section) if here.is_plain else self._measured(here, section)

    def _measured(self, here: InPool, section: int) -> PlanCertificate:
        live = self._apart(self._live(here, section))
        return self._at(here, section, least_height(self._known_places(), here.pool.name, live.tolist()), live)

    def _stacked(self, here: InPool, section: int) -> PlanCertificate:
        """Bound a section of single buffers by stacking them, as if nothing were in their way."""
        live = self._live(here, section)
        return self._at(here, section, self._stacked_height(here, live), live)

    def _stacked_height(self, here: InPool, live: Ints) -> int:
        size = self._blocks.known.size[live]
        padding = -size % np.gcd.reduce(here.columns.modulus[np.searchsorted(here.parts, live)])
        return int(size.sum() + padding.sum() - padding.max())

    def _at(self, here: InPool, section: int, least: int, live: Ints) -> PlanCertificate:
        time = int(self._blocks.lives.times[section])
        ids = tuple([self._blocks.ids[i] for i in live.tolist()])
        return PlanCertificate(Proof.LIVE_TOGETHER, least, here.pool.name, time, ids)

    def _clique(self, here: InPool, old: PlanCertificate) -> Iterator[PlanCertificate]:
        """Yield the old clique's bound, if its buffers all exist."""
        index = self._blocks.index
        assert old.pool is not None
        if all(id_ in index for id_ in old.buffers):
            live = np.array([index[id_] for id_ in old.buffers], dtype=np.int64)
            if here.is_plain and (self._blocks.pool[self._blocks.part_block[live]] == here.number).all():
                value = self._stacked_height(here, live)
            else:
                value = least_height(self._known_places(), old.pool, live.tolist())
            yield PlanCertificate(old.proof, value, old.pool, buffers=old.buffers)

    def _live(self, here: InPool, section: int) -> Ints:
        return self._blocks.lives.at(section, here.inside)

    def _apart(self, live: Ints) -> Ints:
        """Return buffers of which no two may share addresses, preferring larger ones."""
        pairs = self._blocks.exclusions
        if not len(pairs):
            return live
        kept = set(live.tolist())
        size = self._blocks.known.size
        for a, b in pairs.tolist():
            if a in kept and b in kept:
                kept.discard(b if size[a] >= size[b] else a)
        return np.array(sorted(kept), dtype=np.int64)

    def _known_places(self) -> Places:
        return places_of(self._blocks.problem)

    def _busiest(self, here: InPool, size: Ints) -> int | None:
        """Return the section with the most live bytes; None if nothing is live."""
        columns = here.columns
        if not len(columns.rect_part):
            return None
        weights = size[columns.rect_part]
        return active().kernels.max_live(columns.rect_start, columns.rect_end, weights, here.sections)[1]
