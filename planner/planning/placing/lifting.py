"""From numbers back to names: turns an Outcome into a Plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat, takewhile

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.objective import peaks as peaks_of
from solvers.model.outcome import Certificate, Outcome, Proof

from ...facts.digest import digest
from ...facts.figures import amounts
from ...model.columns.buffers import BufferColumns
from ...model.columns.buffers import ids as ids_of
from ...model.columns.placements import PlacementColumns, placement_columns
from ...model.columns.pools import names_of as pool_names
from ...model.columns.pools import sizes_of as sizes_of_pools
from ...model.deadline import in_time
from ...model.errors import echo
from ...model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, Run, TermValue, gap_to
from ...model.problem import Problem
from ...model.versions import versions
from .lowering import Lowered


def lift(problem: Problem, lowered: Lowered, outcome: Outcome, seed: int, original: Problem) -> Plan:
    """Return the outcome as a plan for the original problem, of which `problem` may be a part."""
    objective = _objective(problem, outcome)
    pools = _pool_uses(problem, lowered, outcome)
    return Plan(
        status=status_of(outcome),
        stop=outcome.stop,
        peak=None if outcome.placement is None else sum(use.peak or 0 for use in pools),
        bound=_total_bound(problem, outcome, pools),
        gap=gap_to(objective.bound, objective.value) if len(objective.terms) == 1 else None,
        objective=objective,
        pools=pools,
        placements=_placements(problem, lowered, outcome),
        solver=outcome.solver,
        seed=seed,
        reproducible=outcome.reproducible,
        versions=versions(outcome.took_part),
        problem_digest=digest(original),
        certificates=_certificates(problem, lowered, outcome),
        run=Run(0.0, work=outcome.work),
        warnings=_warnings(problem, outcome),
    )


def unproven_plan(
    problem: Problem,
    placements: Sequence[Placement],
    peaks: Mapping[str, int],
    values: Iterable[int],
    *,
    solver: str | None = None,
    bound: int = 0,
) -> Plan:
    """Return a plan of these placements, with these peaks and values; nothing is proven but the bound of the sum."""
    terms = tuple(TermValue(term, value, None) for term, value in zip(problem.terms, values, strict=True))
    names = pool_names(problem.pools)
    reached = map(peaks.get, in_time(names, "placing"), repeat(0))
    uses = map(PoolUse, names, sizes_of_pools(problem.pools), reached, repeat(0))
    return Plan(
        status=PlanStatus.FEASIBLE,
        stop=StopReason.WORK_LIMIT,
        peak=sum(peaks.values()),
        bound=bound,
        gap=None,
        objective=Objective(terms[0].value, None, terms),
        pools=tuple(uses),
        placements=placements,
        solver=solver,
        seed=0,
        reproducible=True,
        versions=versions(()),
        problem_digest=digest(problem),
    )


def status_of(outcome: Outcome) -> PlanStatus:
    """Return the status that the outcome deserves."""
    if outcome.infeasible:
        return PlanStatus.INFEASIBLE
    if outcome.value is None:
        return PlanStatus.UNKNOWN
    return PlanStatus.OPTIMAL if outcome.is_optimal else PlanStatus.FEASIBLE


def _placements(problem: Problem, lowered: Lowered, outcome: Outcome) -> Sequence[Placement]:
    """Return every buffer's pool and offset, in input order."""
    if outcome.placement is None:
        return ()
    i = lowered.instance
    offset = outcome.placement.offset[i.part_block] + i.part_low
    pool = outcome.placement.pool[i.part_block]
    buffers = problem.buffers
    place = PlacementColumns if isinstance(buffers, BufferColumns) else placement_columns
    return place(ids_of(buffers), pool_names(problem.pools), pool, offset, i.part_high - i.part_low)


def _pool_uses(problem: Problem, lowered: Lowered, outcome: Outcome) -> tuple[PoolUse, ...]:
    """Return size, peak and bound of each pool."""
    tops: tuple[int | None, ...] = (None,) * len(problem.pools)
    if outcome.placement is not None:
        tops = peaks_of(lowered.instance, outcome.placement)
    bounds = outcome.pool_bounds or (0,) * len(problem.pools)
    if outcome.infeasible:  # without a plan every bound holds, and only proven ones say something
        best = {c.pool: c.value for c in sorted(outcome.certificates, key=lambda c: c.value)}
        bounds = tuple(min(bound, best.get(number, 0)) for number, bound in enumerate(bounds))
    return tuple(
        PoolUse(pool.name, pool.size, top, bound) for pool, top, bound in zip(problem.pools, tops, bounds, strict=True)
    )


def _objective(problem: Problem, outcome: Outcome) -> Objective:
    """Return each term's value and bound; beyond the first undecided term, only bounds that hold also if the earlier ones are not at their least."""
    values: tuple[int | None, ...] = outcome.value or (None,) * len(problem.terms)
    proven = () if outcome.infeasible else outcome.bound
    bounds: tuple[int | None, ...] = (*proven, *(None,) * (len(problem.terms) - len(proven)))
    terms = []
    decided = True
    floors: tuple[int | None, ...] = outcome.floors or (None,) * len(problem.terms)
    for name, value, bound, floor in zip(problem.terms, values, bounds, floors, strict=True):
        terms.append(TermValue(name, value, bound if decided and bound is not None else floor or None))
        decided = decided and value is not None and value == bound
    return Objective(terms[0].value, terms[0].bound, tuple(terms))


