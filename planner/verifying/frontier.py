"""The verification of a frontier: each plan, and the claims about each other and the whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from ..facts.digest import digest as digest_of
from ..model.deadline import in_time
from ..model.plan import ChoiceGoal, Frontier, PlanStatus
from ..model.problem import Problem
from .findings import FindingKind, PlanFindings, VerifyFinding
from .verify import verify

VERIFYING = "verifying the frontier"


def verify_frontier(problem: Problem, frontier: Frontier) -> tuple[VerifyFinding, ...]:
    """Return everything that is wrong with the frontier; empty if it may be trusted. That no other choice is better is believed, as searches are."""
    report = PlanFindings()
    digest = digest_of(problem)
    if frontier.problem_digest != digest:
        report.add(FindingKind.WRONG_DIGEST, "the frontier is of another problem: the digests differ")
    for number, plan in enumerate(in_time(frontier.points, VERIFYING), 1):
        found = verify(problem, plan, digest)
        report.extend(replace(each, message=f"point {number}: {each.message}") for each in found)
    report.extend(_check_points(frontier))
    report.extend(_check_whole(frontier))
    return tuple(report.listed)


def _check_points(frontier: Frontier) -> Iterator[VerifyFinding]:
    """Check that each point is smaller and dearer than the one before: then none beats another's bound."""
    worth: list[tuple[int, int]] = []
    for number, plan in enumerate(frontier.points, 1):
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
    if frontier.within is not None and not 0 <= frontier.within < math.inf:
        yield _wrong(f"the frontier cannot leave out {frontier.within}")
    if frontier.points and frontier.is_infeasible:
        yield _wrong("the frontier has points, but nothing is to fit")
    if frontier.is_complete and not frontier.points:
        yield _wrong("the frontier is complete, but has no points")


def _wrong(message: str) -> VerifyFinding:
    return VerifyFinding(FindingKind.WRONG_STATUS, message)
