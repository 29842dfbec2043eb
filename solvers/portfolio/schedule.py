"""Which parts of a round have a worker, which have several, and which rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf

import numpy as np

from ..model.instance import Ints

GAIN_OF_A_HELPER = 0.75
"""What one more worker adds to a part that can use several: about as much of what a worker does alone."""
PRESSING = 3
"""A part presses once so many times its work, for each worker, is at least all that is left. With 1 it might just end with the others, but work is known only roughly."""
HEAD_START = 0.25
"""Until what may settle the round soon has done so much of its work, nothing else presses."""
LEAST_SPELL = 30_000
"""A worker does so much before it changes to what has more left, about 20 ms."""
LEAST_LOOK = 1_500
"""The schedule is not asked again sooner, about a millisecond: where parts take longer than they should, nothing changes meanwhile."""
MOST_BEGUN = 2
"""So many parts have begun for each worker, at most: each that rests keeps its thread and its memory."""


class Job:
    """A part of a round as the schedule sees it."""

    def __init__(self, number: int, work: float, *, leads: bool, scales: bool, rests: bool = True) -> None:
        self.number = number
        """Its place in the round."""
        self.work = self.left = work
        """What it was granted, and about what it has left of that."""
        self.leads = leads
        """True if it is the first of its component."""
        self.scales = scales
        """True if it can use several workers."""
        self.rests = rests and not scales
        """True if it can be made to rest."""
        self.active_threads: Ints = np.zeros(1, dtype=np.int64)
        """One number: its workers, which changes while it works; none while it rests."""
        self.has_begun = self.has_finished = False
        self.counted = 0.0
        """The time until which its work is counted."""

    @property
    def is_at_work(self) -> bool:
        return bool(self.active_threads[0])

    @property
    def speed(self) -> float:
        return 1 + GAIN_OF_A_HELPER * (int(self.active_threads[0]) - 1) if self.is_at_work else 0

    def count(self, now: float) -> None:
        """Subtract what it has done since the last count."""
        self.left = max(self.left - (now - self.counted) * self.speed, 0)
        self.counted = now


class Schedule:
    """Gives the workers of a round to its parts.

    With one worker they work in their order. With several, the first unfinished part always has a worker, so that none begins later than with one. A second
    worker begins another component if there is one. Otherwise it works at what presses: what could be the last to end if it waited longer. For that another
    part rests, if need be. What can use several workers never presses, since it can fill gaps at the end. If nothing presses, a worker helps the first part
    or begins the next.

    Times are in units of work: what a worker does meanwhile.
    """

    def __init__(self, jobs: Sequence[Job], workers: int) -> None:
        self._workers = max(1, workers)
        self._unfinished = deque(jobs)
        # Of those that have not begun:
        self._in_order = deque(jobs)
        self._leads = deque(job for job in jobs if job.leads)
        self._longest = deque(sorted((job for job in jobs if not job.scales), key=lambda job: (-job.left, job.number)))
        self._to_begin = sum(job.left for job in jobs)
        """How long one worker would take for all of them."""
        self._begun: list[Job] = []
        """Those that have not finished."""
        self.look_again = inf
        """The time at which `give` should be asked even if no part has finished by then."""

    @property
    def is_over(self) -> bool:
        """True once every part has finished."""
        return not self._begun

    def give(self, now: float) -> list[Job]:
        """Give all workers to parts; returns those that begin."""
        for each in self._begun:
            each.count(now)
        self._forget_what_is_done()
        given = self._given()
        new = [job for job in given if not job.has_begun]
        for job in new:
            job.has_begun, job.counted = True, now
            self._to_begin -= job.left
        self._begun = sorted(self._begun + new, key=lambda job: job.number)
        for job in self._begun:
            job.active_threads[0] = given.get(job, 0)
        self._forget_what_is_done()
        self.look_again = now + self._time_until_another_presses()
        return new

    def finish(self, job: Job) -> None:
        """Take back the workers of a part that has finished."""
        job.has_finished = True
        self._begun.remove(job)

    def close(self) -> None:
        """Let no more parts begin."""
        self._unfinished = deque(self._begun)
        for waiting in (self._leads, self._in_order, self._longest):
            waiting.clear()
        self._to_begin = 0

    def _forget_what_is_done(self) -> None:
        while self._unfinished and self._unfinished[0].has_finished:
            self._unfinished.popleft()
        for waiting in (self._leads, self._in_order, self._longest):
            while waiting and waiting[0].has_begun:
                waiting.popleft()

    def _given(self) -> dict[Job, int]:
        """The number of workers of each part that has any."""
        given = dict[Job, int]()
        room = MOST_BEGUN * self._workers - len(self._begun)
        for job in self._by_preference():
            if sum(given.values()) == self._workers:
                return given
            if job.has_begun or room > 0:
                room -= not (job.has_begun or job in given)
                given[job] = given.get(job, 0) + 1
        scaling = [job for job in given if job.scales]
        while scaling and sum(given.values()) < self._workers:
            given[min(scaling, key=lambda job: (given[job], job.number))] += 1
        return given

    def _by_preference(self) -> Iterator[Job]:
        """The parts in the order in which they get workers; the first one twice if it can use several."""
        if not self._unfinished:
            return
        first, at_work = self._unfinished[0], [job for job in self._begun if job.is_at_work]
        staying = [job for job in at_work if job.leads or not job.rests]
        chosen = dict.fromkeys([first, *staying, *self._next(self._leads), *self._pressing(), *at_work])
        yield from chosen
        if first.scales:
            yield first
        resting = (job for job in self._begun if not job.is_at_work)
        yield from (job for job in dict.fromkeys([*resting, *self._next(self._in_order)]) if job not in chosen)

    def _next(self, waiting: Iterable[Job]) -> Iterator[Job]:
        """The next of those that have not begun, one for each worker."""
        return islice((job for job in waiting if not job.has_begun), self._workers)

    def _can_press(self) -> list[Job]:
        return [*(job for job in self._begun if not job.scales), *self._next(self._longest)]

    def _pressing(self) -> list[Job]:
        """Those that press, first the longest. A worker changes parts only if that is worth it."""
        if self._head_start() > 0:
            return []
        pressing = [job for job in self._can_press() if self._spare_work(job) <= 0]
        return sorted(pressing, key=lambda job: (-job.left - LEAST_SPELL * job.is_at_work, job.number))

    @property
    def _early(self) -> Job | None:
        """What may settle the round soon: the first part that can use several workers. With more than two, one begins it early in any case."""
        some = self._unfinished if self._workers == 2 else islice(self._unfinished, 1)
        return next((job for job in some if job.scales and not job.has_finished), None)

    def _head_start(self) -> float:
        """How much that must do before others press."""
        early = self._early
        return 0 if early is None else early.left - (1 - HEAD_START) * early.work

    def _spare_work(self, job: Job) -> float:
        """How much of all that is left must be done before this part presses."""
        left = self._to_begin + sum(each.left for each in self._begun)
        return left - PRESSING * self._workers * job.left

    def _time_until_another_presses(self) -> float:
        waiting = [job for job in self._can_press() if not job.is_at_work]
        if self._workers == 1 or not waiting:
            return inf
        spare = min(map(self._spare_work, waiting)) / sum(job.speed for job in self._begun)
        early = self._early
        head_start = self._head_start() / early.speed if early is not None and early.is_at_work else 0
        time = max(spare, head_start)
        return max(time, LEAST_LOOK) if time > 0 else LEAST_SPELL
