"""The entries of a program's rows as columns, what they say of time, and prices of rows. Not part of program.py: the process that answers questions does without numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from ....bounds.prices.market import Floats
from ....model.instance import Ints
from .program import Program, Row


class Entries(NamedTuple):
    """All entries, row after row."""

    row: Ints
    group: Ints
    units: Ints


def entries_of(program: Program) -> Entries:
    """Those of the program."""
    counts = np.array([len(row.members) for row in program.rows], dtype=np.int64)
    every = chain.from_iterable(row.members for row in program.rows)
    pairs = np.fromiter(chain.from_iterable(every), np.int64, 2 * int(counts.sum())).reshape(-1, 2)
    return Entries(np.repeat(np.arange(len(counts)), counts), pairs[:, 0], pairs[:, 1])


def classes_in_time(program: Program) -> list[int]:
    """The classes that have a choice, in the order in which they are first live."""
    first = np.full(len(program.homes), len(program.rows), dtype=np.int64)
    entries = entries_of(program)
    np.minimum.at(first, entries.group, entries.row)
    free = np.array([group for group, homes in enumerate(program.homes) if len(homes) > 1], dtype=np.int64)
    order: list[int] = free[np.argsort(first[free], kind="stable")].tolist()
    return order


def at_fullest(program: Program) -> Program:
    """The program at the moment at which a pool could hold most: what holds there holds for the whole. Where other pools have no row then, those around it."""
    if not program.rows:
        return program
    section = max(program.rows, key=lambda row: row.always + sum(units for _, units in row.members)).section
    around = dict[tuple[int, bool], Row]()
    for row in program.rows:
        if row.section <= section or (row.pool, True) not in around:
            around[row.pool, row.section > section] = row
    return replace(program, rows=tuple(around.values()))


def prices_of_rows(program: Program, sections: Ints, prices: Floats) -> dict[int, float]:
    """Turn prices on room in each pool at these sections into prices of rows: each goes to the nearest row."""
    found = [0.0] * len(program.rows)
    for pool, line in enumerate(prices):
        numbers = [n for n, row in enumerate(program.rows) if row.pool == pool]
        if not numbers:
            continue
        at = np.array([program.rows[n].section for n in numbers])
        after = np.clip(np.searchsorted(at, sections), 0, len(at) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(at[before] - sections) <= np.abs(at[after] - sections), before, after)
        for n, price in zip(nearest.tolist(), line.tolist(), strict=True):
            found[numbers[n]] += price
    return dict(enumerate(found))


def priced(program: Program, term: int, prices: Mapping[int, float]) -> tuple[Floats, Floats]:
    """What each class costs in each pool at these prices of rows, infinite where it may not be, and what a unit of each pool's height is worth."""
    due, worth = np.full((len(program.homes), len(program.rooms)), np.inf), np.zeros(len(program.rooms))
    for group, (homes, costs) in enumerate(zip(program.homes, program.terms[term].of_homes, strict=True)):
        due[group, list(homes)] = costs
    for number, price in prices.items():
        row = program.rows[number]
        worth[row.pool] += price
        for group, units in row.members:
            due[group, row.pool] += price * units
    return due, worth
