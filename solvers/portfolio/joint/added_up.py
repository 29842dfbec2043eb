"""What is found and proven of parts whose terms add up, as an outcome of the whole: prices on room in different pools stand side by side, as do sets that must share or move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ...bounds.first_bounds import least_of_term
from ...bounds.prices.priced_room import Held, priced_value
from ...bounds.weighted_sections import least, value_by
from ...geometry.presolve import Piece
from ...model.errors import StopReason
from ...model.instance import Instance, Placement, Term
from ...model.linear_terms import peak_price
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Task

Solve: TypeAlias = Callable[[Instance, Task, Control], Outcome]


def sum_of(
    instance: Instance, cuts: Sequence[Piece], outcomes: Sequence[Outcome], placement: Placement | None
) -> Outcome:
    """The outcome of the whole from those of its parts, of whose placements this one is made; if nothing fits in one of them, nothing fits at all."""
    bounds = [0] * len(instance.pools)
    for cut, outcome in zip(cuts, outcomes, strict=True):
        for pool, bound in zip(cut.pools.tolist(), outcome.pool_bounds, strict=False):
            bounds[pool] = max(bounds[pool], bound)
    by_piece = [[translated(c, cut) for c in o.certificates] for cut, o in zip(cuts, outcomes, strict=True)]
    lost = next((number for number, outcome in enumerate(outcomes) if outcome.infeasible), None)
    stops = [outcome.stop for outcome in outcomes]
    found = Outcome(
        stop=next((stop for stop in stops if stop is not StopReason.PROVED), StopReason.PROVED),
        placement=placement,
        value=None if placement is None else evaluate(instance, placement),
        pool_bounds=tuple(bounds),
        solver=next((o.solver for o in outcomes if o.solver not in (None, "greedy")), outcomes[0].solver),
        work=sum(outcome.work for outcome in outcomes),
        took_part=tuple(dict.fromkeys(name for outcome in outcomes for name in outcome.took_part)),
        reproducible=all(outcome.reproducible for outcome in outcomes),
        notes=tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes)),
    )
    if lost is not None:
        why = by_piece[lost]
        proofs = tuple(
            c for some in by_piece for c in some if some is why or c.pool is not None
        )  # pools are the whole's
        return replace(found, stop=StopReason.PROVED, placement=None, value=None, certificates=proofs, infeasible=True)
    total = added_up(instance, by_piece, outcomes)
    found = replace(found, bound=total.bound, floors=total.floors, certificates=total.certificates)
    return replace(found, stop=StopReason.PROVED) if found.is_optimal else found


def translated(certificate: Certificate, cut: Piece) -> Certificate:
    """The certificate in the whole's numbers."""
    pools, sections, parts = cut.pools, cut.sections, cut.parts
    return replace(
        certificate,
        pool=None if certificate.pool is None else int(pools[certificate.pool]),
        section=None if certificate.section is None else int(sections[certificate.section]),
        parts=tuple(parts[list(certificate.parts)].tolist()),
        weights=tuple((int(pools[p]), int(sections[t]), over, under) for p, t, over, under in certificate.weights),
        sets=tuple((tuple(parts[list(some)].tolist()), over, under) for some, over, under in certificate.sets),
        crowds=tuple(
            (int(pools[p]), int(sections[t]), tuple(parts[list(some)].tolist()), votes, over, under)
            for p, t, some, votes, over, under in certificate.crowds
        ),
    )


class Sum(NamedTuple):
    """What all parts prove together."""

    bound: Value
    floors: Value
    certificates: tuple[Certificate, ...]


def added_up(instance: Instance, by_piece: Sequence[Sequence[Certificate]], outcomes: Sequence[Outcome]) -> Sum:
    """The sum over parts of terms that add up, no more than their certificates prove together. These are in the whole's numbers.

    A later term is bounded as far as the earlier ones are at their least in every part.
    """
    every = [certificate for some in by_piece for certificate in some]
    kept = [c for c in every if c.pool is not None]
    searched = {c.term: c.solver for c in every if c.proof is Proof.SEARCH and c.pool is None}
    by_peaks = [_best(some, Proof.POOL_SHARING) or of_pools(instance, some) for some in by_piece]
    of_peaks = _shared(instance, by_peaks)
    of_sets = _of_sets(by_piece)
    reached = _reached(outcomes)
    priced = dict[Term, Certificate]()
    for term in instance.terms:
        if (proof := _priced(instance, term, by_piece, by_peaks, reached)) is not None:
            priced[term] = proof
    all_sets = [_total(some) for some in of_sets]
    floors = list[int]()
    for term in instance.terms:
        proven = least_of_term(instance, term, [*kept, *all_sets], of_peaks)
        floors.append(max(proven, priced[term].value) if term in priced else proven)
    bound, searches = list[int](), list[Certificate]()
    for number, term in enumerate(instance.terms[: min(len(outcome.bound) for outcome in outcomes)]):
        together = sum(outcome.bound[number] for outcome in outcomes)
        about = None if None in searched or not number else term
        if about in searched and (not number or (about is not None and together > floors[number])):
            held = tuple((each, most, 0, 1) for each, most in zip(instance.terms, bound, strict=False))
            searches.append(Certificate(Proof.SEARCH, together, solver=searched[about], term=about, held=held))
        bound.append(together if about in searched else min(together, floors[number]))
        if bound[-1] < together or any(o.value is None or o.value[number] != o.bound[number] for o in outcomes):
            break
    best_sets = {id(each) for some in of_sets for each in some}
    proofs = [*(c for c in every if c.pool is not None or id(c) in best_sets), *searches]
    return Sum(tuple(bound), tuple(floors), (*proofs, *([] if of_peaks is None else [of_peaks]), *priced.values()))


