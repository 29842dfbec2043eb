"""Gives each block a memory, window by window, with CP-SAT: in one sweep over time first, then again where memories are too full, and for less cost.

Importing this module imports nothing heavy; answering does, so it happens in a child process (see solvers.sandbox).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ....exact.cpsat import engine
from ....model.errors import StopReason
from ....model.solver import Control
from ..instance import Choice, Choices
from ..questions.answering import WORKERS
from ..questions.without_addresses import Questions
from .state import Layout, State
from .window import Window, penalty_of

RATE = 2_500_000
"""Work for each second that CP-SAT counts."""
WORK_PER_WINDOW = 10_000
WORK_PER_SHARE = 2
"""Work of building a window, for each share that is live at each of its times."""
MOST_PER_WINDOW = 75_000
MOST_PER_REPAIR = 250_000
"""The same where a memory is too full."""
SWEEP, AHEAD = 80, 60
"""The blocks that begin in a window of the sweep, and in the time after it that the window looks at."""
REACHES = (160, 240, 320)
"""The blocks that begin before and after a time at which a memory is too full, in the first window around it and in later ones."""
STRIDES = (80, 160, 240)
"""The blocks that begin between one window and the next, where all are tried again for less cost; each window is twice as long."""


class Whole:
    """Answers about one instance."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._layout = Layout(choices)
        self._penalty = penalty_of(choices)
        self._bytes = Questions(choices, is_divisible=True)

    def answer(self, question: Mapping[str, Any], control: Control) -> Mapping[str, object]:
        """Answer in the child process."""
        return _Run(self, question, control).answer()

    @property
    def layout(self) -> Layout:
        return self._layout

    @property
    def penalty(self) -> int:
        return self._penalty

    def tops(self, choice: Choice, value: int, budget: engine.Budget, control: Control) -> list[int | None]:
        """How high each bin may be filled within the value: as high as bytes that may be anywhere need, and then the cheapest memories higher."""
        found = self._tops(choice, value, budget, control)
        return [each.below(found[each.pool]) for each in self._layout.bins]

    def _tops(self, choice: Choice, value: int, budget: engine.Budget, control: Control) -> list[int | None]:
        """The same for each memory."""
        memories = self.choices.memories
        assert memories is not None
        highest = [
            None if room is None else memories.taken_in(p).top(max(room, 0)) for p, room in enumerate(memories.room)
        ]
        if memories.is_largest:
            return [value if room is None else min(room, value) for room in highest]
        tops = self._bytes.tops(choice, budget, control) or [0] * len(memories.prices)
        left = value - sum(top * price for top, price in zip(tops, memories.prices, strict=True))
        found: list[int | None] = [*tops]
        for p in sorted(range(len(tops)), key=memories.prices.__getitem__):
            room, price = highest[p], memories.prices[p]
            if not price:
                found[p] = room
            elif left > 0:
                more = left // price if room is None else min(left // price, max(room - tops[p], 0))
                found[p] = tops[p] + more
                left -= more * price
        return found


