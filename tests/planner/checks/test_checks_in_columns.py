"""Checks of buffers and colocations in columns find the same faults, in the same order, as one by one; and of sound problems make no objects."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from planner.checks import check
from planner.checks.names import Names
from planner.facts import colocation
from planner.model.columns import gathered, relations
from planner.model.columns.buffers import ids
from planner.model.columns.gathered import Gathered
from planner.model.columns.rows import KeptColumns
from planner.model.columns.varied import VariedColumns
from planner.model.problem import MAX_ADDRESS, MAX_TIME, Buffer, BufferId, Colocation, Constraints, Fixed, Pool, Problem

COUNT = 12
NAMES = [f"b{i}" for i in range(COUNT)]
FAULTS: dict[str, list[Any]] = {
    "id": ["b0", "", 7, "a\ud800"],
    "size": [-1, MAX_ADDRESS + 1, MAX_ADDRESS],
    "alignment": [0, MAX_ADDRESS + 1, 1 << 60, 3],
    "live": [((5, 1),), ((0, 1), (9, 3)), ((0, 1), (2, MAX_TIME + 1)), (), None, ((1, 1),), ((0, 2), (1, 5))],
    "pools": [(), ("first", "first"), ("nowhere",), ("second",)],
    "fixed": [
        Fixed("nowhere"),
        Fixed("first", MAX_ADDRESS + 1),
        Fixed("first", 6),
        Fixed("second", 98),
        Fixed("second"),
    ],
    "hint": [MAX_ADDRESS + 1, -1],
    "max_offset": [0, MAX_ADDRESS + 1],
    "kind": ["k" * 2000, "\udfff"],
    "accesses": [-1, 5, MAX_ADDRESS + 1],
    "device": ["d" * 2000, "gpu", "\udc00"],
}


def in_columns(problem: Problem) -> Problem:
    """Return the same problem with its buffers and its colocations in columns."""
    made = Gathered()
    for buffer in problem.buffers:
        made.add(buffer)
    with patch.object(gathered, "FEW", 0), patch.object(relations, "FEW", 0):
        buffers = made.all()
        index = {id_: i for i, id_ in enumerate(ids(buffers))}
        ties = problem.constraints.colocations
        rows = np.array([(index[tie.buffer], index[tie.base], tie.offset) for tie in ties], np.int64).reshape(-1, 3)
        tied = relations.tie_columns(ids(buffers), *rows.T)
    assert tuple(tied) == tuple(ties)
    return replace(problem, buffers=buffers, constraints=replace(problem.constraints, colocations=tied))


def made_up(seed: int) -> Problem:
    """Return a random problem, mostly with a fault or a contradiction."""
    chance = random.Random(seed)
    kind = chance.randrange(3)
    buffers = []
    for name in NAMES:
        times = sorted(chance.sample(range(20), 2 * chance.randrange(1, 4)))
        live = tuple(zip(times[::2], times[1::2], strict=True))
        fixed = (
            Fixed(chance.choice(["first", "second"]), 4 * chance.randrange(40))
            if kind and chance.random() < 0.5
            else None
        )
        pools = None if fixed is None or chance.random() < 0.7 else (fixed.pool,)
        buffers.append(Buffer(name, 4 * chance.randrange(4), chance.choice([1, 1, 4]), live, pools, fixed))
    for _ in range(chance.randrange(3)):
        field = chance.choice([*FAULTS])
        i = chance.randrange(COUNT)
        buffers[i] = replace(buffers[i], **{field: chance.choice(FAULTS[field])})
    memories = (
        Pool("first", alignment=chance.choice([1, 8]), reserved=chance.choice([(), ((8, 20), (60, 64))])),
        Pool("second", size=chance.choice([None, 100]), base=chance.choice([None, 2]), alignment=chance.choice([1, 2])),
    )
    names = [each.id for each in buffers]
    ties: list[tuple[BufferId, BufferId, int]] = []
    if kind != 1 and len({*names}) == COUNT:
        ties = [(names[i], names[chance.randrange(i)], 4 * chance.randrange(3)) for i in range(1, COUNT)]
        ties = [tie for tie in ties if chance.random() < 0.4] + [tie for tie in ties if chance.random() < 0.05]
    pairs = [(names[1], names[2]), (names[3], names[4])] if chance.random() < 0.2 else []
    constraints = Constraints(conflicts=tuple(pairs), colocations=tuple(Colocation(*tie) for tie in ties))
    return Problem(tuple(buffers), memories[: chance.choice([2, 2, 2, 1])], constraints)


@pytest.mark.parametrize("seeds", [range(first, first + 500) for first in range(0, 3000, 500)])
def test_faults_are_the_same_in_columns(seeds: range) -> None:
    columns = faults = 0
    for seed in seeds:
        problem = made_up(seed)
        with patch.object(colocation, "FOREST", 1):
            found = check(problem)
        other = in_columns(problem)
        assert check(other) == found, seed
        assert other.buffers == problem.buffers
        columns += isinstance(other.buffers, VariedColumns)
        faults += bool(found)
    assert columns > 0.6 * len(seeds)
    assert 0.2 * len(seeds) < faults < 0.95 * len(seeds)


@pytest.mark.parametrize("name", ["fixed", "gaps", "pools", "ties"])
def test_sound_columns_are_checked_without_an_object(name: str) -> None:
    buffers = [
        Buffer(
            each,
            8,
            live=((3 * i, 3 * i + 1), (3 * i + 2, 3 * i + 3)) if name == "gaps" else ((3 * i, 3 * i + 1),),
            pools=("second",) if name == "pools" else None,
            fixed=Fixed("second", 16) if name == "fixed" else None,
        )
        for i, each in enumerate(NAMES)
    ]
    ties = [Colocation(a, b, 8) for a, b in zip(NAMES[1::2], NAMES[::2], strict=True)]
    constraints = Constraints(colocations=tuple(ties) if name == "ties" else ())
    problem = in_columns(Problem(tuple(buffers), (Pool("first"), Pool("second", alignment=8)), constraints))

    def forbidden(columns: KeptColumns[object]) -> Iterator[object]:
        raise AssertionError(type(columns).__name__)

    with patch.object(VariedColumns, "made", forbidden), patch.object(relations.TieColumns, "made", forbidden):
        assert not check(problem)
    assert not Names(problem).buffers
