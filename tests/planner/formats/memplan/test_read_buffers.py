"""Buffers of a long document, which are kept in columns, are the same as those of a short one, with the same faults at the same places."""

from __future__ import annotations

import json
import random
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import pytest

from planner.formats import read_problem
from planner.formats.json import pieces, validate
from planner.model.columns import gathered
from planner.model.columns.buffers import NumberColumns
from planner.model.errors import BadInput, Finding
from planner.model.problem import MAX_TIME, Problem

LIVES: list[Any] = [
    [[0, 1]],
    [[3, 3]],
    [[2, 4], [5, 9]],
    [[2, 4], [6, 9], [12, 40]],
    [[6, 9], [2, 4]],
    [[2, 6], [4, 9]],
    [[2, 4], [4, 9]],
    [[2, 4], [5, 5]],
    [],
    None,
]
FAULTS: list[Any] = [[[4, 2]], [[0, 1], [9, 3]], [[0, MAX_TIME]], [[0, 1], [2, MAX_TIME]], [[-MAX_TIME - 1, 0]]]
MORE: list[dict[str, Any]] = [
    {"pools": ["p"]},
    {"pools": ["q", "p"], "hint": 4},
    {"pools": []},
    {"fixed": {"pool": "p", "offset": 64}, "max_offset": 64},
    {"fixed": {"pool": "q"}, "kind": "input"},
    {"fixed": {"pool": "x"}},
    {"kind": "constant", "data": "AAAAAAAAAAA="},
    {"kind": "constant", "data": "??"},
    {"accesses": 3, "reads": 1, "device": "d", "dtype": "int8"},
    {"alignment": 16, "max_offset": 0},
    {"size": -1},
]


def document(seed: int) -> bytes:
    """Return a random document, sometimes with faults."""
    chance = random.Random(seed)
    kinds = chance.randrange(4)
    lives = [*LIVES[: (1, 4, 10)[chance.randrange(3)]], *(FAULTS if chance.random() < 0.2 else [])]
    buffers: list[dict[str, Any]] = [{"id": chance.choice([i, i, f"b{i}"]), "size": 8} for i in range(9)]
    for buffer in buffers:
        live = chance.choice(lives)
        buffer |= {} if live is None and kinds else {"live": live}
        if kinds == 1 or chance.random() < 0.1:
            buffer |= chance.choice(MORE[: chance.choice([3, 5, 11])])
    pools = [{"name": name} for name in ("p", "q")[: chance.choice([1, 2, 2])]]
    lifetimes = {"lifetimes": chance.choice(["half_open", "half_open", "inclusive"])} if chance.random() < 0.95 else {}
    return json.dumps({"format": "memplan/1", "pools": pools, "buffers": buffers} | lifetimes).encode()


def read(data: bytes, *, long: bool) -> Problem | list[Finding]:
    with ExitStack() as stack:
        if long:
            stack.enter_context(patch.object(pieces, "PIECE", 64))
            stack.enter_context(patch.object(validate, "LARGE", 0))
            stack.enter_context(patch.object(gathered, "FEW", 0))
        try:
            return read_problem(data)[0]
        except BadInput as error:
            return [*error.findings]


@pytest.mark.parametrize("seeds", [range(first, first + 300) for first in range(0, 1200, 300)])
def test_long_documents_are_read_as_short_ones(seeds: range) -> None:
    sound = columns = 0
    for seed in seeds:
        data = document(seed)
        found = read(data, long=True)
        assert found == read(data, long=False), data
        sound += isinstance(found, Problem)
        columns += isinstance(found, Problem) and isinstance(found.buffers, NumberColumns)
    assert 0.3 * len(seeds) < columns <= sound < 0.9 * len(seeds)
