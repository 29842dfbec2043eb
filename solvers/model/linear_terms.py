"""Terms that are sums: each block's cost by its pool or for having moved, and the cost-weighted sum of peaks.

Only the largest peak and the reuse penalties are not of this form. A solver that handles this form handles every mixture of memories, speeds and
sizes.
"""

from __future__ import annotations

import numpy as np

from .instance import ADDRESS_LIMIT, LINEAR_TERMS, Choice, Instance, Ints, Linear, Placement, Term
from .outcome import Value

LINEAR = frozenset(LINEAR_TERMS)
ADDITIVE = LINEAR | {Term.REUSE_COST}
"""Terms whose value is the sum over pools."""


def choice_cost(instance: Instance, term: Term) -> Ints | None:
    """(n, P) the cost in this term of having the block in the pool; None if the term has no such cost, or no block has any."""
    choice = LINEAR_TERMS.get(term, Linear()).choice
    if choice is None:
        return None
    if choice is Choice.ACCESS:
        return instance.access_cost if instance.access_cost.any() else None
    sizes = np.zeros(instance.blocks, dtype=np.int64)
    np.add.at(sizes, instance.part_block, instance.part_high - instance.part_low)
    ranks = np.array([pool.rank for pool in instance.pools], dtype=np.int64)
    spilled: Ints = sizes[:, None] * ranks
    return spilled if ranks.any() else None


def moved_column(instance: Instance, term: Term) -> int | None:
    """The column of `Was` that the term adds up; None if the term does not count moves or there is no older plan."""
    moved = LINEAR_TERMS.get(term, Linear()).moved
    return None if moved is None or instance.was is None else moved.value


def moved_cost(instance: Instance, term: Term, placement: Placement) -> int:
    """The buffers or bytes that are not where they were; 0 if the term does not count moves."""
    column = moved_column(instance, term)
    if column is None:
        return 0
    assert instance.was is not None
    stays = instance.was.stays
    there = (placement.pool[stays[:, 0]] == stays[:, 1]) & (placement.offset[stays[:, 0]] == stays[:, 2])
    stayed: list[int] = stays[there, 3 + column].tolist()
    at_most: list[int] = instance.was.cost[:, column].tolist()
    return sum(at_most) - sum(stayed)


def peak_price(instance: Instance, term: Term) -> int:
    """The weight of the cost-weighted sum of peaks in this term."""
    adds = LINEAR_TERMS.get(term, Linear())
    if not adds.peaks:
        return 0
    return instance.peak_price if adds.priced else 1


def is_counted_in_bytes(term: Term) -> bool:
    """True if the term's value scales with the unit of addresses."""
    adds = LINEAR_TERMS.get(term)
    if adds is None:
        return term is Term.LARGEST_PEAK
    return adds.choice is not Choice.ACCESS and adds.moved is None


def least_choice_cost(instance: Instance, term: Term) -> int:
    """The sum of each block's least cost in this term, each on its own."""
    cost = choice_cost(instance, term)
    if cost is None:
        return 0
    return sum(np.where(instance.allowed, cost, np.iinfo(np.int64).max).min(axis=1).tolist())


def line_of_peak(instance: Instance, term: Term, pool: int = 0) -> tuple[int, int]:
    """(slope, constant) of the term as a function of the only used pool's peak, if no penalty is due."""
    if term is Term.LARGEST_PEAK:
        return 1, 0
    cost = choice_cost(instance, term)
    constant = 0 if cost is None else sum(cost[:, pool].tolist())
    return peak_price(instance, term) * instance.pools[pool].cost, constant


def value_of_peak(instance: Instance, peak: int) -> Value:
    """The value of the objective if the only pool's highest block ends at this peak and no penalty is due."""
    return tuple(
        slope * peak + constant for slope, constant in (line_of_peak(instance, term) for term in instance.terms)
    )


def least_peak_of(instance: Instance, worth: Value) -> int:
    """The least peak of the only pool whose value is at least `worth`."""
    peak = 0
    for term, value in zip(instance.terms, worth, strict=False):
        slope, constant = line_of_peak(instance, term)
        if slope > 0:
            peak = max(peak, -(-(value - constant) // slope))
    return peak


def peak_worth(instance: Instance, worth: Value) -> int | None:
    """The greatest peak whose value is at most `worth`; None if even a peak of 0 exceeds it."""
    if value_of_peak(instance, 0) > worth:
        return None
    # The first term that grows decides. At the peak where it is just equal, later terms may still exceed theirs.
    for term, most in zip(instance.terms, worth, strict=False):
        factor, more = line_of_peak(instance, term)
        if factor:
            peak = min((most - more) // factor, ADDRESS_LIMIT)
            return peak if value_of_peak(instance, peak) <= worth else peak - 1
        if more < most:
            break
    return ADDRESS_LIMIT
