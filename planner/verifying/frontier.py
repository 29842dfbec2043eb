"""The verification of a frontier: each plan, and the claims about each other and the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from solvers.model.errors import StopReason

from ..facts.digest import digest as digest_of
from ..model.deadline import in_time
from ..model.plan import ChoiceGoal, Frontier, PlanStatus
from ..model.problem import Problem
from .arguments.no_choice import is_said
from .choices.choice import AllChoices
from .choices.other_choices import SimplePoints
from .findings import FindingKind, PlanFindings, VerifyFinding
from .verify import Verification

VERIFYING = "verifying the frontier"
ROUNDING = Fraction(1, 1 << 40)
"""What a share may be too small by, having been rounded."""


def verify_frontier(problem: Problem, frontier: Frontier, *, effort: int | None = None) -> tuple[VerifyFinding, ...]:
    """Return everything that is wrong with the frontier; empty if it may be trusted.

    That no other choice is better is believed, as searches are, unless a simple plan of some choice is.
    """
    report = PlanFindings()
    digest = digest_of(problem)
    if frontier.problem_digest != digest:
        report.add(FindingKind.WRONG_DIGEST, "the frontier is of another problem: the digests differ")
    points = SimplePoints(problem, effort, plans=max(len(frontier.points), 1))
    all_choices = AllChoices(problem)
    for number, plan in enumerate(in_time(frontier.points, VERIFYING), 1):
        found = Verification(problem, plan, digest, points=points, all_choices=all_choices).findings()
        report.extend(replace(each, message=f"point {number}: {each.message}") for each in found)
    report.extend(_check_points(frontier))
    report.extend(_check_whole(frontier))
    # with several memories it may be the shortage of what all choices have in common
    known = {"most": frontier.most_cost}
    if frontier.missing is not None and len(problem.pools) == 1 and not is_said(frontier.missing, known):
        report.add(FindingKind.WRONG_SHORTAGE, "what is missing is no sentence that says why no choice fits")
    if problem.variants is not None:
        report.extend(_check_against_simple_points(frontier, points))
    return tuple(report.listed)


def _check_points(frontier: Frontier) -> Iterator[VerifyFinding]:
    """Check that each point is smaller and dearer than the one before: then none beats another's bound."""
    worth: list[tuple[int, int]] = []
    for number, plan in enumerate(frontier.points, 1):
        if plan.choice is not None and plan.choice.most_cost != frontier.most_cost:
            yield _wrong(f"point {number} and the frontier do not agree on the greatest cost")
        if plan.choice is None or plan.objective.value is None or plan.choice.goal is not ChoiceGoal.POINT:
            yield _wrong(f"point {number} is no point of a frontier")
            return
        worth.append((plan.choice.cost, plan.objective.value))
    for number, ((cost, value), (dearer, smaller)) in enumerate(pairwise(worth), 1):
        if cost >= dearer or value <= smaller:
            yield _wrong(f"point {number + 1} does not cost more and need less than point {number}")
            return


def _check_whole(frontier: Frontier) -> Iterator[VerifyFinding]:
    """Check the claims about all points together."""
    if frontier.is_complete and not all(plan.status is PlanStatus.OPTIMAL for plan in frontier.points):
        yield VerifyFinding(FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND, "the frontier is complete, but not all is optimal")
    if frontier.is_complete and frontier.within != 0:
        yield _wrong(f"the frontier is complete, but leaves out {frontier.within}")
    if frontier.within == 0 and not frontier.is_complete:
        yield _wrong("the frontier leaves nothing out, but is not complete")
    if frontier.within is not None and not 0 <= frontier.within < math.inf:
        yield _wrong(f"the frontier cannot leave out {frontier.within}")
    if frontier.points and frontier.is_infeasible:
        yield _wrong("the frontier has points, but nothing is to fit")
    if frontier.is_complete and not frontier.points:
        yield _wrong("the frontier is complete, but has no points")
    is_proven = frontier.stop is StopReason.PROVED
    if (frontier.is_complete or frontier.is_infeasible) and not is_proven:
        yield _wrong(f"the frontier says that all is proven, but the run stopped with {frontier.stop}")
    optimal = [plan.status is PlanStatus.OPTIMAL for plan in frontier.points]
    if is_proven and not (frontier.is_infeasible or (optimal and all(optimal))):  # of as many points as were asked for
        yield _wrong("the run stopped with a proof, but not all points are optimal")
    if frontier.reproducible and not (
        frontier.stop.is_repeatable and all(plan.reproducible for plan in frontier.points)
    ):
        yield _wrong("the frontier calls itself reproducible, but its run or a point is not")
    if (frontier.missing is not None) != frontier.is_infeasible:
        yield _wrong("the frontier says what is missing, but not that nothing fits, or the other way round")
    if frontier.within is not None and not frontier.points:
        yield _wrong(f"the frontier has no points of which it could leave out {frontier.within}")


def _check_against_simple_points(frontier: Frontier, tried: SimplePoints) -> Iterator[VerifyFinding]:
    """Return claims about all choices that a simple plan of one refutes."""
    if not (frontier.is_complete or frontier.is_infeasible or frontier.within is not None):
        return
    most = frontier.most_cost
    points = [each for each in sorted(tried.about()) if most is None or each.cost <= most]
    if frontier.is_infeasible and points:
        text = f"nothing is to fit, but there is a choice that costs {points[0].cost} and fits"
        yield VerifyFinding(FindingKind.UNPROVEN_INFEASIBILITY, text)
    worth = [
        (plan.choice.cost, plan.objective.value)
        for plan in frontier.points
        if plan.choice is not None and plan.objective.value is not None
    ]
    if frontier.is_complete:
        left_out = Fraction(0)
    elif frontier.within is not None and 0 <= frontier.within < math.inf:
        left_out = Fraction(frontier.within) * (1 + ROUNDING)
    else:
        return
    for each in points if worth else ():
        enough = each.cost + left_out * abs(each.cost), each.value * (1 + left_out)
        if not any(cost <= enough[0] and value <= enough[1] for cost, value in worth):
            yield _wrong(f"a choice that costs {each.cost} and needs {each.value} is left out")
            return


def _wrong(message: str) -> VerifyFinding:
    return VerifyFinding(FindingKind.WRONG_STATUS, message)
