"""Groups of alternatives in columns equal the same groups in rows: as they are read, in checks, digest, choices, plan and bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planner import Options, plan, read_problem, verify, write_plan
from planner.facts.digest import digest
from planner.facts.plain_choices import least_cost, plain_choices
from planner.facts.variants import (
    choice_of,
    costs_of_choice,
    count_of_alternatives,
    most_buffers,
    picks_of,
    positions,
    with_choice,
)
from planner.formats import documents
from planner.formats.json import groups as reader
from planner.formats.text import digits
from planner.model.columns.buffers import BufferColumns
from planner.model.columns.choices import GroupColumns
from planner.model.problem import MAX_TEXT, Problem
from tests.planner.model.both_readers import check_both_readers, read
from tests.property.long_lists import problem as grown
from tests.small.strategies import BRIEF, NIGHTLY

TRIES = 800 if NIGHTLY else 30 if BRIEF else 40
QUICK = Options(solver="greedy", time_limit=None, work_limit=20_000, workers=1)
ODD_BUFFERS: list[dict[str, Any]] = [
    {"size": -1},
    {"size": (1 << 62) + 1},
    {"alignment": 0},
    {"live": [[0, 1], [2, 3]]},
    {"live": [[3, 3]]},
    {"live": [[4, 3]]},
    {"id": "x"},
    {"id": 0},
    {"id": ""},
    {"id": 1.5},
    {"kind": "constant"},
    {"id": "a" * (MAX_TEXT + 1)},
    {"bank": 1},
]
ODD: list[dict[str, Any]] = [
    {"name": "a0"},
    {"name": ""},
    {"name": 7},
    {"name": "é{}"},
    {"costs": {"cycles": 1 << 62}},
    {"costs": {"joules": 3}},
    {"costs": {"cycles": -(1 << 61)}},
    {"costs": {"cycles": None}},
    {"constraints": {"conflicts": [[0, 1]]}},
    {"live": [{"buffer": 0, "live": [[7, 9]]}]},
    {"buffers": None},
    {"bank": 1},
]


def document(seed: int) -> bytes:
    """A document with a few groups as one of many programs may write it, now and then with something odd."""
    chance = random.Random(seed)
    numbered, separators = chance.random() < 0.3, chance.choice(((", ", ": "), (",", ":")))
    groups: list[dict[str, Any]] = []
    made: list[dict[str, Any]] = []
    own: list[dict[str, Any]] = []
    for g in range(chance.randrange(1, 6)):
        of_group: list[dict[str, Any]] = []
        for a in range(chance.randrange(1, 5)):
            buffers = []
            for _ in range(chance.choice((0, 1, 1, 1, 2))):
                start = chance.randrange(9)
                buffers.append(
                    {"id": len(own) + 100, "size": chance.randrange(99), "live": [[start, start + chance.randrange(4)]]}
                )
                own.append(buffers[-1])
                if not numbered:
                    buffers[-1]["id"] = f"g{g}.{a}.{len(own)}"
                if chance.random() < 0.3:
                    buffers[-1]["alignment"] = 4
            alternative: dict[str, Any] = {"name": f"a{a}"}
            if chance.random() < 0.8:
                alternative["costs"] = {"cycles": chance.randrange(-9, 9), **({"joules": 3} if seed % 2 else {})}
            if buffers or chance.random() < 0.5:
                alternative["buffers"] = buffers
            of_group.append(alternative)
        made += of_group
        groups.append({"name": f"g{g}", "alternatives": of_group})
    if chance.random() < 0.4:
        chance.choice(made).update(chance.choice(ODD))
    if own and chance.random() < 0.3:
        chance.choice(own).update(chance.choice(ODD_BUFFERS))
    costs: list[dict[str, Any]] = [
        {"name": "cycles", "weight": chance.randrange(3)},
        *([{"name": "joules"}] if seed % 2 else []),
    ]
    variants: dict[str, Any] = {"costs": costs, "groups": groups}
    if chance.random() < 0.3:
        variants["requires"] = [[["g0", "a0"], [groups[-1]["name"], "a0"]]]
    buffers = [{"id": i, "size": 8 + i, "live": [[i, i + 3]]} for i in range(3)]
    pools = [{"name": "p"}, *([{"name": "q", "size": 64}] if chance.random() < 0.4 else [])]
    whole = {"format": "memplan/1", "lifetimes": chance.choice(("half_open", "inclusive")), "pools": pools}
    return json.dumps({**whole, "buffers": buffers, "variants": variants}, separators=separators).encode()


@pytest.fixture(params=[180, 1 << 19])
def switch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    monkeypatch.setattr(digits, "CHUNK", request.param)
    monkeypatch.setattr(reader, "LEAST", 0)
    return lambda on: monkeypatch.setattr(documents, "LEAST_BYTES", 0 if on else 1 << 60)


def groups_of(problem: Problem) -> GroupColumns | None:
    assert problem.variants is not None
    groups = problem.variants.groups
    return groups if isinstance(groups, GroupColumns) else None


def test_both_readers_give_the_same_answers(switch: Callable[[bool], None]) -> None:
    in_columns = check_both_readers(
        map(document, range(TRIES)),
        switch,
        lambda problem: problem.variants is not None and groups_of(problem) is not None,
    )
    assert in_columns > TRIES / 3


def test_choices_and_plans_of_columns_and_rows_are_equal(switch: Callable[[bool], None]) -> None:
    seen = 0
    for seed in range(TRIES):
        data = document(seed)
        switch(False)
        rows = read(data)
        switch(True)
        columns = read(data)
        if isinstance(rows, str) or isinstance(columns, str) or groups_of(columns) is None:
            continue
        assert rows.variants is not None
        assert columns.variants is not None
        seen += 1
        assert positions(columns.variants) == positions(rows.variants)
        assert count_of_alternatives(columns.variants) == count_of_alternatives(rows.variants)
        assert most_buffers(columns) == most_buffers(rows)
        assert least_cost(columns) == least_cost(rows)
        chosen = plain_choices(columns)
        assert chosen == plain_choices(rows)
        for choice in chosen:
            assert picks_of(columns.variants, choice) == picks_of(rows.variants, choice)
            assert costs_of_choice(columns.variants, choice) == costs_of_choice(rows.variants, choice)
            assert with_choice(columns, choice) == with_choice(rows, choice)
        if seen % 5 == 0:
            made, same = plan(rows, QUICK), plan(columns, QUICK)
            assert write_plan(replace(made, run=same.run)) == write_plan(same)
            assert verify(columns, made) == verify(rows, same) == ()
            assert choice_of(columns, made) == choice_of(rows, made)
    assert seen > TRIES / 4


@pytest.mark.parametrize("name", ["groups", "alternatives", "rules"])
def test_many_choices_are_read_in_columns(name: str) -> None:
    found, _ = read_problem(grown(name, 20_000))
    assert found.variants is not None
    assert groups_of(found) is not None
    rows = replace(found, variants=replace(found.variants, groups=tuple(found.variants.groups)))
    assert digest(rows) == digest(found)
    choice, *others = plain_choices(found)
    assert [choice, *others] == plain_choices(rows)
    chosen = with_choice(found, choice)
    assert with_choice(rows, choice) == chosen
    assert isinstance(chosen.buffers, BufferColumns) == (name == "groups")
    assert verify(chosen, plan(chosen, QUICK)) == ()


def test_unusual_items_are_left_to_the_careful_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LEAST", 0)
    usual = b'{"name": "g", "alternatives": [{"name": "a", "buffers": [{"id": 1, "size": 1, "live": [[0, 1]]}]}]}'
    text = b'{"variants": {"groups": [%b]}}'
    assert reader.taken_groups(text % usual) is not None
    for old, new in [
        (b'"name": "a"', b'"name": "a", "name": "b"'),
        (b'"size": 1', b'"size": 01'),
        (b'"size": 1', b'"size": 1, "size": 1'),
        (b'"size": 1', b'"size": 1.5'),
        (b'"name": "g"', b'"groups": "g"'),
        (b'"alternatives": [', b'"alternatives": [], "alternatives": ['),
        (b"[[0, 1]]", b"[[0, 1], [2, 3]]"),
        (b"[[0, 1]]", b"[[0, 1, 2]]"),
        (b'{"name": "a"', b'{"name": "g", "alternatives": [{"name": "a"'),
        (b"}]}]}", b"}]}]}]"),
        (b"}]}]}", b"}]}]"),
        (b'{"name": "g"', b'{}, {"name": "g"'),
        (b'{"name": "a"', b'[], {"name": "a"'),
        (b'"name": "a"', b'"name": "a\x01"'),
    ]:
        assert old in usual
        assert reader.taken_groups(text % usual.replace(old, new)) is None, new
