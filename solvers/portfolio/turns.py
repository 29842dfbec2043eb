"""A round of the engines, side by side: each starts from what was known when the round began, so their order does not matter."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext
from math import inf
from threading import Condition, Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..model.errors import StopReason
from ..model.instance import Ints, Placement
from ..model.outcome import Outcome
from .board import Board, Relay
from .execute import FULL, Answer
from .roster import share_of
from .schedule import MOST_BEGUN, Job, Schedule
from .single_pool import Component, SinglePool

if TYPE_CHECKING:
    from concurrent.futures import Future

LONGEST_REST = 0.05
"""Seconds after which a member that rests asks whether all must stop."""
UNITS_PER_SECOND = 1_500_000
"""The work that a worker does in a second, about. Only when workers change parts depends on it, never a result."""

QUICK_SWITCH = 0.0005
"""Seconds after which a thread at work in Python lets another go on, while there are several workers."""


class _Switching:
    """How soon threads take turns in Python.

    Engines in native code ask every 4 ms whether to stop. By default each of these questions waits 5 ms if another engine is at work in Python.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rounds = 0
        self._usual = 0.0

    @contextmanager
    def quick(self) -> Generator[None]:
        """Soon, until the last of the rounds that are played at the same time ends."""
        with self._lock:
            if not self._rounds:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, QUICK_SWITCH))
            self._rounds += 1
        try:
            yield
        finally:
            with self._lock:
                self._rounds -= 1
                if not self._rounds:
                    sys.setswitchinterval(self._usual)


_switching = _Switching()


class Turn:
    """One component's turn in a round: the engines that work on it, in order, and their answers."""

    def __init__(
        self,
        pool: SinglePool,
        component: Component,
        team: tuple[tuple[str, int], ...],
        enough: int,
        put: Callable[[Placement], None],
    ) -> None:
        self.pool = pool
        self.component = component
        self.team = team
        """Name and weight of each, in order."""
        self.enough = enough
        """The peak that is low enough."""
        self.put = put
        """Keeps a placement of the component whatever happens next."""
        self.settled = False
        """True once an engine has finished the component."""
        self._said: dict[int, Answer] = {}
        self._last = len(team) - 1
        self._least = component.peak
        self._lock = Lock()

    @property
    def weight(self) -> int:
        """That of its whole team."""
        return sum(weight for _, weight in self.team)

    def needs(self, number: int) -> bool:
        """True until a member before it has finished the component."""
        return number <= self._last

    def hear(self, number: int, answer: Answer) -> None:
        """Take this member's answer."""
        with self._lock:
            self._said[number] = answer
            if self.is_finished_by([answer]):
                self._last = min(self._last, number)
            before: list[Answer] = []
            for each in range(self._last + 1):
                if each not in self._said:
                    return
                before.append(self._said[each])
                if self.is_finished_by(before):
                    self._last, self.settled = each, True

    def answers(self) -> list[tuple[str, Answer]]:
        """The answers of the members that were needed, in order."""
        return [(self.team[number][0], self._said[number]) for number in sorted(self._said) if self.needs(number)]

    def show(self, placement: Placement) -> None:
        """Keep it if it is lower than all before, and within the capacity."""
        peak, capacity = self.component.peak_of(placement), self.pool.capacity
        with self._lock:
            if capacity is not None and peak > capacity:
                return
            if self._least is None or peak < self._least:
                self._least = peak
                self.put(placement)

    def is_finished_by(self, answers: Iterable[Answer]) -> bool:
        """True if these answers together finish the component."""
        bound, peak = max(self.component.bound, self.pool.bound), self.component.peak
        for answer in answers:
            if not isinstance(answer, Outcome):
                continue
            if answer.infeasible:
                return True
            if answer.placement is not None and answer.value is not None:
                peak = answer.value[0] if peak is None else min(peak, answer.value[0])
            bound = max(bound, answer.bound[0] if answer.bound else 0)
        return peak is not None and peak <= max(bound, self.enough)


