"""A packing linear program, maximal gain within limits, by the simplex method on a dense table. Needs no library."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

MOST_CELLS = 4_000_000
"""Most cells of the table; beyond it the last columns are left out."""
CELLS_PER_WORK = 500
"""A pivot changes the whole table; this many cells take about a microsecond."""
PATIENCE = 20
"""Pivots without a gain after which columns are taken by number, so that no pivot repeats."""
NOTHING = 1e-9
DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 1 << 10, 1 << 20)
"""Amounts are rounded down to these denominators in turn; the first of the best is taken."""


class Column(NamedTuple):
    """A variable: its gain per unit, and the limits that it uses."""

    gain: int
    rows: tuple[int, ...]


class Packed(NamedTuple):
    """Amounts, in units of 1 / denominator, within all limits."""

    amounts: tuple[int, ...]
    denominator: int
    work: int


def pack(columns: Sequence[Column], limits: Sequence[int], work: int | None) -> Packed:
    """Amounts of the columns whose total gain is large: maximal, unless the work ends before."""
    count = min(len(columns), MOST_CELLS // (len(limits) + 1) - len(limits) - 1)
    if count <= 0:
        return Packed((0,) * len(columns), 1, 0)
    amounts, spent = _amounts(columns[:count], limits, work)
    amounts += [0.0] * (len(columns) - count)
    tried = (_rounded(columns, limits, amounts, denominator, spent) for denominator in DENOMINATORS)
    nothing = Packed((0,) * len(columns), 1, spent)
    return max((packed or nothing for packed in tried), key=lambda packed: gain(columns, packed))


def gain(columns: Sequence[Column], packed: Packed) -> int:
    """The gain of the amounts, rounded up."""
    total = sum(column.gain * amount for column, amount in zip(columns, packed.amounts, strict=True))
    return ceil(Fraction(total, packed.denominator))


def _amounts(columns: Sequence[Column], limits: Sequence[int], work: int | None) -> tuple[list[float], int]:
    """The amounts by the primal simplex method, starting from zero, and the work spent."""
    height, width = len(limits), len(columns)
    table = np.zeros((height + 1, width + height + 1))
    for number, column in enumerate(columns):
        table[list(column.rows), number] = 1.0
        table[height, number] = -column.gain
    table[:height, width : width + height] = np.eye(height)
    table[:height, -1] = limits
    basis = np.arange(width, width + height)
    spent, idle, per_pivot = 0, 0, 1 + table.size // CELLS_PER_WORK
    while work is None or spent + per_pivot <= work:
        costs = table[height, :-1]
        better = np.flatnonzero(costs < -NOTHING)
        if not len(better):
            break
        entering = int(better[0]) if idle > PATIENCE else int(np.argmin(costs))
        inside = np.flatnonzero(table[:height, entering] > NOTHING)
        ratios = table[inside, -1] / table[inside, entering]
        least = inside[ratios <= ratios.min() + NOTHING]
        row = int(least[np.argmin(basis[least])])
        idle = 0 if ratios.min() > NOTHING else idle + 1
        table[row] /= table[row, entering]
        others = np.flatnonzero(np.abs(table[:, entering]) > 0)
        others = others[others != row]
        table[others] -= table[others, entering][:, None] * table[row]
        basis[row] = entering
        spent += per_pivot
    amounts = np.zeros(width + height)
    amounts[basis] = np.maximum(table[:height, -1], 0.0)
    return amounts[:width].tolist(), spent


def _rounded(
    columns: Sequence[Column], limits: Sequence[int], amounts: list[float], denominator: int, work: int
) -> Packed | None:
    """The amounts rounded down; None if they exceed the limits, since they were not exact."""
    whole = tuple(int(amount * denominator + NOTHING) for amount in amounts)
    used = [0] * len(limits)
    for column, amount in zip(columns, whole, strict=True):
        for row in column.rows:
            used[row] += amount
    fits = all(total <= limit * denominator for total, limit in zip(used, limits, strict=True))
    return Packed(whole, denominator, work) if fits else None
