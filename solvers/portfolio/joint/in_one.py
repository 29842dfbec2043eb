"""Solves an instance with many pools that are alike: first with one in their place, of which what is proven holds for all of them, then by spreading that plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from ...bounds.prices.market import Floats
from ...geometry.alike_pools import AsOne, as_one
from ...geometry.rules import violation
from ...heuristics.assign.from_prices import settled
from ...model.instance import Instance, Placement
from ...model.linear_terms import choice_cost, peak_price
from ...model.objective import evaluate, peaks
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Task
from .in_rooms import LEADER_OF_ROOMS

Solve: TypeAlias = Callable[[Instance, Task, Control], Outcome]

MOST_BLOCKS = 20_000
"""With more, to tell pools apart takes as long as to fill them."""
LEAST_FEWER = 4
"""With fewer pools less, a program that tells all of them apart is nearly as good,"""
LEAST_FEWER_WEIGHED = 3
"""but where heights are weighed against the choice, they are found sooner as one from so many less on."""
AT_FIRST = 1, 4
"""The part of the work with which they are solved as one,"""
A_LOOK, ROOMY = (1, 32), (3, 2)
"""or, where few are alike, for a look at them as one: if the largest of each group has so many times the room that all in the group takes, the rest goes to them as one;"""
OF_SPREADING = 1, 10
"""and for spreading the plan, if that makes it worse;"""
GOING_ON = 9, 10
"""and of what is left then, where it does not: in one pool more is found and proven than in many."""
STAYS, ELSEWHERE = -2.0, 1.0
"""What a block pays where it was chosen to be, and anywhere else, besides a part of a unit."""


class Unheard:
    """The Control of such a run: neither its placements nor its bounds are passed on."""

    def __init__(self, control: Control) -> None:
        self.log, self.stopped = control.log, control.stopped

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...


def joined(instance: Instance) -> AsOne | None:
    """The instance with alike pools as one; None if that is not worth its work."""
    one = as_one(instance) if instance.blocks <= MOST_BLOCKS else None
    least = LEAST_FEWER_WEIGHED if _weighs_heights(instance) else LEAST_FEWER
    return None if one is None or _fewer(one) < least else one


def _fewer(one: AsOne) -> int:
    return len(one.original.pools) - len(one.groups)


def _weighs_heights(instance: Instance) -> bool:
    """Does the first term count both peaks and the choice of pools?"""
    first = instance.terms[0]
    return peak_price(instance, first) > 0 and choice_cost(instance, first) is not None


def solve_in_one(one: AsOne, task: Task, control: Control, solve: Solve, further: Solve) -> Outcome:
    """The outcome for the pools as they are, with the task's work. `further` looks for plans alone, and not for alike pools."""
    limit, unheard = task.limits.work, Unheard(control)
    assert limit is not None
    if _fewer(one) < LEAST_FEWER:
        return _solve_roomy(one, task, limit, unheard, solve)
    found = solve(one.instance, _begun(task, _part(limit, AT_FIRST)), unheard)
    proofs, work = list(_proofs(one, found)), found.work
    placement: Placement | None = None
    if found.placement is not None:
        placement, spent = spread(one, found.placement)
        work += spent
    if found.placement is not None and placement is not None:
        left = max(limit - work, 0)
        if _is_dearer(one, placement, found.value):
            narrowed = _narrowed(one, placement, found.placement)
            again = further(narrowed, _begun(task, min(left, _part(limit, OF_SPREADING)), placement), unheard)
            placement, work = again.placement, work + again.work
            found = replace(found, reproducible=found.reproducible and again.reproducible)
        elif _is_open(found) and evaluate(one.original, placement) == found.value:
            again = solve(one.instance, _begun(task, _part(left, GOING_ON), found.placement), unheard)
            proofs += _proofs(one, again)
            placement, spent = _better_of(one, placement, again.placement)
            work += again.work + spent
            found = _both(found, again)
    return _as_spread(one, found, placement, proofs, work)


def _solve_roomy(one: AsOne, task: Task, limit: int, unheard: Control, solve: Solve) -> Outcome:
    """The same where few pools are alike: they are told apart after a look, unless one of them has far more room than is needed."""
    found = solve(one.instance, _begun(task, _part(limit, A_LOOK)), unheard)
    proofs, work = list(_proofs(one, found)), found.work
    placement: Placement | None = None
    if found.placement is not None and _is_roomy(one, found.placement):
        placement, spent = spread(one, found.placement)
        work += spent
    if placement is not None and _is_open(found):
        # Not from what is found with little work: windows would stay at its heights.
        again = solve(one.instance, _begun(task, _part(max(limit - work, 0), GOING_ON)), unheard)
        proofs += _proofs(one, again)
        placement, spent = _better_of(one, placement, again.placement)
        work += again.work + spent
        found = _both(found, again)
    return _as_spread(one, found, placement, proofs, work)


