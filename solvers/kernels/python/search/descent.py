"""From the decision "is there a placement of this height?" to the least height: which heights to ask for, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ....model.instance import Ints
from .building.model import Model
from .decision import Answer
from .strategies import Strategy, attempt, strategies
from .watch import Stopped, Watch

MOST_DOUBLINGS = 20


class End(StrEnum):
    """How the search ended."""

    PROVED = "proved"
    FITS = "fits"
    IMPOSSIBLE = "impossible"
    WORK = "work"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Wish:
    """The task of the descent."""

    bound: int
    """A known lower bound on the peak."""
    incumbent: int | None
    """Peak of the best placement known."""
    fit: bool
    """Stop at the first placement found."""
    seed: int
    work: int | None


class Descent:
    """Asks for one height after the other. In each round all strategies make an attempt; the first with an answer decides."""

    def __init__(self, model: Model, wish: Wish, watch: Watch) -> None:
        self.model = model
        self.wish = wish
        self.watch = watch
        self.bound = max(wish.bound, model.fixed_peak)
        self.offsets: Ints | None = None
        self.nodes = 0
        self.work = 0
        self._best = wish.incumbent
        self._strategies: list[Strategy] = []
        self._round = 0

    def run(self) -> End:
        try:
            return self._run()
        except Stopped:
            return End.STOPPED

    def _run(self) -> End:
        if self.model.contradiction is not None:
            return End.IMPOSSIBLE
        if any(block.lowest > block.highest for block in self.model.blocks):
            return End.IMPOSSIBLE
        # Every placement ends at or below this.
        top = self.model.fixed_peak
        for j, block in enumerate(self.model.blocks):
            top = max(top, self.model.height_of(j, block.highest))
            self.bound = max(self.bound, self.model.height_of(j, block.lowest))
        if self._best is not None and self._best <= self.bound:
            return End.PROVED
        for height, rounds in self._heights(top):
            end = self._ask(height, rounds)
            if end is not None:
                return end
        return End.IMPOSSIBLE

    def _heights(self, top: int) -> Iterator[tuple[int, int]]:
        """The heights to ask for, each with a number of rounds; ends when nothing fits."""
        level = 0
        while True:
            rounds = 1 << min(level, MOST_DOUBLINGS)
            if self._best is None and not self.wish.fit and level == 0:
                yield min(self.bound, top), 1
            level += 1
            if self._best is None or self.wish.fit:
                yield top, rounds
                if self.bound > top:
                    return
                if self._best is None or self.wish.fit:
                    continue
            # The bound comes first: a placement there is optimal.
            yield self.bound, 2 * rounds
            low = self.bound
            while self._next_height(low) < self._best:
                middle = low + (self._best - low) // 2
                yield middle, rounds
                if self._best > middle:
                    low = max(middle, self.bound)

    def _ask(self, height: int, rounds: int) -> End | None:
        """Asks for a placement of this height for a number of rounds. Returns an End if the whole descent is over."""
        for _ in range(rounds):
            if self.wish.work is not None and self.work >= self.wish.work:
                return End.WORK
            answer = self._play(height)
            if answer is Answer.BUDGET:
                continue
            if answer is Answer.IMPOSSIBLE:
                self.bound = self._next_height(height)
                if self._best is not None:
                    self.bound = min(self.bound, self._best)
            if self._best is not None and self._best <= self.bound:
                return End.PROVED
            if answer is Answer.FOUND and self.wish.fit:
                return End.FITS
            self.watch.tell(self.offsets, self.bound)
            break
        return None

    def _play(self, height: int) -> Answer:
        """Runs one round."""
        round_, self._round = self._round, self._round + 1
        blocks = len(self.model.blocks)
        for s in range(strategies(blocks)):
            if s == len(self._strategies):
                self._strategies.append(Strategy(self.model, s, self.watch))
            strategy = self._strategies[s]
            nodes, work = strategy.nodes, strategy.work
            left = None if self.wish.work is None else max(self.wish.work - self.work, 0)
            answer = strategy.decide(height, attempt(self.wish.seed, s, round_, blocks, left))
            self.nodes += strategy.nodes - nodes
            self.work += strategy.work - work
            if answer is not Answer.BUDGET:
                if answer is Answer.FOUND:
                    self._take(strategy.offsets)
                return answer
        return Answer.BUDGET

    def _take(self, offsets: list[int]) -> None:
        found = np.zeros(len(self.model.blocks) + len(self.model.fixed), dtype=np.int64)
        peak = self.model.fixed_peak
        for j, x in enumerate(offsets):
            found[self.model.blocks[j].original] = self.model.origin + self.model.unit * x
            peak = max(peak, self.model.height_of(j, x))
        for block, offset in self.model.fixed:
            found[block] = offset
        self.offsets, self._best = found, peak

    def _next_height(self, height: int) -> int:
        """The least height above this one at which some block can end."""
        ends = []
        for j, block in enumerate(self.model.blocks):
            over = self.model.origin + block.height
            ends.append(self.model.height_of(j, (height - over) // self.model.unit + 1))
        if self.model.fixed_peak > height:
            ends.append(self.model.fixed_peak)
        return min(ends)
