"""The answer: an address for every buffer, the peak, the bound, and how far both can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof

from .problem import BufferId, Pick

MAX_PROSE = 16_384
"""Characters of a sentence in a plan or a sharing: a warning, why nothing fits."""


class PlanStatus(StrEnum):
    """What the plan is worth."""

    OPTIMAL = "optimal"
    """Proven: no plan has a better objective."""
    FEASIBLE = "feasible"
    """A valid plan; the gap says how much better one could be at most."""
    INFEASIBLE = "infeasible"
    """Proven: there is no plan within the capacities."""
    UNKNOWN = "unknown"
    """Neither a plan nor a proof that there is none was found in time."""

    @property
    def has_plan(self) -> bool:
        """True if there is a plan to go with it."""
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
    """Largest end offset; None without placements."""
    bound: int
    """Proven: no plan has a smaller peak in this pool."""


@dataclass(frozen=True, slots=True)
class TermValue:
    """One term of the objective. Its bound holds given that the earlier terms are at theirs, or where one is not, anyway; None: nothing is proven of it."""

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
    """Why something cannot be lower than value: the peak of the pool it names, or the term of the objective it names.

    Where it names neither, it says that there is no plan at all.
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
    """Of what must be shared `reuse_cost`, of what must move `moved_buffers` or `moved_bytes`, of pool sharing `sum_of_peaks`, whatever the objective is; of prices the objective's first term; of a search any of its terms,
    given that the earlier ones are at their bounds."""
    sets: tuple[tuple[tuple[BufferId, ...], int, int], ...] = ()
    """For what must be shared or moved: (buffers, numerator, denominator) of each set, and of how much of it counts."""
    crowds: tuple[tuple[str, int, tuple[BufferId, ...], int, int], ...] = ()
    """For priced room: (pool, time, buffers, numerator, denominator) of each price on being one of these in that pool, live together as they are."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why nothing fits, as far as it is known."""

    message: str
    pool: str | None = None
    bytes_short: int | None = None
    time: int | None = None
    buffers: tuple[BufferId, ...] = ()
    subset: tuple[BufferId, ...] | None = None
    """On request: buffers that cannot be placed together."""
    irreducible: bool | None = None
    """True: removing any one of the subset makes the rest fit. False: the budget ended before that was shown."""


@dataclass(frozen=True, slots=True)
class TracePoint:
    """A moment at which the best value or the bound changed."""

    seconds: float
    value: int | None
    bound: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that depends on the clock or the machine; apart from this, reproducible plans are equal byte for byte."""

    seconds: float
    trace: tuple[TracePoint, ...] = ()
    machine: dict[str, str | int] = field(default_factory=dict)
    work: int | None = field(default=None, compare=False)
    """What the solvers counted; not written."""


class ChoiceGoal(StrEnum):
    """What was looked for among all choices, and so what the bounds of a plan with a choice are about."""

    SIZE = "size"
    """The least memory within the greatest cost that was allowed: no choice needs less. Of those, the least cost."""
    SPEED = "speed"
    """The least cost within the capacities: no choice costs less. Of those, the least memory."""
    POINT = "point"
    """A point of the frontier: no choice that costs no more needs less, and none that needs no more costs less."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which alternatives were chosen, and what they cost."""

    alternatives: tuple[Pick, ...]
    """The alternative of each group, in the order of the groups."""
    costs: tuple[tuple[str, int], ...]
    """Of each cost term by name."""
    cost: int
    """All terms, each times its weight."""
    cost_bound: int | None
    """Proven: no choice costs less, of those that the goal is about. None: nothing is proven."""
    goal: ChoiceGoal
    most_cost: int | None = None
    """What it might cost at most; None: anything."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer to a Problem."""

    status: PlanStatus
    stop: StopReason
    peak: int | None
    """Bytes: the largest end offset; with several pools the sum of their peaks."""
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
    """Of a problem with variants: the placements are those of the problem in which these alternatives hold."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """Plans with less and less memory at more and more cost: the cheapest first, each as small as its cost allows."""

    points: tuple[Plan, ...]
    is_complete: bool
    """Proven: every plan of the problem is matched or beaten by one of these in both."""
    is_infeasible: bool
    """Proven: no choice can be placed within the capacities."""
    stop: StopReason
    reproducible: bool
    problem_digest: str
    run: Run = field(default_factory=lambda: Run(0.0))
    within: float | None = None
    """Proven: for each choice within the limits there is a point that takes no more than 1 + this times its memory, nor costs more than 1 + this times what it costs.
    0 if the frontier is complete; None: nothing of the kind is proven."""


def gap_to(bound: int | None, value: int | None) -> float | None:
    """By how much the value could be less at most, as a share of the bound."""
    return None if value is None or not bound else value / bound - 1