def _as_spread(
    one: AsOne, found: Outcome, placement: Placement | None, proofs: list[Certificate], work: int
) -> Outcome:
    """What was found and proven, as an outcome for the pools as they are."""
    return replace(
        found,
        placement=placement,
        value=None if placement is None else evaluate(one.original, placement),
        pool_bounds=(),
        certificates=tuple(proofs),
        work=work,
    )


def _part(work: int, share: tuple[int, int]) -> int:
    return work * share[0] // share[1]


def _begun(task: Task, work: int, start: Placement | None = None) -> Task:
    limits = replace(task.limits, work=work)
    return replace(task, limits=limits, start=start, bound=(), target=(), pool_bounds=())


def _is_open(found: Outcome) -> bool:
    """May the first term be lower?"""
    return found.value is not None and found.value[:1] > found.bound[:1]


def _is_roomy(one: AsOne, placement: Placement) -> bool:
    """Would the largest pool of each group still have the room if what is in it became higher?"""
    for ends, group in zip(peaks(one.instance, placement), one.groups, strict=True):
        capacity = one.original.pools[group[0]].capacity
        if len(group) > 1 and capacity is not None and ends * ROOMY[0] > capacity * ROOMY[1]:
            return False
    return True


def _better_of(one: AsOne, placement: Placement, as_one: Placement | None) -> tuple[Placement, int]:
    """The placement, or this other one as it is spread; and the work."""
    other, work = (None, 0) if as_one is None else spread(one, as_one)
    is_better = other is not None and evaluate(one.original, other) < evaluate(one.original, placement)
    return other if other is not None and is_better else placement, work


def _both(first: Outcome, again: Outcome) -> Outcome:
    """What two runs proved, and who took part in them."""
    return replace(
        again,
        bound=max(first.bound, again.bound),
        reproducible=first.reproducible and again.reproducible,
        took_part=tuple(dict.fromkeys((*first.took_part, *again.took_part))),
        notes=tuple(dict.fromkeys((*first.notes, *again.notes))),
    )


def _is_dearer(one: AsOne, placement: Placement, value: Value | None) -> bool:
    """Is it worse than as one in the first term, which counts peaks? Later ones, and what only the choice decides, are lowered as well from there."""
    instance = one.original
    return (
        value is not None
        and peak_price(instance, instance.terms[0]) > 0
        and evaluate(instance, placement)[0] > value[0]
    )


def _narrowed(one: AsOne, placement: Placement, as_one: Placement) -> Instance:
    """The instance in which only what is in groups may be elsewhere."""
    instance = one.original
    is_free = np.array([len(group) > 1 for group in one.groups])[as_one.pool]
    allowed = instance.allowed & is_free[:, None]
    allowed[np.arange(instance.blocks), placement.pool] = True
    return replace(instance, allowed=allowed)


def spread(one: AsOne, placement: Placement) -> tuple[Placement | None, int]:
    """The placement in the pools as they are, and the work: all in the first of a group if it has the room, else one after the other is filled."""
    known = one.at_first(placement)
    if violation(one.original, known) is None:
        return known, 0
    found, work = settled(one.original, _wanted(one, placement))
    if found is None:
        return None, work
    offset = found.offset.copy()
    for number, group in enumerate(one.groups):
        here = placement.pool == number
        if len(group) == 1 and (here == (found.pool == group[0])).all():
            offset[here] = placement.offset[here]
    return Placement(found.pool, offset), work


def _wanted(one: AsOne, placement: Placement) -> Floats:
    """(classes, P) what each class pays in each pool."""
    instance = one.original
    costs = next((cost for term in instance.terms if (cost := choice_cost(instance, term)) is not None), None)
    wanted: Floats = np.full(instance.allowed.shape, ELSEWHERE)
    if costs is not None:
        wanted += costs / (costs.max(initial=0) + 1.0)
    for number, group in enumerate(one.groups):
        here = placement.pool == number
        for place, pool in enumerate(group):
            wanted[here, pool] = STAYS + place / len(group)
    wanted[~instance.allowed] = np.inf
    return wanted[np.unique(instance.pool_class, return_index=True)[1]]


def _proofs(one: AsOne, found: Outcome) -> Iterator[Certificate]:
    """What is proven of each term: prices, the same in each pool of a group, and of later terms a solver's word."""
    for each in found.certificates:
        if each.proof is Proof.PRICED_ROOM:
            weights = [(pool, *priced[1:]) for priced in each.weights for pool in one.groups[priced[0]]]
            crowds = [(pool, *priced[1:]) for priced in each.crowds for pool in one.groups[priced[0]]]
            yield replace(each, weights=tuple(weights), crowds=tuple(crowds))
    terms, value = one.instance.terms, found.value or ()
    for index, floor in enumerate(found.floors[: len(value)]):
        if index and floor:
            held = tuple((term, most, 0, 1) for term, most in zip(terms, value[:index], strict=False))
            yield Certificate(Proof.SEARCH, floor, term=terms[index], solver=LEADER_OF_ROOMS, held=held)
