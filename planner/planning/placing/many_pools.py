"""Problems with too many buffers and pools for examining every pair of the two.

Solvers keep tables of buffers x pools. If these exceeded MOST_PLACES, a quick plan determines the pools that are needed, and solvers see
only these. What they prove holds for those pools, not for all, so bounds come from elsewhere: from what is live at the busiest time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from solvers.model.errors import StopReason
from solvers.model.instance import LINEAR_TERMS, Choice, Linear, Term

from ...facts.costs import access_cost, cost_of_moves, is_used, weighs_moves
from ...facts.digest import digest
from ...facts.possible_places import LOOKING, Places
from ...model.columns.buffers import BufferColumns
from ...model.columns.placements import peaks_of, pools_of
from ...model.columns.pools import cost_one_byte, costs_of, names_of, ranks_of
from ...model.columns.pools import sizes_of as sizes_of_pools
from ...model.deadline import WRITING_SECONDS, expect, finish, look
from ...model.plan import Objective, Placement, Plan, PlanStatus, PoolUse, TermValue, gap_to
from ...model.problem import Constraints, Problem
from .by_birth import plan_by_birth
from .easy_bounds import easy_bound
from .lifting import unproven_plan
from .lowering import FEW_POOLS, MOST_PLACES
from .time_to_finish import seconds_to_finish, seconds_to_write
from .watching import MOST_IN_A_HURRY

SPARE_POOLS = 8
"""The pools that solvers may choose besides those that the quick plan needs."""
LIFTING = 1.5
"""Lifting what solvers found takes this many times as long as writing it."""
SOLVER = "greedy"
"""The method that made the quick plan: it places one buffer after the other."""


class ManyPools:
    """Such a problem: its quick plan, its bound, and the part of it that solvers see."""

    def __init__(
        self, problem: Problem, stopped: Callable[[], StopReason | None], has_time: Callable[[float], bool]
    ) -> None:
        """`stopped` tells why nothing more should be prepared, `has_time` if solvers have any time if so many seconds are reserved."""
        self.problem = problem
        self._places = Places(problem)
        self._order = _in_order(problem)
        self._seconds_to_finish = seconds_to_finish(problem)
        self.seconds_after_solving = LIFTING * self._seconds_to_finish
        look(LOOKING)
        self._bound = easy_bound(problem, self._places)
        look(LOOKING)
        self._quick = None if self._bound.is_infeasible else plan_by_birth(self._places, self._order, stopped)
        self._stop = None if self._bound.is_infeasible else stopped()
        """Why there is no quick plan, or only a hasty one, if time was short."""
        if not self._bound.is_infeasible:
            self._expect_to_verify()
        self.part = self._part()
        is_long = len(self.part.buffers) > MOST_IN_A_HURRY
        if self._quick is not None and is_long and not has_time(self.seconds_after_solving):
            self.part, self._stop = self._nothing, self._stop or StopReason.TIME_LIMIT

    @property
    def start(self) -> Sequence[Placement]:
        """Return where the quick plan puts the buffers; nothing if there is none, or if it needs too many pools for solvers."""
        if self._quick is None or not self.part.buffers:
            return ()
        return self._quick

    def whole(self, made: Plan) -> Plan:
        """Return the plan of the whole problem from a plan of the part."""
        if self._bound.is_infeasible:
            return self._nothing_fits(made)
        look(LOOKING)
        best = made.placements if self.part.buffers and made.placements else None
        solver = made.solver
        if self._quick is not None and (best is None or self._worth(self._quick) < self._worth(best)):
            best, solver = self._quick, SOLVER
        if best is None:
            warning = "solvers looked at some of the pools only, for there are too many: that they found no plan proves nothing"
            stop = self._stop or made.stop
            is_repeatable = made.reproducible and stop.is_repeatable
            unknown = replace(made, stop=stop, reproducible=is_repeatable, warnings=(*made.warnings, warning))
            return self._with_bounds(unknown, PlanStatus.UNKNOWN, None)
        found = self._of(best)
        hasty = self._stop if best is self._quick else None
        found = replace(
            found,
            stop=hasty or made.stop,
            solver=solver or SOLVER,
            seed=made.seed,
            reproducible=made.reproducible and hasty is None,
            versions=made.versions,
            warnings=made.warnings,
        )
        return self._with_bounds(found, PlanStatus.FEASIBLE, found.objective.value)

    def _expect_to_verify(self) -> None:
        """Raise OutOfTime if a plan could no longer be verified in time."""
        if self._quick is not None:
            finish(self._seconds_to_finish)
        what = f"{len(self.problem.buffers)} buffers in {len(self.problem.pools)} pools"
        written_late = min(seconds_to_write(self.problem), WRITING_SECONDS)
        expect(self._seconds_to_finish - written_late, "verifying the plan of", what)

    def _part(self) -> Problem:
        """Return the problem with only the pools that the quick plan needs, and some more; without buffers if these are too many."""
        problem = self.problem
        most = max(MOST_PLACES // max(len(problem.buffers), 1), FEW_POOLS)
        if self._quick is None:
            kept = set() if self._bound.is_infeasible else self._needed_anyway()
        else:
            kept = pools_of(self._quick)
        if len(kept) > most or self._bound.is_infeasible:
            return self._nothing
        if self._quick is None:
            spare = most - len(kept)
        else:
            limited = {
                name
                for name, size in zip(names_of(problem.pools), sizes_of_pools(problem.pools), strict=True)
                if size is not None
            }
            spare = 0 if limited.isdisjoint(kept) else min(SPARE_POOLS, most - len(kept))
        for name in self._order:
            if not spare:
                break
            if name not in kept:
                kept.add(name)
                spare -= 1
        pools = tuple(problem.pools[p] for p, name in enumerate(names_of(problem.pools)) if name in kept)
        if isinstance(problem.buffers, BufferColumns):  # which list no pools
            return replace(problem, pools=pools)
        lists: dict[int, tuple[str, ...]] = {}
        buffers = []
        for buffer in problem.buffers:
            if buffer.pools is not None:
                named = lists.get(id(buffer.pools))
                if named is None:
                    named = lists[id(buffer.pools)] = tuple(name for name in buffer.pools if name in kept)
                buffer = replace(buffer, pools=named)
            buffers.append(buffer)
        return replace(problem, buffers=tuple(buffers), pools=pools)

    @property
    def _nothing(self) -> Problem:
        """Return a part without buffers."""
        return replace(self.problem, buffers=(), constraints=Constraints(), pools=self.problem.pools[:1])

    def _needed_anyway(self) -> set[str]:
        """Return the pools named where a buffer must be, and the first that each list allows."""
        needed = set()
        for buffer in self.problem.buffers:
            if buffer.fixed is not None:
                needed.add(buffer.fixed.pool)
            elif buffer.pools is not None:
                needed.add(buffer.pools[0])
        return needed

    def _nothing_fits(self, made: Plan) -> Plan:
        pools = _unused(self.problem)
        terms = tuple(TermValue(term, None, None) for term in self.problem.terms)
        return replace(
            made,
            status=PlanStatus.INFEASIBLE,
            stop=StopReason.PROVED,
            peak=None,
            bound=0,
            gap=None,
            objective=Objective(None, None, terms),
            pools=pools,
            placements=(),
            solver=None,
            reproducible=True,
            problem_digest=digest(self.problem),
            certificates=self._bound.certificates,
        )

    def _of(self, placements: Sequence[Placement]) -> Plan:
        """Return a plan with these placements that claims no bounds."""
        peaks = peaks_of(placements)
        look(LOOKING)
        values = self._values(placements, peaks)
        look(LOOKING)
        return unproven_plan(self.problem, placements, peaks, values, solver=SOLVER)

    def _with_bounds(self, made: Plan, status: PlanStatus, value: int | None) -> Plan:
        """Return the plan with the bounds of the whole problem; it is optimal if every term reaches its bound."""
        problem, bound = self.problem, self._bound
        terms = []
        for term, found in zip(problem.terms, made.objective.terms, strict=True):
            adds = LINEAR_TERMS.get(term, Linear())
            price = (problem.peak_price if adds.priced else 1) if adds.peaks else 0
            least = bound.largest if term is Term.LARGEST_PEAK else price * bound.sum_of_peaks
            terms.append(TermValue(term, None if value is None else found.value, least))
        pools = made.pools
        if value is None:
            pools = _unused(problem)
        is_best = value is not None and all(term.value == term.bound for term in terms)
        stop = made.stop
        if stop is StopReason.PROVED and not is_best:
            stop = StopReason.WORK_LIMIT  # these were proven only for the part
        return replace(
            made,
            status=PlanStatus.OPTIMAL if is_best else status,
            stop=StopReason.PROVED if is_best else stop,
            bound=bound.sum_of_peaks if cost_one_byte(problem.pools) else 0,
            gap=gap_to(terms[0].bound, value) if len(terms) == 1 else None,
            objective=Objective(value, terms[0].bound, tuple(terms)),
            pools=pools,
            placements=made.placements if value is not None else (),
            peak=None if value is None else made.peak,
            certificates=bound.certificates,
            problem_digest=digest(problem),
            shortage=None,
        )

    def _worth(self, placements: Sequence[Placement]) -> tuple[int, ...]:
        return self._values(placements, peaks_of(placements))

    def _values(self, placements: Sequence[Placement], peaks: Mapping[str, int]) -> tuple[int, ...]:
        """Return an integer for each term of the objective."""
        problem = self.problem
        dear = () if cost_one_byte(problem.pools) else (pool for pool in problem.pools if pool.cost != 1)
        of_peaks = sum(peaks.values()) + sum((pool.cost - 1) * peaks.get(pool.name, 0) for pool in dear)
        values = []
        for term in problem.terms:
            if term is Term.LARGEST_PEAK:
                values.append(max(peaks.values(), default=0))
            elif term in LINEAR_TERMS:
                values.append(self._linear(term, placements, of_peaks))
            else:
                values.append(_reuse_cost(placements, problem))
        return tuple(values)

    def _linear(self, term: Term, placements: Sequence[Placement], of_peaks: int) -> int:
        """Return the value of a linear term, given the sum of peaks, each times its pool's cost."""
        problem, pools, adds = self.problem, self._places.pools, LINEAR_TERMS[term]
        value = (problem.peak_price if adds.priced else 1) * of_peaks if adds.peaks else 0
        if adds.choice is not None:
            for buffer, place in zip(problem.buffers, placements, strict=True):
                if adds.choice is Choice.ACCESS and is_used(buffer):
                    value += access_cost(buffer, pools[place.pool])
                elif adds.choice is Choice.RANK:
                    value += buffer.size * pools[place.pool].rank
        if weighs_moves(problem):
            value += cost_of_moves(problem, {place.id: (place.pool, place.offset) for place in placements}, term)
        return value


