"""The plan of a problem: check, lower, solve, lift, verify."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from solvers.model.errors import StopReason
from solvers.model.instance import Placement
from solvers.model.objective import evaluate
from solvers.model.outcome import Outcome
from solvers.model.registry import AUTO, OF_OTHERS, SOLVERS
from solvers.model.solver import Goal, Limits, Task
from solvers.portfolio.solve import solve

from ...checks import require_sound
from ...facts.constants import spell_out_constants
from ...facts.moments.lifetimes import by_conflicts
from ...facts.moments.simpler import said_simpler
from ...model.deadline import FINISH_SECONDS, OutOfTime, expect, finish, until
from ...model.errors import BadInput, Code, Finding
from ...model.plan import Frontier, Objective, Plan, PlanStatus, TermValue, without_proofs
from ...model.plan import Placement as PlanPlacement
from ...model.problem import Problem
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.findings import CLAIMS
from ...verifying.simple_plans import is_irreducible
from ...verifying.verify import Verification
from ..options.capacity import planned_problem
from ..options.options import Options, bad_option, require_valid
from ..options.stability import require_no_stability
from .lifting import lift
from .lowering import Lowered, has_many_pools, lower, lower_start, place_blocks
from .pipeline import AnswerPipeline, limits_of
from .time_to_finish import seconds_to_place
from .watching import MOST_IN_A_HURRY, Caller, Cancelled, Clock, OnLog, OnProgress, Watch

if TYPE_CHECKING:
    from .many_pools import ManyPools
    from .variants.choosing import Choosing

SUBSET_SECONDS = 10.0
"""The time for finding an irreducible subset if the run has no time limit."""


def plan(
    problem: Problem,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
    cancelled: Cancelled | None = None,
    on_log: OnLog | None = None,
    begun: float | None = None,
    start: Plan | None = None,
) -> Plan:
    """Return an address for every buffer, the smallest peak found, and what is proven about it.

    The time limit counts from `begun` (on time.monotonic(); default: now), so that a caller may include the time for reading the problem.
    `start` is a known plan, for example from an earlier run: solvers begin with its addresses, and the answer is no worse. It is verified
    first and ignored, with a warning, if it breaks a rule. An answer with a start is not reproducible.
    With the option `stability`, `start` may be a plan of another problem: it tells where buffers were.
    Raises BadInput for a problem or option that is wrong in itself, CannotSolve for a solver that does not exist or does not support the
    problem, and OutOfTime if the time limit passed before any plan.
    """
    options = options or Options()
    require_valid(options)
    clock = Clock(options.time_limit, begun)
    with clock.holds():
        return _plan(problem, options, clock, Caller(on_progress, cancelled, on_log), start)


def _plan(problem: Problem, options: Options, clock: Clock, caller: Caller, start: Plan | None) -> Plan:
    """Plan within the time limit."""
    problem = planned_problem(problem, options.capacity, options.prefer, options.stability, start)
    if options.stability is not None:
        start = None  # the start's places are now part of the problem, so the answer is as reproducible as any
    require_sound(problem)
    if problem.variants is not None:
        return choosing(problem, options, clock, caller.cancelled).best(caller.on_progress)
    if options.max_cost is not None:
        raise bad_option("max_cost", "the problem has no variants, so nothing has a cost")
    problem = spell_out_constants(problem)
    with clock.while_lowering():
        many = None
        if has_many_pools(problem):
            from .many_pools import ManyPools  # imported here: most problems do not need it

            many = ManyPools(problem, lambda: clock.reason_to_stop(caller.cancelled), clock.has_time)
            solved = many.part
        else:
            solved = problem if _is_of_others(options.solver) else said_simpler(problem)
        lowered = lower(solved)
    return _PlanPipeline(problem, solved, lowered, options, clock, caller.cancelled, many).run(start, caller)


def _is_of_others(solver: str) -> bool:
    """True for other systems' planners and the user's own, which know only what the user's problem says."""
    return solver not in SOLVERS or SOLVERS[solver].kind in OF_OTHERS


