"""Chooses alternatives: the least memory, the least cost, or the frontier of both; each choice that matters is placed and verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from solvers.choice.alternatives.instance import Choice as Positions
from solvers.choice.alternatives.instance import Choices
from solvers.choice.alternatives.known import Known
from solvers.choice.alternatives.master import Exact, Master
from solvers.choice.alternatives.points import Demand, OnPoint, Placed, Point, thinned
from solvers.choice.alternatives.points import Frontier as Found
from solvers.choice.alternatives.questions.without_addresses import is_large
from solvers.choice.alternatives.search import Search
from solvers.choice.alternatives.whole.asking import Assigning
from solvers.choice.alternatives.whole.making import Making
from solvers.choice.alternatives.whole.search import LargeSearch
from solvers.model.errors import SolverError, StopReason

from ....facts.plain_choices import least_cost, plain_choices
from ....facts.variants import costs_of_choice, count_of_alternatives, weighted_cost
from ....model.deadline import OutOfTime, look
from ....model.plan import (
    ChoiceGoal,
    Frontier,
    Plan,
    PlanCertificate,
    PlanStatus,
    Run,
    Shortage,
    TracePoint,
)
from ....model.problem import Problem
from ....model.versions import machine
from ....verifying.arguments.counterexamples import BRIEF
from ....verifying.arguments.shortage import shortage
from ....verifying.verify import Verification
from ...options.options import Options
from ...options.preference import goal_of_choices
from ..easy_bounds import refusal_of_any_choice, same_in_all_choices
from ..pipeline import cannot_solve, limits_of
from ..time_to_finish import seconds_to_finish
from ..watching import Cancelled, Clock, OnProgress, Progress
from .choices import lower_joint, measure_of, most_value
from .homes import HomesPlacing
from .hurried import Patience, lowered_in_time, value_of_any_choice
from .least_need import need_of_all
from .lifting import Lifting, open_stop
from .placing import SHARE_OF_A_PLAN, Placing, PlanOne
from .proofs import Proofs, bare

OnPlan: TypeAlias = Callable[[Plan], None]

WORK_PER_SECOND = 1_000_000
"""More than for a plan of one problem: here a unit takes 0.6 to 0.8 microseconds of the processor (docs/experiments/variants.md)."""
SHARE_OF_A_QUESTION = 64
"""The part of the work for a question about choices."""
SHARE_OF_AN_EXACT_QUESTION = 32
"""The part for a question about choices and addresses together, in small problems."""
SHARE_OF_AN_ASSIGNMENT = 8
"""The part for giving each buffer of a choice a memory, in large problems."""
WORK_OF_AN_ASSIGNMENT = 3_000_000
"""That is at least so much, or half of all: less is not enough for one sweep over time."""
FAR = 16
"""In large problems a plan is far above its bound if it needs more by 1/FAR."""
SHARE_OF_A_NEED = 4
"""The part for the question what is missing, if no choice fits."""
LEAST_SHARE = 200_000
MANY = 5_000
"""With more alternatives and rules between them, a search may end before it comes to what needs none."""

_NOTHING = Found((), is_complete=False, stop=StopReason.TIME_LIMIT, work=0)
"""What is found without a search."""


class Choosing:
    """The choice in one problem with variants."""

    def __init__(
        self, problem: Problem, options: Options, clock: Clock, cancelled: Cancelled | None, plan_one: PlanOne
    ) -> None:
        """Raises BadInput for a preference without meaning for choices."""
        assert problem.variants is not None
        self._goal = goal_of_choices(options.prefer)
        self._problem, self._variants, self._options = problem, problem.variants, options
        self._clock, self._cancelled, self._plan_one = clock, cancelled, plan_one
        self._is_repeatable = True
        """False if the clock ended the question what is missing."""
        self._lifting = Lifting(problem, options, clock)
        self._measure = measure_of(problem)
        with clock.while_lowering():
            lowered = lowered_in_time(problem, clock)
        self._choices = lowered
        """What there is to choose; None if there was not even time to write it down."""
        choices = lowered or Choices((), (), ())
        self._least: int | None = None
        """A lower bound on the objective of every choice, once it is known."""
        limits = limits_of(options, clock, seconds_to_finish(problem), rate=WORK_PER_SECOND)
        self._work = limits.work
        self._round = 0
        """Open questions are asked again in the next round."""
        self._patience = Patience(limits, cancelled)
        self._master = Master(choices, limits, options.seed, self._patience, self._share(SHARE_OF_A_QUESTION))
        self._limits = limits
        self._proofs = Proofs(problem, choices, for_speed=self._goal is ChoiceGoal.SPEED)
        self._exact: Exact | None = None
        self._assigning: Assigning | None = None
        """Asked in large problems with several memories."""
        self._placing = Placing(
            problem,
            options,
            choices.times,
            plan_one,
            share=self._share,
            left=lambda: None if self._work is None else max(self._work - self._master.work, 0),
            stopped=self._stopped,
            seconds_left=self._seconds_left,
            nothing=lambda: self._lifting.without_plan(PlanStatus.UNKNOWN, StopReason.TIME_LIMIT),
        )

    def _more(self) -> bool:
        """Double the work for each question and placement. False: there is no more."""
        share = self._share(SHARE_OF_A_PLAN)
        if self._work is None or share is None or share >= self._work - self._master.work:
            return False
        self._round += 1
        self._master.work_each = self._share(SHARE_OF_A_QUESTION)
        if self._exact is not None:
            self._exact.work_each = self._share(SHARE_OF_AN_EXACT_QUESTION)
        if self._assigning is not None:
            self._assigning.work_each = self._share_of_an_assignment()
        return True

    def _exactly(self) -> Exact | None:
        """Return the engine that also knows addresses; None if the problem is too large. Built when first needed."""
        if self._exact is None:
            joint = lower_joint(self._problem, self._master.choices)
            if joint is not None:
                share = self._share(SHARE_OF_AN_EXACT_QUESTION)
                self._exact = Exact(joint, self._limits, self._options.seed, self._patience, share)
        return self._exact

    def best(self, on_progress: OnProgress | None) -> Plan:
        """Return the plan that the options ask for."""
        goal, trace = self._goal, list[TracePoint]()

        def on_point(point: Point) -> None:
            value = point.cost if goal is ChoiceGoal.SPEED else point.value
            trace.append(TracePoint(round(self._clock.seconds, 6), max(value, 0), None))
            if on_progress is not None:
                unproven = self._bounded(point, goal, _NOTHING)
                on_progress(Progress(self._clock.seconds, value, None, lambda: self._lift(unproven, goal, None)))

        run = self._search(None, on_point)
        found = self._found(run, run.fastest if goal is ChoiceGoal.SPEED else run.smallest, on_point)
        if goal is ChoiceGoal.SIZE:
            found = self._with_plain_choices(found, on_point)
        if not found.points:
            if not found.is_impossible:
                look("choosing among the alternatives of")
                self._placing.require_time(found.stop)
            return self._nothing(found)
        point = found.points[0] if goal is ChoiceGoal.SPEED else found.points[-1]
        made = self._lift(self._bounded(point, goal, found), goal, found.stop)
        return replace(made, run=Run(round(self._clock.seconds, 6), tuple(trace), machine()))

    def _with_plain_choices(self, found: Found, on_point: OnPoint) -> Found:
        """Return what was found, and the smallest choice if that may need far less: with less work it had been all that there was."""
        least = found.least_value or 0
        lowest = min((point.value for point in found.points), default=least)
        if self._assigning is None or found.stop is StopReason.CANCELLED or lowest <= least + least // FAR:
            return found
        points = [*found.points, *self._plain_points(on_point)]
        return replace(found, points=tuple(sorted(points, key=lambda point: (-point.value, -point.cost))))

    def _bounded(self, point: Point, goal: ChoiceGoal, found: Found) -> Point:
        """Return the point with bounds for its goal: its own hold only for choices that cost no more, or need no more memory."""
        if goal is ChoiceGoal.SIZE:
            return replace(point, bound=min(point.bound, found.least_value or 0))
        least = least_cost(self._problem) if found.least_cost is None else found.least_cost
        return replace(point, cost_bound=min(point.cost_bound, least))

    def frontier(self, points: int | None, on_plan: OnPlan | None, start: Iterable[Plan] = ()) -> Frontier:
        """Return as much of the frontier as the limits allow, starting from known points."""
        known = self._known_points(start)

        def on_point(point: Point) -> None:
            if on_plan is not None:
                on_plan(self._lift(point, ChoiceGoal.POINT, None))

        search = self._search(points, on_point)
        search.begin_with(known)
        found = self._found(search, search.frontier, on_point)
        found = replace(found, points=thinned(found.points, points))
        weak = {point.choice for point in known if point.value != point.bound}
        for point in found.points:  # a known plan may show less than the search
            if point.is_proven and point.choice in weak and self._stopped() is None:
                self._place(point.choice)
        plans = tuple(self._lift(point, ChoiceGoal.POINT, found.stop) for point in found.points)
        if not all(plan.status is PlanStatus.OPTIMAL for plan in plans):
            within = found.within or None  # that nothing is left out is not shown by these plans
            found = replace(found, is_complete=False, stop=open_stop(found.stop), within=within)
        if found.is_impossible:  # whatever ended the search after that
            found = replace(found, stop=StopReason.PROVED)
        missing = self._missing()[0].message if found.is_impossible else None
        return Frontier(
            points=plans,
            is_complete=found.is_complete,
            is_infeasible=found.is_impossible,
            stop=found.stop,
            reproducible=(found.is_complete or not known)
            and found.stop.is_repeatable
            and self._is_repeatable
            and all(plan.reproducible for plan in plans),
            problem_digest=self._lifting.digest,
            run=Run(round(self._clock.seconds, 6), (), machine()),
            within=None if found.within is None else float(found.within),
            missing=missing,
            most_cost=self._options.max_cost,
        )

    def _known_points(self, start: Iterable[Plan]) -> dict[Point, Placed]:
        """Return the given plans that pass verification as points; they are not made again."""
        names = [[each.name for each in group.alternatives] for group in self._variants.groups]
        found: dict[Point, Placed] = {}
        for plan in start:
            choice, value = plan.choice, plan.objective.value
            if choice is None or choice.goal is not ChoiceGoal.POINT or choice.cost_bound is None or value is None:
                continue
            checked = Verification(self._problem, plan, effort=BRIEF, all_choices=self._proofs.all_choices)
            if self._is_too_dear(choice.cost) or checked.findings():
                continue
            self._proofs.know(choice.certificates)
            positions = tuple(of.index(name) for of, (_, name) in zip(names, choice.alternatives, strict=True))
            bound = plan.objective.bound or 0
            self._placing.plans[positions] = bare(self._problem, plan)
            found[Point(positions, value, choice.cost, bound, choice.cost_bound)] = Placed(value, bound)
        return found

    def _ask(self, search: Search, question: Callable[[], Found]) -> Found:
        try:
            return question()
        except SolverError as refusal:
            raise cannot_solve(refusal) from refusal
        except OutOfTime:
            if not any(plan.placements for plan in self._placing.plans.values()):
                raise
            return search.so_far(self._placed_points())
        finally:
            self._master.close()
            for more in (self._exact, self._assigning):
                if more is not None:
                    more.close()

    def _placed_points(self) -> Iterator[Point]:
        """Yield all choices with a plan as points of which nothing is proven."""
        least = least_cost(self._problem)
        for positions, plan in self._placing.plans.items():
            cost = weighted_cost(self._variants, costs_of_choice(self._variants, positions))
            if plan.objective.value is not None and not self._is_too_dear(cost):
                yield Point(positions, plan.objective.value, cost, 0, least)

    def _is_too_dear(self, cost: int) -> bool:
        return self._options.max_cost is not None and cost > self._options.max_cost

    def _found(self, search: Search, question: Callable[[], Found], on_point: OnPoint) -> Found:
        """Return the answer or, if the limits left none, what is found without a search."""
        if refusal_of_any_choice(same_in_all_choices(self._problem)) is not None:
            return Found((), is_complete=False, stop=StopReason.PROVED, work=0, is_impossible=True)
        found = _NOTHING if self._choices is None else self._ask(search, question)
        if found.points or found.is_impossible or found.stop is StopReason.CANCELLED:
            return found
        points = self._plain_points(on_point)
        return replace(found, points=tuple(sorted(points, key=lambda point: point.cost)))

    def _plain_points(self, on_point: OnPoint) -> list[Point]:
        """Return the points of choices that need no search, of which nothing is proven; after the end of the time, of one."""
        plain: dict[tuple[int, int], Point] = {}
        for choice in plain_choices(self._problem):
            if plain and self._clock.is_over:
                break
            cost = weighted_cost(self._variants, costs_of_choice(self._variants, choice))
            if not self._is_too_dear(cost):
                placed = self._place(choice)
                if placed.value is not None:
                    plain[placed.value, cost] = Point(choice, placed.value, cost, 0, least_cost(self._problem))
        points = [point for point in plain.values() if not any(other.dominates(point) for other in plain.values())]
        for point in points:
            on_point(point)
        return points

    def _search(self, points: int | None, on_point: OnPoint) -> Search:
        demand = Demand(most_value(self._problem), self._options.max_cost, points)
        known = Known(
            self._master,
            self._exactly,
            self._measure,
            self._place,
            self._stopped,
            self._placing.place_both,
            self._proofs,
        )
        known.supporting.lines.lines += self._proofs.lines
        given = known, self._measure, demand, self._more, on_point
        choices = self._master.choices
        if is_large(choices):
            share = self._share_of_an_assignment()
            self._assigning = Assigning(choices, choices, self._limits, self._options.seed, self._patience, share)
            stack = HomesPlacing(self._problem, choices, self._placing).stack
            search: Search = LargeSearch(*given, Making(known, self._assigning, stack))
        else:
            search = Search(*given)
        rules = len(self._variants.requires) + len(self._variants.forbids)
        if self._choices is not None and count_of_alternatives(self._variants) + rules > MANY:
            search.begin_with({point: Placed(point.value, point.bound) for point in self._plain_points(on_point)})
        return search

    def _share(self, part: int, doublings: int = 1) -> int | None:
        """Return the part of the work in the first round, doubled `doublings` times in each later one."""
        if self._work is None:
            return None
        return min(max(self._work // part, LEAST_SHARE) << self._round * doublings, self._work)

    def _share_of_an_assignment(self) -> int | None:
        share = self._share(SHARE_OF_AN_ASSIGNMENT)
        return None if share is None or self._work is None else max(share, min(WORK_OF_AN_ASSIGNMENT, self._work // 2))

    def _stopped(self) -> StopReason | None:
        if self._cancelled is not None and self._cancelled():
            return StopReason.CANCELLED
        if self._seconds_left() == 0:
            return StopReason.TIME_LIMIT
        if self._work is not None and self._master.work >= self._work:
            return StopReason.WORK_LIMIT
        return None

    def _seconds_left(self) -> float | None:
        """Return the seconds left for the whole run; None without limit."""
        deadline = self._limits.deadline
        return None if deadline is None else max(deadline - time.monotonic(), 0.0)

    def _place(self, positions: Positions, below: int | None = None) -> Placed:
        return self._placing.place(positions, below)

    def _lift(self, point: Point, goal: ChoiceGoal, stop: StopReason | None) -> Plan:
        """Return a point's plan, with what is proven about all choices."""
        proofs = self._proofs.of(point, goal, self._options.max_cost)
        return self._lifting.lift(point, self._placing.plans[point.choice], goal, stop, self._least_value(), proofs)

    def _least_value(self) -> int:
        """Return a lower bound on the objective of every choice, known without a search."""
        if self._least is None:
            self._least = value_of_any_choice(self._problem, self._choices)
        return self._least

    def _nothing(self, found: Found) -> Plan:
        """Return the answer that nothing fits, or that nothing was found."""
        status = PlanStatus.INFEASIBLE if found.is_impossible else PlanStatus.UNKNOWN
        stop = StopReason.PROVED if found.is_impossible else found.stop
        if stop is StopReason.PROVED and not found.is_impossible:
            stop = StopReason.WORK_LIMIT
        if not found.is_impossible:
            return self._lifting.without_plan(status, stop, reproducible=self._is_repeatable)
        why, bound, certificates = self._missing()
        why = replace(why, most_cost=self._options.max_cost)
        return self._lifting.without_plan(status, stop, why, bound, certificates, reproducible=self._is_repeatable)

    def _missing(self) -> tuple[Shortage, int, tuple[PlanCertificate, ...]]:
        """Return why no choice fits, a bound of the peak of every choice (0: none is known), and what shows it for all choices."""
        same = same_in_all_choices(self._problem)
        refusal = refusal_of_any_choice(same) if len(same.pools) > 1 else None
        if refusal is not None:
            return shortage(same, refusal.certificates), 0, refusal.certificates
        return *need_of_all(self._problem, self._options, self._apart), ()

    def _apart(self, problem: Problem, options: Options) -> Plan | None:
        """Return the plan of another problem, made with a part of what is left; None if nothing is."""
        seconds, work = self._seconds_left(), None
        if self._work is not None:
            work = min(self._work - self._master.work, self._work // SHARE_OF_A_NEED)
        if seconds == 0 or (work is not None and work <= 0):
            return None
        limited = replace(options, time_limit=seconds, work_limit=work, capacity=None)
        try:
            made = Choosing(problem, limited, Clock(seconds), self._cancelled, self._plan_one).best(None)
        except OutOfTime:
            return None
        self._is_repeatable = self._is_repeatable and made.stop.is_repeatable
        return made
