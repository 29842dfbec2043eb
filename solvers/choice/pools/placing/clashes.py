"""Where a choice of pools cannot be packed, although at each moment there is room: which few blocks are to blame, and a choice nearby without that.

The few classes that a pool has no room for together are a *clash*. Once it is known, the classes that live near it in time are chosen again, without it,
and everybody else keeps his pool. So what a choice loses until it can be packed is as little as what was wrong with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....model.instance import Ints, Placement
from ....model.solver import Goal
from .. import budget
from ..dearest_first import settled_in
from ..program.program import Pools, Program, classes_in_time
from ..questions.asking import Asking
from ..questions.question import Clash, Question
from .packing import Packing
from .slices import Slices, shortest

NEIGHBOURS = 10
"""So many classes before the first of a clash, and after the last, are chosen again with it."""


class Clashes:
    """The clashes found in one program so far. `number` is the class of each block."""

    def __init__(self, program: Program, number: Ints, asking: Asking, packing: Packing) -> None:
        self.found: tuple[Clash, ...] = ()
        self._program, self._number, self._asking, self._packing = program, number, asking, packing
        self._order = classes_in_time(program)
        self._rank = {group: n for n, group in enumerate(self._order)}

    @property
    def _work(self) -> int:
        return self._asking.work + self._packing.work

    def allow(self, pools: Pools) -> bool:
        """True if the choice keeps apart what is known to clash."""
        return all(any(pools[group] != pool for group in classes) for pool, classes in self.found)

    def placement(self, question: Question, pools: Pools, of_pool: int, work: int) -> Placement | None:
        """A placement of this choice, or of one nearby that answers the question almost as well; None if none was found within the work, `of_pool` for each."""
        end = self._work + work
        while self._asking.stop is None and self._work < end:
            pool_of = np.array(pools, dtype=np.int64)[self._number]
            placement, unfit = self._packing.pack(pool_of, frozenset(), max(min(of_pool, end - self._work), 1))
            if placement is not None:
                return placement
            clashes = [clash for pool in unfit for clash in self._clashes(pool, np.flatnonzero(pool_of == pool), end)]
            if not clashes:
                placement, _ = self._packing.pack(pool_of, frozenset(), 1)  # as far as it is known by now
                return placement
            self.found += tuple(clashes)
            better = self._again(question, pools, clashes, end)
            if better is None:
                return None
            pools = better
        return None

    def _clashes(self, pool: int, blocks: Ints, end: int) -> list[Clash]:
        """Clashes among these blocks of the pool; none where they are packed after all."""
        some = clash_among(self._packing, pool, blocks, end - self._work)
        found = [] if some is None else [some]
        if some is None and end > self._work:
            offset, found = Slices(self._packing, pool, blocks, end - self._work).settle()
            if offset is not None:
                self._packing.know(pool, blocks, offset)
        return [Clash(pool, tuple(np.unique(self._number[each]).tolist())) for each in found]

    def _again(self, question: Question, pools: Pools, clashes: list[Clash], end: int) -> Pools | None:
        """The choice nearby without any clash that is known: beside one clash after the other."""
        asked = replace(question, least=None, most=None, near=None, enough=None)
        for number, clash in enumerate(clashes):
            at = [self._rank[group] for group in clash.classes if group in self._rank]
            left = end - self._work
            if not at or left <= 0:
                return None
            chosen = set(self._order[max(min(at) - NEIGHBOURS, 0) : max(at) + NEIGHBOURS + 1])
            part = settled_in(self._program, {group: p for group, p in enumerate(pools) if group not in chosen})
            known = (*self.found[: len(self.found) - len(clashes)], *clashes[: number + 1])
            found = self._asking.ask(part, replace(asked, clashes=known), min(left, budget.CLASH_A_CLASS * len(chosen)))
            if found.pools is None:
                return None
            pools = found.pools
        return pools


def clash_among(packing: Packing, pool: int, blocks: Ints, work: int) -> Ints | None:
    """Some of these blocks for which the pool is proven to have no room, as few as are found within the work; None without such a proof."""
    end = packing.work + work

    def has_no_room(some: Ints) -> bool:
        packing.work += budget.ATTEMPT_AT_PROOF
        left = min(budget.PROOF_OF_CLASH, end - packing.work)
        return left > 0 and packing.outcome(pool, np.sort(some), Goal.FIT, left).infeasible

    if not has_no_room(blocks):
        return None
    blocks = shortest(blocks[np.argsort(packing.starts[blocks], kind="stable")], has_no_room)
    blocks = shortest(blocks[np.argsort(-packing.ends[blocks], kind="stable")], has_no_room)
    spare = blocks[np.argsort(packing.ends[blocks] - packing.starts[blocks], kind="stable")]
    for block in spare:
        rest = blocks[blocks != block]
        if has_no_room(rest):
            blocks = rest
    return blocks
