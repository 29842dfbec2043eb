"""Verifies a sweep from the problem and the sweep alone: every plan is verified, every figure computed again, and a missing plan must follow from a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from solvers.model.instance import Term

from ...checks import check
from ...facts.digest import digest
from ...facts.variants import as_chosen
from ...model.plan import ChoiceGoal, Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.objective import term_value
from ...verifying.verify import verify
from .answer import SmallestCapacity, Sweep, SweepPoint, proven
from .contradictions import Shown, contradictions, named, shown_by
from .what_fits import with_what_fits


def verify_sweep(problem: Problem, found: Sweep) -> tuple[str, ...]:
    """Return everything that is wrong with the sweep, in sentences; empty if it may be trusted."""
    problem = replace(problem, terms=found.terms, peak_price=found.peak_price)
    if found.problem_digest != digest(problem):
        return ("the sweep was made for another problem: the digests differ",)
    unknown = {name for point in found.points for name in point.capacity} - {pool.name for pool in problem.pools}
    if unknown:
        return (f"the problem has no pool {', '.join(map(repr, sorted(unknown)))}",)
    swept = found.points[0].capacity if found.points else {}
    if any(point.capacity.keys() != swept.keys() for point in found.points):
        return ("its points do not give sizes to the same pools",)
    largest = {name: max(point.capacity[name] for point in found.points) for name in swept}
    if check(_sized(problem, largest)):
        return ("the problem makes no sense with the largest sizes",)
    shown: list[Shown] = []
    of_smallest = list(_of_smallest(problem, found))
    smallest = None if of_smallest else found.smallest
    if smallest is not None and smallest.plan.status.has_plan:
        shown.append(shown_by(problem, smallest.plan, "the smallest capacity"))
    wrong = list(of_smallest)
    if found.chooses != (problem.variants is not None):
        wrong.append("the sweep and the problem do not agree on whether there is something to choose")
    plans = [point.plan for point in found.points if point.plan is not None]
    if found.smallest is not None:
        plans.append(found.smallest.plan)
    stated = [each for plan in plans for each in (plan.choice, plan.shortage) if each is not None]
    if any(each.most_cost != found.most_cost for each in stated):
        wrong.append("its plans and the sweep do not agree on the greatest cost")
    proven = _proven_impossible(problem, found)
    for point in found.points:
        where = named(point.capacity)
        wrong += [f"{where}: {text}" for text in _of_point(_sized(problem, point.capacity), point, shown)]
        is_derived = point.plan is None and point.status is PlanStatus.INFEASIBLE and not _is_too_small(point, smallest)
        if is_derived and not any(_holds(other, point) for other in proven):
            wrong.append(f"{where}: nothing proves that it is too small")
    if found.reproducible and not all(plan.reproducible for plan in plans):
        wrong.append("the sweep calls itself reproducible, but a plan of it is not")
    wrong += _of_order(found)
    wrong += contradictions(problem, found, smallest, shown)
    return tuple(wrong)


def _holds(larger: SweepPoint, smaller: SweepPoint) -> bool:
    return all(larger.capacity[name] >= size for name, size in smaller.capacity.items())


def _is_too_small(point: SweepPoint, least: SmallestCapacity | None) -> bool:
    """True if the proof of the smallest capacity, which is checked elsewhere, says so."""
    if least is None:
        return False
    return least.plan.status is PlanStatus.INFEASIBLE or point.capacity[least.pool] < least.bound


def _sized(problem: Problem, capacity: Mapping[str, int]) -> Problem:
    """Return the problem with these sizes."""
    pools = tuple(replace(pool, size=capacity.get(pool.name, pool.size)) for pool in problem.pools)
    return replace(problem, pools=pools)


def _of_smallest(problem: Problem, found: Sweep) -> Iterator[str]:
    least = found.smallest
    if least is None:
        return
    if any(set(point.capacity) != {least.pool} for point in found.points):
        yield "a smallest capacity is there, which says nothing where other pools are swept, too"
    choice = least.plan.choice
    if choice is not None and (choice.goal is not ChoiceGoal.SIZE or choice.most_cost != found.most_cost):
        yield "the smallest capacity's plan is the smallest of some choices, not of all"
    one_pool = replace(
        problem,
        pools=tuple(
            replace(pool, size=None, cost=1) if pool.name == least.pool else replace(pool, cost=0)
            for pool in problem.pools
        ),
        terms=(Term.SUM_OF_PEAKS,),
    )
    yield from (f"the smallest capacity's plan: {finding.message}" for finding in verify(one_pool, least.plan))
    peak = next((use.peak for use in least.plan.pools if use.name == least.pool), None)
    if peak != least.capacity:
        yield f"the smallest capacity is {least.capacity}, its plan needs {peak}"
    bounds = [use.bound for use in least.plan.pools if use.name == least.pool]
    if least.bound > max([*bounds, least.plan.objective.bound or 0]):
        yield f"nothing proves that the smallest capacity is {least.bound} or more"


def _proven_impossible(problem: Problem, found: Sweep) -> list[SweepPoint]:
    """Return the configurations that a plan's own certificates refute."""
    return [
        point
        for point in found.points
        if point.plan is not None
        and point.plan.status is PlanStatus.INFEASIBLE
        and not verify(_sized(problem, point.capacity), point.plan)
    ] + [point for point in found.points if point.plan is None and not _is_choosable(problem, point)]


