"""Places a choice whose buffers each have a memory already, so that no memory has a say in what another holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from solvers.choice.alternatives.instance import Choice as Positions
from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.points import Placed
from solvers.choice.alternatives.whole.asking import Assigned
from solvers.choice.alternatives.whole.making import Stacked
from solvers.choice.alternatives.whole.state import Homes
from solvers.model.errors import StopReason
from solvers.model.solver import Goal

from ....facts.constants import spell_out_constants
from ....facts.digest import digest
from ....facts.intervals import merged
from ....facts.part import only
from ....facts.variants import with_choice
from ....model.errors import BadInput
from ....model.plan import Placement, Plan, PlanStatus, PoolUse, gap_to, without_proofs
from ....model.problem import Buffer, BufferId, Fixed, Pool, Problem
from ....verifying.arguments.counterexamples import BRIEF
from ....verifying.verify import verify
from .choices import blocks_of, is_largest, tops_at
from .parts import Parts
from .placing import WORK_PER_PLAN, Placing, rank
from .pressing import pressed

SHARE_OF_HOMES = 128
"""The part of all work that the first placement of a choice may use."""
SHARE_OF_PRESSING = 32
"""The part for pressing it down in each bin where it is higher than wanted."""
WORK_OF_A_WINDOW = 20_000
WORK_OF_A_BOUND = 1_000
"""Enough for a bound of what a choice needs, whichever memories its buffers are in."""


class HomesPlacing:
    """The choices of one problem."""

    def __init__(self, problem: Problem, choices: Choices, placing: Placing) -> None:
        assert choices.memories is not None
        self._problem, self._times, self._placing = problem, choices.times, placing
        self._bins = choices.memories.bins()
        self._begins = [each.low % problem.pools[each.pool].alignment for each in self._bins]
        """A bin begins at an address of its memory's alignment; so much of it is reserved."""
        self._pools = [self._pool(b) for b in range(len(self._bins))]
        """Each bin as a memory of its own, as large as needed, to show where it is too small."""
        self._parts = Parts(spell_out_constants(problem))
        self._block, _ = blocks_of(self._parts)
        self._longer = {i for more in self._parts.longer.values() for i in more}

    def stack(self, assigned: Assigned) -> Stacked:
        """Place each block in its memory, no higher than wanted if possible."""
        positions = assigned.choice
        problem = with_choice(self._problem, positions)
        apart = self._apart(problem, self._bins_of(positions, assigned.homes))
        if apart is None:
            return Stacked(Placed(None, 0, WORK_PER_PLAN), ())
        try:
            made, work = self._placing.planned(apart, self._placing.share(SHARE_OF_HOMES, 1), Goal.MINIMISE)
            if not made.placements:
                return Stacked(Placed(None, 0, work), ())
            least, low, used = self._pressed(apart, made, assigned.tops)
            work += used
            tops = self._tops(apart, low)
            plan = _of_choice(problem, made, [self._lifted(place) for place in least])
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

    def _pressed(
        self, apart: Problem, made: Plan, tops: Sequence[int | None]
    ) -> tuple[list[Placement], list[Placement], int]:
        """Return the places in the bins, each as low as it was placed, and again with what is too high in few places; and the work used."""
        used = 0
        places = {place.id: place for place in made.placements}
        best, pressed_ = dict(places), dict(places)
        sizes = {buffer.id: buffer.size for buffer in apart.buffers}
        for pool, use, most, begin in zip(apart.pools, made.pools, tops, self._begins, strict=True):
            if most is None or use.peak is None or use.peak <= most + begin:
                continue
            ids = {place.id for place in made.placements if place.pool == pool.name}
            part = replace(only(apart, ids), pools=(pool,))
            fit = self._placing.fitting(self._placing.share(SHARE_OF_PRESSING, 1))
            offsets = pressed(part, {id_: places[id_].offset for id_ in ids}, most + begin, partial(fit, most=WORK_OF_A_WINDOW))  # fmt: skip
            used += fit.used
            lower = {id_: replace(places[id_], offset=offset) for id_, offset in offsets.items()}
            pressed_ |= lower
            if max(offset + sizes[id_] for id_, offset in offsets.items()) <= use.peak:
                best |= lower
        return [best[each.id] for each in apart.buffers], [pressed_[each.id] for each in apart.buffers], used

    def _bins_of(self, positions: Positions, homes: Homes) -> Mapping[BufferId, int]:
        """Return the bin of each buffer of the choice that has one."""
        return {
            buffer.id: homes[self._block[i]]
            for i, (buffer, pick, _) in enumerate(self._parts.buffers)
            if i not in self._longer and self._block[i] in homes and (pick is None or positions[pick[0]] == pick[1])
        }

    def _start(self, number: int) -> int:
        """Return the address at which the bin begins."""
        return self._bins[number].low - self._begins[number]

    def _pool(self, number: int) -> Pool:
        of, start = self._bins[number], self._start(number)
        pool = self._problem.pools[of.pool]
        inside = [each for each in merged(pool.reserved) if each[1] > start and (of.high is None or each[0] < of.high)]
        return replace(
            pool,
            name=f"{number}",
            size=None,
            base=None if pool.base is None and not start else (pool.base or 0) + start,
            reserved=tuple((max(low - start, 0), high - start) for low, high in inside),
        )

    def _apart(self, problem: Problem, bins: Mapping[BufferId, int]) -> Problem | None:
        """Return the problem with each buffer in its bin; None if it may not be there."""
        buffers = [self._in_bin(buffer, bins.get(buffer.id)) for buffer in problem.buffers]
        found = tuple(each for each in buffers if each is not None)
        if len(found) < len(buffers):
            return None
        constraints = replace(problem.constraints, same_pool=(), different_pool=())
        return replace(problem, buffers=found, pools=tuple(self._pools), constraints=constraints)

    def _in_bin(self, buffer: Buffer, number: int | None) -> Buffer | None:
        """Return the buffer in that bin; one without a bin, which is never there, is in the last it may be in."""
        names = [pool.name for pool in self._problem.pools]
        fixed = buffer.fixed
        allowed = (
            {names.index(each) for each in (buffer.pools or names)} if fixed is None else {names.index(fixed.pool)}
        )
        if fixed is not None and fixed.offset is not None:
            there = [b for b, each in enumerate(self._bins) if each.pool in allowed and each.low <= fixed.offset]
            number = there[-1] if there else None
        elif number is None or self._bins[number].pool not in allowed:
            number = max((b for b, each in enumerate(self._bins) if each.pool in allowed), default=None)
        if number is None:
            return None
        low = self._start(number)
        if buffer.max_offset is not None and buffer.max_offset < low:
            return None
        return replace(
            buffer,
            pools=(f"{number}",) if fixed is None else None,
            fixed=None if fixed is None else Fixed(f"{number}", None if fixed.offset is None else fixed.offset - low),
            max_offset=None if buffer.max_offset is None else buffer.max_offset - low,
            hint=None,
        )

    def _lifted(self, place: Placement) -> Placement:
        """Return the place in the problem's own memory."""
        of = self._bins[int(place.pool)]
        return replace(
            place, pool=self._problem.pools[of.pool].name, offset=place.offset + self._start(int(place.pool))
        )

    def _tops(self, apart: Problem, places: Sequence[Placement]) -> tuple[tuple[int, ...], ...]:
        """Return how high each bin is filled at each time."""
        both = [*zip(apart.buffers, places, strict=True)]
        found = []
        for pool, begin in zip(apart.pools, self._begins, strict=True):
            inside = [(buffer, place) for buffer, place in both if place.pool == pool.name]
            tops = tops_at(self._times, [buffer for buffer, _ in inside], [place for _, place in inside])
            found.append(tuple(max(top - begin, 0) for top in tops))
        return tuple(found)


def _of_choice(problem: Problem, made: Plan, places: Sequence[Placement]) -> Plan:
    """Return these places as a plan of the choice, whose buffers may be in any memory. Nothing is proven of it."""
    plan = without_proofs(made, StopReason.WORK_LIMIT)
    peaks = [
        max((each.offset + each.size for each in places if each.pool == pool.name), default=0) for pool in problem.pools
    ]
    worth = [peak * pool.cost for peak, pool in zip(peaks, problem.pools, strict=True)]
    value = max(peaks) if is_largest(problem) else sum(worth)
    terms = (replace(plan.objective.terms[0], value=value), *plan.objective.terms[1:])
    uses = tuple(PoolUse(pool.name, pool.size, peak, 0) for pool, peak in zip(problem.pools, peaks, strict=True))
    return replace(
        plan,
        peak=sum(peaks),
        objective=replace(plan.objective, value=value, terms=terms),
        pools=uses,
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
