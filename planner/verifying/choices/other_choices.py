"""Holds what is claimed of all choices against simple plans of some: the plan's own, the cheapest, the smallest, and what lies beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import NamedTuple

from solvers.model.outcome import Proof

from ...checks import check
from ...facts.constants import spell_out_constants
from ...facts.plain_choices import Choice, plain_choices
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...facts.variants import broken_rules, choice_of, costs_of_choice, weighted_cost, with_choice
from ...model.columns.pools import names_of
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import ChoiceGoal, Plan, PlanStatus, Shortage
from ...model.problem import Problem, Variants
from ..arguments.certificates import objections, proves_infeasible
from ..arguments.claims import check_figures, differences, misplaced_shortage
from ..arguments.counterexamples import BRIEF, entries, usual_effort
from ..arguments.no_choice import is_said
from ..arguments.shortage import in_bytes, shortage
from ..findings import FindingKind, VerifyFinding
from ..objective import term_value
from ..placements import peaks as peaks_of
from ..placements import placed_buffers
from ..simple_plans import simple_plans

MOST_CHOICES = 64
"""The most choices that are placed."""
FOR_EACH = 25_000
"""What is counted for each entry of a problem with one choice, so that fewer are placed of long problems."""
FOR_SEVERAL = 4
"""How many times as much is tried for all plans of a frontier as for one plan."""


class SimplePoint(NamedTuple):
    """What one choice costs, and a simple plan of it needs."""

    cost: int
    value: int
    """Of the objective's first term."""
    peak: int
    """The sum of peaks."""


