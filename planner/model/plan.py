"""The answer: an address for every buffer, the peak, the bound, and how far both can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from .problem import BufferId, Pick

MAX_PROSE = 16_384
"""The most characters of a sentence in a plan or a sharing: a warning, or why nothing fits."""


class PlanStatus(StrEnum):
    """What the plan is worth."""

    OPTIMAL = "optimal"
    """Proven: no plan has a better objective."""
    FEASIBLE = "feasible"
    """A valid plan; the gap limits how much better another could be."""
    INFEASIBLE = "infeasible"
    """Proven: there is no plan within the capacities."""
    UNKNOWN = "unknown"
    """Neither a plan nor a proof that none exists was found in time."""

    @property
    def has_plan(self) -> bool:
        """True if a plan goes with this status."""
        return self in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Placement:
    """One buffer's address."""

    id: BufferId
    pool: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class PoolUse:
    """One pool's part of the plan."""

    name: str
    size: int | None
    peak: int | None
    """The largest end offset; None without placements."""
    bound: int
    """Proven: no plan has a smaller peak in this pool."""


@dataclass(frozen=True, slots=True)
class TermValue:
    """One term of the objective. Its bound assumes that each earlier term is at its own bound, or holds anyway if one is not; None: nothing is proven."""

    name: Term
    value: int | None
    bound: int | None


@dataclass(frozen=True, slots=True)
class Objective:
    """What was minimised. Value and bound are those of the first term."""

    value: int | None
    bound: int | None
    terms: tuple[TermValue, ...]


@dataclass(frozen=True, slots=True)
class PlanCertificate:
    """An argument that a value cannot be lower: the peak of the named pool, or the named term of the objective.

    If it names neither, it proves that there is no plan at all.
    """

    proof: Proof
    value: int
    pool: str | None = None
    time: int | None = None
    buffers: tuple[BufferId, ...] = ()
    weights: tuple[tuple[str, int, int, int], ...] = ()
    """For pool sharing: (pool, time, numerator, denominator) of each dual weight."""
    solver: str | None = None
    term: Term | None = None
    """`reuse_cost` for what must be shared, `moved_buffers` or `moved_bytes` for what must move, `sum_of_peaks` for pool sharing, whatever the
    objective is; for prices any of the objective's terms, with the earlier ones in `held` at most what it says; for a search any of them, with the
    earlier ones no higher than in the plan.
    """
    sets: tuple[tuple[tuple[BufferId, ...], int, int], ...] = ()
    """For what must be shared or moved: (buffers, numerator, denominator) for each set; the fraction is the share that counts."""
    crowds: tuple[tuple[str, int, tuple[BufferId, ...], tuple[int, ...], int, int], ...] = ()
    """For priced room: (pool, time, buffers, the votes of each, numerator, denominator) for each price on a vote of these in that pool; the buffers are
    live together.
    """
    held: tuple[tuple[Term, int, int, int], ...] = ()
    """For priced room of a later term: (term, most, numerator, denominator) for each price on an earlier term, which is at most so much."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why nothing fits, as far as known."""

    message: str
    pool: str | None = None
    bytes_short: int | None = None
    time: int | None = None
    buffers: tuple[BufferId, ...] = ()
    subset: tuple[BufferId, ...] | None = None
    """On request: buffers that cannot be placed together."""
    irreducible: bool | None = None
    """True: removing any one of the subset makes the rest fit. False: the budget ended before that was shown."""
    most_cost: int | None = None
    """With variants: it speaks of the choices that cost no more; None: of all."""


@dataclass(frozen=True, slots=True)
class TracePoint:
    """A moment at which the best value or the bound changed."""

    seconds: float
    value: int | None
    bound: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """What depends on the clock or the machine; everything else in a reproducible plan is equal byte for byte."""

    seconds: float
    trace: tuple[TracePoint, ...] = ()
    machine: dict[str, str | int] = field(default_factory=dict)
    work: int | None = field(default=None, compare=False)
    """The work that the solvers counted; not written to files."""
    repeats: bool = field(default=False, compare=False)
    """Of a run with a start: with the same start, another would end with the same answer. Not written to files."""


class ChoiceGoal(StrEnum):
    """What was sought among all choices, and so what the bounds of a plan with a choice refer to."""

    SIZE = "size"
    """The least memory within the allowed cost: no choice needs less. Among those, the least cost."""
    SPEED = "speed"
    """The least cost within the capacities: no choice costs less. Among those, the least memory."""
    POINT = "point"
    """A point of the frontier: no choice of at most this cost needs less memory, and none of at most this memory costs less."""


