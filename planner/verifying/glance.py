"""The verification of a plan that is simple to look at: of a simple problem, with a bound that is live at one time. In arrays, in a fifth of the time.

It accepts nothing that `verify` objects to, and knows no more than that of how plans are made. What it does not accept may be right all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

import numpy as np

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from ..facts.figures import figures
from ..facts.sweep import Integers, Pieces, all_apart, exact_array
from ..model.columns import BufferColumns, PlacementColumns
from ..model.plan import Objective, Placement, Plan, PlanCertificate, PlanStatus, PoolUse, TermValue, gap_to
from ..model.problem import Figures, Problem


def is_plainly_right(problem: Problem, plan: Plan, digest: str) -> bool:
    """True if the plan keeps every rule of the problem, and all that it says of itself holds. `digest` is the problem's."""
    known = figures(problem)
    if known is None or len(plan.certificates) != 1 or plan.problem_digest != digest:
        return False
    low = _placed(problem, known, plan.placements)
    if low is None:
        return False
    (pool,) = problem.pools
    high = low + known.size
    peak = int(high.max(initial=0))
    if pool.size is not None and peak > pool.size:
        return False
    there = np.flatnonzero(known.size[known.owner] > 0)
    owner = known.owner[there]
    found = Pieces(low[owner], high[owner], known.start[there], known.end[there], owner)
    if not len(owner) or not all_apart(found):
        return False
    bound = plan.certificates[0].value
    return _proves(problem, found, plan.certificates[0]) and _says(problem, plan, peak, bound)


def _placed(problem: Problem, known: Figures, places: Sequence[Placement]) -> Integers | None:
    """Where each buffer begins; None if one is not where it may be."""
    (pool,) = problem.pools
    if isinstance(places, PlacementColumns) and isinstance(problem.buffers, BufferColumns):
        if places.ids != problem.buffers.ids or places.pool != pool.name or (places.size != known.size).any():
            return None
        low: Integers = places.offset
    else:
        if [place.id for place in places] != [buffer.id for buffer in problem.buffers]:
            return None
        if {place.pool for place in places} != {pool.name} or [place.size for place in places] != known.size.tolist():
            return None
        low = exact_array([place.offset for place in places])
    address = low + (pool.base or 0)
    if (low < 0).any() or (address % pool.alignment).any() or (address % known.alignment).any():
        return None
    return low


def _proves(problem: Problem, pieces: Pieces, certificate: PlanCertificate) -> bool:
    """True if just what is live at the certificate's time cannot end lower, one on top of the other."""
    (pool,) = problem.pools
    if certificate.time is None:
        return False
    here: Integers = (pieces.start <= certificate.time) & (certificate.time < pieces.end)
    live = [problem.buffers[i] for i in pieces.owner[here].tolist()]
    if not live:
        return False
    grain = gcd(pool.base or 0, *(lcm(pool.alignment, buffer.alignment) for buffer in live))
    padding = [-buffer.size % grain for buffer in live]
    least = sum(buffer.size for buffer in live) + sum(padding) - max(padding)
    buffers = tuple(buffer.id for buffer in live)
    return certificate == PlanCertificate(Proof.LIVE_TOGETHER, least, pool.name, certificate.time, buffers)


def _says(problem: Problem, plan: Plan, peak: int, bound: int) -> bool:
    """True if the plan claims this peak and this bound, that it is optimal where they are equal, and nothing else."""
    (pool,) = problem.pools
    if peak == bound:
        is_known = plan.status is PlanStatus.OPTIMAL and plan.stop is StopReason.PROVED
    else:
        is_known = plan.status is PlanStatus.FEASIBLE and plan.stop is not StopReason.PROVED and peak > bound
    return (
        is_known
        and (plan.stop.is_repeatable or not plan.reproducible)
        and (plan.peak, plan.bound) == (peak, bound)
        and plan.gap == gap_to(bound, peak)
        and plan.objective == Objective(peak, bound, (TermValue(Term.SUM_OF_PEAKS, peak, bound),))
        and plan.pools == (PoolUse(pool.name, pool.size, peak, bound),)
        and plan.seed >= 0
        and plan.shortage is None
        and plan.choice is None
    )
