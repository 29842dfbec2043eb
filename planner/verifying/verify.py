"""The verification of a plan: every rule of the problem and every claim of the plan, checked again in exact integers.

It does not know how plans are made: it reads only the user's Problem and the Plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..facts.constants import spell_out_constants
from ..facts.digest import digest as digest_of
from ..facts.possible_places import Places
from ..facts.sweep import VERIFYING
from ..facts.variants import as_chosen
from ..model.columns.buffers import ids
from ..model.columns.placements import PlacementColumns, pools_of
from ..model.columns.placements import ids_of as ids_of_places
from ..model.columns.pools import names_of
from ..model.deadline import in_time, look
from ..model.errors import echo
from ..model.plan import Placement, Plan
from ..model.problem import BufferId, Problem
from .arguments.bounds import check_proofs
from .arguments.certificates import objections
from .arguments.claims import check_claims
from .choices.choice import AllChoices, check_all_choices, check_choice
from .findings import FindingKind, PlanFindings, VerifyFinding
from .moments import places_argued_of
from .placements import PlacedBuffers, placed_buffers
from .rules import check_placements
from .simple_plans import check_against_simple_plans

if TYPE_CHECKING:
    from .choices.other_choices import SimplePoints


def verify(
    problem: Problem, plan: Plan, digest: str | None = None, *, effort: int | None = None
) -> tuple[VerifyFinding, ...]:
    """Return everything that is wrong with the plan; empty if it may be trusted. `digest` saves computing the problem's again.

    What searches are said to have shown is held against simple plans; how many of these are made depends on the
    problem's size, unless `effort` says after how many comparisons it ends.
    """
    return Verification(problem, plan, digest, effort=effort).findings()


class Verification:
    """The verification of one plan. If time ends it among the proofs, the placements can still be trusted: they were checked before."""

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        digest: str | None = None,
        *,
        effort: int | None = None,
        points: SimplePoints | None = None,
        all_choices: AllChoices | None = None,
    ) -> None:
        """Takes what `verify` does; several plans may share `points` and `all_choices`."""
        self._problem, self._plan, self._effort, self._points = problem, plan, effort, points
        self._digest = digest_of(problem) if digest is None else digest
        self._all_choices = all_choices or AllChoices(problem)
        is_variation = problem.facts.neighbour is not None  # whose figures are in arrays
        is_plain = isinstance(plan.placements, PlacementColumns) and len(problem.pools) == 1
        self._may_be_plain = is_variation or is_plain
        self._kept: tuple[Places, Sequence[Placement | None], PlacedBuffers] | None = None
        """Placements that keep every rule, once that is known."""

    def findings(self) -> tuple[VerifyFinding, ...]:
        """Return everything that is wrong with the plan."""
        problem, plan, effort = self._problem, self._plan, self._effort
        if self._may_be_plain and self._is_plainly_right(plan):
            return ()
        self._may_be_plain = False
        report = PlanFindings()
        if plan.problem_digest != self._digest:
            report.add(FindingKind.WRONG_DIGEST, "the plan was made for another problem: the digests differ")
        if problem.variants is not None or plan.choice is not None:
            report.extend(check_choice(problem, plan))
            if report.listed:  # without a valid choice, the buffers to place are unknown
                return tuple(report.listed)
            from .choices.other_choices import SimplePoints, check_no_choice, check_other_choices

            if not plan.status.has_plan:
                report.extend(check_no_choice(problem, plan, effort))
                return tuple(report.listed)
            points = self._points or SimplePoints(problem, effort)
            report.extend(check_other_choices(problem, plan, points))
            report.extend(check_all_choices(self._all_choices, plan.choice))
            problem = as_chosen(problem, plan)
        problem = spell_out_constants(problem)
        look(VERIFYING)
        before = len(report.listed)
        where = _located(problem, plan, report)
        placed = placed_buffers(problem, where)
        look(VERIFYING)
        check_placements(problem, where, placed, report)
        look(VERIFYING)
        places = places_argued_of(problem, plan.certificates)
        if plan.placements and not report.listed:
            self._kept = places, where, placed
        look(VERIFYING)
        keeps_rules = len(report.listed) == before
        report.extend(check_claims(places, plan, where, placed, keeps_rules=keeps_rules))
        look(VERIFYING)
        report.extend(check_proofs(places, plan))
        look(VERIFYING)
        report.extend(check_against_simple_plans(places, plan, effort))
        look(VERIFYING)
        for certificate, wrong in objections(places, plan.certificates):
            report.add(FindingKind.WRONG_CERTIFICATE, wrong, certificate.buffers)
        return tuple(report.listed)

    def is_right_without_proofs(self, unproven: Plan) -> bool:
        """True if the same plan without proofs is right. False also if the placements have not been found to keep every rule."""
        if self._may_be_plain:
            return self._is_plainly_right(unproven)
        return self._kept is not None and not any(check_claims(self._kept[0], unproven, *self._kept[1:]))

    def _is_plainly_right(self, plan: Plan) -> bool:
        from .quick_check import is_plainly_right

        return is_plainly_right(self._problem, plan, self._digest)


def _located(problem: Problem, plan: Plan, report: PlanFindings) -> Sequence[Placement | None]:
    """Return each buffer's placement, in the order of the problem's buffers; None if it has no valid one."""
    if not plan.placements:
        return [None] * len(problem.buffers)
    names = {*names_of(problem.pools)}
    is_in_order = [*ids_of_places(plan.placements)] == [*ids(problem.buffers)]
    if is_in_order and pools_of(plan.placements) <= names:
        return plan.placements
    placements: list[Placement | None] = list(plan.placements) if is_in_order else _matched(problem, plan, report)
    for i, place in enumerate(in_time(placements, VERIFYING)):
        if place is not None and place.pool not in names:
            text = f"buffer {echo(place.id)} is in pool {echo(place.pool)}, which the problem does not have"
            report.add(FindingKind.UNKNOWN_POOL, text, (place.id,))
            placements[i] = None
    return placements


def _matched(problem: Problem, plan: Plan, report: PlanFindings) -> list[Placement | None]:
    """Return the placements by buffer, if the plan does not list them in the problem's order."""
    known = {buffer.id for buffer in problem.buffers}
    found: dict[BufferId, Placement] = {}
    for place in plan.placements:
        if place.id not in known:
            text = f"buffer {echo(place.id)} is not in the problem"
            report.add(FindingKind.UNKNOWN_BUFFER, text, (place.id,))
        elif place.id in found:
            text = f"buffer {echo(place.id)} is placed more than once"
            report.add(FindingKind.DUPLICATE_PLACEMENT, text, (place.id,))
        else:
            found[place.id] = place
    missing = [buffer.id for buffer in problem.buffers if buffer.id not in found]
    for id_ in missing:
        report.add(FindingKind.MISSING_BUFFER, f"buffer {echo(id_)} has no placement", (id_,))
    if list(found) != [buffer.id for buffer in problem.buffers if buffer.id in found]:
        report.add(FindingKind.WRONG_ORDER, "the placements are not in the order of the problem's buffers")
    return [found.get(buffer.id) for buffer in problem.buffers]
