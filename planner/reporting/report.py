"""What a plan does with memory: each pool's figures, the step with the most bytes in use, and the buffers that would have to shrink."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..checks.report import bad_input
from ..facts.constants import spell_out_constants
from ..facts.intervals import merged
from ..facts.variants import as_chosen
from ..model.deadline import in_time, look
from ..model.errors import Code
from ..model.plan import Placement, Plan, PlanStatus, PoolUse, Shortage
from ..model.problem import Buffer, BufferId, Interval, Pool, Problem
from .live_profile import LOOKING, Height, LiveProfile
from .supports import Supports


@dataclass(frozen=True, slots=True)
class PeakCause:
    """The buffers that would have to shrink for a pool's peak to fall."""

    proven: bool
    """True: unless one of them shrinks, no plan has a smaller peak. False: they hold up the peak of this plan; others may not need them."""
    buffers: tuple[BufferId, ...]
    step: int | None = None
    """The step at which all are needed, if there is one."""


@dataclass(frozen=True, slots=True)
class PoolReport:
    """One memory."""

    name: str
    base: int | None
    size: int | None
    """Bytes; None: unlimited."""
    peak: int | None
    """The largest end offset; None without a plan."""
    bound: int
    free: int | None
    """The bytes above the peak that are not reserved; None if the pool is unlimited or there is no plan."""
    most_live: int | None
    """The most bytes in use at once; None without a plan or without lifetimes."""
    step: int | None
    """The first step with that many in use."""
    fragmentation: float | None
    """The share of the bytes up to the peak, without reserved ones, that is unused even when most is in use."""
    cause: PeakCause | None


@dataclass(frozen=True, slots=True)
class LiveBuffer:
    """A buffer that is in use at a step."""

    id: BufferId
    pool: str
    offset: int
    size: int
    live: tuple[Interval, ...]
    """Half-open."""


@dataclass(frozen=True, slots=True)
class LivePeak:
    """The most bytes in use at once over all memories."""

    bytes: int
    step: int
    """The first step with that many bytes in use."""
    buffers: tuple[LiveBuffer, ...]
    """The buffers in use then, by memory and address: one of them must shrink for this peak to fall."""
    moments: int
    """The number of intervals with that many bytes in use; a buffer in use must shrink in each."""
    throughout: tuple[BufferId, ...]
    """The buffers in use in all of them."""


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What a plan does with each memory, and with all of them."""

    problem: str | None
    status: PlanStatus
    peak: int | None
    """The sum of the pools' peaks."""
    bound: int
    pools: tuple[PoolReport, ...]
    """In the problem's order."""
    live: LivePeak | None
    """None if nothing is ever in use, as far as lifetimes tell."""
    untimed: int
    """The number of buffers with bytes but without lifetimes; they count in no step."""
    shortage: Shortage | None = None
    """Why nothing fits, as far as the plan says."""


def memory_report(problem: Problem, plan: Plan) -> MemoryReport:
    """Return the report of a correct plan (`verify(problem, plan)` finds nothing). Raises BadInput for a plan that cannot be one of the problem."""
    require_names(problem, plan)
    problem = spell_out_constants(as_chosen(problem, plan))
    problem = replace(problem, buffers=tuple(in_time(problem.buffers, LOOKING, "buffer")))  # each is looked at often
    profile = LiveProfile(problem, plan.placements)
    look(LOOKING)
    uses = {use.name: use for use in plan.pools}
    causes = _Causes(plan, Supports(problem, plan.placements))
    return MemoryReport(
        problem.name,
        plan.status,
        plan.peak,
        plan.bound,
        tuple(_pool_report(pool, uses[pool.name], profile, causes) for pool in problem.pools),
        _live_peak(plan, profile, profile.highest()),
        profile.untimed(),
        plan.shortage,
    )


def require_names(problem: Problem, plan: Plan) -> None:
    """Raise BadInput if the plan has other memories than the problem, or places other buffers."""
    if [use.name for use in plan.pools] != [pool.name for pool in problem.pools]:
        raise bad_input(
            Code.CONTRADICTION, ("plan", "pools"), "the plan does not list the problem's pools, in their order"
        )
    if not {each.pool for each in plan.placements} <= {pool.name for pool in problem.pools}:
        raise bad_input(
            Code.UNKNOWN_POOL,
            ("plan", "placements"),
            "the plan places buffers in a pool that the problem does not have",
        )
    chosen = as_chosen(problem, plan)
    if plan.placements and [each.id for each in plan.placements] != [each.id for each in chosen.buffers]:
        text = "the plan does not place every buffer of the problem once, in its order"
        raise bad_input(Code.CONTRADICTION, ("plan", "placements"), text)


def _pool_report(pool: Pool, use: PoolUse, profile: LiveProfile, causes: _Causes) -> PoolReport:
    highest = None if profile.untimed(pool.name) else profile.highest(pool.name)
    is_known = use.peak is not None and not profile.untimed(pool.name)
    room = None if use.peak is None else use.peak - _reserved(pool, 0, use.peak)
    return PoolReport(
        pool.name,
        pool.base,
        use.size,
        use.peak,
        use.bound,
        None if use.size is None or use.peak is None else use.size - use.peak - _reserved(pool, use.peak, use.size),
        highest.bytes if highest is not None else 0 if is_known else None,
        None if highest is None else highest.moments[0].start,
        None if highest is None or not room else 1 - highest.bytes / room,
        causes.of(pool, use.peak),
    )


def _reserved(pool: Pool, low: int, high: int) -> int:
    """Return the number of reserved bytes in [low, high)."""
    return sum(max(min(end, high) - max(start, low), 0) for start, end in merged(pool.reserved))


class _Causes:
    """Finds out why each pool's peak is as high as it is."""

    def __init__(self, plan: Plan, supports: Supports) -> None:
        self._supports = supports
        self._proven = {(c.pool, c.value): c for c in reversed(plan.certificates) if c.buffers}
        self._ending: dict[tuple[str, int], list[Placement]] = {}
        for place in plan.placements:
            self._ending.setdefault((place.pool, place.offset + place.size), []).append(place)

    def of(self, pool: Pool, peak: int | None) -> PeakCause | None:
        if not peak:
            return None
        certificate = self._proven.get((pool.name, peak))
        if certificate is not None:
            return PeakCause(True, certificate.buffers, certificate.time)
        highest = self._ending.get((pool.name, peak), ())
        if highest and not any(place.size for place in highest):
            return PeakCause(False, tuple(place.id for place in highest))  # buffers without bytes rest on nothing
        return PeakCause(False, tuple(buffer.id for buffer in self._supports.under_the_peak(pool)))


def _live_peak(plan: Plan, profile: LiveProfile, highest: Height | None) -> LivePeak | None:
    if highest is None:
        return None
    where = {place.id: place for place in plan.placements}
    first = highest.moments[0].start
    return LivePeak(
        highest.bytes,
        first,
        tuple(_live_buffer(buffer, where[buffer.id]) for buffer in profile.live_at(first)),
        len(highest.moments),
        tuple(buffer.id for buffer in profile.live_throughout(highest.moments)),
    )


def _live_buffer(buffer: Buffer, place: Placement) -> LiveBuffer:
    return LiveBuffer(buffer.id, place.pool, place.offset, buffer.size, merged(buffer.live or ()))
