"""What was not found for a shape, or for all, and why: as notes where there is an answer nonetheless, as errors where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from solvers.model.errors import StopReason

from ...model.errors import Code, Finding, NoPlan, PlannerError, PlanWithheld
from ...model.plan import Plan, PlanStatus
from ...verifying.arguments.counterexamples import BRIEF
from .answer import ShapesPlan
from .expression import Values
from .ranges import values_text
from .shaped import ShapedProblem
from .verify import verify_shapes

CODES = {StopReason.TIME_LIMIT: Code.OUT_OF_TIME, StopReason.SOLVER_FAILED: Code.SOLVER_FAILED}
"""The codes of reasons for which there is no plan; the others are NO_PLAN_FOUND."""
MOST_NOTES = 20

Found: TypeAlias = Plan | PlannerError
"""A plan for one shape alone, or the error with which planning it ended."""


def failed_on_one(error: PlannerError) -> bool:
    """True if planning one shape failed in a way that need not concern the others."""
    return error.findings[0].code in (Code.OUT_OF_TIME, Code.SOLVER_FAILED)


def notes_on(shapes: Sequence[Values], best: Sequence[Found]) -> tuple[str, ...]:
    """Return what must be said of the plans of single shapes; `best` has those of the first shapes."""
    said: dict[str, list[Values]] = {}
    for values, plan in zip(shapes, best, strict=False):
        for text in failures(plan):
            said.setdefault(text, []).append(values)
    found = []
    for text, where in said.items():
        others = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
        found.append(f"{_of(where[0])}{others}: {text}")
    if len(found) > MOST_NOTES:
        found = [*found[:MOST_NOTES], f"and {len(found) - MOST_NOTES} more notes on single shapes"]
    if missing := len(shapes) - len(best):
        found.append(f"there was no time for plans of {missing} of the {len(shapes)} shapes alone (time_limit)")
    return tuple(found)


def failures(plan: Found) -> tuple[str, ...]:
    """Return a note if there is no plan, or what its own warnings say, such as that a solver failed."""
    if isinstance(plan, PlannerError):
        return (f"no plan was found ({plan.findings[0].code}): {plan.findings[0].message}",)
    if plan.status is PlanStatus.INFEASIBLE:
        return ("proven that nothing fits",)
    if not plan.status.has_plan:
        return (f"no plan was found ({plan.stop})", *plan.warnings)
    return plan.warnings


def require_plan(made: Found, values: Values | None = None) -> None:
    """Raise NoPlan, with the reason, if there is none (for one shape, if values are given)."""
    if isinstance(made, PlannerError):
        raise made
    if made.status.has_plan:
        return
    where = "" if values is None else f"{_of(values)}: "
    if made.status is PlanStatus.INFEASIBLE:
        text = "proven: no plan fits within the capacities" if made.shortage is None else made.shortage.message
        raise NoPlan(Finding(Code.INFEASIBLE, "", where + text), made)
    text = f"{where}neither a plan nor a proof that there is none was found ({_reason(made)})"
    raise NoPlan(Finding(CODES.get(made.stop, Code.NO_PLAN_FOUND), "", text), made)


def require_right(problem: ShapedProblem, found: ShapesPlan) -> None:
    """Verify the plan for all shapes. Raises PlanWithheld if it must not be given out."""
    if wrong := verify_shapes(problem, found, effort=BRIEF):
        text = f"the plan that was made failed verification and is withheld: {wrong[0]}; please report it"
        raise PlanWithheld(Finding(Code.PLAN_WITHHELD, "", text))


def _of(values: Values) -> str:
    return f"the shape {values_text(values)} alone" if values else "the only shape"


def _reason(plan: Plan) -> str:
    return ": ".join((plan.stop.value, *plan.warnings[-1:]))
