"""The contents of a plan's picture: each pool's rectangles, the bytes in use over time, peak and bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from solvers.model.instance import Term

from ..facts.intervals import merged
from ..facts.variants import as_chosen
from ..model.deadline import in_time, look
from ..model.errors import BadAnswer, Code, Finding, echo
from ..model.plan import Placement, Plan, PlanStatus, PoolUse
from ..model.problem import (
    Buffer,
    BufferId,
    Interval,
    Lifetimes,
    Pool,
    Problem,
    measures_bytes,
    term_in_words,
    weighs_peaks,
)
from ..reporting.live_profile import LiveProfile
from ..verifying.findings import VerifyFinding
from .demand import DRAWING, Demand, demands


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: a buffer during one of its lifetimes."""

    buffer: int
    """The buffer's number in the problem."""
    start: int
    end: int
    low: int
    """The offset; the buffer has the size."""


@dataclass(frozen=True, slots=True)
class PoolMap:
    """One memory; without a plan what is needed there, or in several together."""

    name: str
    size: int | None
    """Bytes; None: unlimited."""
    base: int | None
    peak: int | None
    bound: int
    reserved: tuple[Interval, ...]
    boxes: tuple[Box, ...]
    profile: tuple[tuple[int, int], ...]
    """The bytes in use from each time on; empty if no lifetime tells."""
    buffers: tuple[int, ...] | None = None
    """Without a plan: the numbers of the buffers whose need this is."""

    @property
    def needed(self) -> int:
        """Return the most that is in use, or where there is no plan needed, at once."""
        return max((used for _, used in self.profile), default=0)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The meaning of the horizontal axis.

    Buffers without lifetimes have no place in time. Each gets its own column, to the right of everything else.
    """

    begin: int
    end: int
    """The end of all lifetimes, half-open; equal to the begin if there are none."""
    untimed_from: int
    untimed_width: int
    """The width of one column."""
    untimed: int
    """The number of columns, in the pool with most."""

    @property
    def right(self) -> int:
        """Return the end of the axis."""
        return self.untimed_from + self.untimed * self.untimed_width if self.untimed else max(self.end, self.begin + 1)


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The whole picture's contents."""

    problem: str | None
    lifetimes: Lifetimes | None
    in_bytes: bool
    """True if an amount of memory was minimised, not a cost."""
    weighs_peaks: bool
    """True if a sum of peaks is a cost, too."""
    minimised: str
    """The name of what was minimised first."""
    status: PlanStatus
    peak: int | None
    bound: int
    gap: float | None
    solver: str | None
    buffers: Sequence[Buffer]
    kinds: tuple[str | None, ...]
    """In order of appearance; None: buffers without a kind."""
    kind: tuple[int, ...]
    """By buffer."""
    axis: TimeAxis
    pools: tuple[PoolMap, ...]
    wrong: tuple[VerifyFinding, ...]
    """The known faults of the plan."""
    steps: Mapping[int, str] = field(default_factory=dict)
    """What happens at some of the times."""
    why_empty: str | None = None
    """Why there is no plan. Profiles then show what is needed instead of what is in use."""
    value: int | None = None
    """Of what was minimised first."""
    folder: str = ""
    """The common beginning of all names that are paths, up to a slash."""

    @property
    def verdict(self) -> str:
        """Return the plan's status; of a wrong plan that is only what it claims."""
        return f"wrong (claims to be {self.status.value})" if self.wrong else self.status.value

    def label(self, number: int) -> str:
        """Return a buffer's short name: without the common beginning, and without operators that TensorFlow fused into the first."""
        return str(self.buffers[number].id).partition(";")[0].removeprefix(self.folder)


LONG = 500
"""This many lifetimes of a buffer take a while."""


def memory_map(problem: Problem, plan: Plan, wrong: tuple[VerifyFinding, ...] = ()) -> MemoryMap:
    """Return the map of a plan of this problem; the plan may be wrong. Raises BadInput."""
    problem = as_chosen(problem, plan)
    places = _places(problem, plan)
    axis = _axis(problem, places)
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(buffer.kind for buffer in problem.buffers))}
    look(DRAWING)
    uses = {use.name: use for use in plan.pools}
    is_empty = not plan.placements and bool(problem.buffers)
    pools = [_need(demand, uses) for demand in demands(problem, plan)] if is_empty else []
    if not pools:
        profile = LiveProfile(problem, list(places.values()))
        boxes = _boxes(problem, places, axis)
        pools = [_pool_map(pool, uses.get(pool.name), boxes[pool.name], profile) for pool in problem.pools]
    return MemoryMap(
        problem=problem.name,
        lifetimes=problem.lifetimes,
        in_bytes=measures_bytes(problem),
        weighs_peaks=weighs_peaks(problem),
        minimised=term_in_words(problem, next(iter(problem.terms), Term.SUM_OF_PEAKS)),
        status=plan.status,
        peak=plan.peak,
        bound=plan.bound,
        gap=plan.gap,
        solver=plan.solver,
        buffers=problem.buffers,
        kinds=tuple(kinds),
        kind=tuple(kinds[buffer.kind] for buffer in problem.buffers),
        axis=axis,
        pools=tuple(pools),
        wrong=wrong,
        steps={time: name for time, name in problem.steps if axis.begin <= time <= axis.end},
        why_empty=why_empty(plan) if is_empty else None,
        value=plan.objective.value,
        folder=_folder(problem.buffers),
    )


