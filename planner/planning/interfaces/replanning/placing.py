"""Places all blocks again, in the order of their earlier addresses and in their earlier pools, a few times at most; then searches.

A result at its lower bound is as good as any plan; otherwise it is a start for others. Where it counts which pool a buffer is in, the best choice
is looked for without addresses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from solvers.choice.over_time import TooMany, best_choice
from solvers.choice.pools.runs.standing import NAME
from solvers.fitting.orders import Fit
from solvers.kernels import active
from solvers.kernels.interface import TooLarge
from solvers.model.errors import StopReason
from solvers.model.instance import Ints, Term
from solvers.model.outcome import Proof, Value

from ....facts.costs import in_late_pools
from ....facts.digest import digest
from ....model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, Run, TermValue, gap_to
from ....model.problem import DEFAULT_TERMS, Problem
from ....model.versions import machine, versions
from .blocks import Blocks, InPool, is_covered
from .bounds import Bounds
from .worth import Worth, choosing_of

TRIES = 4
"""Attempts; blocks that end too high are placed first in the next one."""
SEED, WORK_OF_SEARCH, MOST_PAIRS = 0, 6_000, 100_000
"""After the attempts, a search of about two milliseconds looks for something lower."""
PLACING, SEARCHING = "greedy", "search"
"""The methods named as a plan's solver."""


def placed_again(problem: Problem, before: Plan, seed: int) -> Plan | None:
    """Return a plan, if this finds one; it still has to be verified. `before` tells where buffers were; new ones come last."""
    if not is_covered(problem) or {use.name for use in before.pools} != {pool.name for pool in problem.pools}:
        return None
    run = _Run(problem, before, seed)
    if not run.blocks.has_choice:
        return run.in_only_pools()
    together = run.bounds.of_all()
    if together is None:
        return None
    if run.worth.weighs_pools:
        return run.in_best_pools(together)
    made = run.in_old_pools(together)
    is_tie = made is not None and problem.terms == DEFAULT_TERMS
    return None if made is None or (is_tie and in_late_pools(problem, made) > in_late_pools(problem, before)) else made


class _Placed(NamedTuple):
    """All blocks' offsets in their pools."""

    offset: Ints
    proven: Sequence[tuple[int, PlanCertificate]]
    """The pools that hold something, with what is known of their peaks."""
    solver: str


