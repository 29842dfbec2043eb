"""A problem with pools in columns equals the same problem in rows: as it is read, in checks, digest, plan and bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner import Options, plan, read_problem, verify, write_plan
from planner.formats import documents
from planner.formats.json import records
from planner.formats.text import digits
from planner.model.columns.pools import PoolColumns, by_name
from planner.model.problem import MAX_TEXT
from planner.planning.interfaces.session import Session
from tests.planner.model.both_readers import check_both_readers, read
from tests.property.long_lists import problem as grown
from tests.small.strategies import BRIEF, NIGHTLY

TRIES = 900 if NIGHTLY else 30 if BRIEF else 45
QUICK = Options(solver="greedy", time_limit=None, work_limit=20_000, workers=1)
ODD: list[dict[str, Any]] = [
    {"size": None},
    {"size": -1},
    {"size": 1 << 62},
    {"size": (1 << 62) + 1},
    {"alignment": 0},
    {"cost": 0, "rank": 7},
    {"rank": -1},
    {"base": 64},
    {"reserved": [[0, 8]]},
    {"read_only": True},
    {"name": "p1"},
    {"name": ""},
    {"name": 7},
    {"name": "é{}"},
    {"name": "a" * (MAX_TEXT + 1)},
    {"clock_frequency_hz": 7},
    {"bank": 1},
]


def document(seed: int) -> bytes:
    """A document with a few pools, now and then an odd one, and buffers that may list some."""
    chance = random.Random(seed)
    count = chance.randrange(2, 9)
    pools: list[dict[str, Any]] = [{"name": f"p{i}", "size": 64 + i} for i in range(count)]
    for pool in pools:
        for name, most in (("alignment", 8), ("cost", 4), ("rank", 9)):
            if chance.random() < 0.4:
                pool[name] = chance.randrange(1, most)
        if chance.random() < 0.3:
            del pool["size"]
    if chance.random() < 0.4:
        pools[chance.randrange(count)].update(chance.choice(ODD))
    buffers: list[dict[str, Any]] = [{"id": i, "size": 8 + i, "live": [[i, i + 3]]} for i in range(9)]
    if chance.random() < 0.5:
        buffers[3]["pools"] = [f"p{i}" for i in chance.sample(range(count + (chance.random() < 0.1)), 2)]
    whole: dict[str, Any] = {"format": "memplan/1", "lifetimes": "half_open", "pools": pools, "buffers": buffers}
    if chance.random() < 0.4:
        whole["constraints"] = {"different_pool": [[0, 1]], "same_pool": [[2, 4]]}
    if chance.random() < 0.3:
        whole["objective"] = {"terms": [chance.choice(["spilled_bytes", "largest_peak", "access_cost"])]}
    return json.dumps(whole).encode()


@pytest.fixture(params=[180, 1 << 19])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    monkeypatch.setattr(digits, "CHUNK", request.param)

    def switched(on: bool) -> None:
        monkeypatch.setattr(documents, "LEAST_BYTES", 0 if on else 1 << 60)
        monkeypatch.setattr(records, "LEAST_OF_POOLS", 0)

    return switched


def test_both_readers_give_the_same_answers(switch: Callable[[bool], None]) -> None:
    in_columns = check_both_readers(
        map(document, range(TRIES)), switch, lambda problem: isinstance(problem.pools, PoolColumns)
    )
    assert in_columns > TRIES / 2


def test_plans_of_pools_in_columns_and_rows_are_equal(switch: Callable[[bool], None]) -> None:
    seen = 0
    for seed in range(0, TRIES, 3):
        data = document(seed)
        switch(False)
        rows = read(data)
        switch(True)
        columns = read(data)
        if isinstance(rows, str) or isinstance(columns, str) or not isinstance(columns.pools, PoolColumns):
            continue
        seen += 1
        made, same = plan(rows, QUICK), plan(columns, QUICK)
        assert write_plan(replace(made, run=same.run)) == write_plan(same)
        assert verify(columns, made) == verify(rows, same) == ()
        assert Session().plan(columns, QUICK).placements == made.placements
    assert seen > TRIES / 12


@pytest.mark.parametrize("name", ["different_pool", "allowed", "alignments", "at_once"])
def test_many_pools_are_read_in_columns_and_planned_alike(name: str) -> None:
    found, _ = read_problem(grown(name, 5000))
    assert isinstance(found.pools, PoolColumns)
    made = plan(found, QUICK)
    rows = replace(found, pools=tuple(found.pools), buffers=tuple(found.buffers))
    assert write_plan(replace(plan(rows, QUICK), run=made.run)) == write_plan(made)
    assert verify(rows, made) == verify(found, made) == ()


def test_pool_columns_are_a_sequence_and_a_mapping() -> None:
    pools = read_problem(grown("different_pool", 5000))[0].pools
    assert isinstance(pools, PoolColumns)
    rows = tuple(pools.row(i) for i in range(len(pools)))
    assert pools[4998:] == rows[4998:]
    assert pools[-1] is pools[4999] == rows[-1]
    assert [pools[i] for i in range(1000)] == [*rows[:1000]], "many are made at once"
    assert pools[-1] is pools.rows[-1]
    assert pools == rows == pools[:]
    assert hash(pools) == hash(rows)
    assert repr(pools) == repr(rows)
    named = by_name(pools)
    assert (len(named), [*named]) == (len(rows), [pool.name for pool in rows])
    assert named["p7"] == rows[7]
    assert "p7" in named
    assert "nowhere" not in named
