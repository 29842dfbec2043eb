"""Explains in words why a peak cannot be lower, and why nothing fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ..facts.variants import as_chosen
from ..model.errors import echo
from ..model.plan import Objective, Plan, PlanCertificate, PlanStatus
from ..model.problem import BufferId, Problem
from ..verifying.arguments.shortage import NAMED, WHAT_ADDS, in_bytes, named_pools, these


def explain_bound(problem: Problem, plan: Plan) -> str:
    """Return lines that say why the plan's peak cannot be lower, or how much lower it could be; one per argument."""
    problem = as_chosen(problem, plan)
    # If a search found no room at all, the shortage tells it.
    kept = [c for c in plan.certificates if c.value or c.proof is not Proof.SEARCH]
    size = {buffer.id: buffer.size for buffer in problem.buffers}
    first = plan.objective.terms[0].name if plan.objective.terms else Term.SUM_OF_PEAKS
    if plan.status is PlanStatus.OPTIMAL:
        kept = _strongest(kept, first)  # weaker ones are not met
    lines = [_in_words(size, certificate, first) for certificate in kept]
    if plan.status is PlanStatus.OPTIMAL:
        lines.append(_met(plan.objective, are_told=bool(lines)))
    elif plan.peak is not None and (first, plan.objective.value) != (Term.SUM_OF_PEAKS, plan.peak):
        lines.append(_of_what_was_minimised(first, plan.objective))
    elif plan.peak is not None:
        lines.append(
            f"The plan's peak is {in_bytes(plan.peak)}: at most {in_bytes(plan.peak - plan.bound)} could be saved."
        )
    elif plan.shortage is not None:
        lines.append(f"So nothing fits: {plan.shortage.message}.")
    return "\n".join(lines)


def _strongest(certificates: Sequence[PlanCertificate], first_term: Term) -> list[PlanCertificate]:
    """Return those that no other one exceeds in what both bound."""
    bounded = [
        (each.pool, Term.SUM_OF_PEAKS if each.proof is Proof.POOL_SHARING else each.term or first_term)
        for each in certificates
    ]
    most: dict[tuple[str | None, Term], int] = {}
    for what, certificate in zip(bounded, certificates, strict=True):
        most[what] = max(most.get(what, 0), certificate.value)
    return [each for what, each in zip(bounded, certificates, strict=True) if each.value == most[what]]


def _met(objective: Objective, *, are_told: bool) -> str:
    """Return what an optimal plan meets; of peaks alone there is one bound. Where everything is 0, no bound is told."""
    names = [_named(term.name) for term in objective.terms]
    is_of_peaks = names == [_named(Term.SUM_OF_PEAKS)]
    if not are_told and not any(term.value for term in objective.terms):
        what = "The plan's peak is 0 bytes" if is_of_peaks else "All that is minimised is 0"
        return f"{what}, so no plan is better."
    if names and not is_of_peaks:
        return f"The plan meets the bound of the {' and of the '.join(names)}, so no plan is better."
    return "The plan meets this, so no plan is better."


def _of_what_was_minimised(first: Term, objective: Objective) -> str:
    """Return how far the objective's first term may be from the least possible."""
    name = _named(first)
    if objective.value is None or objective.bound is None:
        return f"Nothing is proven about the {name}."
    less = objective.value - objective.bound
    return f"The objective's first term, {name}, is {objective.value}: at most {less} could be saved."


def _named(term: Term) -> str:
    return term.value.replace("_", " ")


def _in_words(size: Mapping[BufferId, int], certificate: PlanCertificate, first_term: Term) -> str:
    if certificate.proof is Proof.TOO_FEW_POOLS:
        return f"{these(certificate.buffers)} need a pool each, {certificate.value} in all, and have fewer to go to."
    what = _what_is_bounded(certificate, first_term)
    claim = f"{what[0].upper()}{what[1:]} cannot be below {certificate.value}: "
    match certificate.proof:
        case Proof.LIVE_TOGETHER:
            return claim + f"at time {certificate.time} these are live together, {_total_and_list(size, certificate)}"
        case Proof.CONFLICT_CLIQUE:
            return claim + f"these conflict with each other, {_total_and_list(size, certificate)}"
        case Proof.CONFLICT_WEIGHTS:
            named = [id_ for ids, _, _ in certificate.sets for id_ in ids]
            return claim + f"{these(named)} need so much, since too few of them may share addresses"
        case Proof.SINGLE_BLOCK:
            return claim + f"{_listed(size, certificate)} cannot end lower, even alone"
        case Proof.POOL_SHARING:
            times = sorted({weight[1] for weight in certificate.weights})
            when = ", ".join(map(str, times[:NAMED])) + (", …" if len(times) > NAMED else "")
            return claim + f"however the buffers are shared out among the pools, so much must be live (times {when})"
        case Proof.PRICED_ROOM if certificate.term is Term.LARGEST_PEAK and not certificate.held:
            return claim + "however the buffers are shared out among the pools, so much must be live in one of them"
        case Proof.PRICED_ROOM:
            scarce = sorted({weight[0] for weight in certificate.weights} | {crowd[0] for crowd in certificate.crowds})
            held = "".join(f", with {_named(term)} at most {most}" for term, most, _, _ in certificate.held)
            return (
                claim + f"not all that would gain by it has room in {named_pools(scarce)}, whoever goes elsewhere{held}"
            )
        case Proof.MUST_SHARE:
            first, others = _first_set_and_others(certificate)
            return claim + f"not all of {first} have room side by side{others}, so some share addresses"
        case Proof.MUST_MOVE:
            first, others = _first_set_and_others(certificate)
            return claim + f"of {first} not all can be where they were{others}"
        case Proof.SEARCH:
            held = "" if certificate.term in (None, first_term) else ", the terms before it being no higher than here"
            return claim + f"{certificate.solver or 'a solver'} tried every placement below it{held}"


def _what_is_bounded(certificate: PlanCertificate, first_term: Term) -> str:
    match certificate.proof:
        case Proof.POOL_SHARING:
            return "the sum of the pools' peaks, each times its cost,"
        case Proof.MUST_SHARE:
            return "the cost of reuse"
        case Proof.MUST_MOVE:
            return "what moves"
    if certificate.pool is not None:
        return f"the peak of pool {echo(certificate.pool)}"
    return f"the {_named(certificate.term or first_term)}"


def _total_and_list(size: Mapping[BufferId, int], certificate: PlanCertificate) -> str:
    total = sum(size.get(id_, 0) for id_ in certificate.buffers)
    more = WHAT_ADDS if certificate.value > total else ""
    return f"{in_bytes(total)} in all{more}: {_listed(size, certificate)}"


def _listed(size: Mapping[BufferId, int], certificate: PlanCertificate) -> str:
    """Return the certificate's first buffers with their sizes, and how many more there are."""
    parts = [f"{echo(id_)} ({size.get(id_, 0)})" for id_ in certificate.buffers[:NAMED]]
    more = len(certificate.buffers) - NAMED
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def _first_set_and_others(certificate: PlanCertificate) -> tuple[str, str]:
    """Return the buffers of the certificate's first set, and how many sets there are besides."""
    first = these(certificate.sets[0][0]) if certificate.sets else "nobody"
    others = len(certificate.sets) - 1
    return first, f", and likewise of {others} more sets of buffers" if others > 0 else ""