def gone_on(found: Outcome, instance: Instance, task: Task, control: Control, solve: Solve) -> Outcome:
    """The outcome of a further run on the whole, from what is found, with the work that is left; what is proven stays if it is more."""
    limit = task.limits.work
    left = None if limit is None else limit - found.work
    if found.stop not in (StopReason.PROVED, StopReason.WORK_LIMIT) or (left is not None and left <= 0):
        return found
    return after(
        found, solve(instance, replace(task, start=found.placement, limits=replace(task.limits, work=left)), control)
    )


def after(found: Outcome, more: Outcome) -> Outcome:
    """The outcome of a run and a later one, which began with what the first found; what is proven stays if it is more."""
    best = more if more.infeasible or more.bound >= found.bound else found
    is_better = more.value is not None and (found.value is None or more.value < found.value)
    at = more if is_better or more.infeasible else found
    is_met = at.value is not None and at.value == best.bound
    return replace(
        best,
        stop=StopReason.PROVED if is_met or more.infeasible else more.stop,
        placement=at.placement,
        value=at.value,
        solver=at.solver or best.solver,
        work=found.work + more.work,
        took_part=tuple(dict.fromkeys((*found.took_part, *more.took_part))),
        notes=tuple(dict.fromkeys((*found.notes, *more.notes))),
        reproducible=found.reproducible and more.reproducible,
    )


def _reached(outcomes: Sequence[Outcome]) -> Value | None:
    """The value of all pieces together; None if one has no placement."""
    values = [outcome.value for outcome in outcomes if outcome.value is not None]
    return tuple(map(sum, zip(*values, strict=True))) if len(values) == len(outcomes) else None


def _of_sets(by_piece: Sequence[Sequence[Certificate]]) -> list[list[Certificate]]:
    """What must be shared, and what must move, by term: the best proof of each part, since no part counts another's blocks."""
    about = dict.fromkeys((c.proof, c.term) for some in by_piece for c in some if c.sets)
    best = ([_best(some, proof, term) for some in by_piece] for proof, term in about)
    return [[each for each in found if each is not None] for found in best]


def _total(some: Sequence[Certificate]) -> Certificate:
    """What proofs of different parts about one term prove together."""
    return replace(some[0], value=sum(each.value for each in some))


def _shared(instance: Instance, of_peaks: Sequence[Certificate | None]) -> Certificate | None:
    """The bound of the sum of peaks from the prices of all pieces; None if what is live in each pool proves as much."""
    found = [each for each in of_peaks if each is not None]
    if all(each.proof is Proof.LIVE_TOGETHER for each in found):
        return None
    weights = tuple(weight for each in found for weight in each.weights)
    value = value_by(instance, least(instance, weights))
    return Certificate(Proof.POOL_SHARING, value, weights=weights) if value else None


def _priced(
    instance: Instance,
    term: Term,
    by_piece: Sequence[Sequence[Certificate]],
    of_peaks: Sequence[Certificate | None],
    reached: Value | None,
) -> Certificate | None:
    """What the prices of all pieces prove of the term; of a later one, where the earlier ones are no higher than they are."""
    mine = None if term is instance.terms[0] else term
    found = [_best(some, Proof.PRICED_ROOM, mine) for some in by_piece]
    of_term = [each for each in found if each is not None]
    if mine is None and of_term:
        price = peak_price(instance, term)
        found = [one or _times(other, price) for one, other in zip(found, of_peaks, strict=True)]
    weights = tuple(weight for each in found if each is not None for weight in each.weights)
    crowds = tuple(crowd for each in found if each is not None for crowd in each.crowds)
    best: Certificate | None = None
    for held in dict.fromkeys(each.held for each in of_term):
        at = _as_here(instance, held, reached)
        value = 0 if at is None else priced_value(instance, weights, crowds, mine, at)
        if at is not None and value > (0 if best is None else best.value):
            best = Certificate(Proof.PRICED_ROOM, value, weights=weights, crowds=crowds, term=mine, held=at)
    return best


def _as_here(instance: Instance, held: Held, reached: Value | None) -> tuple[tuple[Term, int, int, int], ...] | None:
    """The same prices of earlier terms, at the values that are reached; None if some are needed and none is."""
    if reached is None:
        return None if held else ()
    most = dict(zip(instance.terms, reached, strict=True))
    return tuple((term, most[term], over, under) for term, _, over, under in held)


def _best(some: Sequence[Certificate], proof: Proof, term: Term | None = None) -> Certificate | None:
    """The best of these proofs of the term, None being the first."""
    return max((c for c in some if c.proof is proof and c.term is term), key=lambda c: c.value, default=None)


def of_pools(instance: Instance, some: Sequence[Certificate]) -> Certificate | None:
    """What must be live together in pools, as prices on room."""
    best = dict[int, tuple[int, int]]()
    for each in some:
        if each.proof is Proof.LIVE_TOGETHER and each.pool is not None and each.section is not None:
            best[each.pool] = max(best.get(each.pool, (0, 0)), (each.value, each.section))
    weights = tuple((pool, section, instance.pools[pool].cost, 1) for pool, (_, section) in best.items())
    return Certificate(Proof.LIVE_TOGETHER, 0, weights=weights) if weights else None


def _times(certificate: Certificate | None, price: int) -> Certificate | None:
    """The same with prices so many times as high."""
    if certificate is None:
        return None
    return replace(certificate, weights=tuple((p, t, over * price, under) for p, t, over, under in certificate.weights))