def _total_bound(problem: Problem, outcome: Outcome, pools: tuple[PoolUse, ...]) -> int:
    """Return the proven lower bound of the sum of the pools' peaks."""
    by_pool = sum(use.bound for use in pools)
    if any(pool.cost != 1 for pool in problem.pools):
        return by_pool
    if outcome.infeasible:
        return by_pool
    if problem.terms[0] is Term.SUM_OF_PEAKS and outcome.bound:
        return max(by_pool, outcome.bound[0])
    return max([by_pool, *(c.value for c in outcome.certificates if c.proof is Proof.POOL_SHARING)])


def _warnings(problem: Problem, outcome: Outcome) -> tuple[str, ...]:
    """Return what users should know about the run; if a heuristic gave up, the buffer for which it found no place."""
    notes = outcome.notes
    plain = isinstance(problem.buffers, BufferColumns) or (
        problem.facts.neighbour is not None and amounts(problem).is_free
    )
    if not plain and len({buffer.device for buffer in problem.buffers} - {None}) > 1:
        notes = (
            *notes,
            "the buffers are on several devices, which offsets do not mind: give each device a pool of its own",
        )
    if outcome.stuck is None:
        return notes
    buffer = problem.buffers[outcome.stuck]
    gave_up = f"the planner found no place for buffer {echo(buffer.id)} of {buffer.size} bytes and gave up, which proves nothing"
    return (*notes, gave_up)


def _certificates(problem: Problem, lowered: Lowered, outcome: Outcome) -> tuple[PlanCertificate, ...]:
    """Return all proofs. A search through everything below the bound gives one for each term, as far as those before it are met."""
    found: list[PlanCertificate] = []
    sure = _without_search(problem, outcome)
    for certificate in outcome.certificates:
        lifted = _certificate(problem, lowered, certificate)
        if certificate.proof is Proof.POOL_SHARING:
            lifted = replace(lifted, term=Term.SUM_OF_PEAKS)
        elif certificate.proof is Proof.PRICED_ROOM:
            lifted = replace(lifted, term=certificate.term or problem.terms[0])
        elif certificate.proof is Proof.SEARCH and certificate.term is not None:
            if not _is_held(problem, outcome, certificate):
                continue
            lifted = replace(lifted, held=())
        elif certificate.proof is Proof.SEARCH and certificate.pool is None and not outcome.infeasible:
            values = (certificate.value, *outcome.bound[1 : _met(outcome) + 1])
            found += [
                replace(lifted, term=term, value=value)
                for term, value in zip(problem.terms, values, strict=False)
                if value > sure.get(term, 0)
            ]
            continue
        elif certificate.proof is Proof.SEARCH and certificate.pool is None:
            lifted = replace(lifted, value=0)
        found.append(lifted)
    return tuple(found)


def _met(outcome: Outcome) -> int:
    """Return how many of the first terms are at their bounds: of the terms after the next one nothing is said."""
    pairs = zip(outcome.value or (), outcome.bound, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _without_search(problem: Problem, outcome: Outcome) -> dict[Term, int]:
    """Return what other proofs show of each term, with the earlier ones no higher than they are."""
    found: dict[Term, int] = {}
    by_sets: dict[Term, int] = {}
    for certificate in outcome.certificates:
        term, value = certificate.term or problem.terms[0], certificate.value
        if certificate.sets and certificate.pool is None:
            by_sets[term] = by_sets.get(term, 0) + value
        elif certificate.proof is Proof.POOL_SHARING:
            found[Term.SUM_OF_PEAKS] = value
        elif certificate.proof is Proof.PRICED_ROOM and _is_held(problem, outcome, certificate):
            found[term] = max(found.get(term, 0), value)
    return {term: max(found.get(term, 0), by_sets.get(term, 0)) for term in found | by_sets}


def _is_held(problem: Problem, outcome: Outcome, certificate: Certificate) -> bool:
    """Return whether what the certificate presumes of the earlier terms is so."""
    reached = dict(zip(problem.terms, outcome.value or (), strict=False))
    return all(term in reached and reached[term] <= most for term, most, _, _ in certificate.held)


def _certificate(problem: Problem, lowered: Lowered, c: Certificate) -> PlanCertificate:
    """Return a proof in terms of buffers and times."""

    ids = ids_of(problem.buffers)

    def time(section: int) -> int:
        return int(lowered.times[section])

    return PlanCertificate(
        proof=c.proof,
        value=c.value,
        pool=None if c.pool is None else problem.pools[c.pool].name,
        time=None if c.section is None else time(c.section),
        buffers=tuple(ids[part] for part in c.parts),
        weights=tuple((problem.pools[p].name, time(s), n, d) for p, s, n, d in c.weights),
        solver=c.solver,
        term=c.term,
        sets=tuple((tuple(ids[part] for part in parts), n, d) for parts, n, d in c.sets),
        crowds=tuple(
            (problem.pools[p].name, time(s), tuple(ids[part] for part in parts), votes, n, d)
            for p, s, parts, votes, n, d in c.crowds
        ),
        held=c.held,
    )