def _unused(problem: Problem) -> tuple[PoolUse, ...]:
    """Return the pools of an answer without placements."""
    return (*map(PoolUse, names_of(problem.pools), sizes_of_pools(problem.pools), repeat(None), repeat(0)),)


def _reuse_cost(placements: Sequence[Placement], problem: Problem) -> int:
    at = {place.id: place for place in placements}
    cost = 0
    for penalty in problem.constraints.reuse_penalties:
        a, b = at[penalty.first], at[penalty.second]
        if a.pool == b.pool and min(a.offset + a.size, b.offset + b.size) > max(a.offset, b.offset):
            cost += penalty.cost
    return cost


def _in_order(problem: Problem) -> list[str]:
    """Return the pools, beginning with those in which a buffer adds least to the objective."""
    adds = LINEAR_TERMS.get(problem.terms[0], Linear())
    if adds.choice is not Choice.ACCESS:
        is_priced = adds.peaks and adds.choice is None
        ranks, names = ranks_of(problem.pools), names_of(problem.pools)
        costs = costs_of(problem.pools) if is_priced else [0] * len(names)
        return [names[number] for number in np.lexsort((ranks, costs)).tolist()]
    typical = max(filter(is_used, problem.buffers), key=lambda buffer: buffer.size, default=None)

    def cost(number: int) -> tuple[int, int, int]:
        pool = problem.pools[number]
        return 0 if typical is None else access_cost(typical, pool), pool.rank, number

    return [problem.pools[number].name for number in sorted(range(len(problem.pools)), key=cost)]