class _Run:
    """One answer."""

    def __init__(self, whole: Whole, question: Mapping[str, Any], control: Control) -> None:
        self._whole, self._layout, self._control = whole, whole.layout, control
        self._work = 0
        self._most: int | None = question["work"]
        self._budget = engine.Budget(None, question["deadline"], question["seed"], WORKERS, rate=RATE, relaxations=engine.Relaxations.ALL)  # fmt: skip
        choice = tuple(question["choice"])
        caps = {(time_, pool): most for time_, pool, most in question["caps"]}
        tops = question["tops"] or whole.tops(choice, question["value"], self._within(), control)
        self._state = State(self._layout, choice, dict(question["homes"]), tops, caps)
        self._around: list[int] = question["around"]
        self._enough: int = question["enough"]
        self._aim: list[int] = question["aim"]

    def answer(self) -> Mapping[str, object]:
        if not self._state.homes and not self._is_in_one():
            self._run(self._sweep())
            self._fill()
        self._run(self._near(self._around, REACHES[0]), MOST_PER_REPAIR)
        if self._is_dear:
            self._run(self._all(STRIDES[0]))
        for stride in STRIDES[1:]:
            self._run(self._dearest(stride))
        for reach in REACHES:
            self._run(self._near(self._state.too_full(), reach), MOST_PER_REPAIR)
        return {
            "choice": self._state.choice,
            "homes": sorted(self._state.homes.items()),
            "tops": self._state.tops,
            "stopped": self._stop(),
            "work": self._work,
        }

    def _is_in_one(self) -> bool:
        """If one memory can hold all of the choice, give it to every block."""
        for p in range(len(self._state.tops)):
            if all(p in pools for pools in self._layout.pools.values()):
                self._state.homes = dict.fromkeys(self._layout.pools, p)
                if not self._state.too_full():
                    return True
        self._state.homes = {}
        return False

    def _run(self, windows: Iterable[tuple[int, int, int]], most: int = MOST_PER_WINDOW) -> None:
        for low, high, ahead in windows:
            if self._stop() is not None:
                return
            window = Window(self._state, low, high, ahead, self._whole.penalty)
            self._work += window.improve(self._within(most), self._control) + WORK_PER_WINDOW
            self._work += WORK_PER_SHARE * sum(len(self._layout.live[time_]) for time_ in range(low, ahead))

    def _within(self, most: int = MOST_PER_WINDOW) -> engine.Budget:
        left = most if self._most is None else min(max(self._most - self._work, 0), most)
        return replace(self._budget, work=left)

    def _stop(self) -> StopReason | None:
        if self._most is not None and self._work >= self._most:
            return StopReason.WORK_LIMIT
        if self._budget.deadline is not None and time.monotonic() >= self._budget.deadline:
            return StopReason.TIME_LIMIT
        return self._control.stopped()

    def _sweep(self) -> Iterator[tuple[int, int, int]]:
        low, end = 0, len(self._layout.live)
        while low < end:
            high = self._layout.after(low, SWEEP)
            yield low, high, high if high == end else self._layout.after(high, AHEAD)
            low = high

    def _near(self, spots: Iterable[int], reach: int) -> Iterator[tuple[int, int, int]]:
        """Windows around these times; a time near the middle of one has no other."""
        done = -1
        for spot in spots:
            if spot >= done:
                low, high = self._layout.before(spot, reach), self._layout.after(spot, reach)
                yield low, high, high
                done = self._layout.after(spot, reach // 2)

    @property
    def _is_dear(self) -> bool:
        return self._layout.choices.cost(self._state.choice) > self._enough

    def _all(self, stride: int) -> Iterator[tuple[int, int, int]]:
        low, high = 0, 0
        while high < len(self._layout.live):
            middle = self._layout.after(low, stride)
            high = middle if middle == len(self._layout.live) else self._layout.after(middle, stride)
            yield low, high, high
            low = middle

    def _dearest(self, stride: int) -> Iterator[tuple[int, int, int]]:
        """Windows in which the choice costs more than the one for divisible bytes, the most first, until it is cheap enough."""
        found = sorted((-self._too_dear(low, high), low, high) for low, high, _ in self._all(stride))
        for more, low, high in found:
            if more < 0 and self._is_dear:
                yield low, high, high

    def _too_dear(self, low: int, high: int) -> int:
        """How much more the groups in this time, or partly in it, cost than with divisible bytes."""
        costs = self._layout.choices.costs
        return sum(
            costs[g][self._state.choice[g]] - costs[g][self._aim[g]]
            for g, extent in enumerate(self._layout.groups)
            if extent.first < high and extent.last >= low
        )

    def _fill(self) -> None:
        """Blocks that have no memory, since no time was left or they are not there, get the largest they may be in."""
        sizes = [engine.LARGEST_TRUSTED if each.size is None else each.size for each in self._layout.bins]
        for block, pools in self._layout.pools.items():
            self._state.homes.setdefault(block, max(pools, key=sizes.__getitem__))
