"""Settles whether a plan can be lowered at all: a few buffers, close in time, that do not fit any lower prove that it cannot.

In a long and thin problem such a proof takes a fraction of the work for all buffers, and it holds for every choice that has these few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol, TypeAlias

from solvers.model.errors import StopReason

from ....facts.intervals import covers, merged
from ....facts.part import only
from ....model.deadline import in_time, look
from ....model.plan import Plan, PlanCertificate, PlanStatus, gap_to
from ....model.problem import Buffer, BufferId, Problem
from ....verifying.arguments.counterexamples import BRIEF
from ....verifying.verify import verify

SIZES = (16, 24, 32, 40, 56)
"""Numbers of buffers to try, those nearest to a time at which most is live."""
FIRST = 4
"""Hints that are used, at most."""
ENOUGH = 8
"""If what a choice lacks of a part that did not fit does not matter, the rest takes the same work, or at most 1/ENOUGH more."""
CORES = 4
"""The number of such times."""
MOST_AT_ONCE = 100
"""In problems of up to this many buffers, all together are also tried."""
FEW = 32
"""If several choices do not fit into one room, so many buffers are looked for that do not, either."""
MOST_TIMES = 2
"""The number of times near which they are looked for."""
WORTH = 60
"""A proof with fewer buffers is worth having if it takes at most this percentage of the work."""

Part: TypeAlias = frozenset[BufferId]


class Fit(Protocol):
    """Plans a problem."""

    def __call__(self, problem: Problem, per_cent: int, most: int | None = None, /) -> Plan | None:
        """Return any plan within the capacities, using this percentage of the work left, or at least a little, but no more than `most`.

        None: no work is left.
        """


SETTLING = "settling the plan of"

LITTLE, HALF, MOST, ALL = 0, 50, 75, 100


class Hint(NamedTuple):
    """Buffers of the problem that, with others, did not fit into this room."""

    part: Part
    room: int
    work: int
    """What it took to find that."""
    time: int | None = None
    """The time to which they are nearest, if as many near it did not fit in another plan."""


class Settled(NamedTuple):
    """The plan: lowered, proven to be as low as possible, or unchanged."""

    plan: Plan
    buffers: Part = frozenset()
    """The buffers that the proof needs."""
    work: int = 0
    """What the proof took."""
    hard: Part = frozenset()
    """The smallest part for which it is open whether it fits lower."""
    time: int | None = None
    """The time to which these are nearest, if they are few."""


def settled(
    problem: Problem,
    made: Plan,
    fit: Fit,
    first: Sequence[Hint] = (),
    hard: Part = frozenset(),
    below: int | None = None,
    *,
    is_repeated: bool = False,
) -> Settled:
    """Try larger and larger parts: does one not fit lower than the plan, or not even below the peak `below`, if that is lower?

    `first` are parts of what did not fit in similar plans; `hard` is the part that stayed open before and gets most of the work.
    With `is_repeated`, other plans did not fit below that peak: if this does not either, fewer buffers are looked for that do not.
    """
    if len(problem.pools) != 1 or any(not buffer.live for buffer in problem.buffers):
        return Settled(made)
    settling = _Settling(problem, made, fit, below)
    settling.settle(first, hard)
    if is_repeated:
        settling.narrow()
    if settling.plan is not made and verify(problem, settling.plan, effort=BRIEF):
        return Settled(made)
    return Settled(settling.plan, settling.refuted, settling.work, settling.hard, settling.time)


class _Settling:
    """One problem, and the best that is known about it."""

    def __init__(self, problem: Problem, made: Plan, fit: Fit, below: int | None) -> None:
        self._problem, self._fit, self._below = problem, fit, below
        self._every = frozenset(buffer.id for buffer in problem.buffers)
        self.plan = made
        self.refuted: Part = frozenset()
        self.time: int | None = None
        """The time to which these are nearest, if they are few."""
        self.work = 0
        """What the proof took."""
        self.hard: Part = frozenset()
        self._peaks: dict[Part, int] = {}
        """The peaks at which some parts were placed; they are not tried again there."""
        self._asked = set[tuple[Part, int]]()
        """Parts, and room into which it stayed open whether they fit."""
        self._is_lowered = False
        """Have all been placed lower? Then they are asked for half of the way that is left."""
        self._least = 0
        """The least height to ask all for: for lower ones it stayed open."""
        self._near: dict[int, list[BufferId]] = {}
        """The buffers nearest to each core."""
        self._is_spent = False
        """True once no work or time is left."""

    def settle(self, first: Sequence[Hint], hard: Part) -> None:
        """Continue until it is proven, or nothing more can be done."""
        is_small = len(self._every) <= MOST_AT_ONCE
        if not hard:
            for hint in first[:FIRST]:
                self._use(hint, HALF if is_small else LITTLE)
        while self._is_open():
            before = self.plan
            self.hard = hard
            if is_small and self._ask_all():
                self.hard = self.hard or self._every
            elif not is_small and not hard:
                self._ask_larger_and_larger()
            if not is_small and self.hard:
                self._ask(self.hard, MOST)
            if self.plan is before:
                return
            hard = frozenset()

    def narrow(self) -> None:
        """Look for few buffers that do not fit either, near a time at which the plan reaches high."""
        top = self._top()
        if not self.refuted or self.time is not None or top is None or len(self.refuted) <= FEW:
            return
        cores = sorted(_cores(self._problem.buffers), key=self._height_at, reverse=True)
        for core in cores[:MOST_TIMES]:
            part = self._around(core, FEW)
            answer = self._fit(self._in_room(part, top - 1), HALF, self.work * WORTH // 100)
            if answer is not None and any(
                c.pool is not None and c.value >= self.plan.bound for c in answer.certificates
            ):
                self.refuted, self.work, self.time = part, answer.run.work or 0, core
                return

    def _height_at(self, time: int) -> int:
        """Return how high the plan reaches at this time."""
        ends = {place.id: place.offset for place in self.plan.placements}
        live = [each for each in self._problem.buffers if covers(each.live, time)]
        return max((ends[each.id] + each.size for each in live), default=0)

    def _use(self, hint: Hint, work: int) -> None:
        """Try whether the part of a hint fits lower."""
        if (top := self._top()) is not None and hint.part != self._every:
            self._ask(hint.part, work, min(hint.room, top - 1), hint.work * (ENOUGH + 1) // ENOUGH)
            if self.refuted:
                self.time = hint.time

    def _refute(self, answer: Plan, part: Part) -> None:
        """Note the proof that this part does not fit."""
        top = self._top()
        proofs = [c for c in answer.certificates if c.pool is not None and c.value > self.plan.bound]
        if proofs and top is not None:
            self.plan = _proven(self.plan, proofs[0])
            self.refuted = part if self.plan.bound >= top else frozenset()
            self.work = answer.run.work or 0

    def _ask_all(self) -> bool:
        """Try all buffers, nearer and nearer to the plan's peak while that stays open. True: one step lower stays open, too."""
        is_open = True
        while is_open and (peak := self._top()) is not None and self._least < peak:
            least = max(self.plan.pools[0].bound, self._least)
            room = (least + peak - 1) // 2 if self._is_lowered else peak - 1
            is_open = self._ask(self._every, ALL if room == peak - 1 else MOST, room)
            if is_open:
                self._least = room + 1
        return is_open

    def _top(self) -> int | None:
        """Return the peak below which something is asked to fit."""
        peak = self.plan.peak
        return peak if peak is None or self._below is None else min(peak, self._below)

    def _is_open(self) -> bool:
        peak = self._top()
        return peak is not None and not self.refuted and peak > self.plan.pools[0].bound

    def _ask_larger_and_larger(self) -> None:
        """Try larger parts around each core until one is too hard."""
        cores = _cores(self._problem.buffers)
        for smaller, size in pairwise((0, *SIZES)):
            for core in tuple(cores):
                if self._is_spent:
                    return
                if size < len(self._every) and self._ask(self._around(core, size), LITTLE):
                    cores.remove(core)
                    self._narrow(core, smaller, size)

    def _narrow(self, core: int, fits: int, hard: int) -> None:
        """`fits` buffers around the core fit, and `hard` of them are too hard to decide: some number in between may quickly prove not to fit."""
        while hard - fits > 1 and self._is_open():
            half = (fits + hard) // 2
            if self._ask(self._around(core, half), LITTLE):
                hard = half
            else:
                fits = half
        if self._is_open() and (not self.hard or hard < len(self.hard)):
            self.hard = self._around(core, hard)

    def _around(self, core: int, count: int) -> Part:
        if core not in self._near:
            look(SETTLING)
            self._near[core] = nearest(self._problem.buffers, core, SIZES[-1])
        return frozenset(self._near[core][:count])

    def _ask(self, part: Part, work: int, room: int | None = None, most: int | None = None) -> bool:
        """Try whether this part fits into the room, or at all lower, and record what follows. True: that stays open."""
        peak, pool = self._top(), self._problem.pools[0]
        if not part or peak is None or not self._is_open() or self._peaks.get(part, peak) < peak:
            return False
        bound = self.plan.pools[0].bound
        room = peak - 1 if room is None else min(room, peak - 1)
        if pool.size is not None:
            room = min(room, pool.size)
        if room < bound or (part, room) in self._asked:
            return room >= bound
        answer = self._fit(self._in_room(part, room), work, most)
        if answer is None:
            self._is_spent = True
            return False
        if answer.status is PlanStatus.INFEASIBLE:
            self._refute(answer, part)
        elif answer.placements and answer.peak is not None:
            self._peaks[part] = answer.peak
            if part == self._every:
                self.plan, self._is_lowered = _lowered(self.plan, answer), True
        if answer.placements or answer.status is PlanStatus.INFEASIBLE:
            return False
        self._asked.add((part, room))
        return True

    def _in_room(self, part: Part, room: int) -> Problem:
        (pool,) = self._problem.pools
        return replace(only(self._problem, part), pools=(replace(pool, size=room),))


