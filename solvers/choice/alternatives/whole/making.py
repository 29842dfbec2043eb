"""Makes a plan within a value from a choice for divisible bytes: memories for whole blocks first, then addresses.

Where the addresses reach too high, the choice is made anew with a little less live there, and placed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ..instance import Choice
from ..known import Known
from ..points import Placed
from ..questions.without_addresses import LARGEST
from .asking import Assigned, Assigning, Wish
from .state import Layout, Spot

ATTEMPTS = 4
"""Choices placed for one value, at most."""
EASED = 128
"""The next one has less live by 1/EASED where the one before reached too high, and twice as much less each time."""
FEW = 32
"""If it is too high at more times than half of these, it is made anew only as long as each attempt halves them."""
LEAST = 1_000_000
"""The work for making a choice anew: what the first one took, and at least this."""
NEAR = 2
"""It has less live at this many times before and after, too."""


ENOUGH = 256
"""A plan that is worth more by 1/ENOUGH, at most, is good enough."""


class Stacked(NamedTuple):
    """The result of placing a choice with its blocks in given memories."""

    placed: Placed
    """Without a value if the memories cannot hold it so."""
    tops: tuple[tuple[int, ...], ...]
    """How high each memory is filled at each time; empty where that is not known."""


Stack: TypeAlias = Callable[[Assigned], Stacked]
"""Places a choice, each block in its memory."""


class Made(NamedTuple):
    """A choice that was placed."""

    assigned: Assigned
    value: int
    cost: int

    def rank(self, value: int) -> tuple[int, int]:
        """The order in which they are preferred: those within the value first, then by cost; others by value."""
        return (0, self.cost) if self.value <= value else (self.value, self.cost)


class Plea(NamedTuple):
    """What to make a plan of, and how much it may be worth."""

    choice: Choice
    value: int
    enough: int
    """What costs more is tried again for less."""
    start: Made | None
    """A plan to begin with, of the same or another value."""

    @property
    def wish(self) -> Wish:
        """The first thing to ask for."""
        if self.start is None:
            return Wish(self.choice, self.value, enough=self.enough)
        assigned = self.start.assigned
        return Wish(assigned.choice, self.value, assigned.homes, assigned.tops, enough=self.enough, aim=self.choice)


class Making:
    """The plans of one run, each with the memories of its blocks."""

    def __init__(self, known: Known, assigning: Assigning, stack: Stack) -> None:
        self._known, self._assigning, self._stack = known, assigning, stack
        self._layout = Layout(known.master.choices)
        self._ahead: dict[int, Assigned | None] = {}
        """Choices with memories, not placed yet, by the value that is wanted."""
        self.every: list[Made] = []
        """All plans, also those that were made on the way to another."""
        self._made = 0
        """The number of plans asked for."""
        self._worked = 0
        """The work that took."""

    def foresee(self, wanted: Sequence[Plea]) -> None:
        """Give the blocks of two choices memories side by side: plans of both will be asked for."""
        if self._known.is_over() or any(each.value in self._ahead for each in wanted):
            return
        before = self._known.master.work
        self._ahead.update(zip((each.value for each in wanted), self._assigned([each.wish for each in wanted]), strict=True))  # fmt: skip
        self._worked += self._known.master.work - before

    def has_work_for(self, count: int) -> bool:
        """True if so many plans more can be made with the work that is left, going by the work that others took."""
        left = self._known.master.work_left
        return left is None or not self._made or left >= count * self._worked // self._made

    def make(self, plea: Plea) -> Made | None:
        """The best plan found that is worth at most the value, or little more."""
        before = self._known.master.work
        made = self._best(plea)
        self._made += 1
        self._worked += self._known.master.work - before
        return made

    def _best(self, plea: Plea) -> Made | None:
        best: Made | None = None
        value, wish = plea.value, plea.wish
        caps: dict[Spot, int] = {}
        too_high: int | None = None
        work = self._assigning.work
        for attempt in range(ATTEMPTS):
            (assigned,) = (
                [self._ahead.pop(value)] if value in self._ahead else self._assigned([wish], work if attempt else None)
            )
            work = max(self._assigning.work - work, LEAST) if not attempt else work
            if assigned is None or self._known.is_over():
                break
            stacked = self._stack(assigned)
            self._known.keep(assigned.choice, stacked.placed)
            reached = stacked.placed.value
            if reached is not None:
                made = Made(assigned, reached, self._known.master.choices.cost(assigned.choice))
                self.every.append(made)
                best = made if best is None else min(best, made, key=lambda each: each.rank(value))
                if reached - value <= value // ENOUGH:
                    break
            before, too_high = too_high, self._too_high(assigned, stacked)
            if self._is_too_full(assigned, value) or (before is not None and 2 * too_high > max(before, FEW)):
                break
            around = self._lower(caps, assigned, stacked.tops, EASED >> attempt)
            if not around:
                break
            wish = replace(wish, choice=assigned.choice, homes=assigned.homes, tops=assigned.tops, caps=caps, around=around, enough=LARGEST)  # fmt: skip
        return best

    def _assigned(self, wishes: Sequence[Wish], most: int | None = None) -> list[Assigned | None]:
        """Give the blocks of choices bins, with this work at most."""
        before, left = self._assigning.work, self._known.master.work_left
        found = self._assigning.assign(wishes, most if left is None else left if most is None else min(left, most))
        self._known.master.work += self._assigning.work - before
        for _, stopped in found:
            if stopped is not None and not stopped.is_repeatable:
                self._known.stop = stopped
        return [assigned for assigned, _ in found]

    def _is_too_full(self, assigned: Assigned, value: int) -> bool:
        """True if that is worth more than wanted wherever the blocks lie: their bins are too full."""
        loads = self._layout.loads(assigned.choice, assigned.homes)
        return self._layout.value(loads) > value + value // ENOUGH

    def _too_high(self, assigned: Assigned, stacked: Stacked) -> int:
        """The number of times at which a bin is filled too high."""
        return sum(
            most is not None and top > most
            for most, tops in zip(assigned.tops, stacked.tops, strict=False)
            for top in tops
        )

    def _lower(self, caps: dict[Spot, int], assigned: Assigned, tops: Sequence[Sequence[int]], part: int) -> list[int]:
        """Lower what may be live near the times at which a memory is filled too high, to less than is, by 1/part; return these times."""
        found: set[int] = set()
        loads = self._layout.loads(assigned.choice, assigned.homes)
        for pool, (most, reached) in enumerate(zip(assigned.tops, tops, strict=False)):
            if most is None:
                continue
            for time in range(len(reached)):
                if max(reached[max(time - NEAR, 0) : time + NEAR + 1]) > most:
                    live = min(caps.get((time, pool), most), loads[time][pool])
                    caps[time, pool] = live - max(most // part, 1)
                    found.add(time)
        return sorted(found)
