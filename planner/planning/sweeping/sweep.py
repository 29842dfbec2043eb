"""A sweep: solve the ends, then the middles of open ranges, and apply every plan and proof to all configurations for which it holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TypeAlias

from solvers.model.instance import Term

from ...checks import require_sound
from ...facts.costs import in_late_pools
from ...facts.digest import digest, digest_for_sizes
from ...facts.sweep import VERIFYING
from ...model.deadline import OutOfTime, finish, look, time_limit
from ...model.plan import ChoiceGoal, Plan, PlanStatus
from ...model.problem import DEFAULT_TERMS, Problem
from ...model.versions import cores
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.verify import verify
from ..options.capacity import with_capacity
from ..options.options import Options, Preference, bad_option, require_valid
from ..options.preference import with_preference
from ..options.stability import require_no_stability
from ..placing.pipeline import WORK_PER_SECOND
from ..placing.shared_limits import KnownPlans
from ..placing.solving import pareto
from ..placing.variants.proofs import bare
from ..placing.watching import Cancelled
from .answer import SmallestCapacity, Sweep, SweepPoint
from .carrying import Fact, Facts, figure
from .configurations import Capacity, combinations
from .side_by_side import SideBySide, Span, side_by_side
from .what_fits import with_what_fits

OnSolved: TypeAlias = Callable[[int, int], None]
"""Receives the number of settled configurations, and of all."""

OnPoint: TypeAlias = Callable[[SweepPoint], None]
"""Receives each configuration once settled."""

OnSmallest: TypeAlias = Callable[[SmallestCapacity], None]
"""Receives the smallest sufficient size, if that is sought first."""

Figures: TypeAlias = tuple[dict[str, int] | None, int | None, int | None]
"""The peak of each pool, the access cost, and the spilled bytes."""

PROCESSES = 2
FOR_THE_REST = 1 / 8
"""The part of the time for plans that follow from others."""


def sweep(
    problem: Problem,
    sizes: Mapping[str, Sequence[int]],
    options: Options | None = None,
    *,
    processes: int = PROCESSES,
    cancelled: Cancelled | None = None,
    on_solved: OnSolved | None = None,
    on_point: OnPoint | None = None,
    on_smallest: OnSmallest | None = None,
    begun: float | None = None,
    start: Iterable[Plan] = (),
    kept: float = 0.0,
) -> Sweep:
    """Return the best result for each combination of the pools' sizes and, if one pool is swept, the smallest sufficient size.

    The options' limits of time and work cover everything. For a problem with variants, the value is the least cost that fits. The objective is
    the same everywhere: `prefer` balanced weighs as it does for the largest sizes. `start` are known plans of configurations, for example of an
    earlier run. `kept` seconds, half the time at most, are left for writing the answer. Raises BadInput and CannotSolve as `plan` does.
    """
    begun = time.monotonic() if begun is None else begun
    options = options or Options()
    if processes < 1:
        raise bad_option("processes", "there must be 1 process or more")
    problem = swept_problem(problem, sizes, options)
    configurations = combinations(sizes, problem)
    limit = options.time_limit
    whole = Span(None if limit is None else limit - min(kept, limit / 2), begun)
    solving = whole.part(1 - FOR_THE_REST)
    with side_by_side(processes, cancelled, solving) as planners:
        run = _Run(problem, configurations, options, planners, whole, KnownPlans(start))
        with suppress(OutOfTime), time_limit(solving.limit, begun):  # the rest is not solved itself
            run.settle(cancelled, on_solved, on_point, on_smallest)
        return run.answer()


def swept_problem(problem: Problem, sizes: Mapping[str, Sequence[int]], options: Options) -> Problem:
    """Return the problem that a sweep plans for each configuration, but for the swept pools' sizes. Raises BadInput if there is none."""
    require_valid(options)
    require_no_stability(options)
    if options.capacity is not None:
        problem = with_capacity(problem, options.capacity)
    combinations(sizes, problem)
    largest = {name: max(each) for name, each in sizes.items()}
    require_sound(with_capacity(problem, largest))
    if problem.variants is not None and options.prefer not in (None, Preference.SPEED):
        raise bad_option(
            "prefer", "a sweep of variants always seeks the least cost that fits, which is speed; leave it out"
        )
    found = with_preference(with_capacity(problem, largest), options.prefer)
    return replace(problem, terms=found.terms, peak_price=found.peak_price)


