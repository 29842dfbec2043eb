"""What a sweep answers: a point for each configuration, and the smallest capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solvers.model.instance import Term

from ...model.plan import Plan, PlanStatus

COST = "cost"
"""Of the alternatives that are chosen."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One configuration, and what can be had with it."""

    capacity: Mapping[str, int]
    """Bytes of each swept pool."""
    status: PlanStatus
    value: tuple[int, ...] | None
    """Each term of the objective, and of variants their cost before these; None without a plan."""
    bound: tuple[int, ...]
    """Proven: nothing is lexicographically smaller. May end early: then nothing is proven of the later terms."""
    peaks: Mapping[str, int] | None
    """Of every pool."""
    access_cost: int | None
    """What all accesses cost, be it a term of the objective or not."""
    spilled_bytes: int | None
    """Sizes times ranks of the pools they are in, be it a term of the objective or not."""
    plan: Plan | None
    """Verified, and a plan of the problem with these capacities. None where another configuration's proof settles that there is none."""
    solved: bool
    """False: it follows from others."""


@dataclass(frozen=True, slots=True)
class SmallestCapacity:
    """How small one pool can be, whatever the objective costs then. The other pools have the sizes that the problem gives them."""

    pool: str
    capacity: int | None
    """A plan fits into so many bytes; None: none is known, or there is none at any size."""
    bound: int
    """Proven: nothing fits into fewer."""
    plan: Plan
    """Of the problem whose objective is this pool's peak alone."""

    @property
    def is_proven(self) -> bool:
        return self.capacity == self.bound


@dataclass(frozen=True, slots=True)
class Sweep:
    """What each size of memory buys, and the smallest that is enough."""

    name: str | None
    problem_digest: str
    """Of the problem as it is given, its own capacities included."""
    terms: tuple[Term, ...]
    peak_price: int
    """Part of the objective: see Problem."""
    points: tuple[SweepPoint, ...]
    """In the order of the configurations: the last pool's size changes fastest."""
    smallest: SmallestCapacity | None
    """None where several pools are swept."""
    reproducible: bool
    seconds: float
    chooses: bool = False
    """True: the problem has variants, and each value and bound begins with the cost of what is chosen."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of what each value is made of."""
        return (*((COST,) if self.chooses else ()), *map(str, self.terms))


def proven(plan: Plan) -> tuple[int, ...]:
    """The objective's bounds, as far as there are any; that of what alternatives cost comes first."""
    found: list[int] = []
    if plan.choice is not None:
        if plan.choice.cost_bound is None:
            return ()
        found.append(plan.choice.cost_bound)
        if plan.choice.cost != plan.choice.cost_bound:
            return tuple(found)
    for term in plan.objective.terms:
        if term.bound is None:
            break
        found.append(term.bound)
        if term.value != term.bound:
            break
    return tuple(found)
