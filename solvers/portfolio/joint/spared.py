"""Solves a problem without the pools that no best placement needs, and says what is proven of the problem with them."""

from __future__ import annotations

from dataclasses import replace

from ...bounds.first_bounds import FirstBounds, first_bounds, peaks_at_least
from ...bounds.weighted_sections import least, value_by
from ...geometry.rules import violation
from ...geometry.spare_pools import moved_out, without
from ...model.errors import StopReason
from ...model.instance import Instance
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import Control, Task
from .added_up import Solve, added_up, gone_on, of_pools


def solve_without(
    instance: Instance, spare: dict[int, int], task: Task, control: Control, solve: Solve, with_all: Solve
) -> Outcome:
    """The outcome of the instance without these pools, each of which has another in its place.

    If proofs about such a pool alone say less of the instance with all its pools, that is solved from there with the work that is left. A start that
    cannot be moved as it is, with alignments and gaps, keeps all pools.
    """
    start = None if task.start is None else moved_out(instance, spare, task.start)
    if start is not None and task.start is not None:
        is_worse = evaluate(instance, start) > evaluate(instance, task.start)
        if is_worse or violation(instance, start) is not None:
            return with_all(instance, task, control)
    found = solve(without(instance, spare), replace(task, start=start, pool_bounds=()), control)
    outcome = _with_spare(instance, spare, found, first_bounds(instance, control.stopped))
    if outcome.bound < found.bound or (found.infeasible and not outcome.certificates):
        return gone_on(outcome, instance, task, control, with_all)
    return outcome


def _with_spare(instance: Instance, spare: dict[int, int], outcome: Outcome, bounds: FirstBounds) -> Outcome:
    """The outcome of the instance without these pools as one of the instance with them.

    Prices on room hold if they are the same in a spare pool. What must be in one pool may be in two, so a bound of such a pool's peak is one of all peaks.
    """
    heirs = dict[int, list[int]]()
    for one, other in spare.items():
        heirs.setdefault(other, []).append(one)
    of_others = [c for c in outcome.certificates if c.pool is not None and c.pool not in heirs]
    kept = [*(c for c in bounds.pools if c.pool in heirs or c.pool in spare), *of_others]
    outcome = replace(outcome, pool_bounds=peaks_at_least(instance, kept))
    shared = [_shared(c, heirs) for c in outcome.certificates if c.pool is None]
    if outcome.infeasible:
        return replace(outcome, certificates=(*kept, *shared))
    together = of_pools(instance, outcome.certificates)
    if together is not None:
        shared.append(_of_all(instance, _shared(together, heirs)))
    searched = [c for c in outcome.certificates if c.proof is Proof.SEARCH and c.pool in heirs]
    if searched and outcome.bound:
        shared.append(Certificate(Proof.SEARCH, outcome.bound[0], solver=searched[0].solver))
    total = added_up(instance, [[*kept, *shared]], [outcome])
    found = replace(outcome, bound=total.bound, floors=total.floors, certificates=total.certificates)
    is_less = outcome.is_optimal and not found.is_optimal
    return replace(found, stop=StopReason.WORK_LIMIT) if is_less else found


def _shared(certificate: Certificate, heirs: dict[int, list[int]]) -> Certificate:
    """The certificate with the prices of each pool in those whose place it took, too; any that these had, where nothing could be, proved nothing."""
    spare = {pool for some in heirs.values() for pool in some}

    def pools_of(pool: int) -> tuple[int, ...]:
        return () if pool in spare else (pool, *heirs.get(pool, ()))

    weights = [(pool, *each[1:]) for each in certificate.weights for pool in pools_of(each[0])]
    crowds = [(pool, *each[1:]) for each in certificate.crowds for pool in pools_of(each[0])]
    return replace(certificate, weights=tuple(weights), crowds=tuple(crowds))


def _of_all(instance: Instance, certificate: Certificate) -> Certificate:
    """What these prices prove of the sum of peaks."""
    return replace(
        certificate, proof=Proof.POOL_SHARING, value=value_by(instance, least(instance, certificate.weights))
    )
