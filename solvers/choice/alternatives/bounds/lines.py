"""Prices of memory, of cost and of room, and what they prove: a line below which, in a chart of memory and cost, there is no choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import frexp
from typing import Any, NamedTuple

from ....model.errors import SolverFailed
from ..instance import Choices

LONGEST = 48
"""The dearest price has at most this many bits."""
LARGEST = 1 << 61
"""Greater than any price."""
LEAST_SHARE = 1e-9
"""Prices that are a smaller part of the dearest one are none."""


class Asked(NamedTuple):
    """The least value within a cost, or the least cost within a value."""

    for_cost: bool
    most: int | None


class Prices(NamedTuple):
    """Whole numbers, not all 0."""

    memory: int
    """Of a unit of the value; with one memory, of a byte of its peak."""
    cost: int
    room: tuple[tuple[int, int, int], ...]
    """(memory, number of a load, price of each byte that is live there then)."""


class Line(NamedTuple):
    """No choice has memory * value + cost * cost of less than `least`."""

    memory: int
    cost: int
    least: int

    def least_value(self, most_cost: int | None) -> int | None:
        """The least value within the cost (None: any); None if the line says nothing about it."""
        if self.memory <= 0 or (most_cost is None and self.cost):
            return None
        return -((self.cost * (most_cost or 0) - self.least) // self.memory)

    def least_cost(self, most_value: int | None) -> int | None:
        """The least cost within the value (None: any)."""
        return Line(self.cost, self.memory, self.least).least_value(most_value)


class Step(NamedTuple):
    """No choice within this value costs less than `least`; None: there is no such choice."""

    within: int
    least: int | None

    def least_value(self, most_cost: int | None) -> int | None:
        """The least value within the cost (None: any); None if the step says nothing about it."""
        is_dearer = self.least is None or (most_cost is not None and self.least > most_cost)
        return self.within + 1 if is_dearer else None

    def least_cost(self, most_value: int | None) -> int | None:
        """The least cost within the value (None: any)."""
        return None if most_value is None or most_value > self.within else self.least


class Lines:
    """All that is proven: lines, and steps, below which there is no choice either."""

    def __init__(self) -> None:
        self.lines: list[Line | Step] = []

    def values(self) -> list[int]:
        """The values up to which all choices were tried."""
        return [line.within for line in self.lines if isinstance(line, Step)]

    def least_value(self, most_cost: int | None) -> int | None:
        return max((v for line in self.lines if (v := line.least_value(most_cost)) is not None), default=None)

    def least_cost(self, most_value: int | None) -> int | None:
        return max((c for line in self.lines if (c := line.least_cost(most_value)) is not None), default=None)


def rounded(choices: Choices, memory: float, cost: float, room: Mapping[tuple[int, int], float]) -> Prices | None:
    """The prices in whole numbers, memory being worth enough for what is asked for room where memories have no end. None if all are 0."""
    dearest = max(memory, cost, *room.values(), 0.0) if room else max(memory, cost, 0.0)
    scale = 2.0 ** (LONGEST - frexp(dearest)[1])
    whole = {at: round(price * scale) for at, price in sorted(room.items()) if price > dearest * LEAST_SHARE}
    totals: dict[int, int] = {}
    for (pool, _), price in whole.items():
        totals[pool] = totals.get(pool, 0) + price
    known = choices.memories
    worth, of_cost = (round(price * scale) if price > dearest * LEAST_SHARE else 0 for price in (memory, cost))
    if known is None:
        worth = max([worth, *totals.values()])
    else:
        endless = {p: total for p, total in totals.items() if known.room[p] is None}
        if known.is_largest:
            worth = max(worth, sum(endless.values()))
        else:
            whole = {at: price for at, price in whole.items() if at[0] not in endless or known.prices[at[0]]}
            worth = max([worth, *(-(-total // known.prices[p]) for p, total in endless.items() if known.prices[p])])
    if max(worth, of_cost) <= 0:
        return None
    return Prices(worth, of_cost, tuple((p, k, price) for (p, k), price in whole.items()))


def read_prices(fields: Any, choices: Choices, name: str) -> Prices | None:
    """Read what a process answered. Raises SolverFailed if it cannot be right."""
    if fields is None:
        return None
    memories = 1 if choices.memories is None else len(choices.memories.prices)
    try:
        memory, cost, room = fields
        prices = Prices(memory, cost, tuple((p, k, price) for p, k, price in room))
    except (TypeError, ValueError) as error:
        raise SolverFailed(name, f"its answer is no price: {error}") from error
    numbers: Sequence[object] = (memory, cost, *(number for each in prices.room for number in each))
    if not all(type(number) is int and 0 <= number < LARGEST for number in numbers):
        raise SolverFailed(name, "its answer is no price")
    if any(p >= memories or k >= len(choices.times) for p, k, _ in prices.room):
        raise SolverFailed(name, "it answered with the price of what there is not")
    return prices
