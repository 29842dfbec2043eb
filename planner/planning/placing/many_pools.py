"""Problems of so many buffers and pools that not every pair of the two can be looked at.

Solvers keep tables of buffers x pools. Where these would be larger than MOST_PLACES, a quick plan says which pools are needed, and solvers see
these alone. What they prove holds of those pools, not of all, so the bounds here are others: what is live at the busiest time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from solvers.model.errors import StopReason
from solvers.model.instance import LINEAR_TERMS, Choice, Linear, Term
from solvers.model.outcome import Proof

from ...facts.costs import access_cost, cost_of_moves, is_used
from ...facts.digest import digest
from ...facts.intervals import merged
from ...facts.places import Places
from ...model.deadline import in_time, look
from ...model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, TermValue, gap_to
from ...model.problem import Buffer, BufferId, Constraints, Problem
from .by_birth import plan_by_birth
from .lifting import unproven_plan
from .lowering import FEW_POOLS, MOST_PLACES

LOOKING = "looking at the pools of"
LOOK_EVERY = 128
"""Buffers: each may have to be held against all pools."""
SPARE_POOLS = 8
"""Beside the pools that the quick plan needs, solvers get as many more to choose from."""
SOLVER = "greedy"
"""Who made the quick plan: it places one buffer after the other."""


class _Bound(NamedTuple):
    """What is proven of the whole problem."""

    certificates: tuple[PlanCertificate, ...] = ()
    sum_of_peaks: int = 0
    """Each peak times its pool's cost."""
    is_infeasible: bool = False


