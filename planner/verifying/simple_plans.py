"""Holds what can only be believed, the results of searches, against simple plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..facts.part import only
from ..facts.possible_places import Places
from ..model.plan import Placement, Plan, PlanStatus
from ..model.problem import BufferId, Problem
from .arguments.bounds import rests_on_searches, searched_claims
from .arguments.claims import refuted
from .arguments.counterexamples import counterexamples, usual_effort
from .findings import FindingKind, PlanFindings, VerifyFinding
from .placements import placed_buffers
from .rules import check_placements

MOST_IRREDUCIBLE = 60
"""The most buffers of a subset: each is left out in turn, and the rest placed."""
PATIENCE = 500
"""Attempts to place a rest of few buffers."""
PATIENCE_FOR_ALL = 30
"""The same for all buffers, of which it is claimed that they do not fit."""
PAIRS_TO_TRY = 2_000_000
"""The most pairs examined in all attempts together."""


def check_against_simple_plans(places: Places, plan: Plan, effort: int | None) -> Iterator[VerifyFinding]:
    """Check results of searches, which can only be believed, against plans that are easy to find."""
    problem = places.problem
    why = plan.shortage
    subset = None if why is None else why.subset
    if plan.status is PlanStatus.INFEASIBLE:
        if (
            rests_on_searches(places, plan)
            and _simple_plan(places, patience=PATIENCE_FOR_ALL, effort=effort) is not None
        ):
            text = "the status is infeasible, but there is a plan: place the buffers one after the other"
            yield VerifyFinding(FindingKind.UNPROVEN_INFEASIBILITY, text)
    else:
        yield from _refuted_by_simple_plans(places, plan, effort)
    some = sorted({places.index[id_] for id_ in subset or () if id_ in places.index})
    if subset and len(some) == len(subset) and _simple_plan(places, some, effort=effort) is not None:
        text = "the shortage's subset can be placed: its buffers fit one after the other"
        yield VerifyFinding(FindingKind.WRONG_SHORTAGE, text, subset)
    elif (
        subset
        and len(some) == len(subset)
        and why is not None
        and why.irreducible
        and not is_irreducible(problem, subset)
    ):
        text = "the shortage's subset is said to be irreducible, but it could not be shown that without any one of them the rest can be placed"
        yield VerifyFinding(FindingKind.WRONG_SHORTAGE, text, subset)


def _refuted_by_simple_plans(places: Places, plan: Plan, effort: int | None) -> Iterator[VerifyFinding]:
    """Return what searches are said to have shown, and the first simple plan below it refutes."""
    claimed = searched_claims(places, plan)
    if not claimed:
        return
    spared = [*dict.fromkeys(each.pool for each in claimed if each.pool is not None)]
    for found in simple_plans(places, effort=effort, spared=spared):
        wrong = [*refuted(places.problem, plan, found, placed_buffers(places.problem, found))]
        yield from (VerifyFinding(FindingKind.BOUND_ABOVE_PEAK, text) for text in wrong)
        if wrong:
            return


def is_irreducible(problem: Problem, subset: Sequence[BufferId]) -> bool:
    """True if all but any one of these buffers can be shown to fit. False proves nothing: it is not tried for many buffers."""
    if len(subset) > MOST_IRREDUCIBLE:
        return False
    patience = min(PATIENCE, PAIRS_TO_TRY // len(subset) ** 3)
    rests = ([id_ for id_ in subset if id_ != left_out] for left_out in subset)
    return all(not rest or _simple_plan(Places(only(problem, rest)), patience=patience) is not None for rest in rests)


def _simple_plan(
    places: Places, among: Sequence[int] | None = None, *, patience: int = 0, effort: int | None = None
) -> Sequence[Placement | None] | None:
    """Return simple placements that keep every rule, if some are found."""
    return next(simple_plans(places, among, patience=patience, effort=effort), None)


def simple_plans(
    places: Places,
    among: Sequence[int] | None = None,
    *,
    patience: int = 0,
    effort: int | None = None,
    spared: Sequence[str] = (),
) -> Iterator[Sequence[Placement | None]]:
    """Yield simple placements that keep every rule. As much is tried as usual, or `effort`."""
    if effort is None:
        effort = usual_effort(places.problem)
    for found in counterexamples(places, among, patience=patience, effort=effort, spared=spared):
        report = PlanFindings()
        check_placements(places.problem, found, placed_buffers(places.problem, found), report)
        if not report.listed:
            yield found