def pareto(
    problem: Problem,
    options: Options | None = None,
    points: int | None = None,
    on_plan: Callable[[Plan], None] | None = None,
    cancelled: Cancelled | None = None,
    begun: float | None = None,
    start: Iterable[Plan] = (),
) -> Frontier:
    """Return the frontier of memory and cost of a problem with variants: plans, verified, with what is proven about them.

    With `points`, at most that many, spread evenly over the memory that they need. `on_plan` receives points as they are found; later ones
    may beat them. `start` are known points, for example of an earlier run. Raises BadInput and CannotSolve as `plan` does.
    """
    options = options or Options()
    clock = Clock(options.time_limit, begun)
    with clock.holds():
        problem = frontier_problem(problem, options, points)
        require_sound(problem)
        return choosing(problem, options, clock, cancelled).frontier(points, on_plan, start)


def frontier_problem(problem: Problem, options: Options, points: int | None) -> Problem:
    """Return the problem whose frontier `pareto` finds. Raises BadInput for a problem without one, and for options without effect."""
    require_valid(options)
    if points is not None and (type(points) is not int or points < 1):
        raise bad_option("points", "a frontier has one point at least, and whole ones")
    if options.prefer is not None:
        raise bad_option("prefer", "a frontier prefers nothing: it is all that there is between size and speed")
    require_no_stability(options)
    problem = planned_problem(problem, options.capacity, None)
    if problem.variants is None:
        raise BadInput(Finding(Code.MISSING_FIELD, "/variants", "the problem has no variants, so it has no frontier"))
    return problem


def choosing(problem: Problem, options: Options, clock: Clock, cancelled: Cancelled | None) -> Choosing:
    """Return the choice among the variants of a sound problem. Raises BadInput."""
    from .variants.choosing import Choosing  # imported here: most problems do not need it

    def plan_one(chosen: Problem, limited: Options) -> Plan:
        return plan(chosen, limited, cancelled=cancelled)

    return Choosing(problem, options, clock, cancelled, plan_one)