class Part(NamedTuple):
    """One member of a team at work on its component."""

    turn: Turn
    number: int

    @property
    def name(self) -> str:
        return self.turn.team[self.number][0]

    @property
    def weight(self) -> int:
        """Its part of the round's work: FULL for each part of a share that is not cut."""
        return self.turn.team[self.number][1]

    def work(self, budget: int) -> int:
        """Its work, if each part of a share is so much."""
        return self.weight * budget // FULL

    @property
    def again(self) -> int:
        """How many members before it are of the same engine."""
        return sum(name == self.name for name, _ in self.turn.team[: self.number])

    @property
    def scales(self) -> bool:
        """True if it can use several workers."""
        return share_of(self.name).scales

    @property
    def rests(self) -> bool:
        """True if it can be made to rest."""
        return share_of(self.name).rests


Work: TypeAlias = Callable[[Part, Relay, Ints], Answer]
"""Runs one member, given the number of workers it may use."""


def play(turns: list[Turn], workers: int, board: Board, budget: int, work: Work) -> None:
    """Run all teams, with this much work for each part of a share. If a member raises an error, those that have not begun do not begin."""
    with _switching.quick() if workers > 1 else nullcontext():
        _Round(turns, workers, board, budget, work).run()


class _Round:
    """Runs the parts of a round on as many threads as there are workers."""

    def __init__(self, turns: list[Turn], workers: int, board: Board, budget: int, work: Work) -> None:
        from concurrent.futures import ThreadPoolExecutor  # not needed if greedy is enough

        self._board, self._work = board, work
        self._parts = [Part(turn, number) for turn in turns for number in range(len(turn.team))]
        self._schedule = Schedule(
            [
                Job(at, part.work(budget), leads=part.number == 0, scales=part.scales, rests=part.rests)
                for at, part in enumerate(self._parts)
            ],
            workers,
        )
        self._threads = ThreadPoolExecutor(
            max_workers=MOST_BEGUN * max(1, workers)
        )  # those that rest keep their threads
        self._begun: list[Future[None]] = []
        self._changed = Condition()
        self._has_failed = False

    def run(self) -> None:
        with self._threads, self._changed:
            try:
                self._begin()
                while not self._schedule.is_over:
                    pause = self._schedule.look_again / UNITS_PER_SECOND - time.monotonic()
                    if not self._changed.wait(max(pause, 0) if pause < inf else None):
                        self._begin()
            except BaseException:
                self._fail()
                raise
        for future in self._begun:
            future.result()

    def _begin(self) -> None:
        """Have all parts begin for which there is a worker."""
        new = deque(self._schedule.give(time.monotonic() * UNITS_PER_SECOND))
        try:
            while new:
                self._begun.append(self._threads.submit(self._take_part, new[0]))
                new.popleft()
        except RuntimeError:  # the system gives no more threads
            self._fail()
            for job in new:
                self._schedule.finish(job)
            raise
        self._changed.notify_all()

    def _fail(self) -> None:
        """Stop all parts."""
        self._has_failed = True
        self._schedule.close()
        self._changed.notify_all()

    def _take_part(self, job: Job) -> None:
        if job.has_finished:  # it was to begin in a thread that could not be started
            return
        part = self._parts[job.number]
        try:
            if self._reason(part) is None:
                relay = Relay(self._board, part.turn.show)
                relay.stopped = lambda: self._reason_after_rest(part, job)
                part.turn.hear(part.number, self._work(part, relay, job.active_threads))
        except BaseException:
            with self._changed:
                self._fail()
            raise
        finally:
            with self._changed:
                self._schedule.finish(job)
                self._begin()

    def _reason(self, part: Part) -> StopReason | None:
        """Why the part must stop."""
        is_needed = part.turn.needs(part.number) and not self._has_failed
        return self._board.stopped() or (None if is_needed else StopReason.CANCELLED)

    def _reason_after_rest(self, part: Part, job: Job) -> StopReason | None:
        """The same, once the part has a worker."""
        if not job.active_threads[0]:
            with self._changed:
                while not job.active_threads[0] and self._reason(part) is None:
                    self._changed.wait(LONGEST_REST)
        return self._reason(part)