@dataclass(frozen=True, slots=True)
class ChoiceCertificate:
    """An argument about all choices: `memory` times what one needs, in the unit of the objective, and `cost` times what it costs are together at least `value`.

    With `within` it is about the cost of those that need no more memory than that; it then has no prices, since all are tried.
    """

    value: int | None
    """None: there is no such choice."""
    memory: int
    cost: int
    weights: tuple[tuple[str, int, int], ...] = ()
    """(pool, time, price of each byte that is live there then)."""
    within: int | None = None

    def least_memory(self, most_cost: int | None) -> int | None:
        """Return what choices within this cost (None: all) need at least; None: nothing is proven."""
        if self.within is not None:
            is_dearer = self.value is None or (most_cost is not None and self.value > most_cost)
            return self.within + 1 if is_dearer else None
        return _least(self.value, self.memory, self.cost, most_cost)

    def least_cost(self, most_memory: int | None) -> int | None:
        """Return what choices within this memory (None: all) cost at least; None: nothing is proven."""
        if self.within is not None:
            return None if most_memory is None or most_memory > self.within else self.value
        return _least(self.value, self.cost, self.memory, most_memory)


def _least(value: int | None, price: int, of_other: int, most: int | None) -> int | None:
    """Return the least whole x with price * x + of_other * most >= value."""
    if value is None or price <= 0 or (most is None and of_other):
        return None
    return -((of_other * (most or 0) - value) // price)


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen alternatives, and their cost."""

    alternatives: tuple[Pick, ...]
    """The alternative of each group, in the order of the groups."""
    costs: tuple[tuple[str, int], ...]
    """Each cost term's name and value."""
    cost: int
    """The weighted sum of the terms."""
    cost_bound: int | None
    """Proven: no choice within the goal costs less. None: nothing is proven."""
    goal: ChoiceGoal
    most_cost: int | None = None
    """The greatest cost allowed; None: any."""
    certificates: tuple[ChoiceCertificate, ...] = ()
    """Why no choice within the goal is better, as far as it can be added up."""

    def least_memory(self) -> int:
        """Return what the certificates prove about the memory of all choices within the goal; 0: nothing."""
        most = self.cost if self.goal is ChoiceGoal.POINT else self.most_cost
        return max([0, *(each for c in self.certificates if (each := c.least_memory(most)) is not None)])

    def least_cost(self, most_memory: int | None) -> int | None:
        """Return what the certificates prove about the cost of all choices that need no more memory; None: nothing."""
        return max((each for c in self.certificates if (each := c.least_cost(most_memory)) is not None), default=None)


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to a Problem."""

    status: PlanStatus
    stop: StopReason
    peak: int | None
    """In bytes: the largest end offset; with several pools the sum of their peaks."""
    bound: int
    """Proven: no plan has a smaller peak (sum of peaks)."""
    gap: float | None
    objective: Objective
    pools: tuple[PoolUse, ...]
    placements: Sequence[Placement]
    """In the order of the problem's buffers; empty without a plan."""
    solver: str | None
    seed: int
    reproducible: bool
    versions: dict[str, str]
    problem_digest: str
    certificates: tuple[PlanCertificate, ...] = ()
    shortage: Shortage | None = None
    warnings: tuple[str, ...] = ()
    run: Run = field(default_factory=lambda: Run(0.0))
    choice: Choice | None = None
    """For a problem with variants: the placements belong to the problem in which these alternatives hold."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """Plans with ever less memory at ever more cost: the cheapest first, each as small as its cost allows."""

    points: tuple[Plan, ...]
    is_complete: bool
    """Proven: for every plan of the problem, one of these is as good or better in both memory and cost."""
    is_infeasible: bool
    """Proven: no choice can be placed within the capacities."""
    stop: StopReason
    reproducible: bool
    problem_digest: str
    run: Run = field(default_factory=lambda: Run(0.0))
    within: float | None = None
    """Proven: for each choice within the limits, some point needs at most 1 + this times its memory and at most 1 + this times its cost.
    0 if the frontier is complete; None: nothing like this is proven.
    """
    missing: str | None = None
    """If nothing fits: what memory or cost would be enough, as far as known."""
    most_cost: int | None = None
    """The greatest cost allowed: all that is said is of the choices that cost no more. None: any."""


def without_proofs(plan: Plan, stop: StopReason) -> Plan:
    """Return the plan without what it claims to be proven of memory; `stop` is why nothing is."""
    terms = tuple(replace(term, bound=None) for term in plan.objective.terms)
    return replace(
        plan,
        status=PlanStatus.FEASIBLE,
        stop=stop,
        bound=0,
        gap=None,
        objective=replace(plan.objective, bound=None, terms=terms),
        pools=tuple(replace(use, bound=0) for use in plan.pools),
        certificates=(),
    )


def gap_to(bound: int | None, value: int | None) -> float | None:
    """Return how much lower the value could be at most, as a share of the bound."""
    return None if value is None or not bound else value / bound - 1