class _Run:
    def __init__(self, problem: Problem, before: Plan, seed: int) -> None:
        self.begun, self.seed, self.problem = time.monotonic(), seed, problem
        self.blocks = Blocks(problem, before.placements)
        self.bounds = Bounds(self.blocks, before.certificates)
        self.worth = Worth(problem)

    def in_only_pools(self) -> Plan | None:
        """Return the plan if each block has only one pool."""
        found = self._placed(self.bounds.of_pool, self.bounds)
        if found is None:
            return None
        bounds = [0] * len(self.problem.pools)
        for number, least in found.proven:
            bounds[number] = least.value
        proven = self.worth.values(self._pools(), self.worth.of_peaks(bounds))
        return self._plan(found, proven, [least for _, least in found.proven], sum(bounds))

    def in_old_pools(self, together: PlanCertificate) -> Plan | None:
        """Return the plan if only the sum of peaks counts: what lives at one time proves it, whatever pools that is in."""
        found = self._placed(lambda here: self.bounds.share(here, together), None)
        if found is None:
            return None
        proven = self.worth.values(self._pools(), together.value)
        return self._plan(found, proven, [together], together.value)

    def in_best_pools(self, together: PlanCertificate) -> Plan | None:
        """Return the plan with the old choice of pools or, if another is better, with the best; None if neither is proven to be the best."""
        pools_cost_one = all(pool.cost == 1 for pool in self.problem.pools)
        asked = choosing_of(self.blocks, self.worth, together.value if pools_cost_one else 0)
        found = self._placed(self.bounds.of_choice, None, keeps_size=False)
        value = None if found is None else self._values(found)
        try:
            best = best_choice(asked, value)
        except TooMany:
            return None
        if best is not None:
            self.blocks.pool, value = best.pool, best.value
            found = self._placed(self.bounds.of_choice, None, keeps_size=False)
        if found is None or value is None or value != self._values(found):
            return None
        is_first = self.problem.terms[0] is Term.SUM_OF_PEAKS
        bound = (value[0] if is_first else together.value) if pools_cost_one else 0
        least = asked.at_least(int(asked.least.sum()))
        proofs = [together] if pools_cost_one else []
        for term, reached, low in zip(self.problem.terms, value, least, strict=True):
            if reached > low:
                proofs.append(PlanCertificate(Proof.SEARCH, reached, term=term, solver=NAME))
        return self._plan(found, value, proofs, bound)

    def _placed(
        self, least_of: Callable[[InPool], PlanCertificate], bounds: Bounds | None, *, keeps_size: bool = True
    ) -> _Placed | None:
        blocks, solver = self.blocks, PLACING
        offset = np.zeros(len(blocks.first), dtype=np.int64)
        proven = []
        for p in range(len(self.problem.pools)):
            here, room = blocks.in_pool(p, keeps_size=keeps_size), self.problem.pools[p].size
            if here is None:
                return None
            if not len(here.blocks):
                continue
            placed, least, way = _lowest(here, least_of(here), bounds)
            if placed is None or (room is not None and int((placed + here.height).max()) > room):
                return None
            offset[here.blocks] = placed
            proven.append((p, least))
            solver = way if way == SEARCHING else solver
        return _Placed(offset, proven, solver)

    def _pools(self) -> Ints:
        """Return the pool of each buffer."""
        pools: Ints = self.blocks.pool[self.blocks.part_block]
        return pools

    def _peaks(self, found: _Placed) -> list[int]:
        blocks, pools = self.blocks, self._pools()
        end = found.offset[blocks.part_block] + blocks.part_low + blocks.known.size
        return [int(end[pools == p].max(initial=0)) for p in range(len(self.problem.pools))]

    def _values(self, found: _Placed) -> Value:
        return self._values_of(self._peaks(found))

    def _values_of(self, peaks: Sequence[int]) -> Value:
        return self.worth.values(self._pools(), self.worth.of_peaks(peaks))

    def _plan(self, found: _Placed, proven: Value, proofs: Sequence[PlanCertificate], bound: int) -> Plan:
        """Return the plan with these places. `proven` is the bound of each term, `bound` that of the sum of peaks."""
        problem, blocks = self.problem, self.blocks
        low, size, pool = found.offset[blocks.part_block] + blocks.part_low, blocks.known.size, self._pools()
        names = [each.name for each in problem.pools]
        is_other = low != blocks.offset
        is_other[[*blocks.new]] = True
        if len(names) > 1:
            had = zip(blocks.had, pool.tolist(), strict=True)
            is_other |= [old is None or old.pool != names[p] for old, p in had]
        places: list[Placement | None] = [*blocks.had]
        for i in is_other.nonzero()[0].tolist():
            places[i] = Placement(blocks.ids[i], names[pool[i]], int(low[i]), int(size[i]))
        of_pool = {each.pool: each.value for each in proofs}
        peaks = self._peaks(found)
        values = self._values_of(peaks)
        terms = tuple(map(TermValue, problem.terms, values, proven))
        is_optimal = values == proven
        return Plan(
            status=PlanStatus.OPTIMAL if is_optimal else PlanStatus.FEASIBLE,
            stop=StopReason.PROVED if is_optimal else StopReason.WORK_LIMIT,
            peak=sum(peaks),
            bound=bound,
            gap=gap_to(proven[0], values[0]) if len(terms) == 1 else None,
            objective=Objective(values[0], proven[0], terms),
            pools=tuple(
                PoolUse(each.name, each.size, peak, of_pool.get(each.name, 0))
                for each, peak in zip(problem.pools, peaks, strict=True)
            ),
            placements=tuple([place for place in places if place is not None]),
            solver=found.solver,
            seed=self.seed,
            reproducible=False,
            versions=versions(()),
            problem_digest=digest(problem),
            certificates=tuple(proofs),
            run=Run(round(time.monotonic() - self.begun, 6), (), machine()),
        )


def _lowest(here: InPool, least: PlanCertificate, bounds: Bounds | None) -> tuple[Ints | None, PlanCertificate, str]:
    """Return the lowest offsets found, a certificate of the bound, and the method; None if none were found."""
    columns, order = here.columns, here.order
    best: Ints | None = None
    lowest = 0
    for attempt in range(TRIES):
        offset = active().kernels.greedy_place(here.sections, columns, order, Fit.LOWEST)
        if offset is None:
            break
        end = offset + here.height
        top = int(end.max())
        if not attempt and bounds is not None and top > least.value:
            highest = int(np.argmax(end))
            for other in bounds.above(here, highest, top):
                least = max(least, other, key=lambda each: each.value)
                if least.value == top:
                    break
        if top <= least.value:
            return offset, least, PLACING
        if best is None or top < lowest:
            best, lowest = offset, top
        is_high = end[order] > least.value
        order = np.concatenate([order[is_high], order[~is_high]])
    searched = None if best is None else _searched(here, lowest, least)
    return (best, least, PLACING) if searched is None else (searched, least, SEARCHING)


def _searched(here: InPool, top: int, least: PlanCertificate) -> Ints | None:
    """Return offsets that end below the top, if a short search finds any."""
    selection = active()
    try:
        _, offset, *_ = selection.kernels.search(
            sections=here.sections,
            columns=here.columns,
            bound=least.value,
            incumbent=top,
            fit=False,
            seed=SEED,
            threads=1,
            work=WORK_OF_SEARCH,
            max_pairs=MOST_PAIRS,
            report=lambda *_: False,
        )
    except TooLarge:
        return None
    return offset
