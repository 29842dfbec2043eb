"""Checks what a plan claims: status, peaks, objective, gap and bounds, computed again."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from math import isclose

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.columns.pools import names_of
from ...model.columns.pools import sizes_of as sizes_of_pools
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import Placement, Plan, PlanCertificate, PlanStatus, Shortage, TermValue, gap_to
from ...model.problem import BufferId, Problem
from ...model.storage import Sharing
from ..findings import FindingKind, VerifyFinding
from ..objective import term_value
from ..placements import PlacedBuffers
from ..placements import peaks as peaks_of
from .shortage import shortage, these


def check_claims(
    places: Places, plan: Plan, where: Sequence[Placement | None], placed: PlacedBuffers, *, keeps_rules: bool = True
) -> Iterator[VerifyFinding]:
    """Return findings about everything but the placements; `where` holds each buffer's placement, in the problem's order.

    Only placements that keep every rule show what can be had.
    """
    problem = places.problem
    has_plan = plan.status.has_plan
    yield from _about_the_run(problem, plan, has_plan)
    for wrong in _shortage(places, plan):
        yield VerifyFinding(FindingKind.WRONG_SHORTAGE, wrong)
    if has_plan and len(placed.places) < len(where):
        return  # something is wrong already; totals of half a plan would only add noise
    peaks = peaks_of(problem, placed) if has_plan else None
    values = {} if peaks is None else _values(problem, where, peaks)
    yield from _peak_claims(plan, peaks)
    yield from _objective(problem, plan, values)
    yield from _gap(plan)
    if peaks is not None:
        yield from _bounds(problem, plan)
        for text in _refuted_certificates(plan, peaks, values) if keeps_rules else ():
            yield VerifyFinding(FindingKind.WRONG_CERTIFICATE, text)


def check_figures(problem: Problem, plan: Plan) -> Iterator[VerifyFinding]:
    """Return findings about an answer without placements, but for what it claims to be proven."""
    yield from _about_the_run(problem, plan, has_plan=False)
    yield from _peak_claims(plan, None)
    yield from _objective(problem, plan, {})
    yield from _gap(plan)


def _about_the_run(problem: Problem, plan: Plan, has_plan: bool) -> Iterator[VerifyFinding]:
    yield from _status(problem, plan, has_plan)
    yield from _pools(problem, plan)
    if plan.seed < 0:
        yield VerifyFinding(FindingKind.WRONG_SEED, f"the seed is {plan.seed}, but no seed is below 0")


def refuted(problem: Problem, plan: Plan, where: Sequence[Placement | None], placed: PlacedBuffers) -> Iterator[str]:
    """Return bounds and certificates that these placements, which keep every rule, refute."""
    peaks = peaks_of(problem, placed)
    yield from refuted_by(plan, peaks, _values(problem, where, peaks))


def refuted_by(plan: Plan, peaks: Mapping[str, int], values: Mapping[Term, int]) -> Iterator[str]:
    """Return bounds and certificates that another plan, which has these peaks and values, refutes."""
    yield from _refuted_bounds(plan, peaks, values)
    yield from _refuted_certificates(plan, peaks, values)


def _refuted_bounds(plan: Plan, peaks: Mapping[str, int], values: Mapping[Term, int]) -> Iterator[str]:
    for use in plan.pools:
        if use.bound > peaks.get(use.name, use.bound):
            yield f"the bound of pool {echo(use.name)} is {use.bound}, but a peak of {peaks[use.name]} can be had"
    if plan.bound > sum(peaks.values()):
        yield f"the bound is {plan.bound}, but a peak of {sum(peaks.values())} can be had"
    for term in plan.objective.terms:
        value = values.get(term.name)
        if value is None:
            break
        if term.bound is not None and term.bound > value:
            yield f"the bound of {term.name} is {term.bound}, but {value} can be had"
        most = _most(term)
        if most is None or value > most:  # later bounds are of plans in which the earlier terms are no higher
            break


def _refuted_certificates(plan: Plan, peaks: Mapping[str, int], values: Mapping[Term, int]) -> Iterator[str]:
    for certificate in plan.certificates:
        value = peaks.get(certificate.pool) if certificate.pool is not None else _value_of(plan, values, certificate)
        if value is not None and certificate.value > value:
            what = certificate.term if certificate.pool is None else f"the peak of pool {echo(certificate.pool)}"
            yield f"a certificate ({certificate.proof}) says {certificate.value} of {what}, which can be {value}"


def _values(problem: Problem, where: Sequence[Placement | None], peaks: Mapping[str, int]) -> dict[Term, int]:
    """Return each term's value, and the sum of peaks."""
    found = {}
    for term in dict.fromkeys((*problem.terms, Term.SUM_OF_PEAKS)):
        look(VERIFYING)
        found[term] = term_value(problem, where, peaks, term)
    return found