class _PlanPipeline(AnswerPipeline[Plan, Placement]):
    """The steps to a plan."""

    name = "plan"
    claims = CLAIMS

    def __init__(
        self,
        problem: Problem,
        solved: Problem,
        lowered: Lowered,
        options: Options,
        clock: Clock,
        cancelled: Cancelled | None,
        many: ManyPools | None,
    ) -> None:
        """`solved`: the problem as solvers see it."""
        counted = None if many is None else many.seconds_after_solving
        super().__init__(problem, lowered.instance, options, clock, counted)
        self._solved, self._lowered, self._cancelled, self._many = solved, lowered, cancelled, many

    def lower_start(self, start: Plan) -> Placement | None:
        return lower_start(self._solved, self._lowered, start)

    def of_placement(self, placement: Placement) -> Placement:
        return placement

    def bare(self, known: Placement) -> Plan:
        value = evaluate(self.instance, known)
        return self._lifted(Outcome(StopReason.CANCELLED, known, value, reproducible=False))

    def _lifted(self, outcome: Outcome) -> Plan:
        made = lift(self._solved, self._lowered, outcome, self.options.seed, self.problem)
        if self._many is not None:
            return self._many.whole(made)
        if self._solved is not self.problem:
            live = {buffer.id: buffer.live for buffer in self.problem.buffers}
            if self._solved.facts.has_moments and any(each.weights or each.crowds for each in made.certificates):
                live = dict.fromkeys(live)  # prices are of moments, so nothing else may be of the user's times
            made = replace(made, certificates=tuple(by_conflicts(each, live) for each in made.certificates))
        return made

    def solve(self, known: Placement | None, limits: Limits, watch: Watch) -> Plan:
        options = self.options
        if (late := seconds_to_place(self.instance.blocks) - FINISH_SECONDS) > 0:
            expect(late, "solving")
        if known is None and self._many is not None and self._many.start:
            known = place_blocks(self._solved, self._lowered, self._many.start)
        task = Task(limits, options.goal, options.seed, known, warm=options.warm, verbose=options.verbose)
        outcome = solve(self.instance, task, watch, options.solver)
        if outcome.placement is None:
            is_wanting = not outcome.infeasible and outcome.stop is not StopReason.CANCELLED
        else:  # a hasty plan may contain overlaps
            is_wanting = outcome.stop is StopReason.TIME_LIMIT and len(self._solved.buffers) <= MOST_IN_A_HURRY
        if is_wanting:
            outcome = self._by_birth(outcome)
        finish(self.seconds_after_solving)
        made = self._lifted(outcome)
        if made.status is not PlanStatus.INFEASIBLE:
            return made
        made, repeats = self._with_shortage(made)
        return replace(made, reproducible=made.reproducible and repeats)

    def _by_birth(self, outcome: Outcome) -> Outcome:
        """Return an outcome with a plan by birth, if solvers had too little time and that plan is better."""
        if self.options.solver != AUTO or not self._solved.buffers:
            return outcome
        from ...facts.possible_places import Places
        from .by_birth import plan_by_birth

        order = sorted(self._solved.pools, key=lambda pool: pool.rank)
        made = plan_by_birth(Places(self._solved), [pool.name for pool in order], lambda: self.clock.is_over)
        if made is None:
            return outcome
        found = place_blocks(self._solved, self._lowered, made)
        if found is None:
            return outcome
        value, is_late = evaluate(self.instance, found), self.clock.is_over
        if outcome.value is not None and outcome.value <= value:
            return outcome
        reproducible = outcome.reproducible and not is_late
        quick = replace(
            outcome,
            placement=found,
            value=value,
            floors=(),  # of later terms, with the earlier ones no higher than they were
            solver=outcome.solver or "greedy",
            reproducible=reproducible,
        )
        return replace(quick, stop=StopReason.PROVED) if quick.is_optimal else quick

    def verification(self, made: Plan) -> Verification:
        return Verification(self.problem, made, made.problem_digest, effort=BRIEF)

    def entries(self, made: Plan) -> Sequence[PlanPlacement]:
        return made.placements

    def without_entries(self, made: Plan) -> Plan:
        terms = tuple(TermValue(term.name, None, None) for term in made.objective.terms)
        pools = tuple(replace(use, peak=None) for use in made.pools)
        return replace(made, peak=None, objective=Objective(None, None, terms), pools=pools, placements=())

    def without_claims(self, made: Plan, warning: str, stop: StopReason) -> Plan:
        return super().without_claims(without_proofs(made, stop), warning, stop)

    def _with_shortage(self, made: Plan) -> tuple[Plan, bool]:
        """Return the plan with why nothing fits, on request with a set of buffers that cannot be placed together; and whether another run says the same."""
        from ...reporting.subset import irreducible_subset
        from ...verifying.arguments.bounds import within_proofs
        from ...verifying.arguments.shortage import as_in_a_larger_pool, shortage
        from ...verifying.moments import places_argued_of

        options, clock = self.options, self.clock
        argued = places_argued_of(self.problem, made.certificates)
        certificates = as_in_a_larger_pool(argued.problem, made.certificates)
        if certificates != made.certificates:
            made = within_proofs(argued, replace(made, certificates=certificates))
        why = shortage(argued.problem, certificates)
        if not options.explain:
            return replace(made, shortage=why), True
        small = replace(options, explain=False, goal=Goal.FIT, capacity=None, prefer=None, stability=None)

        deadline = clock.begun + SUBSET_SECONDS if clock.end is None else clock.deadline()
        repeats = True

        def is_late() -> bool:
            nonlocal repeats
            late = deadline is not None and time.monotonic() >= deadline
            repeats = repeats and not late
            return late

        def fits(part: Problem) -> bool | None:
            nonlocal repeats
            left = None if clock.end is None else max(clock.end - clock.begun - clock.seconds, 0.0)
            work = limits_of(options, clock, 0.0).work
            try:
                answer = plan(part, replace(small, time_limit=left, work_limit=work), None, self._cancelled)
            except OutOfTime:
                repeats = False
                return None
            except BadInput:  # a contradiction that the whole does not have to come to: there, no pool may hold them
                return False
            if answer.status is PlanStatus.UNKNOWN:
                repeats = repeats and answer.reproducible
                return None
            return answer.status is not PlanStatus.INFEASIBLE

        subset, sure = irreducible_subset(self.problem, fits, is_late, why.buffers)
        irreducible = False
        if sure:
            now = time.monotonic()
            try:
                with until(now if deadline is None else now + (deadline - now) / 2):  # the verifier checks it again
                    irreducible = is_irreducible(self.problem, subset)
            except OutOfTime:
                repeats = False
        return replace(made, shortage=replace(why, subset=subset, irreducible=irreducible)), repeats
