"""Amounts of columns within limits: those found gain as much as the best corner of the linear program."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import ceil

from solvers.bounds.packing import Column, gain, pack

Numbers = list[Fraction]


def solved(matrix: list[Numbers], right: Numbers) -> Numbers | None:
    """Return the only solution of a square system of equations, or None if there is not exactly one."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for at in range(len(rows)):
        pivot = next((row for row in rows[at:] if row[at]), None)
        if pivot is None:
            return None
        rows.remove(pivot)
        rows.insert(at, [value / pivot[at] for value in pivot])
        for number, row in enumerate(rows):
            if number != at:
                rows[number] = [a - row[at] * b for a, b in zip(row, rows[at], strict=True)]
    return [row[-1] for row in rows]


def most(columns: list[Column], limits: list[int]) -> Fraction:
    """Return the greatest gain of a corner of the linear program, found by trying all corners."""
    count = len(columns)
    walls = [[Fraction(row in column.rows) for column in columns] for row in range(len(limits))]
    walls += [[Fraction(-(at == number)) for at in range(count)] for number in range(count)]
    ends = [Fraction(limit) for limit in limits] + [Fraction(0)] * count
    best = Fraction(0)
    for chosen in combinations(range(len(walls)), count):
        corner = solved([walls[row] for row in chosen], [ends[row] for row in chosen])
        if corner is None:
            continue
        inside = all(
            sum(a * x for a, x in zip(wall, corner, strict=True)) <= end for wall, end in zip(walls, ends, strict=True)
        )
        if inside:
            best = max(best, sum((c.gain * x for c, x in zip(columns, corner, strict=True)), Fraction(0)))
    return best


def test_no_corner_of_the_linear_program_gains_more() -> None:
    chance = random.Random(5)
    fractions = 0
    for number in range(30):
        limits = [chance.randrange(4) for _ in range(chance.randint(1, 4))]
        columns = [
            Column(
                chance.randint(1, 3), tuple(chance.sample(range(len(limits)), min(len(limits), chance.randint(1, 3))))
            )
            for _ in range(chance.randint(1, 5))
        ]
        if not number % 5:  # three pairs in a circle: the best takes half of each
            limits, columns = [1, 1, 1], [Column(1, (0, 1)), Column(1, (1, 2)), Column(1, (0, 2))]
        packed = pack(columns, limits, None)
        truth = most(columns, limits)
        assert gain(columns, packed) == ceil(truth), (columns, limits)
        fractions += truth.denominator > 1
        for row, limit in enumerate(limits):
            used = sum(a for a, c in zip(packed.amounts, columns, strict=True) if row in c.rows)
            assert used <= limit * packed.denominator
    assert fractions > 2, "else roundings were never tried"


def test_amounts_keep_to_the_limits_whenever_the_work_ends() -> None:
    columns = [Column(1, (a, b)) for a, b in combinations(range(9), 2)]
    limits = [1] * 9
    gains = [gain(columns, pack(columns, limits, work)) for work in (0, 5, 20, 100, None)]
    assert gains[0] == 0
    assert gains == sorted(gains)
    assert gains[-1] == 5, "nine halves, rounded up"