def _cores(buffers: Sequence[Buffer]) -> list[int]:
    """Return the times at which most is live, each a local maximum."""
    begins = {start for buffer in buffers for start, _ in buffer.live or ()}
    change = Counter(dict.fromkeys(begins, 0))
    for buffer in in_time(buffers, SETTLING, "buffer"):
        for start, end in merged(buffer.live or ()):
            change[start] += buffer.size
            change[end] -= buffer.size
    times = sorted(change)
    load_at = dict(zip(times, accumulate(change[time] for time in times), strict=True))
    times = sorted(begins)
    loads = [load_at[time] for time in times]
    tops = [
        (-load, time)
        for before, load, after, time in zip([0, *loads], loads, [*loads[1:], 0], times, strict=False)
        if before <= load >= after
    ]
    return [time for _, time in sorted(tops)[:CORES]]


def nearest(buffers: Sequence[Buffer], core: int, count: int) -> list[BufferId]:
    """Return the buffers whose lifetimes are nearest to the time."""

    def distance(buffer: Buffer) -> tuple[int, int]:
        distances = ((max(start - core, core - end + 1, 0), start) for start, end in buffer.live or ())
        return min(distances, default=(0, core))

    return [buffer.id for buffer in nsmallest(count, buffers, key=distance)]


def _proven(made: Plan, proof: PlanCertificate) -> Plan:
    """Return the plan with the bound that was proven, at most its peak."""
    value, peak = made.objective.value, made.peak
    assert value is not None
    assert peak is not None
    bound = min(proof.value, peak)
    return replace(
        _with_objective(made, value, _worth(made, bound)),
        bound=bound,
        pools=(replace(made.pools[0], bound=bound),),
        certificates=(*made.certificates, proof),
    )


def _lowered(made: Plan, answer: Plan) -> Plan:
    """Return the plan with the answer's placements, keeping what was proven before."""
    peak = answer.peak
    assert peak is not None
    return replace(
        _with_objective(made, _worth(made, peak), made.objective.bound),
        peak=peak,
        pools=(replace(made.pools[0], peak=peak),),
        placements=answer.placements,
        solver=answer.solver,
        reproducible=made.reproducible and answer.reproducible,
    )


def _worth(made: Plan, peak: int) -> int:
    """Return the objective at this peak, given its value for the plan's peak."""
    assert made.peak
    return peak * ((made.objective.value or 0) // made.peak)


def _with_objective(made: Plan, value: int, bound: int | None) -> Plan:
    """Return the plan with this value and bound, and what follows from them."""
    is_optimal = value == bound
    terms = tuple(replace(term, value=value, bound=bound) for term in made.objective.terms)
    return replace(
        made,
        status=PlanStatus.OPTIMAL if is_optimal else made.status,
        stop=StopReason.PROVED if is_optimal else made.stop,
        gap=gap_to(bound, value),
        objective=replace(made.objective, value=value, bound=bound, terms=terms),
    )
