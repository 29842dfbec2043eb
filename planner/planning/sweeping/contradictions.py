"""Holds what a sweep says is proven against what its plans show, whichever size each is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from solvers.model.instance import Term

from ...facts.sweep import VERIFYING
from ...facts.variants import as_chosen
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import Plan, PlanStatus
from ...model.problem import Problem
from ...verifying.arguments.claims import refuted_by
from ...verifying.choices.other_choices import SimplePoint, refuted_by_choices
from ...verifying.objective import term_value
from .answer import SmallestCapacity, Sweep, SweepPoint


@dataclass(frozen=True, slots=True)
class Shown:
    """What a plan of the sweep that keeps every rule needs and is worth."""

    where: str
    """Whose plan it is."""
    peaks: Mapping[str, int]
    value: tuple[int, ...]
    """The terms of the sweep's objective, preceded by the cost if there are variants."""
    worth: Mapping[Term, int]
    """These terms by name, and the sum of peaks."""

    @property
    def figures(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(self.peaks.values()), self.value

    def fits(self, capacity: Mapping[str, int]) -> bool:
        return all(self.peaks[name] <= size for name, size in capacity.items())


def shown_by(problem: Problem, plan: Plan, where: str) -> Shown:
    """Return what a plan shows; its placements must be right."""
    peaks = {pool.name: 0 for pool in problem.pools}
    for place in plan.placements:
        peaks[place.pool] = max(peaks[place.pool], place.offset + place.size)
    chosen = as_chosen(problem, plan)
    terms = dict.fromkeys((*problem.terms, Term.SUM_OF_PEAKS))
    worth = {term: term_value(chosen, plan.placements, peaks, term) for term in terms}
    cost = () if plan.choice is None else (plan.choice.cost,)
    return Shown(where, peaks, (*cost, *(worth[term] for term in problem.terms)), worth)


def named(capacity: Mapping[str, int]) -> str:
    """Return the sizes in words."""
    return ", ".join(f"{name}={size}" for name, size in capacity.items())


def contradictions(
    problem: Problem, found: Sweep, smallest: SmallestCapacity | None, shown: Sequence[Shown]
) -> Iterator[str]:
    """Return what is said to be proven and a plan refutes, each claim with one such plan. `smallest` must be of the swept pool."""
    different = {each.figures: each for each in reversed(shown)}.values()
    for point in found.points:
        yield from _first(_refuted_point(problem, point, each) for each in different)
    if smallest is not None:
        yield from _first(_refuted_smallest(problem, smallest, each) for each in different)


def _first(of_each: Iterable[Iterator[str]]) -> Sequence[str]:
    """Return what the first plan that refutes anything does."""
    for wrong in of_each:
        look(VERIFYING)
        if said := [*wrong]:
            return said
    return ()


def _refuted_point(problem: Problem, point: SweepPoint, shown: Shown) -> Iterator[str]:
    where, plan = named(point.capacity), point.plan
    if point.status is PlanStatus.INFEASIBLE:
        if shown.fits(point.capacity):
            yield f"{where} is claimed to be too small, but the plan of {shown.where} fits"
        elif plan is not None and len(plan.pools) == 1:  # with others, what must be in one depends on the sizes
            [use] = plan.pools
            least = max([use.bound, plan.bound, *(each.value for each in plan.certificates if each.pool == use.name)])
            yield from _less(f"{where}: ", use.name, least, shown)
    elif shown.fits(point.capacity):
        if (*point.bound,) > shown.value:
            yield f"{where} is proven to need {point.bound}, but the plan of {shown.where} has {shown.value}"
        elif plan is not None:
            yield from _refuted_plan(problem, plan, f"{where}: ", shown, shown.worth)


def _refuted_smallest(problem: Problem, least: SmallestCapacity, shown: Shown) -> Iterator[str]:
    what = "the smallest capacity: "
    if least.plan.status is PlanStatus.INFEASIBLE:
        yield f"{what}nothing is to fit, whatever the size, but the plan of {shown.where} does"
        return
    below = [*_less(what, least.pool, least.bound, shown)]
    yield from below
    if not below:
        yield from _refuted_plan(problem, least.plan, what, shown, {Term.SUM_OF_PEAKS: shown.peaks[least.pool]})


def _less(what: str, pool: str, least: int, shown: Shown) -> Iterator[str]:
    peak = shown.peaks[pool]
    if least > peak:
        yield f"{what}pool {echo(pool)} is to need {least} bytes or more, but the plan of {shown.where} takes {peak}"


def _refuted_plan(problem: Problem, plan: Plan, what: str, shown: Shown, worth: Mapping[Term, int]) -> Iterator[str]:
    """Return bounds and certificates of a plan that the other refutes; `worth` is the other's in the objective of this one."""
    found: Iterator[str]
    if problem.variants is None:
        found = refuted_by(plan, shown.peaks, worth)
    else:  # a certificate is of one choice
        first = next(iter(worth.values()))
        point = SimplePoint(shown.value[0], first, sum(shown.peaks.values()))
        found = (each.message for each in refuted_by_choices(plan, [point]))
    yield from (f"{what}{text}, by the plan of {shown.where}" for text in found)
