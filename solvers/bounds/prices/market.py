"""The market of room in the pools: prices that prove a high bound (solvers.bounds.prices.priced_room), found by raising them where demand exceeds room.

At the current prices, every class of blocks chooses its cheapest pool. Where more is live than the pool holds, room gets dearer; where room is left,
it gets cheaper, in shrinking steps. No library and no matrix are needed: a round takes a few sums over all rects. The search uses floating-point
numbers; the bound is computed exactly from the prices.
"""

from __future__ import annotations

import time
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...geometry.shape import outline
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Term
from ...model.linear_terms import choice_cost, peak_price
from ...model.solver import Control, Task
from ..weighted_sections import Weights, peak_sections

Floats: TypeAlias = npt.NDArray[np.float64]

ROUNDS = 600
PATIENCE = 12
"""Rounds without a better bound after which steps are halved."""
AVERAGE_EVERY = 20
"""The average of the prices is tried each time this many rounds have passed."""
LEAST_STEP = 1e-3
DEAREST = 2.0**62
MOST_WEIGHTS = 4_000
"""Most prices in a certificate; with more it would be longer than the plan."""
WORK_PER_RECT = 0.02
"""Work of a round for each rect and pool."""


class Market:
    """The demand as arrays: over classes of blocks, rects, pools, and the sections that can have the most live bytes."""

    def __init__(self, instance: Instance, shared: int | None = None, of_first: float | None = None) -> None:
        """`of_first` is the price of a unit of the first term, of the choice alone, where prices are for the second one, of peaks alone."""
        self._instance = instance
        self.sections = np.array(peak_sections(instance), dtype=np.int64)
        """The sections that have prices, in each pool."""
        number = instance.class_number
        classes = int(number.max(initial=-1)) + 1
        shape = outline(instance)
        self._class = number[shape.block]
        self._first = np.searchsorted(self.sections, shape.start)
        self._last = np.searchsorted(self.sections, shape.end)
        self._height = (shape.high - shape.low).astype(np.float64)
        self._cost = costs_by_pool(instance, number, classes) * (1.0 if of_first is None else of_first)
        self._row = np.arange(classes)
        term = instance.terms[0 if of_first is None else 1]
        price = peak_price(instance, term)
        self._is_largest = term is Term.LARGEST_PEAK
        """The pools share one unit of free price, since only the largest peak counts; among `shared` of them evenly, if it is given."""
        self._is_shared = self._is_largest and shared is None
        of_largest = 1.0 / (shared or 1)
        self._free = [of_largest if self._is_largest else float(price * pool.cost) for pool in instance.pools]
        """The total price of a pool's room up to which neither its peak nor its capacity limits it."""
        self._capacity = [None if pool.capacity is None else float(pool.capacity) for pool in instance.pools]
        self._of_round = 20 + WORK_PER_RECT * len(instance.pools) * (len(self._height) + len(self.sections))
        self.most_work = int(ROUNDS * self._of_round)
        """What haggling takes if it takes all rounds."""
        self.heights: Floats | None = None
        """How high each pool must be for the average of the answers to the last prices, where peaks cost something; None before there are any."""

    def haggle(self, goal: int | None, task: Task, control: Control) -> tuple[Floats, int, StopReason]:
        """The best prices found, the work spent, and why the search ended."""
        offer = _Offer(self._free, self._capacity, len(self.sections), is_shared=self._is_shared)
        best, kept = -np.inf, offer.prices()
        idle, work = 0, 0.0
        stop: StopReason | None = None
        for number in range(ROUNDS):
            averaged = number % AVERAGE_EVERY == AVERAGE_EVERY - 1 and any(self._free)
            prices = offer.average() if averaged else offer.prices()
            value, load = self._answer(prices)
            work += self._of_round
            idle = 0 if value > best else idle + 1
            if value > best:
                best, kept = value, prices
            stop = self._spent(task, control, work)
            if stop is not None or (goal is not None and best >= goal):
                break
            if averaged:
                continue
            if idle >= PATIENCE:
                idle = 0
                if not offer.shrink(kept):
                    break
            aim = goal if goal is not None else best + abs(best) / 10 + 1
            offer.answer(load, max(aim - value, 0.001 * abs(aim)))
        if any(self._free):
            self.heights = offer.average_load().max(axis=1)
        return kept, int(work), stop or StopReason.WORK_LIMIT

    def worth(self, prices: Floats) -> float:
        """About what these prices prove, before what earlier terms may be is taken off."""
        return self._answer(prices)[0]

    def most_live(self) -> float:
        """What is live at the fullest section."""
        return float(self._loads(np.zeros(len(self._cost), dtype=np.int64)).max(initial=0.0))

    def most_gained(self) -> float:
        """The difference between the dearest choice of all and the cheapest."""
        dearest = np.where(np.isfinite(self._cost), self._cost, -np.inf).max(axis=1)
        return float((dearest - self._cost.min(axis=1)).sum())

    def _spent(self, task: Task, control: Control, work: float) -> StopReason | None:
        if task.limits.work is not None and work >= task.limits.work:
            return StopReason.WORK_LIMIT
        if task.limits.deadline is not None and time.monotonic() >= task.limits.deadline:
            return StopReason.TIME_LIMIT
        return control.stopped()

    def _loads(self, choice: Ints) -> Floats:
        """(P, sections) the live bytes if each class is in the pool that it chose."""
        pools, count = len(self._capacity), len(self.sections) + 1
        first = choice[self._class] * count
        begun, ended = (np.bincount(first + each, self._height, pools * count) for each in (self._first, self._last))
        loads: Floats = np.cumsum(np.reshape(begun - ended, (pools, count)), axis=1)[:, :-1]
        return loads

    def costs_at(self, prices: Floats) -> Floats:
        """(classes, P) the cost of each class in each pool, room included; infinite where it is not allowed."""
        costs = self._cost.copy()
        total = np.zeros(prices.shape[1] + 1)
        for pool, line in enumerate(prices):
            np.cumsum(line, out=total[1:])
            room = total[self._last]
            room -= total[self._first]
            room *= self._height
            costs[:, pool] += np.bincount(self._class, room, len(costs))
        return costs

    def _answer(self, prices: Floats) -> tuple[float, Floats]:
        """The bound that the prices prove, and the live bytes by pool and section if every class takes its cheapest pool."""
        wanted = self.costs_at(prices)
        value = -self._credit(prices.sum(axis=1).tolist())
        choice = wanted.argmin(axis=1)
        value += float(wanted[self._row, choice].sum())
        return value, self._loads(choice)

    def _credit(self, totals: list[float]) -> float:
        """What these prices of all room in each pool are worth, beyond what peaks cost."""
        room = [0.0 if size is None else size for size in self._capacity]
        if not self._is_largest:
            return sum(
                max(0.0, total - free) * size for total, free, size in zip(totals, self._free, room, strict=True)
            )
        limited = [(total, size) for total, size in zip(totals, self._capacity, strict=True) if size is not None]
        unlimited = sum(totals) - sum(total for total, _ in limited)
        return max(
            (unlimited - 1.0) * most + sum(total * min(most, size) for total, size in limited) for most in (0.0, *room)
        )

    def weights(self, prices: Floats) -> Weights:
        """The prices as fractions; only the largest if there are too many."""
        exponent = 40 - int(np.frexp(prices.max(initial=0.0))[1])
        scale, denominator = 2.0 ** min(exponent, 60), 1 << min(max(exponent, 0), 60)
        whole = np.floor(np.minimum(prices * (scale if exponent > 0 else 1.0), DEAREST)).astype(np.int64)
        if np.count_nonzero(whole) > MOST_WEIGHTS:
            least = np.sort(whole, axis=None)[-MOST_WEIGHTS]
            whole[whole < least] = 0
        found = []
        totals = [sum(line.tolist()) for line in whole]
        unlimited = sum(total for total, size in zip(totals, self._capacity, strict=True) if size is None)
        for pool, line in enumerate(whole):
            total = unlimited if self._is_largest else totals[pool]
            most = denominator if self._is_largest else int(self._free[pool]) * denominator
            fits = self._capacity[pool] is not None or total <= most
            for at in np.flatnonzero(line).tolist():
                number = int(line[at]) if fits else int(line[at]) * most // total
                if number:
                    found.append((pool, int(self.sections[at]), number, denominator))
        return tuple(found)


