"""What one configuration tells about another: a plan for less memory is valid with more, and a proof with more memory holds with less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ...facts.variants import as_chosen
from ...model.plan import ChoiceGoal, Objective, Plan, PlanStatus, PoolUse, Run, TermValue, gap_to, without_proofs
from ...model.problem import Problem
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.objective import term_value
from ...verifying.verify import verify
from .answer import proven
from .configurations import Capacity, holds

Value: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Fact:
    """A solved plan of one configuration."""

    capacity: Capacity
    plan: Plan

    @cached_property
    def swept_peaks(self) -> dict[str, int]:
        """Return the peaks of the pools whose sizes change."""
        return {use.name: use.peak for use in self.plan.pools if use.name in self.capacity and use.peak is not None}

    @cached_property
    def sum_of_peaks(self) -> int:
        return sum(use.peak or 0 for use in self.plan.pools)

    @property
    def value(self) -> Value | None:
        """Return its value; the cost of alternatives comes first. None without a plan."""
        if not self.plan.status.has_plan:
            return None
        cost = () if self.plan.choice is None else (self.plan.choice.cost,)
        return (*cost, *(term.value for term in self.plan.objective.terms if term.value is not None))

    @property
    def bound(self) -> Value:
        return proven(self.plan)


class Facts:
    """Everything solved so far. `digest` computes the problem's digest for given sizes, `tie` what decides between plans of equal value."""

    def __init__(self, digest: Callable[[Problem], str], tie: Callable[[Plan], int]) -> None:
        self._digest, self._tie = digest, tie
        self._facts: list[Fact] = []
        self._least: tuple[str, int] | None = None
        self._is_hopeless = False
        self._stood: dict[tuple[int, int], list[Capacity]] = {}
        """The capacities at which one fact's plan with another's proofs passed verification."""

    def add(self, fact: Fact) -> None:
        self._facts.append(fact)

    def fits_not_below(self, pool: str, bound: int) -> None:
        """Record a proof from another problem: nothing fits if this pool is smaller."""
        self._least = (pool, bound)

    def nothing_fits(self) -> None:
        """Record a proof from another problem: nothing fits into any of these capacities."""
        self._is_hopeless = True

    def is_impossible(self, capacity: Capacity) -> bool:
        """True if it is proven that nothing fits."""
        if self._is_hopeless:
            return True
        if self._least is not None and capacity.get(self._least[0], self._least[1]) < self._least[1]:
            return True
        return any(f.plan.status is PlanStatus.INFEASIBLE and holds(f.capacity, capacity) for f in self._facts)

    def best(self, capacity: Capacity) -> Fact | None:
        """Return the best plan that fits; among equals the one for the smallest peaks, then the first."""
        fitting = [f for f in self._facts if f.value is not None and _fits(f, capacity)]
        return min(fitting, key=lambda f: (f.value, self._tie(f.plan), f.sum_of_peaks), default=None)

    def may_be_tied(self, best: Fact, capacity: Capacity) -> bool:
        """True if an equal plan may be preferred to this one: with more memory one is."""
        larger = [f for f in self._facts if f.value == best.value and holds(f.capacity, capacity)]
        return any(self._tie(f.plan) < self._tie(best.plan) for f in larger)

    def strongest(self, capacity: Capacity) -> Fact | None:
        """Return the fact that proves most."""
        larger = [f for f in self._facts if f.plan.status is not PlanStatus.INFEASIBLE and holds(f.capacity, capacity)]
        return max(larger, key=lambda f: f.bound, default=None)

    def carried(self, capacity: Capacity, problem: Problem) -> Plan | None:
        """Return the plan that follows for this configuration, if it passes verification; its value need not be proven.

        A plan verified with less memory is not verified again: its addresses fit here, and its proofs were verified with more.
        """
        best, strongest = self.best(capacity), self.strongest(capacity)
        if best is None or strongest is None:
            return None
        if problem.variants is not None:
            is_least = len(problem.pools) == 1 or holds(best.capacity, capacity)
            return self._verified(problem, chosen_with_proof(problem, best.plan, strongest.plan, is_least=is_least))
        plan = replace(combined(problem, best.plan, strongest.plan), problem_digest=self._digest(problem))
        stood = self._stood.setdefault((id(best), id(strongest)), [])
        if any(holds(capacity, smaller) for smaller in stood):
            return plan
        if verify(problem, plan, effort=BRIEF):
            return None
        stood.append(capacity)
        return plan

    def _verified(self, problem: Problem, plan: Plan) -> Plan | None:
        """Return the plan of a choice, without claims about memory if its certificates prove them only with other capacities."""
        plan = replace(plan, problem_digest=self._digest(problem))
        found = (each for each in (plan, _without_bounds(plan)) if not verify(problem, each, effort=BRIEF))
        return next(found, None)


def _fits(fact: Fact, capacity: Capacity) -> bool:
    return all(fact.swept_peaks[pool] <= size for pool, size in capacity.items())


