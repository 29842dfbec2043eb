"""The verification of a plan's choice of alternatives: complete, allowed by the rules, at the stated cost; and the problem that it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from solvers.model.instance import Term

from ...facts.variants import broken_rules, choice_of, costs_of_choice, weighted_cost
from ...model.errors import echo
from ...model.plan import Choice, ChoiceCertificate, ChoiceGoal, Plan, PlanStatus
from ...model.problem import Problem, Variants
from ..findings import FindingKind, VerifyFinding
from .priced import PricedChoices
from .swept import SweptChoices


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


class AllChoices:
    """What can be proven again about all choices of one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def priced(self) -> PricedChoices:
        """Return what prices prove."""
        return PricedChoices(self._problem)

    @cached_property
    def swept(self) -> SweptChoices:
        """Return what trying all of them shows."""
        return SweptChoices(self._problem)

    def objection(self, certificate: ChoiceCertificate) -> str | None:
        """Return why the certificate does not hold; None if it does."""
        return (self.priced if certificate.within is None else self.swept).objection(certificate)


def check_all_choices(all_choices: AllChoices, choice: Choice | None) -> Iterator[VerifyFinding]:
    """Return what is wrong with the proofs about all choices."""
    for certificate in () if choice is None else choice.certificates:
        wrong = all_choices.objection(certificate)
        if wrong is not None:
            text = f"a certificate of all choices ({certificate.value}) does not hold: {wrong}"
            yield VerifyFinding(FindingKind.WRONG_CERTIFICATE, text)


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


def notes_on_choice(problem: Problem, plan: Plan) -> Iterator[str]:
    """Return which of the bounds of all choices are proven again, and which rest on searches."""
    choice = plan.choice
    if choice is None or not plan.status.has_plan:
        return
    memory, cost = _shown(problem, plan)
    most = choice.cost if choice.goal is ChoiceGoal.POINT else choice.most_cost
    if choice.goal is not ChoiceGoal.SPEED and plan.objective.bound:
        within = "" if most is None else f" that costs {most} at most"
        yield _note(f"no choice{within} needs less than {plan.objective.bound}", plan.objective.bound, memory)
    if choice.goal is not ChoiceGoal.SIZE and choice.cost_bound is not None:
        within = f" that needs {plan.objective.value} at most" if choice.goal is ChoiceGoal.POINT else " that fits"
        yield _note(f"no choice{within} costs less than {choice.cost_bound}", choice.cost_bound, cost)


def _shown(problem: Problem, plan: Plan) -> tuple[int | None, int | None]:
    """Return the bounds of memory and of cost that certificates show."""
    assert plan.choice is not None
    most = plan.objective.value if plan.choice.goal is ChoiceGoal.POINT else most_memory(problem)
    return plan.choice.least_memory() or None, plan.choice.least_cost(most)


def most_memory(problem: Problem) -> int | None:
    """Return the most memory that fits into the capacities, in the unit of the objective; None if there is no end."""
    sizes = [pool.size for pool in problem.pools]
    if problem.terms == (Term.LARGEST_PEAK,):
        return None if None in sizes else max(size or 0 for size in sizes)
    priced = [(size, pool.cost) for size, pool in zip(sizes, problem.pools, strict=True) if pool.cost]
    return None if any(size is None for size, _ in priced) else sum((size or 0) * cost for size, cost in priced)


def _note(claim: str, bound: int, shown: int | None) -> str:
    if shown is not None and shown >= bound:
        return f"that {claim} was proven again"
    return f"that {claim} rests on searches" + ("" if shown is None else f"; {shown} was proven again")


def notes_on_points(problem: Problem, points: Sequence[Plan]) -> Iterator[str]:
    """Return the same of all points together."""
    known = [(plan, plan.choice, *_shown(problem, plan)) for plan in points if plan.choice is not None]
    for what, bounds in (
        ("memory", [(plan.objective.bound or 0, memory) for plan, _, memory, _ in known]),
        ("cost", [(choice.cost_bound, cost) for _, choice, _, cost in known if choice.cost_bound is not None]),
    ):
        count = sum(shown is not None and shown >= bound for bound, shown in bounds)
        below = [1 - shown / bound for bound, shown in bounds if bound > 0 and shown is not None]
        if below:
            others = "" if count == len(bounds) else ", the others rest on searches"
            if others and len(below) == len(bounds):
                others += f", of whose bounds {100 * (1 - max(below)):.1f} % or more was"
            yield f"the bound of {what} of {count} of {len(known)} points was proven again{others}"


def _name(pick: tuple[str, str]) -> str:
    return f"{echo(pick[0])}/{echo(pick[1])}"


def _wrong(message: str) -> VerifyFinding:
    return VerifyFinding(FindingKind.WRONG_CHOICE, message)