def _boxes(problem: Problem, places: Mapping[BufferId, Placement], axis: TimeAxis) -> dict[str, list[Box]]:
    """Return each pool's rectangles. Buffers without a lifetime stand in columns beside the time."""
    boxes: dict[str, list[Box]] = {pool.name: [] for pool in problem.pools}
    columns = dict.fromkeys(boxes, 0)
    for number, buffer in enumerate(in_time(problem.buffers, DRAWING)):
        place = places.get(buffer.id)
        if place is None or not buffer.size:
            continue
        here = boxes[place.pool]
        if buffer.live is None:
            left = axis.untimed_from + columns[place.pool] * axis.untimed_width
            columns[place.pool] += 1
            here.append(Box(number, left, left + axis.untimed_width, place.offset))
        else:
            if len(buffer.live) > LONG:
                look(DRAWING)
            here += [Box(number, start, end, place.offset) for start, end in merged(buffer.live)]
    return boxes


def _pool_map(pool: Pool, use: PoolUse | None, boxes: list[Box], profile: LiveProfile) -> PoolMap:
    return PoolMap(
        pool.name,
        pool.size if use is None else use.size,
        pool.base,
        None if use is None else use.peak,
        0 if use is None else use.bound,
        merged(pool.reserved),
        tuple(boxes),
        tuple(profile.steps(pool.name)),
    )


def _need(demand: Demand, uses: Mapping[str, PoolUse]) -> PoolMap:
    """Return the map of a need; of several pools together only the size is known."""
    if len(demand.pools) > 1:
        return PoolMap(demand.name, demand.size, None, None, 0, (), (), demand.profile, demand.buffers)
    (pool,) = demand.pools
    bound = uses[pool.name].bound if pool.name in uses else 0
    reserved = merged(pool.reserved)
    return PoolMap(pool.name, demand.size, pool.base, None, bound, reserved, (), demand.profile, demand.buffers)


def _folder(buffers: Sequence[Buffer]) -> str:
    paths = {str(buffer.id).partition(";")[0] for buffer in buffers if "/" in str(buffer.id)}
    if len(paths) < 2:
        return ""
    steps = zip(*(path.split("/")[:-1] for path in (min(paths), max(paths))), strict=False)
    return "".join(f"{step}/" for step, other in takewhile(lambda both: both[0] == both[1], steps))


def why_empty(plan: Plan) -> str:
    """Return why only the needs can be drawn."""
    if plan.status is PlanStatus.INFEASIBLE:
        return "No plan fits" + ("." if plan.shortage is None else f": {plan.shortage.message}.")
    return "No plan was found."


def _places(problem: Problem, plan: Plan) -> dict[BufferId, Placement]:
    """Return each buffer's place. Raises BadInput for a plan of another problem."""
    known = {buffer.id for buffer in problem.buffers}
    pools = {pool.name for pool in problem.pools}
    for number, place in enumerate(plan.placements):
        if place.id not in known:
            raise _of_another(number, "id", f"buffer {echo(place.id)}")
        if place.pool not in pools:
            raise _of_another(number, "pool", f"pool {echo(place.pool)}")
    return {place.id: place for place in plan.placements}


def _of_another(number: int, field: str, what: str) -> BadAnswer:
    code = Code.UNKNOWN_BUFFER if field == "id" else Code.UNKNOWN_POOL
    return BadAnswer(Finding(code, f"/placements/{number}/{field}", f"{what} is not in the problem"))


def _axis(problem: Problem, places: dict[BufferId, Placement]) -> TimeAxis:
    live = [interval for buffer in in_time(problem.buffers, DRAWING) for interval in merged(buffer.live or ())]
    begin = min((start for start, _ in live), default=0)
    end = max((end for _, end in live), default=begin)
    columns: dict[str, int] = {}
    for buffer in problem.buffers:
        if buffer.live is None and buffer.size and buffer.id in places:
            pool = places[buffer.id].pool
            columns[pool] = columns.get(pool, 0) + 1
    most = max(columns.values(), default=0)
    if not most or begin == end:
        return TimeAxis(begin, end, end, 1, most)
    width = max((end - begin) // max(2 * most, 8), 1)
    return TimeAxis(begin, end, end + width, width, most)


def ceiling(pool: PoolMap, buffers: Sequence[Buffer]) -> int:
    """Return the highest address worth showing: the pool's end if near, otherwise a little above the contents."""
    top = max((box.low + buffers[box.buffer].size for box in pool.boxes), default=0)
    top = max(top, pool.peak or 0, pool.bound, max((used for _, used in pool.profile), default=0), 1)
    return pool.size if pool.size is not None and top <= pool.size <= top + top // 2 else top + max(top // 25, 1)
