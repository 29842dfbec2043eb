"""Makes plans of points: what is proven about all choices becomes bounds of the plan of one."""

from __future__ import annotations

from dataclasses import replace

from solvers.choice.alternatives.points import Point
from solvers.model.errors import StopReason

from ....facts.digest import digest
from ....facts.variants import costs_of_choice, picks_of
from ....model.plan import (
    Choice,
    ChoiceCertificate,
    ChoiceGoal,
    Objective,
    Plan,
    PlanCertificate,
    PlanStatus,
    PoolUse,
    Run,
    Shortage,
    TermValue,
    gap_to,
)
from ....model.problem import Problem
from ....model.versions import machine, versions
from ...options.options import Options
from ..watching import Clock
from .choices import is_largest


class Lifting:
    """Makes the plans of one problem with variants."""

    def __init__(self, problem: Problem, options: Options, clock: Clock) -> None:
        assert problem.variants is not None
        self._problem, self._variants, self._options, self._clock = problem, problem.variants, options, clock
        self.digest = digest(problem)

    def lift(
        self,
        point: Point,
        plan: Plan,
        goal: ChoiceGoal,
        stop: StopReason | None,
        least: int,
        proofs: tuple[ChoiceCertificate, ...] = (),
    ) -> Plan:
        """Return the plan of a point's choice with what is proven about all choices, of which none needs less than `least`.

        What is not proven by prices must be proven of this choice, too.
        """
        choice = self._choice(point, goal, proofs)
        priced = choice.least_memory()
        bound = max(min(max(point.bound, least), plan.objective.bound or 0), priced)
        total = max(min(plan.bound, self._bytes(bound)), self._bytes(priced))
        has_one_pool = len(plan.pools) == 1
        pools = tuple(replace(use, bound=total if has_one_pool else 0) for use in plan.pools)
        terms = (TermValue(plan.objective.terms[0].name, plan.objective.value, bound),)
        is_optimal = bound == plan.objective.value and point.cost == point.cost_bound
        reason = open_stop(stop)
        return replace(
            plan,
            status=PlanStatus.OPTIMAL if is_optimal else PlanStatus.FEASIBLE,
            stop=StopReason.PROVED if is_optimal else reason,
            bound=total,
            gap=gap_to(bound, plan.objective.value),
            objective=Objective(plan.objective.value, bound, terms),
            pools=pools,
            reproducible=plan.reproducible and (is_optimal or reason.is_repeatable),
            versions=versions(("cpsat",)) | plan.versions,
            problem_digest=self.digest,
            choice=choice,
        )

    def _bytes(self, value: int) -> int:
        """Return how many bytes all peaks are together at least, at this value of the objective."""
        dearest = 1 if is_largest(self._problem) else max(pool.cost for pool in self._problem.pools)
        return -(-value // dearest) if dearest else 0

    def _choice(self, point: Point, goal: ChoiceGoal, proofs: tuple[ChoiceCertificate, ...]) -> Choice:
        costs = costs_of_choice(self._variants, point.choice)
        return Choice(
            picks_of(self._variants, point.choice),
            tuple((term.name, cost) for term, cost in zip(self._variants.costs, costs, strict=True)),
            point.cost,
            point.cost_bound,
            goal,
            self._options.max_cost,
            proofs,
        )

    def without_plan(
        self,
        status: PlanStatus,
        stop: StopReason,
        why: Shortage | None = None,
        bound: int = 0,
        certificates: tuple[PlanCertificate, ...] = (),
        *,
        reproducible: bool = True,
    ) -> Plan:
        """Return the answer without a plan: why there is none, and a bound of every choice's peak."""
        return Plan(
            status=status,
            stop=stop,
            peak=None,
            bound=bound,
            gap=None,
            objective=Objective(None, None, tuple(TermValue(term, None, None) for term in self._problem.terms)),
            pools=tuple(
                PoolUse(pool.name, pool.size, None, bound if len(self._problem.pools) == 1 else 0)
                for pool in self._problem.pools
            ),
            placements=(),
            solver=None,
            seed=self._options.seed,
            reproducible=stop.is_repeatable and reproducible,
            versions=versions(("cpsat",)),
            problem_digest=self.digest,
            certificates=certificates,
            shortage=why,
            run=Run(round(self._clock.seconds, 6), (), machine()),
        )


def open_stop(stop: StopReason | None) -> StopReason:
    """Return why a plan stayed open, given why the search ended."""
    return StopReason.WORK_LIMIT if stop is None or stop is StopReason.PROVED else stop