def _is_choosable(problem: Problem, point: SweepPoint) -> bool:
    """False if the problem contradicts itself with these sizes, whatever is chosen."""
    return with_what_fits(_sized(problem, point.capacity)) is not None


def _of_point(problem: Problem, point: SweepPoint, shown: list[Shown]) -> Iterator[str]:
    """Return what is wrong with the point; what its plan shows, if that may be trusted, is added."""
    plan = point.plan
    proved = () if plan is None or plan.status is PlanStatus.INFEASIBLE else proven(plan)
    if point.bound != proved:
        yield f"the bound is {proved}, not {point.bound}"
    if plan is None or not plan.status.has_plan:
        figures = (point.value, point.peaks, point.access_cost, point.spilled_bytes)
        if any(figure is not None for figure in figures):
            yield "there are figures of a plan, and no plan"
    if plan is None:
        if point.status.has_plan:
            yield f"it is {point.status}, but has no plan"
        return
    findings = [finding.message for finding in verify(problem, plan)]
    yield from findings
    if plan.status is not point.status:
        yield f"it is {point.status}, its plan {plan.status}"
    if findings or not plan.status.has_plan:
        return
    shown.append(shown_by(problem, plan, named(point.capacity)))
    yield from _of_figures(problem, point, plan, shown[-1])


def _of_figures(problem: Problem, point: SweepPoint, plan: Plan, shown: Shown) -> Iterator[str]:
    if point.peaks != shown.peaks:
        yield f"the peaks are {shown.peaks}, not {point.peaks}"
    if point.value != shown.value:
        yield f"the objective is {shown.value}, not {point.value}"
    chosen = as_chosen(problem, plan)
    for name, term, claimed in (
        ("accesses cost", Term.ACCESS_COST, point.access_cost),
        ("spilled bytes are", Term.SPILLED_BYTES, point.spilled_bytes),
    ):
        value = term_value(chosen, plan.placements, shown.peaks, term)
        if value != claimed:
            yield f"{name} {value}, not {claimed}"


def _of_order(found: Sweep) -> Iterator[str]:
    """Check that more memory is never worse."""
    for point in found.points:
        for other in found.points:
            if point.value is None or not _holds(other, point):
                continue
            if other.value is None or (*other.value,) > (*point.value,):
                yield f"{named(other.capacity)} has no plan as good as one for less"
