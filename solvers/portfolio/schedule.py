"""Which parts of a round have a worker, and which have several."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

import numpy as np

from ..model.instance import Ints

GAIN_OF_A_HELPER = 0.75
"""What one more worker adds to a part that can use several: about as much of what a worker does alone."""
MOST_DEALT = 50
"""With more parts that have not begun, all end together whatever the first one does."""


class Job:
    """A part of a round as the schedule sees it."""

    def __init__(self, number: int, work: float, *, leads: bool, scales: bool) -> None:
        self.number = number
        """Its place in the round."""
        self.work = self.left = work
        """What it was granted, and about what it has left of that."""
        self.leads = leads
        """Is it the first of its component?"""
        self.scales = scales
        """Can it use several workers?"""
        self.active_threads: Ints = np.zeros(1, dtype=np.int64)
        """One number: its workers, which changes while it works."""
        self.has_finished = False
        self.counted = 0.0
        """The time until which its work is counted."""

    @property
    def has_begun(self) -> bool:
        return bool(self.active_threads[0])

    @property
    def speed(self) -> float:
        return 1 + GAIN_OF_A_HELPER * (int(self.active_threads[0]) - 1)

    def count(self, now: float) -> None:
        """Subtract what it has done since the last count."""
        if self.has_begun:
            self.left -= (now - self.counted) * self.speed
        self.counted = now


class Schedule:
    """Gives the workers of a round to its parts.

    With one worker they work in their order. With several, the first unfinished part always has a worker, so that none begins later than with one. A second
    worker begins another component if there is one; otherwise it helps the first part if that can use several, or begins the next part. Further workers
    begin with the parts that have most work. A helper leaves early if all could not end together otherwise.

    Times are in units of work: what a worker does meanwhile.
    """

    def __init__(self, jobs: Sequence[Job], workers: int) -> None:
        self._workers = self._free = max(1, workers)
        self._unfinished = deque(jobs)
        # Of those that have not begun:
        self._in_order = deque(jobs)
        self._leads = deque(job for job in jobs if job.leads)
        # What can use several workers comes after the rest, since free workers help it at the end of the round.
        self._longest_last = sorted(jobs, key=lambda job: (not job.scales, job.work, -job.number))
        self._at_work: list[Job] = []
        self.look_again = inf
        """The time at which `give` should be asked even if no part has finished by then."""

    @property
    def is_over(self) -> bool:
        """Has every part finished?"""
        return not self._at_work

    def give(self, now: float) -> list[Job]:
        """Give all free workers to parts; returns those that begin."""
        for each in self._at_work:
            each.count(now)
        self._forget_what_is_done()
        self._dismiss_helper()
        new = []
        while self._free and (job := self._next()) is not None:
            if not job.has_begun:
                job.count(now)
                self._at_work.append(job)
                new.append(job)
            job.active_threads[0] += 1
            self._free -= 1
            self._forget_what_is_done()
        self.look_again = inf
        if self._has_helper():
            first = self._unfinished[0]
            self.look_again = now + max(first.left - self._gap_at_the_end(), 0) / first.speed
        return new

    def finish(self, job: Job) -> None:
        """Take back the workers of a part that has finished."""
        job.has_finished = True
        self._at_work.remove(job)
        self._free += int(job.active_threads[0])

    def close(self) -> None:
        """Let no more parts begin."""
        for waiting in (self._unfinished, self._leads, self._in_order, self._longest_last):
            waiting.clear()

    def _forget_what_is_done(self) -> None:
        while self._unfinished and self._unfinished[0].has_finished:
            self._unfinished.popleft()
        for waiting in (self._leads, self._in_order):
            while waiting and waiting[0].has_begun:
                waiting.popleft()
        while self._longest_last and self._longest_last[-1].has_begun:
            self._longest_last.pop()

    def _next(self) -> Job | None:
        """The part that gets the next free worker: its first one, or one more."""
        if not self._in_order:
            scaling = [job for job in self._at_work if job.scales]
            return min(scaling, key=lambda job: (int(job.active_threads[0]), job.number), default=None)
        first, following = self._unfinished[0], self._in_order[0]
        if not first.has_begun:
            return first
        if self._leads:
            return self._leads[0]
        if first.scales and first.active_threads[0] == 1 and self._is_far(first):
            return first
        is_second = all(job is first or job.number > following.number for job in self._at_work)
        return following if is_second and not first.scales else self._longest_last[-1]

    def _has_helper(self) -> bool:
        """Does a worker help the first part while others have not begun?"""
        return bool(self._in_order) and self._unfinished[0].active_threads[0] > 1

    def _dismiss_helper(self) -> None:
        if self._has_helper() and not self._is_far(self._unfinished[0]):
            self._unfinished[0].active_threads[0] -= 1
            self._free += 1

    def _is_far(self, first: Job) -> bool:
        """Can a helper stay with the first part for now?"""
        return first.left >= self._gap_at_the_end() + 1

    def _gap_at_the_end(self) -> float:
        """If the parts that have not begun were dealt to all workers, the longest first: how long some worker would idle."""
        if len(self._in_order) > MOST_DEALT:
            return 0
        loads = [0.0] * self._workers
        for work in sorted((job.work for job in self._in_order if not job.has_begun), reverse=True):
            loads[loads.index(min(loads))] += work
        return max(loads) - min(loads)
