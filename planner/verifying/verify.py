"""The verification of a plan: every rule of the problem and every claim of the plan, checked again in exact integers.

It does not know how plans are made: it reads only the user's Problem and the Plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from ..facts.constants import spell_out_constants
from ..facts.digest import digest as digest_of
from ..facts.part import only
from ..facts.possible_places import Places
from ..facts.sweep import VERIFYING, Integers, Pieces, all_apart, exact_array, meetings
from ..facts.variants import as_chosen
from ..model.columns import ids
from ..model.deadline import in_time, look
from ..model.errors import echo
from ..model.placement_columns import PlacementColumns, pools_of
from ..model.placement_columns import ids_of as ids_of_places
from ..model.plan import Placement, Plan, PlanStatus
from ..model.pool_columns import names_of
from ..model.problem import Buffer, BufferId, Problem
from .arguments.bounds import check_proofs, rests_on_searches, searched_claims
from .arguments.certificates import objections
from .arguments.claims import check_claims, refuted
from .arguments.counterexamples import EFFORT, counterexamples
from .choice import check_choice
from .findings import AddressRange, FindingKind, PlanFindings, VerifyFinding
from .permitted import Permitted, numbers_of
from .placements import PlacedBuffers, check_each, pieces, placed_buffers

MOST_IRREDUCIBLE = 60
"""The most buffers of a subset: each is left out in turn, and the rest placed."""
PATIENCE = 500
"""Attempts to place a rest of few buffers."""
PATIENCE_FOR_ALL = 30
"""The same for all buffers, of which it is claimed that they do not fit."""
PAIRS_TO_TRY = 2_000_000
"""The most pairs examined in all attempts together."""


def verify(
    problem: Problem, plan: Plan, digest: str | None = None, *, effort: int = EFFORT
) -> tuple[VerifyFinding, ...]:
    """Return everything that is wrong with the plan; empty if it may be trusted. `digest` saves computing the problem's again.

    What searches are said to have shown is held against simple plans; making these ends when `effort` comparisons were made.
    """
    is_variation = problem.facts.neighbour is not None  # whose figures are in arrays
    if is_variation or (isinstance(plan.placements, PlacementColumns) and len(problem.pools) == 1):
        from .quick_check import is_plainly_right

        if is_plainly_right(problem, plan, digest_of(problem) if digest is None else digest):
            return ()
    report = PlanFindings()
    if plan.problem_digest != (digest_of(problem) if digest is None else digest):
        report.add(FindingKind.WRONG_DIGEST, "the plan was made for another problem: the digests differ")
    if problem.variants is not None or plan.choice is not None:
        report.extend(check_choice(problem, plan))
        if report.listed:  # without a valid choice, the buffers to place are unknown
            return tuple(report.listed)
        if not plan.status.has_plan:
            return tuple(report.listed)  # that no choice fits is believed, as searches are
        problem = as_chosen(problem, plan)
    problem = spell_out_constants(problem)
    look(VERIFYING)
    where = _located(problem, plan, report)
    placed = placed_buffers(problem, where)
    look(VERIFYING)
    _check_placements(problem, where, placed, report)
    look(VERIFYING)
    places = Places(problem)
    look(VERIFYING)
    report.extend(check_claims(places, plan, where, placed))
    look(VERIFYING)
    report.extend(check_proofs(places, plan))
    look(VERIFYING)
    report.extend(_check_against_counterexamples(places, plan, effort))
    look(VERIFYING)
    for certificate, wrong in objections(places, plan.certificates):
        report.add(FindingKind.WRONG_CERTIFICATE, wrong, certificate.buffers)
    return tuple(report.listed)


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


def _check_placements(
    problem: Problem, where: Sequence[Placement | None], placed: PlacedBuffers, report: PlanFindings
) -> None:
    """Report every rule of the problem that the placements break."""
    check_each(problem, placed, report)
    look(VERIFYING)
    _check_overlaps(problem, where, pieces(problem, placed), report)
    look(VERIFYING)
    _check_relations(problem, where, placed, report)


def _check_against_counterexamples(places: Places, plan: Plan, effort: int) -> Iterator[VerifyFinding]:
    """Check results of searches, which can only be believed, against plans that are easy to find."""
    problem = places.problem
    why = plan.shortage
    subset = None if why is None else why.subset
    if plan.status is PlanStatus.INFEASIBLE:
        if (
            rests_on_searches(places, plan)
            and _counterexample(places, patience=PATIENCE_FOR_ALL, effort=effort) is not None
        ):
            text = "the status is infeasible, but there is a plan: place the buffers one after the other"
            yield VerifyFinding(FindingKind.UNPROVEN_INFEASIBILITY, text)
    else:
        yield from _refuted_by_simple_plans(places, plan, effort)
    some = sorted({places.index[id_] for id_ in subset or () if id_ in places.index})
    if subset and len(some) == len(subset) and _counterexample(places, some, effort=effort) is not None:
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


def _refuted_by_simple_plans(places: Places, plan: Plan, effort: int) -> Iterator[VerifyFinding]:
    """Return what searches are said to have shown, and the first simple plan below it refutes."""
    claimed = searched_claims(places, plan)
    if not claimed:
        return
    spared = [*dict.fromkeys(each.pool for each in claimed if each.pool is not None)]
    for found in _counterexamples(places, effort=effort, spared=spared):
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
    return all(
        not rest or _counterexample(Places(only(problem, rest)), patience=patience) is not None for rest in rests
    )


def _counterexample(
    places: Places, among: Sequence[int] | None = None, *, patience: int = 0, effort: int = EFFORT
) -> Sequence[Placement | None] | None:
    """Return simple placements that keep every rule, if some are found."""
    return next(_counterexamples(places, among, patience=patience, effort=effort), None)


def _counterexamples(
    places: Places,
    among: Sequence[int] | None = None,
    *,
    patience: int = 0,
    effort: int = EFFORT,
    spared: Sequence[str] = (),
) -> Iterator[Sequence[Placement | None]]:
    """Yield simple placements that keep every rule."""
    for found in counterexamples(places, among, patience=patience, effort=effort, spared=spared):
        report = PlanFindings()
        _check_placements(places.problem, found, placed_buffers(places.problem, found), report)
        if not report.listed:
            yield found


def _check_overlaps(
    problem: Problem, where: Sequence[Placement | None], used: Iterable[Pieces], report: PlanFindings
) -> None:
    permitted: Permitted | None = None
    for here in used:
        if all_apart(here):
            continue
        look(VERIFYING)
        permitted = permitted or Permitted(problem)
        if permitted.any and (all_apart(here, permitted.may_share) or permitted.are_apart(here)):
            continue
        seen: set[tuple[int, int]] = set()
        for pair in permitted.others(meetings(here)):
            if pair in seen:
                continue
            if report.is_full(FindingKind.OVERLAP):
                return
            seen.add(pair)
            first, second = (problem.buffers[i] for i in pair)
            _two(
                report,
                FindingKind.OVERLAP,
                first,
                where[pair[0]],
                second,
                where[pair[1]],
                "are live together and overlap",
            )


def _check_relations(
    problem: Problem, where: Sequence[Placement | None], placed: PlacedBuffers, report: PlanFindings
) -> None:
    """Check constraints between buffers."""
    constraints = problem.constraints
    if not (constraints.conflicts or constraints.colocations or constraints.same_pool or constraints.different_pool):
        return
    index = {id_: i for i, id_ in enumerate(ids(problem.buffers))}
    _check_pairs(problem, where, placed, index, report)
    if constraints.same_pool or constraints.different_pool:
        _check_pools(problem, placed, index, report)


def _check_pools(problem: Problem, placed: PlacedBuffers, index: Mapping[BufferId, int], report: PlanFindings) -> None:
    """Check that buffers share a pool, or do not, as they must."""
    constraints = problem.constraints
    pools = dict(zip(placed.number.tolist(), placed.pool.tolist(), strict=True))
    for group in in_time(constraints.same_pool, VERIFYING):
        used = [pools[index[id_]] for id_ in in_time(group, VERIFYING) if index[id_] in pools]
        if len(set(used)) > 1:
            text = f"{_names(group)} must share one pool but do not"
            report.add(FindingKind.SAME_POOL_BROKEN, text, group)
    for group in in_time(constraints.different_pool, VERIFYING):
        used = [pools[index[id_]] for id_ in in_time(group, VERIFYING) if index[id_] in pools]
        if len(set(used)) < len(used):
            text = f"{_names(group)} must be in different pools but are not"
            report.add(FindingKind.DIFFERENT_POOL_BROKEN, text, group)


def _check_pairs(
    problem: Problem,
    where: Sequence[Placement | None],
    placed: PlacedBuffers,
    index: Mapping[BufferId, int],
    report: PlanFindings,
) -> None:
    """Check conflicts and colocations."""
    constraints = problem.constraints
    end = placed.offset + placed.size
    pool, low, high = (np.full(len(index), -1, dtype=end.dtype) for _ in range(3))
    """-1 for a buffer without a place."""
    pool[placed.number], low[placed.number], high[placed.number] = placed.pool, placed.offset, end

    def broken(
        kind: FindingKind, pairs: Sequence[tuple[BufferId, BufferId]], which: Integers, text: Callable[[int], str]
    ) -> None:
        for k in np.flatnonzero(which).tolist():
            a, b = (index[id_] for id_ in pairs[k])
            _two(report, kind, problem.buffers[a], where[a], problem.buffers[b], where[b], text(k))

    one, other = numbers_of(index, constraints.conflicts)
    meet = (
        (pool[one] == pool[other])
        & (pool[one] >= 0)
        & (np.minimum(high[one], high[other]) > np.maximum(low[one], low[other]))
    )
    broken(FindingKind.SEPARATION_BROKEN, constraints.conflicts, meet, lambda _: "must not share addresses but overlap")
    colocated = [(each.buffer, each.base) for each in constraints.colocations]
    one, other = numbers_of(index, colocated)
    apart = exact_array([tie.offset for tie in constraints.colocations])
    torn = (pool[one] != pool[other]) | (low[one] != low[other] + apart)
    torn &= (pool[one] >= 0) & (pool[other] >= 0)
    broken(
        FindingKind.COLOCATION_BROKEN,
        colocated,
        torn,
        lambda k: f"are not {constraints.colocations[k].offset} bytes apart in one pool, as their colocation says",
    )


def _two(
    report: PlanFindings,
    kind: FindingKind,
    a: Buffer,
    at_a: Placement | None,
    b: Buffer,
    at_b: Placement | None,
    what: str,
) -> None:
    assert at_a is not None
    assert at_b is not None
    first = AddressRange(at_a.pool, at_a.offset, at_a.offset + a.size)
    second = AddressRange(at_b.pool, at_b.offset, at_b.offset + b.size)
    text = f"buffers {echo(a.id)} at {first} and {echo(b.id)} at {second} {what}"
    report.add(kind, text, (a.id, b.id), (first, second))


def _names(ids: tuple[BufferId, ...]) -> str:
    return "buffers " + ", ".join(echo(id_) for id_ in ids[:8]) + (", …" if len(ids) > 8 else "")
