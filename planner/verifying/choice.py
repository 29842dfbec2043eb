"""The verification of a plan's choice of alternatives: complete, allowed by the rules, at the stated cost; and the problem that it leaves."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts.variants import broken_rules, choice_of, costs_of_choice, weighted_cost
from ..model.errors import echo
from ..model.plan import Choice, Plan, PlanStatus
from ..model.problem import Problem, Variants
from .findings import FindingKind, VerifyFinding


def check_choice(problem: Problem, plan: Plan) -> Iterator[VerifyFinding]:
    """Return what is wrong with the choice and the claims about it."""
    if problem.variants is None:
        if plan.choice is not None:
            yield _wrong("the plan chooses alternatives, but the problem has no variants")
        return
    if plan.choice is None:
        if plan.status.has_plan or plan.placements:
            yield _wrong("the problem has variants, but the plan does not say which alternatives it chose")
        return
    if not plan.status.has_plan:
        yield _wrong(f"the status is {plan.status}, but alternatives are chosen")
    chosen = choice_of(problem, plan)
    if chosen is None:
        yield _wrong("the plan does not choose one alternative of each group of the problem, in their order")
        return
    for kind, k in broken_rules(problem.variants, chosen):
        first, second = getattr(problem.variants, kind)[k]
        text = f"{_name(first)} {kind} {_name(second)}, and the plan chooses otherwise"
        yield _wrong(text)
    yield from _check_costs(problem.variants, plan, plan.choice, chosen)


def _check_costs(variants: Variants, plan: Plan, choice: Choice, chosen: tuple[int, ...]) -> Iterator[VerifyFinding]:
    costs = costs_of_choice(variants, chosen)
    named = tuple((term.name, cost) for term, cost in zip(variants.costs, costs, strict=True))
    if choice.costs != named:
        yield _wrong(f"the costs are {echo(named)}, the plan says {echo(choice.costs)}")
    cost = weighted_cost(variants, costs)
    if choice.cost != cost:
        yield _wrong(f"the cost is {cost}, the plan says {choice.cost}")
    if choice.most_cost is not None and cost > choice.most_cost:
        yield _wrong(f"the cost is {cost}, and at most {choice.most_cost} was allowed")
    if choice.cost_bound is not None and choice.cost_bound > cost:
        text = f"the cost is {cost}, below its proven bound {choice.cost_bound}"
        yield VerifyFinding(FindingKind.BOUND_ABOVE_PEAK, text)
    if plan.status is PlanStatus.OPTIMAL and choice.cost_bound != cost:
        text = f"the plan claims to be optimal, but its cost is {cost} and the bound of it {choice.cost_bound}"
        yield VerifyFinding(FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND, text)


def _name(pick: tuple[str, str]) -> str:
    return f"{echo(pick[0])}/{echo(pick[1])}"


def _wrong(message: str) -> VerifyFinding:
    return VerifyFinding(FindingKind.WRONG_CHOICE, message)