class SimplePoints:
    """What simple plans of some choices cost and need. Each choice is tried once, whichever plan it is tried for."""

    def __init__(self, problem: Problem, effort: int | None, *, plans: int = 1) -> None:
        """Of several plans, FOR_SEVERAL times as much is tried in all, and for each its own choice."""
        self._problem = problem
        self._effort = usual_effort(problem) if effort is None else effort
        self._for_a_plan = self._effort if plans == 1 else FOR_SEVERAL * self._effort // plans
        self._tried = set[Choice]()
        self._found = set[SimplePoint]()

    def about(self, own: Choice | None = None) -> frozenset[SimplePoint]:
        """Try choices near this one, and the smallest and cheapest; return what those tried so far cost and need."""
        if self._effort <= BRIEF:
            return frozenset()  # whoever makes plans has tried more
        left = self._for_a_plan
        for choice in _some_choices(self._problem, own):
            if choice in self._tried:
                continue
            look(VERIFYING)
            chosen = with_choice(self._problem, choice)
            share = max(self._effort // MOST_CHOICES, FOR_EACH * entries(chosen))
            if left < share and (left < self._for_a_plan or choice != own):
                break
            left -= share
            self._tried.add(choice)
            self._try(choice, chosen, share)
        return frozenset(self._found)

    def _try(self, choice: Choice, chosen: Problem, effort: int) -> None:
        if check(chosen):
            return  # what was chosen contradicts itself
        variants = self._problem.variants
        assert variants is not None
        cost = weighted_cost(variants, costs_of_choice(variants, choice))
        chosen = spell_out_constants(chosen)
        for where in simple_plans(Places(chosen), effort=effort):
            peaks = peaks_of(chosen, placed_buffers(chosen, where))
            value = term_value(chosen, where, peaks, chosen.terms[0])
            self._found.add(SimplePoint(cost, value, sum(peaks.values())))


def _some_choices(problem: Problem, own: Choice | None) -> Iterator[Choice]:
    """Yield choices that the rules allow: all, if they are few."""
    assert problem.variants is not None
    variants = problem.variants
    counts = [len(group.alternatives) for group in variants.groups]
    if len(counts) <= MOST_CHOICES and prod(counts) <= MOST_CHOICES:
        every: Iterator[Choice] = product(*map(range, counts))
    else:
        every = _beside([*([] if own is None else [own]), *plain_choices(problem)], counts)
    yield from islice(
        (each for each in dict.fromkeys(islice(every, 4 * MOST_CHOICES)) if _is_allowed(variants, each)), MOST_CHOICES
    )


def _beside(choices: Sequence[Choice], counts: Sequence[int]) -> Iterator[Choice]:
    yield from choices
    for choice in choices:
        for group, count in enumerate(counts):
            for other in range(count):
                if other != choice[group]:
                    yield (*choice[:group], other, *choice[group + 1 :])


def _is_allowed(variants: Variants, choice: Choice) -> bool:
    return next(broken_rules(variants, choice), None) is None


def check_other_choices(problem: Problem, plan: Plan, points: SimplePoints) -> Iterator[VerifyFinding]:
    """Return claims about all choices that a simple plan of one refutes."""
    if plan.choice is not None and plan.objective.value is not None:
        yield from refuted_by_choices(plan, points.about(choice_of(problem, plan)))


def refuted_by_choices(plan: Plan, tried: Collection[SimplePoint]) -> Iterator[VerifyFinding]:
    """Return claims about all choices that one of these refutes; their values are of the plan's first term."""
    choice, value = plan.choice, plan.objective.value
    if choice is None or value is None:
        return
    allowed = [each for each in tried if choice.most_cost is None or each.cost <= choice.most_cost]
    most = choice.most_cost if choice.goal is ChoiceGoal.SIZE else choice.cost
    of_no_more_cost = [each for each in allowed if most is None or each.cost <= most]
    least = min(of_no_more_cost, key=lambda each: each.value, default=None)
    if least is not None and plan.objective.bound is not None and plan.objective.bound > least.value:
        yield _beaten(f"the bound of {plan.objective.terms[0].name} is {plan.objective.bound}", least)
    least = min(of_no_more_cost, key=lambda each: each.peak, default=None)
    if least is not None and plan.bound > least.peak:
        yield _beaten(f"the bound is {plan.bound}", least)
    of_no_more = allowed if choice.goal is ChoiceGoal.SPEED else [each for each in allowed if each.value <= value]
    least = min(of_no_more, default=None)
    if least is not None and choice.cost_bound is not None and choice.cost_bound > least.cost:
        yield _beaten(f"the bound of the cost is {choice.cost_bound}", least)


def _beaten(claim: str, point: SimplePoint) -> VerifyFinding:
    text = f"{claim}, but there is a choice that costs {point.cost} and needs {point.value}"
    return VerifyFinding(FindingKind.BOUND_ABOVE_PEAK, text)


def check_no_choice(problem: Problem, plan: Plan, effort: int | None) -> Iterator[VerifyFinding]:
    """Return what is wrong with an answer that no choice fits, or that none was found. What it says is of all choices that are cheap enough."""
    base = spell_out_constants(replace(problem, variants=None))
    places = Places(base)
    yield from check_figures(problem, plan)
    for term in plan.objective.terms:
        if term.bound:
            text = f"the bound of {term.name} is {term.bound}, of which nothing is proven without a plan"
            yield VerifyFinding(FindingKind.UNPROVEN_BOUND, text)
    wrong = objections(places, plan.certificates)
    for certificate, why in wrong:
        yield VerifyFinding(FindingKind.WRONG_CERTIFICATE, why, certificate.buffers)
    for certificate in plan.certificates:
        if certificate.proof is Proof.SEARCH or plan.status is not PlanStatus.INFEASIBLE:
            text = f"a certificate ({certificate.proof}) is of one problem, and here there is a choice of many"
            yield VerifyFinding(FindingKind.WRONG_CERTIFICATE, text)
    is_shown = not wrong and any(proves_infeasible(places, each) for each in plan.certificates)
    if plan.shortage is not None:
        right = shortage(base, plan.certificates) if is_shown else None
        yield from (
            VerifyFinding(FindingKind.WRONG_SHORTAGE, text) for text in _shortage(problem, plan, plan.shortage, right)
        )
    if is_shown:
        return
    most = None if plan.shortage is None else plan.shortage.most_cost
    if plan.status is PlanStatus.INFEASIBLE:
        cheap = [each for each in SimplePoints(problem, effort).about() if most is None or each.cost <= most]
        if cheap:
            text = f"the status is infeasible, but there is a choice that costs {min(cheap).cost} and fits"
            yield VerifyFinding(FindingKind.UNPROVEN_INFEASIBILITY, text)
    yield from _bounds_without_plan(problem, plan, most, effort)


def _bounds_without_plan(problem: Problem, plan: Plan, most: int | None, effort: int | None) -> Iterator[VerifyFinding]:
    claims = [("the bound", plan.bound), *((f"the bound of pool {echo(use.name)}", use.bound) for use in plan.pools)]
    for what, bound in claims:
        if bound and (plan.status is not PlanStatus.INFEASIBLE or (what != "the bound" and len(plan.pools) > 1)):
            text = f"{what} is {bound}, of which nothing is proven"
            yield VerifyFinding(FindingKind.UNPROVEN_BOUND, text)
    greatest = max(bound for _, bound in claims)
    if greatest and plan.status is PlanStatus.INFEASIBLE:
        free = replace(problem, pools=tuple(replace(pool, size=None) for pool in problem.pools))
        peaks = [each for each in SimplePoints(free, effort).about() if most is None or each.cost <= most]
        least = min(peaks, key=lambda each: each.peak, default=None)
        if least is not None and greatest > least.peak:
            yield _beaten(f"the bound is {greatest}", least)


def _shortage(problem: Problem, plan: Plan, why: Shortage, right: Shortage | None) -> Iterator[str]:
    """Return what is wrong with a shortage: it is as the certificates say, or what the bound of all choices leaves of the one pool."""
    yield from misplaced_shortage(plan.status)
    if right is not None:
        yield from differences(replace(right, most_cost=why.most_cost), why)
    else:
        pool = problem.pools[0]
        short = plan.bound - pool.size if len(problem.pools) == 1 and pool.size is not None else 0
        figures = (pool.name, short) if short > 0 else (None, None)
        if (why.pool, why.bytes_short) != figures:
            yield f"the shortage's pool and bytes short are not what the bound {plan.bound} of all choices leaves"
        words = {
            "most": why.most_cost,
            "pool": echo(pool.name),
            "short": in_bytes(short) if short > 0 else None,
            "size": None if pool.size is None else in_bytes(pool.size),
            "need": in_bytes(plan.bound),
        }
        if not is_said(why.message, words):
            yield "the shortage's message is none that says why no choice fits, or has other figures"
        if why.time is not None or why.buffers:
            yield "the shortage names a time or buffers, and speaks of all choices"
        if why.pool is not None and why.pool not in names_of(problem.pools):
            yield f"there is no pool {echo(why.pool)}"
    if why.subset is not None or why.irreducible is not None:
        yield "the shortage has a subset of buffers, and speaks of all choices"