class ManyPools:
    """Such a problem: its quick plan, what is proven of it, and the part of it that solvers see."""

    def __init__(self, problem: Problem, stopped: Callable[[], StopReason | None]) -> None:
        self.problem = problem
        self._places = Places(problem)
        self._order = _in_order(problem)
        self._lists: dict[int, tuple[str, ...]] = {}
        """By identity."""
        self._equal: dict[tuple[str, ...], tuple[str, ...]] = {}
        look(LOOKING)
        self._bound = self._refusal() or self._busiest()
        look(LOOKING)
        quick = None if self._bound.is_infeasible else plan_by_birth(self._places, self._order, stopped)
        self._quick = (
            None
            if quick is None
            else tuple(Placement(buffer.id, *quick[i], buffer.size) for i, buffer in enumerate(problem.buffers))
        )
        self._stop = None if self._bound.is_infeasible else stopped()
        """Why there is no quick plan, or a hasty one, if there was no time for it."""
        look(LOOKING)
        self.part = self._part()

    @property
    def start(self) -> Plan | None:
        """The quick plan as one of the part; None if there is none, or if it needs more pools than solvers can look at."""
        if self._quick is None or not self.part.buffers:
            return None
        return self._of(self._quick, self.part)

    def whole(self, made: Plan) -> Plan:
        """The answer, from what was made of the part."""
        if self._bound.is_infeasible:
            return self._nothing_fits(made)
        best = made.placements if self.part.buffers and made.placements else None
        solver = made.solver
        if self._quick is not None and (
            best is None or self._values(self._quick, self.problem) < self._values(best, self.problem)
        ):
            best, solver = self._quick, SOLVER
        if best is None:
            warning = "solvers looked at some of the pools only, for there are too many: that they found no plan proves nothing"
            stop = self._stop or made.stop
            is_repeatable = made.reproducible and stop.is_repeatable
            unknown = replace(made, stop=stop, reproducible=is_repeatable, warnings=(*made.warnings, warning))
            return self._with_bounds(unknown, PlanStatus.UNKNOWN, None)
        found = self._of(best, self.problem)
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

    def _part(self) -> Problem:
        """The same buffers with the pools that the quick plan needs, and some more; no buffers at all if these are too many."""
        problem = self.problem
        most = max(MOST_PLACES // max(len(problem.buffers), 1), FEW_POOLS)
        if self._quick is None:
            kept = set() if self._bound.is_infeasible else self._needed_anyway()
        else:
            kept = {place.pool for place in self._quick}
        sizes = {pool.name: pool.size for pool in problem.pools}
        if len(kept) > most or self._bound.is_infeasible:
            return replace(problem, buffers=(), constraints=Constraints(), pools=problem.pools[:1])
        if self._quick is None:
            spare = most - len(kept)
        else:
            spare = min(SPARE_POOLS, most - len(kept)) if any(sizes[name] is not None for name in kept) else 0
        for name in self._order:
            if not spare:
                break
            if name not in kept:
                kept.add(name)
                spare -= 1
        pools = tuple(pool for pool in problem.pools if pool.name in kept)
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

    def _needed_anyway(self) -> set[str]:
        """Pools that are named where a buffer must be, and the first that each list allows."""
        needed = set()
        for buffer in self.problem.buffers:
            if buffer.fixed is not None:
                needed.add(buffer.fixed.pool)
            elif buffer.pools is not None:
                needed.add(buffer.pools[0])
        return needed

    def _refusal(self) -> _Bound | None:
        """Proof that nothing fits, where it is easy to see."""
        places, problem = self._places, self.problem
        for i, buffer in enumerate(problem.buffers):
            if i % LOOK_EVERY == 0 or (buffer.pools is not None and len(buffer.pools) > LOOK_EVERY):
                look(LOOKING)
            if places.is_homeless(i):
                certificate = PlanCertificate(Proof.SINGLE_BLOCK, buffer.size, buffers=(buffer.id,))
                return _Bound((certificate,), is_infeasible=True)
        look(LOOKING)
        for group in problem.constraints.different_pool:
            crowd = self._crowd(group)
            if crowd:
                certificate = PlanCertificate(Proof.TOO_FEW_POOLS, len(crowd), buffers=crowd)
                return _Bound((certificate,), is_infeasible=True)
        for names, members in self._by_list().items():
            look(LOOKING)
            refusal = self._too_much(names, members)
            if refusal is not None:
                return refusal
        return None

    def _crowd(self, group: Sequence[BufferId]) -> tuple[BufferId, ...]:
        """Members that are more than all the pools there are, or more than the list of pools that each of them has."""
        if len(group) > len(self.problem.pools):
            return tuple(group[: len(self.problem.pools) + 1])
        of_list: dict[tuple[str, ...], list[BufferId]] = {}
        for id_ in group:
            names = self.problem.buffers[self._places.index[id_]].pools
            if names is not None:
                mine = of_list.setdefault(self._alike(names), [])
                mine.append(id_)
                if len(mine) > len(names):
                    return tuple(mine)
        return ()

    def _alike(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """One and the same list for all that are equal; to compare long lists takes long, and most buffers have the very same."""
        known = self._lists.get(id(names))
        if known is None:
            known = self._lists[id(names)] = self._equal.setdefault(names, names)
        return known

    def _by_list(self) -> dict[tuple[str, ...], list[Buffer]]:
        """The buffers that share their bytes with nobody, by the list of pools that they have."""
        found: dict[int, list[Buffer]] = {}
        lists: dict[int, tuple[str, ...]] = {}
        for buffer in self._alone():
            if buffer.pools is not None:
                names = self._alike(buffer.pools)
                lists[id(names)] = names
                found.setdefault(id(names), []).append(buffer)
        return {lists[key]: members for key, members in found.items()}

    def _alone(self) -> list[Buffer]:
        """The buffers that have bytes at some time, and share none of them."""
        problem, places = self.problem, self._places
        shared = {places.index[id_] for pair in problem.constraints.exclusions for id_ in pair}
        shared.update(i for i in range(len(problem.buffers)) if len(places.group(i).members) > 1)
        return [buffer for i, buffer in enumerate(problem.buffers) if i not in shared and buffer.live and buffer.size]

    def _too_much(self, names: Sequence[str], members: Sequence[Buffer]) -> _Bound | None:
        """Proof that nothing fits, if at some time these need more than all of their pools have."""
        sizes = [self._places.pools[name].size for name in names]
        room = sum(size or 0 for size in sizes)
        busiest, most = _busiest_time(members)
        if None in sizes or busiest is None or most <= room:
            return None
        ids = tuple(b.id for b in members if any(start <= busiest < end for start, end in b.live or ()))
        weights = tuple((name, busiest, 1, 1) for name in names)
        certificate = PlanCertificate(Proof.POOL_SHARING, most - room, time=busiest, buffers=ids, weights=weights)
        return _Bound((certificate,), is_infeasible=True)

    def _busiest(self) -> _Bound:
        """What is live at the busiest time needs room somewhere, wherever that is cheapest."""
        problem, alone = self.problem, self._alone()
        busiest, most = _busiest_time(alone)
        if busiest is None:
            return _Bound()
        look(LOOKING)
        ids = tuple(b.id for b in alone if any(start <= busiest < end for start, end in b.live or ()))
        cost = min(pool.cost for pool in problem.pools)
        weights = tuple((pool.name, busiest, max(cost, 1), 1) for pool in problem.pools)
        room = None
        if all(pool.size is not None for pool in problem.pools):
            room = sum(pool.size or 0 for pool in problem.pools)
        if room is not None and most > room:
            missing = (most - room) * max(cost, 1)
            certificate = PlanCertificate(Proof.POOL_SHARING, missing, time=busiest, buffers=ids, weights=weights)
            return _Bound((certificate,), is_infeasible=True)
        if not cost:
            return _Bound()
        certificate = PlanCertificate(Proof.POOL_SHARING, cost * most, time=busiest, buffers=ids, weights=weights)
        return _Bound((certificate,), cost * most)

    def _nothing_fits(self, made: Plan) -> Plan:
        pools = tuple(PoolUse(pool.name, pool.size, None, 0) for pool in self.problem.pools)
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

    def _of(self, placements: Sequence[Placement], problem: Problem) -> Plan:
        """A plan of the problem, be it the whole or the part, that claims no bounds."""
        values = self._values(placements, problem)
        return unproven_plan(problem, placements, _peaks(placements), values, solver=SOLVER)

    def _with_bounds(self, made: Plan, status: PlanStatus, value: int | None) -> Plan:
        """The same with what is proven of the whole problem; it is optimal where every term is as low as that."""
        problem, bound = self.problem, self._bound
        terms = []
        for term, found in zip(problem.terms, made.objective.terms, strict=True):
            adds = LINEAR_TERMS.get(term, Linear())
            price = (problem.peak_price if adds.priced else 1) if adds.peaks else 0
            terms.append(TermValue(term, None if value is None else found.value, price * bound.sum_of_peaks))
        pools = made.pools
        if value is None:
            pools = tuple(PoolUse(pool.name, pool.size, None, 0) for pool in problem.pools)
        is_best = value is not None and all(term.value == term.bound for term in terms)
        stop = made.stop
        if stop is StopReason.PROVED and not is_best:
            stop = StopReason.WORK_LIMIT  # what was proven is proven of the part
        return replace(
            made,
            status=PlanStatus.OPTIMAL if is_best else status,
            stop=StopReason.PROVED if is_best else stop,
            bound=bound.sum_of_peaks if all(pool.cost == 1 for pool in problem.pools) else 0,
            gap=gap_to(terms[0].bound, value) if len(terms) == 1 else None,
            objective=Objective(value, terms[0].bound, tuple(terms)),
            pools=pools,
            placements=made.placements if value is not None else (),
            peak=None if value is None else made.peak,
            certificates=bound.certificates,
            problem_digest=digest(problem),
            shortage=None,
        )

    def _values(self, placements: Sequence[Placement], problem: Problem) -> tuple[int, ...]:
        """One integer for each term of the objective."""
        pools = {pool.name: pool for pool in problem.pools}
        peaks = _peaks(placements)
        of_peaks = sum(pools[name].cost * peak for name, peak in peaks.items())
        values = []
        for term in problem.terms:
            adds = LINEAR_TERMS.get(term)
            if term is Term.LARGEST_PEAK:
                values.append(max(peaks.values(), default=0))
            elif adds is None:
                values.append(_reuse_cost(placements, problem))
            else:
                value = (problem.peak_price if adds.priced else 1) * of_peaks if adds.peaks else 0
                for buffer, place in zip(problem.buffers, placements, strict=True):
                    if adds.choice is Choice.ACCESS and is_used(buffer):
                        value += access_cost(buffer, pools[place.pool])
                    elif adds.choice is Choice.RANK:
                        value += buffer.size * pools[place.pool].rank
                places = {place.id: (place.pool, place.offset) for place in placements}
                values.append(value + cost_of_moves(problem, places, term))
        return tuple(values)


def _busiest_time(buffers: Iterable[Buffer]) -> tuple[int | None, int]:
    """The first time at which most bytes are needed, and how many; None: never any."""
    change: dict[int, int] = {}
    for buffer in in_time([*buffers], LOOKING):
        for start, end in merged(buffer.live or ()):
            change[start] = change.get(start, 0) + buffer.size
            change[end] = change.get(end, 0) - buffer.size
    most = load = 0
    busiest = None
    for time in in_time(sorted(change), LOOKING):
        load += change[time]
        if load > most:
            most, busiest = load, time
    return busiest, most


def _peaks(placements: Sequence[Placement]) -> dict[str, int]:
    peaks: dict[str, int] = {}
    for place in placements:
        peaks[place.pool] = max(peaks.get(place.pool, 0), place.offset + place.size)
    return peaks


def _reuse_cost(placements: Sequence[Placement], problem: Problem) -> int:
    at = {place.id: place for place in placements}
    cost = 0
    for penalty in problem.constraints.reuse_penalties:
        a, b = at[penalty.first], at[penalty.second]
        if a.pool == b.pool and min(a.offset + a.size, b.offset + b.size) > max(a.offset, b.offset):
            cost += penalty.cost
    return cost


def _in_order(problem: Problem) -> list[str]:
    """The pools, first those in which a buffer adds least to what is minimised."""
    adds = LINEAR_TERMS.get(problem.terms[0], Linear())
    typical = max(filter(is_used, problem.buffers), key=lambda buffer: buffer.size, default=None)

    def cost(number: int) -> tuple[int, int, int]:
        pool = problem.pools[number]
        if adds.choice is Choice.ACCESS and typical is not None:
            return access_cost(typical, pool), pool.rank, number
        return pool.cost if adds.peaks and adds.choice is None else 0, pool.rank, number

    return [problem.pools[number].name for number in sorted(range(len(problem.pools)), key=cost)]