def _value_of(plan: Plan, values: Mapping[Term, int], certificate: PlanCertificate) -> int | None:
    """Return the value of the certificate's term; of a later term only if the earlier ones are as its argument presumes."""
    if certificate.term is None or any(values.get(term, most + 1) > most for term, most, _, _ in certificate.held):
        return None
    if certificate.proof is Proof.SEARCH:
        for term in plan.objective.terms:
            if term.name is certificate.term:
                break
            most = _most(term)
            if most is None or values.get(term.name, most + 1) > most:
                return None
    return values.get(certificate.term)


def _most(term: TermValue) -> int | None:
    """Return what the term is at most where the bounds of later ones hold: as in the plan or, without one, at its bound."""
    return term.bound if term.value is None else term.value


def _status(problem: Problem, plan: Plan, has_plan: bool) -> Iterator[VerifyFinding]:
    def wrong(message: str) -> VerifyFinding:
        return VerifyFinding(FindingKind.WRONG_STATUS, message)

    if has_plan and problem.buffers and not plan.placements:
        yield wrong(f"the status is {plan.status}, but there are no placements")
    if not has_plan and plan.placements:
        yield wrong(f"the status is {plan.status}, but there are placements")
    yield from map(wrong, ended_otherwise(plan, (StopReason.PROVED, StopReason.GOAL_MET)))
    if plan.status is PlanStatus.INFEASIBLE and not problem.buffers and problem.variants is None:
        yield wrong("a problem without buffers cannot be infeasible")


def ended_otherwise(answer: Plan | Sharing, stops_of_optimal: Container[StopReason]) -> Iterator[str]:
    """Return contradictions between an answer's status and why its run ended."""
    status, stop = answer.status, answer.stop
    is_unproven = status is PlanStatus.INFEASIBLE and stop is not StopReason.PROVED
    if is_unproven or (status is PlanStatus.OPTIMAL and stop not in stops_of_optimal):
        yield f"the status is {status}, but the run stopped with {stop}, not with a proof"
    if status in (PlanStatus.FEASIBLE, PlanStatus.UNKNOWN) and stop is StopReason.PROVED:
        yield f"the run stopped with a proof, but the status is {status}"
    if answer.reproducible and not stop.is_repeatable:
        yield f"the run stopped with {stop}, but calls itself reproducible"


def _pools(problem: Problem, plan: Plan) -> Iterator[VerifyFinding]:
    names, sizes = names_of(problem.pools), sizes_of_pools(problem.pools)
    if [use.name for use in plan.pools] != names:
        yield VerifyFinding(FindingKind.WRONG_POOL_USE, "the plan does not list the problem's pools, in their order")
        return
    for name, size, use in zip(names, sizes, plan.pools, strict=True):
        if size != use.size:
            text = f"pool {echo(name)} has {_bytes(size)} in the problem, {_bytes(use.size)} in the plan"
            yield VerifyFinding(FindingKind.WRONG_POOL_USE, text)


def _peak_claims(plan: Plan, peaks: dict[str, int] | None) -> Iterator[VerifyFinding]:
    total = None if peaks is None else sum(peaks.values())
    if plan.peak != total:
        yield VerifyFinding(FindingKind.WRONG_PEAK, f"the peak is {_bytes(total)}, the plan says {_bytes(plan.peak)}")
    stated = [use.peak for use in plan.pools]
    if stated == ([None] * len(stated) if peaks is None else [*map(peaks.get, [use.name for use in plan.pools])]):
        return
    for use in plan.pools:
        peak = None if peaks is None else peaks.get(use.name)
        if use.peak != peak:
            text = f"the peak of pool {echo(use.name)} is {_bytes(peak)}, the plan says {_bytes(use.peak)}"
            yield VerifyFinding(FindingKind.WRONG_PEAK, text)


def _objective(problem: Problem, plan: Plan, values: Mapping[Term, int]) -> Iterator[VerifyFinding]:
    def wrong(message: str) -> VerifyFinding:
        return VerifyFinding(FindingKind.WRONG_OBJECTIVE, message)

    objective = plan.objective
    if tuple(term.name for term in objective.terms) != problem.terms:
        yield wrong("the plan does not list the terms of the problem's objective, in their order")
        return
    for term in objective.terms:
        value = values.get(term.name)
        if term.value != value:
            yield wrong(f"{term.name} is {_in_words(value)}, the plan says {_in_words(term.value)}")
    first = objective.terms[0] if objective.terms else None
    if first is not None and (objective.value, objective.bound) != (first.value, first.bound):
        yield wrong("the objective's value and bound are not those of its first term")