def combined(problem: Problem, best: Plan, proof: Plan) -> Plan:
    """Return one plan's addresses with the other's proofs, as a plan of the problem but for its digest."""
    uses = tuple(
        PoolUse(pool.name, pool.size, mine.peak, theirs.bound)
        for pool, mine, theirs in zip(problem.pools, best.pools, proof.pools, strict=True)
    )
    holds = _no_higher(best, proof)
    terms = tuple(
        TermValue(mine.name, mine.value, theirs.bound if mine.name in holds else None)
        for mine, theirs in zip(best.objective.terms, proof.objective.terms, strict=True)
    )
    met = all(term.value == term.bound for term in terms)
    value, bound = terms[0].value, terms[0].bound
    cut_short = [each.stop for each in (proof, best) if each.stop is not StopReason.PROVED]
    stop = StopReason.PROVED if met else next(iter(cut_short), StopReason.WORK_LIMIT)
    return replace(
        best,
        status=PlanStatus.OPTIMAL if met else PlanStatus.FEASIBLE,
        stop=stop,
        bound=proof.bound,
        gap=gap_to(bound, value) if len(terms) == 1 else None,
        objective=Objective(value, bound, terms),
        pools=uses,
        reproducible=best.reproducible and proof.reproducible,
        versions=best.versions | proof.versions,
        certificates=tuple(
            each
            for each in proof.certificates
            if each.proof is not Proof.SEARCH or each.term is None or each.term in holds
        ),
        shortage=None,
        warnings=tuple(dict.fromkeys((*best.warnings, *proof.warnings))),
        run=Run(0.0, (), best.run.machine),
    )


def _no_higher(best: Plan, proof: Plan) -> list[Term]:
    """Return the terms before which none is higher in the one plan than in the other, whose bounds and searches presume that."""
    found = []
    for mine, theirs in zip(best.objective.terms, proof.objective.terms, strict=True):
        found.append(mine.name)
        most = theirs.bound if theirs.value is None else theirs.value
        if mine.value is None or most is None or mine.value > most:
            break
    return found


def chosen_with_proof(problem: Problem, best: Plan, proof: Plan, *, is_least: bool) -> Plan:
    """Return one plan's choice with the other's proof that nothing cheaper fits, but for the problem's digest.

    `is_least`: that no choice of this cost needs less memory holds here too. With one memory it does, since what needs less fits wherever this
    plan does. With several, what needs less in sum may need more of one of them, so here it must be proven with at least these capacities.
    """
    assert best.choice is not None
    bound = None if proof.choice is None else proof.choice.cost_bound
    if not is_least:
        best = _with_least(best, proof)
    assert best.choice is not None
    optimal = best.choice.cost == bound and best.objective.value == best.objective.bound
    cut_short = [each.stop for each in (proof, best) if each.stop is not StopReason.PROVED]
    return replace(
        best,
        status=PlanStatus.OPTIMAL if optimal else PlanStatus.FEASIBLE,
        stop=StopReason.PROVED if optimal else next(iter(cut_short), StopReason.WORK_LIMIT),
        pools=tuple(replace(use, size=pool.size) for pool, use in zip(problem.pools, best.pools, strict=True)),
        reproducible=best.reproducible and proof.reproducible,
        versions=best.versions | proof.versions,
        run=Run(0.0, (), best.run.machine),
        choice=replace(best.choice, cost_bound=bound, goal=ChoiceGoal.SPEED),
    )


def _with_least(best: Plan, proof: Plan) -> Plan:
    """Return the plan with no more bounds of memory than the other's, which are of all choices that cost no more than its own."""
    assert best.choice is not None
    if proof.choice is None or best.choice.cost > proof.choice.cost:
        return _without_bounds(best)
    least = min(best.objective.bound or 0, proof.objective.bound or 0)
    pools = tuple(
        replace(mine, bound=min(mine.bound, theirs.bound)) for mine, theirs in zip(best.pools, proof.pools, strict=True)
    )
    return _bounded(best, least, min(best.bound, proof.bound), pools)


def _without_bounds(plan: Plan) -> Plan:
    """Return the plan of a choice with bounds of memory that need no proof."""
    stop = StopReason.WORK_LIMIT if plan.stop is StopReason.PROVED else plan.stop
    plan = without_proofs(plan, stop)
    return _bounded(plan, 0, 0, plan.pools)


def _bounded(plan: Plan, least: int, bytes_: int, pools: tuple[PoolUse, ...]) -> Plan:
    """Return the plan with these bounds of memory."""
    value = plan.objective.value
    terms = tuple(replace(term, bound=least) for term in plan.objective.terms)
    objective = Objective(value, least, terms)
    return replace(plan, bound=bytes_, gap=gap_to(least, value), objective=objective, pools=pools)


def figure(problem: Problem, plan: Plan, term: Term) -> int | None:
    """Return the term's value in a plan, whether it is in the objective or not."""
    if not plan.status.has_plan:
        return None
    problem = as_chosen(problem, plan)
    peaks: Mapping[str, int] = {use.name: use.peak or 0 for use in plan.pools}
    return term_value(problem, plan.placements, peaks, term)
