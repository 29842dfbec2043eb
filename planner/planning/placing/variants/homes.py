"""Places a choice whose buffers each have a memory already, so that no memory has a say in what another holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from solvers.choice.alternatives.instance import Choice as Positions
from solvers.choice.alternatives.points import Placed
from solvers.choice.alternatives.whole.asking import Assigned
from solvers.choice.alternatives.whole.making import Stacked
from solvers.choice.alternatives.whole.state import Homes
from solvers.model.errors import StopReason
from solvers.model.solver import Goal

from ....facts.constants import spell_out_constants
from ....facts.digest import digest
from ....facts.part import only
from ....facts.variants import with_choice
from ....model.errors import BadInput
from ....model.plan import Placement, Plan, PlanStatus, gap_to, without_proofs
from ....model.problem import Buffer, BufferId, Problem
from ....verifying.arguments.counterexamples import BRIEF
from ....verifying.verify import verify
from .choices import blocks_of, is_largest, tops_at
from .parts import Parts
from .placing import WORK_PER_PLAN, Fitting, Placing, rank
from .windows import lowered_to

SHARE_OF_HOMES = 64
"""The part of all work that the first placement of a choice may use."""
SHARE_OF_LOWERING = 64
"""The part for lowering it window by window, where it is higher than wanted."""
WORK_OF_A_WINDOW = 20_000
WORK_OF_A_BOUND = 1_000
"""Enough for a bound of what a choice needs, whichever memories its buffers are in."""


class HomesPlacing:
    """The choices of one problem."""

    def __init__(self, problem: Problem, times: Sequence[int], placing: Placing) -> None:
        self._problem, self._times, self._placing = problem, times, placing
        self._parts = Parts(spell_out_constants(problem))
        self._block, _ = blocks_of(self._parts)
        self._longer = {i for more in self._parts.longer.values() for i in more}

    def stack(self, assigned: Assigned) -> Stacked:
        """Place each block in its memory, no higher than wanted if possible."""
        positions = assigned.choice
        problem = with_choice(self._problem, positions)
        apart = self._apart(problem, self._names(positions, assigned.homes))
        try:
            made, work = self._placing.planned(apart, self._placing.share(SHARE_OF_HOMES, 1), Goal.MINIMISE)
            if not made.placements:
                return Stacked(Placed(None, 0, work), ())
            fit = self._placing.fitting(self._placing.share(SHARE_OF_LOWERING, 1))
            plan = self._lowered(problem, apart, made, assigned.tops, fit)
            work += fit.used
            tops = self._tops(problem, plan)
            sizes = zip(problem.pools, plan.pools, strict=True)
            is_too_high = any(pool.size is not None and (use.peak or 0) > pool.size for pool, use in sizes)
            if is_too_high or verify(problem, plan, effort=BRIEF):
                return Stacked(Placed(None, 0, work), tops)
            proof, more = self._placing.planned(problem, WORK_OF_A_BOUND, Goal.MINIMISE)
        except BadInput:
            return Stacked(Placed(None, 0, WORK_PER_PLAN), ())
        known = self._placing.plans
        best = min(
            [
                _proven(plan, proof),
                *([proof] if proof.placements else []),
                *([known[positions]] if positions in known else []),
            ],
            key=rank,
        )
        known[positions] = best
        return Stacked(Placed(best.objective.value, best.objective.bound or 0, work + more), tops)

    def _lowered(self, problem: Problem, apart: Problem, made: Plan, tops: Sequence[int | None], fit: Fitting) -> Plan:
        """Return the plan as one of the choice, without proofs, lowered window by window in each memory that is higher than wanted."""
        places = made.placements
        for pool, use, most in zip(apart.pools, made.pools, tops, strict=True):
            least = use.bound if most is None else max(most, use.bound)
            if use.peak is not None and use.peak > least:
                part = replace(only(apart, {place.id for place in places if place.pool == pool.name}), pools=(pool,))
                inside = replace(made, placements=tuple(place for place in places if place.pool == pool.name))
                offsets = lowered_to(part, inside, least, lambda each: fit(each, most=WORK_OF_A_WINDOW))
                places = tuple(
                    replace(place, offset=offsets[place.id]) if place.pool == pool.name else place for place in places
                )
        return _of_choice(problem, made, places)

    def _names(self, positions: Positions, homes: Homes) -> Mapping[BufferId, str]:
        """Return the memory of each buffer of the choice that has one."""
        pools = self._problem.pools
        return {
            buffer.id: pools[homes[self._block[i]]].name
            for i, (buffer, pick, _) in enumerate(self._parts.buffers)
            if i not in self._longer and self._block[i] in homes and (pick is None or positions[pick[0]] == pick[1])
        }

    def _apart(self, problem: Problem, names: Mapping[BufferId, str]) -> Problem:
        """Return the problem with each buffer in its memory; if all have one, memories are as large as needed, to show where they are too small."""
        buffers = tuple(_in_pool(buffer, names.get(buffer.id)) for buffer in problem.buffers)
        if any(buffer.fixed is None and len(buffer.pools or problem.pools) > 1 for buffer in buffers):
            return replace(problem, buffers=buffers)
        return replace(problem, buffers=buffers, pools=tuple(replace(pool, size=None) for pool in problem.pools))

    def _tops(self, problem: Problem, made: Plan) -> tuple[tuple[int, ...], ...]:
        """Return how high each memory is filled at each time."""
        both = [*zip(problem.buffers, made.placements, strict=True)]
        found = []
        for pool in problem.pools:
            inside = [(buffer, place) for buffer, place in both if place.pool == pool.name]
            buffers, places = tuple(buffer for buffer, _ in inside), tuple(place for _, place in inside)
            found.append(tops_at(self._times, replace(problem, buffers=buffers), replace(made, placements=places)))
        return tuple(found)


def _in_pool(buffer: Buffer, name: str | None) -> Buffer:
    """Return the buffer in that memory, unless it has an address or may not be there."""
    if name is None or buffer.fixed is not None or (buffer.pools is not None and name not in buffer.pools):
        return buffer
    return replace(buffer, pools=(name,))


def _of_choice(problem: Problem, made: Plan, places: Sequence[Placement]) -> Plan:
    """Return these places as a plan of the choice, whose buffers may be in any memory. Nothing is proven of it."""
    plan = without_proofs(made, StopReason.WORK_LIMIT)
    peaks = [
        max((each.offset + each.size for each in places if each.pool == pool.name), default=0) for pool in problem.pools
    ]
    worth = [peak * pool.cost for peak, pool in zip(peaks, problem.pools, strict=True)]
    value = max(peaks) if is_largest(problem) else sum(worth)
    terms = (replace(plan.objective.terms[0], value=value), *plan.objective.terms[1:])
    uses = zip(plan.pools, problem.pools, peaks, strict=True)
    return replace(
        plan,
        peak=sum(peaks),
        objective=replace(plan.objective, value=value, terms=terms),
        pools=tuple(replace(use, size=pool.size, peak=peak) for use, pool, peak in uses),
        placements=tuple(places),
        problem_digest=digest(problem),
    )


def _proven(plan: Plan, proof: Plan) -> Plan:
    """Return the plan of a choice with what another of the same choice proves of all."""
    value, bound = plan.objective.value or 0, proof.objective.bound or 0
    terms = tuple(
        replace(term, bound=of.bound) for term, of in zip(plan.objective.terms, proof.objective.terms, strict=True)
    )
    is_optimal = all(term.value == term.bound for term in terms)
    return replace(
        plan,
        status=PlanStatus.OPTIMAL if is_optimal else PlanStatus.FEASIBLE,
        stop=StopReason.PROVED if is_optimal else StopReason.WORK_LIMIT,
        bound=proof.bound,
        gap=gap_to(bound, value),
        objective=replace(plan.objective, bound=bound, terms=terms),
        pools=tuple(replace(use, bound=of.bound) for use, of in zip(plan.pools, proof.pools, strict=True)),
        certificates=proof.certificates,
        versions=proof.versions | plan.versions,
    )