def _gap(plan: Plan) -> Iterator[VerifyFinding]:
    objective = plan.objective
    gap = gap_to(objective.bound, objective.value) if len(objective.terms) == 1 else None
    if not same_gap(gap, plan.gap):
        yield VerifyFinding(FindingKind.WRONG_GAP, f"the gap is {_in_words(gap)}, the plan says {_in_words(plan.gap)}")


def same_gap(gap: float | None, claimed: float | None) -> bool:
    """True if the two are equal except for rounding."""
    return gap is claimed is None or (gap is not None and claimed is not None and isclose(gap, claimed, abs_tol=1e-12))


def _bounds(problem: Problem, plan: Plan) -> Iterator[VerifyFinding]:
    for what, bound, value in _bounds_and_values(plan):
        if bound > value:
            text = f"{what} is {value}, below its proven bound {bound}"
            yield VerifyFinding(FindingKind.BOUND_ABOVE_PEAK, text)
    if plan.status is PlanStatus.OPTIMAL:
        for what, proven, reached in _not_met(problem, plan):
            text = f"the plan claims to be optimal, but {what} is {reached} and its bound {proven}"
            yield VerifyFinding(FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND, text)


def _bounds_and_values(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """Yield what is bounded, its bound and its value."""
    if plan.peak is not None:
        yield "the peak", plan.bound, plan.peak
    for use in plan.pools:
        if use.bound and use.peak is not None:
            yield f"the peak of pool {echo(use.name)}", use.bound, use.peak
    for term in plan.objective.terms:
        if term.value is not None and term.bound is not None:
            yield str(term.name), term.bound, term.value


def _not_met(problem: Problem, plan: Plan) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield what is above its bound, with bound and value."""
    for term in plan.objective.terms:
        if term.bound is None or (term.value is not None and term.value > term.bound):
            yield str(term.name), term.bound, term.value
    is_one_peak = problem.terms == (Term.SUM_OF_PEAKS,) and len(problem.pools) == 1 and problem.pools[0].cost == 1
    if is_one_peak and plan.peak is not None and plan.peak > plan.bound:
        yield "its peak", plan.bound, plan.peak


def _shortage(places: Places, plan: Plan) -> Iterator[str]:
    """Return what is wrong with the shortage: it must be exactly what the certificates prove."""
    why = plan.shortage
    if why is None:
        return
    yield from misplaced_shortage(plan.status)
    if why.most_cost is not None:
        yield "the shortage speaks of a greatest cost, but there is nothing to choose"
    known = all(pool in places.pools for pool in _named_pools(plan)) and all(
        id_ in places.index for certificate in plan.certificates for id_ in certificate.buffers
    )
    if plan.status is PlanStatus.INFEASIBLE and known:
        yield from differences(shortage(places.problem, plan.certificates), why)
    for id_ in dict.fromkeys(why.subset or ()):
        if id_ not in places.index:
            yield f"the shortage names buffer {echo(id_)}, which is not in the problem"
    if why.subset is not None and (not why.subset or len(set(why.subset)) < len(why.subset)):
        yield "the shortage's subset is empty, or names a buffer twice"
    if (why.subset is None) != (why.irreducible is None):
        yield "the shortage has a subset and does not say whether it is irreducible, or the other way round"


def _named_pools(plan: Plan) -> Iterator[str]:
    for certificate in plan.certificates:
        if certificate.pool is not None:
            yield certificate.pool
        yield from (weight[0] for weight in certificate.weights)


def misplaced_shortage(status: PlanStatus) -> Iterator[str]:
    """Check that there is a shortage only if nothing fits."""
    if status is not PlanStatus.INFEASIBLE:
        yield f"the status is {status}, but there is a shortage"


def differences(right: Shortage, stated: Shortage) -> Iterator[str]:
    """Return where the stated shortage differs from the one that its proofs give."""
    for name in ("pool", "bytes_short", "time", "buffers", "message"):
        true, claimed = getattr(right, name), getattr(stated, name)
        if true != claimed:
            what = name.replace("_", " ")
            yield f"the shortage's {what}: the plan says {_in_words(claimed)}, the certificates say {_in_words(true)}"


def _in_words(value: str | float | tuple[BufferId, ...] | None) -> str:
    if isinstance(value, tuple):
        return these(value) if value else "none"
    return "none" if value is None else echo(value)


def _bytes(size: int | None) -> str:
    return "none" if size is None else f"{size} bytes"