def costs_by_pool(instance: Instance, number: Ints, classes: int) -> Floats:
    """(classes, P) the first term's cost of each class in each pool; infinite where it is not allowed. `number` is each block's class."""
    total = np.zeros((classes, len(instance.pools)))
    cost = choice_cost(instance, instance.terms[0])
    if cost is not None:
        np.add.at(total, number, cost.astype(np.float64))
    closed = np.zeros((classes, len(instance.pools)), dtype=bool)
    np.logical_or.at(closed, number, ~instance.allowed)
    total[closed] = np.inf
    return total


class _Offer:
    """The current prices: shares of the cost of each pool's peak, and extra prices where capacity is short.

    A pool's shares grow by factors where much is live (mirror ascent); averages of these prices prove more than the single ones. Extra prices rise
    where more is live than fits, and fall elsewhere.
    """

    def __init__(self, free: list[float], capacity: list[float | None], sections: int, *, is_shared: bool) -> None:
        self._free = np.array(free)[:, None]
        self._capacity = capacity
        self._heat = np.zeros((len(free), sections))
        self._extra = np.zeros((len(free), sections))
        self._rate = np.log(max(sections, 2)) / 4
        self._damped = any(free)
        """Is there a free price to share out? If not, only the extra prices count."""
        self._together = None if is_shared else 1
        """The axis over which free prices are shared out: None for all pools together."""
        self._step = 1.0
        self._answers = 0
        self._sum, self._summed, self._next_sum = np.zeros_like(self._heat), 0, 2 * AVERAGE_EVERY
        self._loads = np.zeros_like(self._heat)
        self._load_before = self._loads

    def prices(self) -> Floats:
        """The current prices."""
        if not self._damped:
            return self._extra
        grown = np.exp(self._heat - self._heat.max(axis=self._together, keepdims=True))
        spread: Floats = self._free * grown / grown.sum(axis=self._together, keepdims=True) + self._extra
        return spread

    def average(self) -> Floats:
        """The average of recent prices."""
        return self._sum / self._summed if self._summed else self.prices()

    def average_load(self) -> Floats:
        """The average of the loads that answered them; of those before, if these are few."""
        return self._loads / self._summed if self._summed >= AVERAGE_EVERY else self._load_before

    def shrink(self, kept: Floats) -> bool:
        """Halves the steps and goes back to the best prices; false if the steps are too small to matter. Damped steps shrink by themselves."""
        if not self._damped:
            self._step, self._extra = self._step / 2, kept
        return self._step >= LEAST_STEP

    def answer(self, load: Floats, missing: float) -> None:
        """Adjusts the prices to this load; `missing` is the distance of the bound from its aim."""
        over = np.stack([load[p] - c if c is not None else 0 * load[p] for p, c in enumerate(self._capacity)])
        if not self._damped:
            self._raise(over, self._step * missing, (over * over).sum())
            return
        self._sum += self.prices()
        self._loads += load
        self._summed += 1
        self._answers += 1
        if self._answers >= self._next_sum:
            self._load_before = self._loads / self._summed
            self._loads = np.zeros_like(self._loads)
            self._sum, self._summed, self._next_sum = np.zeros_like(self._sum), 0, 2 * self._next_sum
        damping = 1.0 / np.sqrt(self._answers)
        most = np.maximum(load.max(axis=self._together, keepdims=True), 1.0)
        self._heat += self._rate * load / most / np.sqrt(self._answers)
        self._raise(over, damping * missing, (over * over).sum(axis=1, keepdims=True))

    def _raise(self, over: Floats, by: float, norms: Floats | float) -> None:
        self._extra = np.maximum(self._extra + by * over / np.maximum(norms, 1.0), 0.0)
