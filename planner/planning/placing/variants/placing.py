"""Places choices one by one: plans each like any problem, then settles or lowers it part by part, within its share of the work."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import NamedTuple, TypeAlias, TypeVar

from solvers.choice.alternatives.instance import Choice as Positions
from solvers.choice.alternatives.instance import Pick
from solvers.choice.alternatives.points import Placed
from solvers.model.errors import StopReason
from solvers.model.registry import AUTO
from solvers.model.solver import Goal

from ....facts.variants import with_choice
from ....model.deadline import OutOfTime, until
from ....model.errors import BadInput, CannotSolve
from ....model.plan import Plan, PlanStatus
from ....model.problem import Buffer, BufferId, Problem
from ....model.versions import cores
from ...options.options import Options
from .choices import is_largest, tops_at
from .settling import FEW, LITTLE, MOST_AT_ONCE, Hint, Part, nearest, settled
from .windows import lowered

PlanOne: TypeAlias = Callable[[Problem, Options], Plan]
Answer = TypeVar("Answer")

THOROUGH = "cpsat_order"
"""The solver that is asked if a little work does not tell whether this many buffers fit."""
SHARE_OF_A_PLAN = 64
"""The part of all work that a placement may use."""
SHARE_OF_POOLS = 16
"""The same for several memories, whose plans are neither settled nor lowered afterwards."""
SHARE_OF_SETTLING = 32
"""The part for settling whether the plan can be lower."""
SHARE_OF_SETTLING_FEW = 8
"""The same for few buffers."""
SHARE_OF_WINDOWS = 16
"""The part for lowering the plan window by window."""
WORK_OF_A_PART = 100_000
WORK_OF_A_GLANCE = 25_000
"""The work of a first placement if nearly all of the choice did not fit where it is of use."""
WORK_PER_BUFFER = 12
WORK_PER_PLAN = 5_000
"""The work that a proven placement is charged, whatever it took."""
WORK_PER_REFUTATION = 40_000
"""The least charge for proving that nothing fits; otherwise half of the limit."""
LEAST_FOR_WINDOWS = 64
"""With fewer buffers a window contains nearly all, and whether these fit was already asked."""
MOST_HINTS = 16
"""The number of parts that did not fit which are kept: of these, what another choice has most in common with is tried first."""


@dataclass
class _Tried:
    """What is known about a choice besides its plan."""

    is_new: bool = True
    hard: Part = frozenset()
    """A part for which it is open whether it fits lower."""
    picks: tuple[Pick, ...] | None = None
    """The alternatives that alone prove a bound of its peak."""
    bound: int = 0
    """The bound that these prove; other proofs about the choice do not hold for all choices with these alternatives."""
    peaks: dict[str, int | None] = field(default_factory=dict)
    """The peak at which each way of lowering it ended; it does not start there again."""
    below: int | None = None
    """Only plans below this peak are of use; None: all are."""

    def is_settled(self, plan: Plan) -> bool:
        """True if nothing more needs to be known about the choice of this plan."""
        return plan.stop is StopReason.PROVED or (self.below is not None and plan.bound >= self.below)


class _Open(NamedTuple):
    """A part of a choice that was too hard; for other choices that have it, it is not tried again with the same work."""

    part: Part
    picks: tuple[Pick, ...]
    peak: int
    share: int | None


class _Refuted(NamedTuple):
    """Buffers that did not fit."""

    buffers: Mapping[BufferId, Buffer]
    room: int
    work: int
    """What the proof took."""
    time: int | None
    """The time to which they are nearest, if they are few."""


@dataclass
class Placing:
    """The choices of one problem, and the plans of those placed so far."""

    problem: Problem
    options: Options
    times: Sequence[int]
    """The times at which a plan's height is of interest."""
    plan_one: PlanOne
    share: Callable[[int, int], int | None]
    """Returns this part of the work, doubled the given number of times in each later round."""
    left: Callable[[], int | None]
    """Returns how much of all work is left."""
    stopped: Callable[[], StopReason | None]
    seconds_left: Callable[[], float | None]
    nothing: Callable[[], Plan]
    """Returns a plan without placements, for lack of time."""
    plans: dict[Positions, Plan] = field(default_factory=dict)
    _late: OutOfTime | None = None
    """Why a choice has no plan: the time was over, or would have been."""
    _tried: dict[Positions, _Tried] = field(default_factory=dict)
    _open: list[_Open] = field(default_factory=list)
    _refuted: list[_Refuted] = field(default_factory=list)
    """The last first."""
    _narrowed: set[int] = field(default_factory=set)
    """Rooms into which several choices did not fit, and for which fewer buffers were looked for that do not, either."""

    def place_both(self, wanted: Sequence[tuple[Positions, int | None]]) -> list[Placed]:
        """Return for two choices what `place` does, each with half of what is left and without what the other teaches.

        They are placed side by side if there are workers for it; the answers are the same with one.
        """
        left = self.left()
        half = None if left is None else left // len(wanted)
        apart = [self._apart(positions, half) for positions, _ in wanted]
        calls = [partial(each.place, *one) for each, one in zip(apart, wanted, strict=True)]
        try:
            return side_by_side(calls) if (self.options.workers or cores()) > 1 else [call() for call in calls]
        finally:
            hints, parts = self._refuted, self._open
            for each in apart:
                self.plans.update(each.plans)
                self._narrowed |= each._narrowed
                new = [one for one in each._refuted if all(one is not known for known in hints)]
                old = [one for one in self._refuted if all(one.buffers != known.buffers for known in new)]
                self._refuted = [*new, *old][:MOST_HINTS]
                self._open = [*self._open, *(one for one in each._open if all(one is not known for known in parts))]

    def _apart(self, positions: Positions, left: int | None) -> Placing:
        """Return a copy for placing one choice, which keeps what it learns to itself."""
        tried = self._tried.setdefault(positions, _Tried())
        plans = {positions: self.plans[positions]} if positions in self.plans else {}
        options = replace(self.options, workers=max((self.options.workers or cores()) // 2, 1))
        return replace(
            self,
            options=options,
            left=lambda: left,
            plans=plans,
            _tried={positions: tried},
            _open=[*self._open],
            _refuted=[*self._refuted],
            _narrowed={*self._narrowed},
        )

    def place(self, positions: Positions, below: int | None = None) -> Placed:
        """Return the best plan so far of one choice; none if its alternatives contradict each other only in combination.

        A choice that does not fit below the value `below` is of no use, and nothing more is asked about it.
        """
        problem = with_choice(self.problem, positions)
        tried = self._tried.setdefault(positions, _Tried())
        tried.below = None if below is None or len(problem.pools) > 1 else self._peak_of(below)
        hints = self._hints(problem, tried.below)
        work, is_small = 0, len(problem.buffers) <= MOST_AT_ONCE
        is_new_and_small = is_small and tried.is_new and self.options.solver == AUTO and self.left() is not None
        if not (tried.hard and is_small):
            try:
                has_one_pool = len(problem.pools) == 1
                share = self.share(SHARE_OF_A_PLAN if has_one_pool else SHARE_OF_POOLS, 1)
                if is_new_and_small and has_one_pool and share is not None:
                    is_doubtful = tried.below is not None and any(hint.room == tried.below - 1 for hint in hints)
                    share = min(WORK_OF_A_GLANCE if is_doubtful else WORK_OF_A_PART, share)
                plan, work = self.planned(problem, share, Goal.MINIMISE)
            except BadInput:
                return Placed(None, None, WORK_PER_PLAN)
            if plan.status is PlanStatus.INFEASIBLE:
                return Placed(None, None, work)
            self.plans[positions] = min(plan, self.plans.get(positions, plan), key=rank)
        is_new, tried.is_new = tried.is_new, False
        steps = (self._settle, self._lower, self._settle)
        for step in steps[:1] if is_new and is_small else steps:
            plan = self.plans[positions]
            if self.seconds_left() == 0:
                break
            if plan.placements and not tried.is_settled(plan) and plan.peak != tried.peaks.get(step.__name__):
                work += self._in_time(step, problem, positions, tried)
                tried.peaks[step.__name__] = self.plans[positions].peak
        plan = self.plans[positions]
        value, bound = plan.objective.value, plan.objective.bound or 0
        is_open = value is not None and value > bound and len(problem.pools) == 1
        tops = (
            tops_at(self.times, problem.buffers, plan.placements)
            if is_open and plan.placements and self.seconds_left() != 0
            else ()
        )
        tried.peaks.pop(self._settle.__name__, None)  # with more work it may succeed
        is_useless = value is not None and below is not None and value > bound >= below
        picks = tried.picks if plan.bound <= tried.bound else None
        return Placed(value, bound, work, tops, picks, is_useless)

    def require_time(self, stop: StopReason) -> None:
        """Raise OutOfTime if a run that ended so has no plan because the time for it was over.

        The search may have ended before, by its work; then it was the time for placing what is found without it.
        """
        if stop is not StopReason.CANCELLED and self._late is not None:
            raise self._late

    def _in_time(
        self, step: Callable[[Problem, Positions, _Tried], int], problem: Problem, positions: Positions, tried: _Tried
    ) -> int:
        """Take a step that may improve the plan, and give it up when the time is over; return the work used."""
        left = self.seconds_left()
        try:
            with until(inf if left is None else time.monotonic() + left):
                return step(problem, positions, tried)
        except OutOfTime:
            return 0

    def _peak_of(self, value: int) -> int | None:
        """Return the least peak worth at least this value, with one memory; None if peaks cost nothing."""
        price = 1 if is_largest(self.problem) else self.problem.pools[0].cost
        return -(-value // price) if price else None

    def _settle(self, problem: Problem, positions: Positions, tried: _Tried) -> int:
        """Settle whether the plan can be lower, within its share of the work; return the work used."""
        if self.options.solver != AUTO:
            return 0
        is_small = len(problem.buffers) <= MOST_AT_ONCE
        share = self.share(SHARE_OF_SETTLING_FEW if is_small else SHARE_OF_SETTLING, 2)
        peak = self.plans[positions].peak or 0
        for each in self._open:
            if each.share == share and each.peak <= peak and all(positions[g] == a for g, a in each.picks):
                tried.hard = each.part
                return 0
        fit = self.fitting(share)
        room = None if tried.below is None else tried.below - 1
        is_repeated = room not in self._narrowed and any(each.room == room for each in self._refuted)
        hints = self._hints(problem, tried.below)
        made = self.plans[positions]
        found = settled(problem, made, fit, hints, tried.hard, tried.below, is_repeated=is_repeated)
        if is_repeated and room is not None and found.buffers:
            self._narrowed.add(room)
        self.plans[positions], tried.hard = found.plan, found.hard
        if found.buffers:
            tried.picks, tried.bound = self._picks_of(positions, found.buffers), found.plan.bound
            refuted = {buffer.id: buffer for buffer in problem.buffers if buffer.id in found.buffers}
            others = [each for each in self._refuted if each.buffers != refuted]
            new = _Refuted(refuted, found.plan.bound - 1, found.work, found.time)
            self._refuted = [new, *others][:MOST_HINTS]
        elif found.hard:
            picks = self._picks_of(positions, found.hard)
            self._open = [each for each in self._open if each.share == share]
            self._open.append(_Open(found.hard, picks, found.plan.peak or 0, share))
        return fit.used

    def _hints(self, problem: Problem, below: int | None) -> list[Hint]:
        """Return which buffers may not fit, judging by other choices that did not.

        First come those around the time at which few buffers of another choice did not fit together. Then come the buffers shared with a choice that did
        not fit, where these are nearly all of that choice; the most buffers first. Of a small problem there is only one hint, as each takes much of the work.
        """
        alike, near = [], []
        for refuted, room, work, core in self._refuted:
            part = frozenset(buffer.id for buffer in problem.buffers if refuted.get(buffer.id) == buffer)
            if 10 * len(part) >= 9 * len(refuted):
                alike.append(Hint(part, room, work))
            if core is not None and below == room + 1:
                near.append(Hint(frozenset(nearest(problem.buffers, core, FEW)), room, work, core))
        alike.sort(key=lambda hint: -len(hint.part))
        return [*near[:1], *alike][: 1 if len(problem.buffers) <= MOST_AT_ONCE else None]

    def _lower(self, problem: Problem, positions: Positions, _: _Tried) -> int:
        """Lower the plan window by window; return the work used."""
        if self.options.solver == AUTO and len(problem.buffers) < LEAST_FOR_WINDOWS:
            return 0
        fit = self.fitting(self.share(SHARE_OF_WINDOWS, 1))
        self.plans[positions] = lowered(problem, self.plans[positions], fit)
        return fit.used

    def fitting(self, share: int | None) -> Fitting:
        """Return what plans parts within this share of the work."""
        left = self.left()
        return Fitting(self.planned, self.stopped, share, left)

    def planned(
        self, problem: Problem, work_limit: int | None, goal: Goal, solver: str | None = None
    ) -> tuple[Plan, int]:
        """Return the plan of a problem without variants, and the work it took. Raises BadInput."""
        options = replace(
            self.options, time_limit=self.seconds_left(), work_limit=work_limit, capacity=None, prefer=None, max_cost=None,
            explain=False, goal=goal, solver=solver or self.options.solver,
        )  # fmt: skip
        try:
            plan = self.plan_one(problem, options)
        except OutOfTime as late:
            plan, self._late = self.nothing(), late
        except CannotSolve:
            if solver is None:
                raise
            return self.planned(problem, work_limit, goal)
        work = WORK_PER_PLAN + WORK_PER_BUFFER * len(problem.buffers)
        if solver is not None and plan.run.work is not None:
            work += plan.run.work  # it has one worker, whatever the options allow
        elif plan.stop not in (StopReason.PROVED, StopReason.GOAL_MET) and work_limit is not None:
            work += work_limit
        elif goal is Goal.FIT and plan.status is PlanStatus.INFEASIBLE:
            work += WORK_PER_REFUTATION if work_limit is None else max(work_limit // 2, WORK_PER_REFUTATION)
        return plan, work

    def _picks_of(self, positions: Positions, buffers: Part) -> tuple[Pick, ...]:
        """Return all picks that affect how these buffers may lie: those that make, prolong or separate them, or let any share addresses."""
        assert self.problem.variants is not None
        found = []
        for g, group in enumerate(self.problem.variants.groups):
            chosen = group.alternatives[positions[g]]
            concerned = any(each.id in buffers for each in chosen.buffers)
            concerned = concerned or any(more.buffer in buffers for more in chosen.live)
            apart = (*chosen.constraints.conflicts, *chosen.constraints.different_pool)
            concerned = concerned or any(len(buffers.intersection(each)) > 1 for each in apart)
            if concerned or any(
                each.constraints.colocations or each.constraints.exclusions for each in group.alternatives
            ):
                found.append((g, positions[g]))
        return tuple(found)


class Fitting:
    """Plans parts of a problem until a share of the work is used."""

    def __init__(
        self,
        planned: Callable[[Problem, int | None, Goal, str | None], tuple[Plan, int]],
        stopped: Callable[[], StopReason | None],
        share: int | None,
        left: int | None,
    ) -> None:
        self._planned, self._stopped, self._left = planned, stopped, left
        self._share = share if left is None or share is None else min(share, left)
        self.used = 0

    def __call__(self, part: Problem, per_cent: int = LITTLE, most: int | None = None) -> Plan | None:
        """Use this percentage of the work that is left, or at least a little, but no more than `most`."""
        if self._stopped() is not None or (self._share is not None and self.used >= self._share):
            return None
        work = WORK_OF_A_PART
        if self._share is not None:
            work = max((self._share - self.used) * per_cent // 100, work)
        if most is not None:
            work = min(work, most)
        if self._left is not None:
            work = min(work, max(self._left - self.used, 0))
        made, used = self._planned(part, work, Goal.FIT, None if per_cent == LITTLE else THOROUGH)
        self.used += used
        return made


def rank(plan: Plan) -> tuple[bool, int, int]:
    """Return the order in which plans of one choice are preferred: less memory, then more proven."""
    value = plan.objective.value
    return value is None, value or 0, -(plan.objective.bound or 0)


def side_by_side(calls: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Return the answers of calls, each in a thread with the caller's limit of time. Raises what the first that fails raises, once all have ended."""
    from concurrent.futures import ThreadPoolExecutor  # imported here: most problems do not need it

    def timed(call: Callable[[], Answer]) -> Answer:
        with until(inf):  # a deadline of the thread's own, as it measures the processor time of one thread
            return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        waiting = [threads.submit(copy_context().run, timed, call) for call in calls]
        return [each.result() for each in waiting]
