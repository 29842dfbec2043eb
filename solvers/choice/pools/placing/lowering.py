"""Lowers the pools of a placement: who is live where they are too high is chosen again, by the same program, and packed beside all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ....model.objective import peaks
from ..program.program import Row
from ..questions.question import Question
from .packing import work_of_piece
from .windows import NEIGHBOURS, STRETCHES, WINDOWS, Windows, cost_of, first_question, stretched


class Lowering(Windows):
    """Of one placement."""

    def lower(self, index: int, tops: tuple[int, ...], work: int) -> tuple[int, ...]:
        """Choose anew where pools are higher than these tops, for the least of a term, the earlier ones no worse; the tops that are kept to then."""
        end = self.work + work
        for around in NEIGHBOURS:
            for members, of_these in self._in_turn(tops, around, end):
                tops = self._lower(index, members, tops, of_these)
        self._pack_whole(tops, end)
        return tuple(map(max, tops, peaks(self._instance, self.placement)))

    def fit(self, index: int, tops: tuple[int, ...], work: int) -> None:
        """Choose anew where pools are higher than these tops, as far as that goes: a choice must end below them, and be cheap only among those that do."""
        end = self.work + work
        for around in NEIGHBOURS:
            for members, of_these in self._in_turn(tops, around, end):
                self._fit(index, members, tops, of_these)

    def _in_turn(self, tops: tuple[int, ...], around: int, end: int) -> Iterator[tuple[list[int], int]]:
        """Who is chosen anew together where pools are higher than these tops, with so many more on each side, and the work for them."""
        clusters = list(self._clusters(tops))
        for done, members in enumerate(clusters):
            left = end - self.work
            if left <= 0 or self._asking.stop is not None:
                return
            yield self._with_neighbours(members, around), left // (len(clusters) - done)

    def too_high(self, tops: tuple[int, ...]) -> list[int]:
        """The sections at which pools are higher than these tops."""
        return [row.section for row in self._high_rows(tops)]

    def _high_rows(self, tops: tuple[int, ...]) -> Iterator[Row]:
        """The rows of pools that are higher than the tops there, in all or by a block that ends too high."""
        ends = self._offset + self._instance.block_high
        pool_of = np.array(self._pools, dtype=np.int64)[self._number]
        high = set(self._number[ends > np.array(tops)[pool_of]].tolist())
        for n, row in enumerate(self._program.rows):
            room = self._program.rooms[row.pool]
            is_high = bool(self._loads[n] > room.below(tops[row.pool]) + room.spare)
            if is_high or any(group in high and self._pools[group] == row.pool for group, _ in row.members):
                yield row

    def _clusters(self, tops: tuple[int, ...]) -> Iterator[list[int]]:
        """Who is live where pools are higher than the tops: those who live together in time, and no more than are chosen anew at once."""
        found: list[int] = []
        for row in self._high_rows(tops):
            here = [group for group, _ in row.members if len(self._program.homes[group]) > 1]
            if here and found and (len({*found, *here}) > WINDOWS[-1] or not {*found} & {*here}):
                yield list(dict.fromkeys(found))
                found = []
            found += here
        if found:
            yield list(dict.fromkeys(found))

    def _pack_whole(self, tops: tuple[int, ...], end: int) -> None:
        """Pack pools anew that are too high only because of gaps, each as a whole, where there is work left for that."""
        placement = self.placement
        for pool, (peak, top) in enumerate(zip(peaks(self._instance, placement), tops, strict=True)):
            here = np.flatnonzero(placement.pool == pool)
            if peak > top and self.work + work_of_piece(len(here)) <= end:
                found = self._packing.beside(pool, here, placement.pool, self._offset, top)
                if found is not None:
                    self._offset = self._offset.copy()
                    self._offset[found[0]] = found[1]

    def _lower(self, index: int, members: list[int], tops: tuple[int, ...], work: int) -> tuple[int, ...]:
        """The tops below which these are now; the same if nothing was found."""
        part, near = self._part(index, members)
        costs = tuple(cost_of(term, part.homes, near) for term in part.terms[:index])
        rooms = tuple(room._replace(lowest=top) for room, top in zip(part.rooms, tops, strict=True))
        last = part.terms[index]._replace(of_peaks=self._program.terms[index].of_peaks)
        part = replace(part, rooms=rooms, terms=(*part.terms[:index], last))
        end, stretch = self.work + work, [0] * len(rooms)
        chosen, lowest = dict[int, int](), tops
        for step in (0, *STRETCHES):
            if not chosen:
                question = Question(index, held=costs, stretch=tuple(stretch), near=near if not step else None)
                pools = self._asking.ask(part, question, max(end - self.work, 1)).pools
                if pools is None:
                    break
                chosen, lowest = dict(zip(members, pools, strict=True)), part.least_tops(pools)
            raised = tuple(top + top * step // 1000 for top in lowest)
            missed = self._pack(chosen, raised, {*near, *chosen.values()})
            if not missed:
                return tuple(map(max, tops, raised))
            for p in missed:
                end_of_pool = rooms[p].capacity
                if end_of_pool is not None and raised[p] >= end_of_pool:  # no room is gained by raising it
                    stretch[p], chosen = step, {}
        return tops

    def _fit(self, index: int, members: list[int], tops: tuple[int, ...], work: int) -> None:
        """Choose and pack these anew below the tops; where they cannot be packed, with more room left."""
        part, near = self._part(index, members)
        end, stretch = self.work + work, [0] * len(part.rooms)
        first = replace(first_question(index, part, near, tops), most=None)
        while self.work < end:
            question = replace(first, stretch=tuple(stretch))
            pools = self._asking.ask(part, question, max(end - self.work, 1)).pools
            if pools is None:
                return
            chosen = dict(zip(members, pools, strict=True))
            missed = self._pack(chosen, tops, {*near, *chosen.values()})
            if not missed or not stretched(stretch, missed, STRETCHES):
                return
