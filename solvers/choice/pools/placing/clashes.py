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
from ..program.entries import classes_in_time
from ..program.program import Pools, Program, settled_in
from ..questions.asking import Asking
from ..questions.question import Clash, Question
from .in_turn import NEVER, InTurn
from .packing import Packing
from .slices import MOST_BLOCKS, Slices, shortest

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
            blocks_of = {pool: np.flatnonzero(pool_of == pool) for pool in unfit}
            few = [pool for pool, blocks in blocks_of.items() if len(blocks) <= MOST_BLOCKS]
            clashes = [clash for pool in few for clash in self._clashes(pool, blocks_of[pool], end)]
            if not clashes:
                many = {pool: blocks for pool, blocks in blocks_of.items() if pool not in few}
                return self._in_turn(question.term, pool_of, many, end)
            self.found += tuple(clashes)
            better = self._again(question, pools, clashes, end)
            if better is None:
                return None
            pools = better
        return None

    def _clashes(self, pool: int, blocks: Ints, end: int) -> list[Clash]:
        """Clashes among these blocks of the pool; none where they are packed after all, or one of them is too high for it by itself."""
        if not self._packing.instance.allowed[blocks, pool].all():
            return []
        some = clash_among(self._packing, pool, blocks, end - self._work)
        found = [] if some is None else [some]
        if some is None and end > self._work:
            offset, found = Slices(self._packing, pool, blocks, end - self._work).settle()
            if offset is not None:
                self._packing.know(pool, blocks, offset)
        return [Clash(pool, tuple(np.unique(self._number[each]).tolist())) for each in found]

    def _in_turn(self, term: int, pool_of: Ints, blocks_of: dict[int, Ints], end: int) -> Placement | None:
        """The choice with these pools packed slice by slice; what has no room is elsewhere."""
        out = dict[int, list[int]]()
        for pool, blocks in blocks_of.items():
            packed = InTurn(self._packing, pool, blocks, end - self._work, self._leaving(term, pool)).packed()
            if packed is not None:
                self._packing.know(pool, blocks, packed.offset)
                out[pool] = packed.out.tolist()
        placement, _ = self._packing.pack(pool_of, frozenset(), 1)  # as far as it is known by now
        for pool, some in out.items():
            if some:
                self._packing.know(pool, blocks_of[pool], None)
            for block in some:
                placement = None if placement is None else self._moved(term, placement, block)
        return placement

    def _leaving(self, term: int, pool: int) -> Ints:
        """What each block loses if it leaves the pool for its next best; those that must stay with others, or apart from others, never do."""
        program, alone = self._program, np.bincount(self._number) == 1
        alone[np.array(program.apart, dtype=np.int64).reshape(-1)] = False
        loss = np.full(len(alone), NEVER)
        for group in np.flatnonzero(alone).tolist():
            due = dict(zip(program.homes[group], program.terms[term].of_homes[group], strict=True))
            if pool in due and len(due) > 1:
                loss[group] = min(cost for other, cost in due.items() if other != pool) - due[pool]
        found: Ints = loss[self._number]
        return found

    def _moved(self, term: int, placement: Placement, block: int) -> Placement | None:
        """The placement with this block where it costs least, of the other pools that have room for it beside all that is there."""
        group, program = int(self._number[block]), self._program
        here = int(placement.pool[block])
        due = zip(program.homes[group], program.terms[term].of_homes[group], strict=True)
        for _, pool in sorted((cost, pool) for pool, cost in due if pool != here):
            pools = placement.pool.copy()
            pools[block] = pool
            found = self._packing.beside(pool, np.array([block]), pools, placement.offset, None)
            if found is not None:
                offset = placement.offset.copy()
                offset[found[0]] = found[1]
                return Placement(pools, offset)
        return None

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
