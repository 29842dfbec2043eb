"""The plan that a file carries, as a plan of ours: verified, and measured against what is proven of its problem."""

from __future__ import annotations

from dataclasses import replace

from solvers.model.errors import StopReason

from ...checks.report import bad_input, quoted
from ...model.errors import Code
from ...model.plan import Plan, PlanStatus, gap_to
from ...model.problem import Problem
from ...reporting.own_places import own_places, peaks_of
from ...verifying.findings import VerifyFinding
from ...verifying.objective import term_value
from ...verifying.verify import verify
from ..options.options import Options
from ..placing.lifting import unproven_plan
from ..placing.solving import plan


def own_plan(
    problem: Problem, options: Options | None = None, best: Plan | None = None
) -> tuple[Plan, tuple[VerifyFinding, ...]]:
    """Return the plan of the places that the file gives its buffers (hints, or what it fixes), and what is wrong with it.

    If it is right, its bounds are those of `best`, a plan of the same problem; without one, `options` say how to look for it. If it is wrong, nothing is
    claimed to be proven of it. Raises BadInput if a buffer has no place.
    """
    if problem.variants is not None:
        raise bad_input(
            Code.UNSUPPORTED, ("variants",), "a file with variants does not say which of them its places belong to"
        )
    places = own_places(problem)
    if not isinstance(places, tuple):
        text = f"the file has no plan of its own: it gives no place to {quoted(places)}"
        raise bad_input(Code.NO_PLAN_FOUND, ("buffers",), text)
    peaks = peaks_of(problem, places)
    values = (term_value(problem, places, peaks, term) for term in problem.terms)
    found = replace(unproven_plan(problem, places, peaks, values), stop=StopReason.GOAL_MET)
    wrong = verify(problem, found)
    if wrong:
        return found, wrong
    measured = _measured(found, plan(problem, options) if best is None else best)
    return (found if verify(problem, measured) else measured), ()


def _measured(found: Plan, best: Plan) -> Plan:
    """Return the plan with what `best` proves of every plan; of several terms, that is the bound of the first."""
    first, *later = found.objective.terms
    bound = best.objective.bound
    is_least = not later and first.value == bound
    return replace(
        found,
        status=PlanStatus.OPTIMAL if is_least else PlanStatus.FEASIBLE,
        bound=best.bound,
        gap=None if later else gap_to(bound, first.value),
        objective=replace(found.objective, bound=bound, terms=(replace(first, bound=bound), *later)),
        pools=tuple(replace(use, bound=other.bound) for use, other in zip(found.pools, best.pools, strict=True)),
        certificates=tuple(each for each in best.certificates if each.term in (None, first.name)),
        reproducible=best.reproducible,
    )