class _Run:
    """A sweep in progress."""

    def __init__(
        self,
        problem: Problem,
        configurations: Sequence[Capacity],
        options: Options,
        planners: SideBySide,
        whole: Span,
        known: KnownPlans,
    ) -> None:
        self._problem, self._configurations, self._planners = problem, configurations, planners
        self._whole, self._known = whole, known
        workers = options.workers or max(cores() // planners.processes, 1)
        self._options = replace(options, capacity=None, prefer=None, explain=False, workers=workers)
        self._facts = Facts(digest_for_sizes(problem), partial(_tie, problem))
        self._own: dict[int, Plan | None] = {}
        """Results of configurations that were solved themselves; None if, for example, a fixed buffer no longer has room."""
        self._carried: dict[int, Plan] = {}
        """Plans of those that need not be solved: the best possible, and verified."""
        self._figures: dict[int, tuple[Plan, Figures]] = {}
        """Figures by placements, which plans of many configurations share."""
        self._smallest: SmallestCapacity | None = None
        self._waves = (len(configurations) - 1).bit_length() + 2
        """No more waves are needed: each halves the open ranges."""

    def settle(
        self,
        cancelled: Cancelled | None,
        on_solved: OnSolved | None,
        on_point: OnPoint | None,
        on_smallest: OnSmallest | None,
    ) -> None:
        reported: set[int] = set()
        swept = [*self._configurations[0]]
        least: Plan | None = None
        if self._problem.variants is not None and len(self._problem.pools) == 1:
            least = self._begin_with_frontier(swept[0], cancelled)
        if len(swept) == 1:
            self._smallest = self._find_smallest(swept[0], least)
            if on_smallest is not None:
                on_smallest(self._smallest)
        wanted = sorted({0, len(self._configurations) - 1})
        while wanted and not self._is_over() and not (cancelled is not None and cancelled()):
            self._solve(wanted)
            open_ = [i for i in range(len(self._configurations)) if not self._is_settled(i)]
            if on_point is not None:
                for i in sorted(set(range(len(self._configurations))) - set(open_) - reported):
                    reported.add(i)
                    on_point(self._point(i, self._following(i)))
            if on_solved is not None:
                on_solved(len(self._configurations) - len(open_), len(self._configurations))
            wanted = list(self._middles(open_))

    def _is_over(self) -> bool:
        """True if the time for solving is up, however much of it other processes had."""
        return self._planners.span.left == 0

    def _find_smallest(self, pool: str, least: Plan | None) -> SmallestCapacity:
        """Find it; `least` is a plan that may be the answer."""
        one_pool = least_capacity_problem(self._problem, pool)
        if least is not None and not verify(one_pool, least, effort=BRIEF):
            plan = least
        else:
            known = self._known.of(one_pool, ChoiceGoal.SIZE, self._options.max_cost)
            plan = known or _in_time(self._planners.plan_all([(one_pool, self._limited(1), None)])[0])
        use = next(use for use in plan.pools if use.name == pool)
        bound = max(plan.objective.bound or 0, use.bound)
        self._facts.fits_not_below(pool, bound)
        if plan.status is PlanStatus.INFEASIBLE:
            self._facts.nothing_fits()
        return SmallestCapacity(pool, use.peak, bound, plan)

    def _begin_with_frontier(self, pool: str, cancelled: Cancelled | None) -> Plan | None:
        """Use half of all limits for the frontier, which tells what fits each size of the only pool. If it is complete, return its smallest plan."""
        limit, work = self._options.time_limit, self._options.work_limit
        half = replace(
            self._options,
            time_limit=None if limit is None else Span(limit / 2, self._whole.begun).left,
            work_limit=None if work is None else work // 2,
        )
        largest = self._configurations[-1]
        found = pareto(with_capacity(self._problem, largest), half, cancelled=cancelled)
        room = largest[pool]
        points = [bare(self._problem, plan) for plan in found.points]
        for plan in points:  # the fastest plan, which needs most, comes first
            peak = plan.peak or 0
            self._facts.add(Fact({pool: peak}, plan))
            if found.is_complete:  # nothing costs less up to what the next faster plan needs
                self._facts.add(Fact({pool: room}, plan))
            room = peak - 1
        if not found.is_complete or not found.points:
            return None
        last = points[-1]
        assert last.choice is not None
        return replace(
            last,
            pools=tuple(replace(use, size=None) for use in last.pools),
            problem_digest=digest(least_capacity_problem(self._problem, pool)),
            choice=replace(last.choice, goal=ChoiceGoal.SIZE),
        )

    def _solve(self, wanted: Sequence[int]) -> None:
        """Solve these configurations with equal shares of time and work."""
        todo = [i for i in wanted if not self._facts.is_impossible(self._configurations[i])]
        sound: dict[int, Problem] = {}
        for i in todo:
            known = self._known.of(self.problem_of(i), ChoiceGoal.SPEED, self._options.max_cost)
            if known is not None:
                self._note(i, bare(self._problem, known))
                continue
            problem = with_what_fits(self.problem_of(i))
            if problem is None:
                self._own[i] = None
            else:
                sound[i] = problem
        options = self._limited(len(sound))
        if self._problem.variants is not None:
            options = replace(options, prefer=Preference.SPEED)
        starts = {i: self._start_of(i) for i in sound}
        plans = self._planners.plan_all([(problem, options, starts[i]) for i, problem in sound.items()])
        for i, plan in zip(sound, plans, strict=True):
            if isinstance(plan, OutOfTime):
                continue
            start = starts[i]
            if start is not None:  # which is the same in every run if it is reproducible
                plan = replace(plan, reproducible=start.reproducible and plan.run.repeats)
            self._note(i, replace(bare(self._problem, plan), problem_digest=digest(self.problem_of(i))))
        for plan in plans:
            _in_time(plan)

    def _start_of(self, index: int) -> Plan | None:
        """Return the best known plan that fits, from which solvers begin; choices of variants begin from none."""
        best = None if self._problem.variants is not None else self._facts.best(self._configurations[index])
        return None if best is None else best.plan

    def _note(self, index: int, plan: Plan) -> None:
        self._own[index] = plan
        self._facts.add(Fact(self._configurations[index], plan))
        self._figures_of(index, plan)  # here, where the time is limited

    def _limited(self, count: int) -> Options:
        """Return each plan's limits in a wave of this many plans."""
        limit, work = self._options.time_limit, self._options.work_limit
        if work is None and limit is not None:
            work = (
                int(WORK_PER_SECOND * limit) * PROCESSES
            )  # independent of the number of processes, as the answer must be
        if work is not None:
            work //= self._waves * max(count, PROCESSES)
        share = None
        if limit is not None:
            rounds = max(-(-count // self._planners.processes), 1)
            share = min(limit / self._waves, self._whole.left) / rounds
        return replace(self._options, time_limit=share, work_limit=work)

    def problem_of(self, index: int) -> Problem:
        return with_capacity(self._problem, self._configurations[index])

    def _is_settled(self, index: int) -> bool:
        """True if solving this configuration can gain nothing."""
        capacity = self._configurations[index]
        if index in self._own or index in self._carried or self._facts.is_impossible(capacity):
            return True
        best, strongest = self._facts.best(capacity), self._facts.strongest(capacity)
        if best is None or strongest is None or best.value != strongest.bound:
            return False
        if self._facts.may_be_tied(best, capacity):
            return False
        carried = self._facts.carried(capacity, self.problem_of(index))
        if carried is None or carried.status is not PlanStatus.OPTIMAL:
            return False
        self._carried[index] = carried
        return True

    def _is_refuted(self, index: int) -> bool:
        """True if it is proven without a plan of this configuration that nothing fits."""
        return index in self._own or self._facts.is_impossible(self._configurations[index])

    def _middles(self, open_: Sequence[int]) -> Iterator[int]:
        """Return the middle of each run of open neighbours that differ only in the last pool's size."""
        row = len({tuple(c.values())[-1] for c in self._configurations})
        runs = groupby(enumerate(open_), lambda pair: (pair[1] - pair[0], pair[1] // row))
        for _, run in runs:
            members = [index for _, index in run]
            yield members[len(members) // 2]

    def answer(self) -> Sweep:
        following = self._all_following()
        points = tuple(self._point(i, following.get(i)) for i in range(len(self._configurations)))
        plans = [plan for plan in self._own.values() if plan is not None]
        plans += [] if self._smallest is None else [self._smallest.plan]
        return Sweep(
            self._problem.name,
            digest(self._problem),
            self._problem.terms,
            self._problem.peak_price,
            points,
            self._smallest,
            all(plan.reproducible for plan in plans)
            and len(following) == len(self._configurations)
            and not any(p.status is PlanStatus.UNKNOWN and p.plan is None for p in points),
            round(time.monotonic() - self._whole.begun, 6),
            self._problem.variants is not None,
            self._options.max_cost,
        )

    def _all_following(self) -> dict[int, Plan | None]:
        """Return, by configuration, the plan that follows from others, if any. Once time is over, the rest is skipped."""
        found: dict[int, Plan | None] = {}
        with suppress(OutOfTime), time_limit(self._whole.limit, self._whole.begun):
            finish()
            for i in range(len(self._configurations)):
                look(VERIFYING)
                found[i] = self._following(i)
        return found

    def _following(self, index: int) -> Plan | None:
        """Return the plan; None also if a present plan cannot be better, or none can exist."""
        own = self._own.get(index)
        if own is not None and own.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE):
            return None
        capacity = self._configurations[index]
        if index in self._carried or (own is None and self._is_refuted(index)):
            return None
        if self._facts.best(capacity) is None or self._facts.strongest(capacity) is None:
            return None
        return self._facts.carried(capacity, self.problem_of(index))

    def _point(self, index: int, following: Plan | None) -> SweepPoint:
        capacity, own = self._configurations[index], self._own.get(index)
        if own is None and self._is_refuted(index):
            solved = index in self._own
            return SweepPoint(capacity, PlanStatus.INFEASIBLE, None, (), None, None, None, None, solved=solved)
        plan = self._carried.get(index) or following or own
        if plan is None:
            return SweepPoint(capacity, PlanStatus.UNKNOWN, None, (), None, None, None, None, solved=False)
        return point_of(capacity, plan, self._figures_of(index, plan), solved=own is not None)

    def _figures_of(self, index: int, plan: Plan) -> Figures:
        if id(plan.placements) not in self._figures:
            self._figures[id(plan.placements)] = plan, figures_of(self.problem_of(index), plan)
        return self._figures[id(plan.placements)][1]


def _tie(problem: Problem, made: Plan) -> int:
    """Return what decides between plans of equal value: of several memories the faster ones are used first."""
    is_decided = problem.variants is not None or problem.terms != DEFAULT_TERMS
    return 0 if is_decided else in_late_pools(problem, made)


def _in_time(plan: Plan | OutOfTime) -> Plan:
    """Return the plan. Raises OutOfTime if there was no time for it."""
    if isinstance(plan, OutOfTime):
        raise plan
    return plan


def figures_of(problem: Problem, plan: Plan) -> Figures:
    """Return what the plan is worth by measures other than the objective. Pool sizes do not matter."""
    peaks = {use.name: use.peak for use in plan.pools if use.peak is not None} if plan.status.has_plan else None
    return peaks, figure(problem, plan, Term.ACCESS_COST), figure(problem, plan, Term.SPILLED_BYTES)


def point_of(capacity: Capacity, plan: Plan, figures: Figures, *, solved: bool) -> SweepPoint:
    fact = Fact(capacity, plan)
    return SweepPoint(
        capacity,
        plan.status,
        fact.value,
        () if plan.status is PlanStatus.INFEASIBLE else fact.bound,
        *figures,
        plan,
        solved,
    )


def least_capacity_problem(problem: Problem, pool: str) -> Problem:
    """Return the problem with this pool unlimited and only its peak minimised."""
    pools = tuple(
        replace(each, size=None, cost=1) if each.name == pool else replace(each, cost=0) for each in problem.pools
    )
    return replace(problem, pools=pools, terms=(Term.SUM_OF_PEAKS,))
