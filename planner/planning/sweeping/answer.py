"""The answer of a sweep: a point for each configuration, and the smallest capacity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solvers.model.instance import Term

from ...model.plan import Plan, PlanStatus

COST = "cost"
"""The cost of the chosen alternatives."""


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One configuration, and the best result with it."""

    capacity: Mapping[str, int]
    """The bytes of each swept pool."""
    status: PlanStatus
    value: tuple[int, ...] | None
    """The objective's terms, preceded by the cost if there are variants; None without a plan."""
    bound: tuple[int, ...]
    """Proven: no value is lexicographically smaller. It may end early, when nothing is proven about later terms."""
    peaks: Mapping[str, int] | None
    """The peak of every pool."""
    access_cost: int | None
    """The cost of all accesses, whether a term of the objective or not."""
    spilled_bytes: int | None
    """Sizes times ranks of their pools, whether a term of the objective or not."""
    plan: Plan | None
    """A verified plan of the problem with these capacities. None if another configuration's proof shows that there is none."""
    solved: bool
    """False: it follows from others."""


@dataclass(frozen=True, slots=True)
class SmallestCapacity:
    """How small one pool can be, whatever the objective is then. The other pools have the sizes in the problem."""

    pool: str
    capacity: int | None
    """A plan fits into this many bytes; None: none is known, or none exists at any size."""
    bound: int
    """Proven: nothing fits into fewer bytes."""
    plan: Plan
    """The plan of the problem whose objective is only this pool's peak."""

    @property
    def is_proven(self) -> bool:
        return self.capacity == self.bound


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result for each size of memory, and the smallest sufficient one."""

    name: str | None
    problem_digest: str
    """The digest of the problem as given, including its own capacities."""
    terms: tuple[Term, ...]
    peak_price: int
    """A part of the objective: see Problem."""
    points: tuple[SweepPoint, ...]
    """In the order of the configurations: the last pool's size changes fastest."""
    smallest: SmallestCapacity | None
    """None if several pools are swept."""
    reproducible: bool
    seconds: float
    chooses: bool = False
    """True: the problem has variants, and each value and bound begins with the cost of the choice."""
    most_cost: int | None = None
    """The greatest cost allowed; None: any."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the terms of each value."""
        return (*((COST,) if self.chooses else ()), *map(str, self.terms))


def proven(plan: Plan) -> tuple[int, ...]:
    """Return the proven bounds of the objective's terms, as far as they go; the cost of alternatives comes first."""
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
