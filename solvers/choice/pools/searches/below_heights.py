"""Where earlier terms hold the peaks and pools are crowded: heights from the fullest sections, and below them choices that the linear program mostly decides.

The program below given heights is as hard as any with many classes live at a time, so only a core of it is asked about. Heights are tried until a choice is
found, and then further ones with what was dear among the first; the best of these is left to a search for the room that gaps take.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from .. import budget
from ..prices.crowds import Relaxed
from ..program.program import Pools, Program, settled_in
from ..questions.question import Question
from .core import CoreSearch
from .fullest import FULL, ROUNDS, FullestFirst
from .peaks import Choice
from .stretches import first_stretch

MOST_KEPT = 4
"""If the classes at full sections are no more than such a part of all, they are chosen first all together: then all others fit; with more, hardly a gap fits."""
ROUNDS_OF_CROWDS = 2
"""Of the linear program below heights."""


class Below(NamedTuple):
    """Heights, with the choices below them."""

    tops: tuple[int, ...]
    core: CoreSearch
    """The search for one. Its stretches are room that is lost to gaps, where some is free."""
    cost: int
    """What one of them costs."""
    begun: Pools | None
    """One that leaves much room for gaps."""


class HeightSearch(FullestFirst):
    """The search for one term, with the earlier ones held by the question."""

    def best_below(self, relaxed: Relaxed, work: int) -> Below | None:
        """The heights below which the other classes cost least; None if there was no choice below any."""
        end, best = self._asking.work + work, None
        full = self._at_full_sections()
        if not full <= self._first and len(full) * MOST_KEPT <= len(self._program.homes):
            self._add_fullest()
        for _ in range(ROUNDS):
            if self._asking.is_over(end):
                break
            each = max(end - self._asking.work, 1) // budget.PART_OF_HEIGHTS
            found = self.heights(dict(relaxed.of_rows), each)
            core = None if found is None else self._core(*found, end - self._asking.work)
            if found is None or core is None:
                break
            begun = core.choice(Question(0, stretch=first_stretch(self._program)), each // 2)
            pools = begun or core.choice(Question(0, stretch=(0,) * len(found[0])), each // 2)
            if pools is None:
                if not self._add_fullest():
                    break
                continue
            below = Below(found[0], core, core.value(pools), begun)
            if best is None or below.cost < best.cost:
                best = below
            if not self._add_beside_dearest(Choice(below.cost, below.tops, pools), relaxed):
                break
        return best

    def _core(self, tops: tuple[int, ...], kept: dict[int, int], work: int) -> CoreSearch | None:
        """The search for choices of the one term below these heights, with these classes in their pools."""
        rooms = tuple(room._replace(capacity=top) for room, top in zip(self._program.rooms, tops, strict=True))
        terms = (self._program.terms[self._question.term],)

        @cache
        def wasting(stretch: tuple[int, ...]) -> Program:
            self.stretch = list(stretch)
            self._asking.work += self._program.entries // budget.SETTLED_A_UNIT
            return settled_in(replace(self._wasting(tops, kept), rooms=rooms, terms=terms), kept)

        part = wasting((0,) * len(tops))
        relaxed = self._asking.relax(part, (), work, ROUNDS_OF_CROWDS)
        return (
            None if relaxed is None else CoreSearch(self._asking, part, 0, relaxed, wasting, self._at_full_sections())
        )

    def _at_full_sections(self) -> set[int]:
        """The classes live at all sections that are as full as those whose classes keep their pools."""
        full = np.flatnonzero(self._live * 1000 >= int(self._live.max()) * FULL)
        return set().union(*(self._classes(section) for section in full.tolist()))
