"""Each kind of answer is verified, drawn and written as a table."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from planner import BadInput, plan, read_problem, share, write_plan
from planner.formats import read_frontier, read_plan, read_shapes_plan, read_sharing, read_sweep, write_sharing
from planner.formats.answers.nested import read_nested
from planner.formats.answers.proved import read_proved
from planner.formats.documents import ANSWERS, Source
from planner.formats.tables.answers import ANSWER_KINDS, FORMS, answer_kind, asked, write_answer
from planner.formats.tables.plans import PLAN_FORMATS
from planner.formats.tables.problems import chosen
from planner.model import deadline
from planner.model.deadline import OutOfTime, time_limit
from planner.model.errors import PlannerError
from tests.small.every_answer import every_answer, plain
from tests.small.strategies import NIGHTLY

RUNS = 2000 if NIGHTLY else 15

FIRST_ROWS = {
    "plan": "id,lower,upper,size,offset",
    "sharing": "id,object,size,pool",
    "frontier": "status,cost,cost_bound,memory,memory_bound,cost_cycles",
    "sweep": "capacity_sram,status,sum_of_peaks,access_cost,spilled_bytes,sum_of_peaks_bound,peak_sram",
    "shapes": "at_n,used,optimum,bound",
    "nested": "function,status,peak,bound",
    "proof": "id,lower,upper,size,offset",
}
ROWS = {"plan": 3, "sharing": 3, "frontier": 2, "sweep": 3, "shapes": 3, "nested": 2, "proof": 3}
"""The rows of each table, for `every_answer`."""
WRONG = {
    "plan": lambda document: document["placements"][0].update(offset=1 << 20),
    "sharing": lambda document: document["assignments"][0].update(object=1),
    "frontier": lambda document: document["points"][0]["plan"]["placements"][0].update(offset=1 << 20),
    "sweep": lambda document: document["points"][-1]["plan"]["placements"][0].update(offset=1 << 20),
    "shapes": lambda document: document["shapes"][0].update(used=1),
    "nested": lambda document: document["arenas"][0]["plan"]["placements"][0].update(offset=1 << 20),
    "proof": lambda document: document.update(height=1 << 20),
}
"""Spoils the answer of each kind."""


def opened(kind: str, answer: bytes | None = None):  # type: ignore[no-untyped-def]
    problem, right = every_answer()[kind]
    source, answer = Source(problem), answer or right
    row = chosen(source, None)
    return answer_kind(answer).open(asked(row, source, row.read(source)[0], None), answer)


def test_every_answer_has_a_row() -> None:
    assert {row.format for row in ANSWER_KINDS.values()} == {*ANSWERS}
    assert list(every_answer()) == list(ANSWER_KINDS)


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_each_is_verified_drawn_and_written(kind: str) -> None:
    found = opened(kind)
    assert answer_kind(every_answer()[kind][1]).name == kind
    assert list(found.findings) == []
    assert found.checked[0] == ROWS[kind]
    assert ET.fromstring(found.written("svg")).tag.endswith("svg")
    first, *rows = found.written("csv").decode().splitlines()
    assert (first, len(rows)) == (FIRST_ROWS[kind], ROWS[kind])
    assert write_answer(PLAN_FORMATS["csv"], found) == found.written("csv")
    if kind in ("plan", "sharing", "proof"):
        assert json.loads(found.written("map"))["format"] == "memplan-map/1"
    else:
        with pytest.raises(BadInput, match="there are memory maps of plans and sharings"):
            found.written("map")
    if kind not in ("plan", "proof"):
        with pytest.raises(BadInput, match="C header is for plans with addresses"):
            write_answer(PLAN_FORMATS["c"], found)
    assert list(FORMS) == ["svg", "map", "csv"]


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_what_is_wrong_is_found_and_drawn(kind: str) -> None:
    document = json.loads(every_answer()[kind][1])
    WRONG[kind](document)
    found = opened(kind, json.dumps(document).encode())
    assert found.findings
    assert found.written("svg").startswith(b"<svg")
    with pytest.raises(BadInput) as caught:
        found.written("csv")
    assert [each.message for each in caught.value.findings] == [each.message for each in found.findings]


def test_a_proof_is_replayed() -> None:
    document = json.loads(every_answer()["proof"][1])
    assert [each for each in opened("proof").notes if "the proof was replayed" in each]
    head, *lines = document["proof"].splitlines()
    for proof, wrong in (("\n".join([head, *lines[1:]]), "of the proof"), (None, None)):
        document["proof"] = proof
        found = opened("proof", json.dumps(document).encode())
        assert [wrong in each.message for each in found.findings] == ([] if wrong is None else [True])
    document["plan"]["placements"][0]["offset"] = -1
    with pytest.raises(BadInput) as caught:
        opened("proof", json.dumps(document).encode())
    assert caught.value.findings[0].pointer == "/plan/placements/0/offset"


READERS: dict[str, tuple[Callable[[bytes], object], str]] = {
    "plan": (read_plan, "plan"),
    "sharing": (read_sharing, "sharing"),
    "frontier": (read_frontier, "frontier"),
    "sweep": (read_sweep, "sweep"),
    "shapes": (read_shapes_plan, "plan for all shapes"),
    "nested": (read_nested, "plan"),
    "proof": (read_proved, "plan"),
}


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_what_was_read_when_time_ran_out_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    problem, answer = every_answer()[kind]
    read, name = READERS[kind]
    with time_limit(1, time.monotonic() - 10):
        for reader, what in ((answer_kind, "file"), (read, name)):
            with pytest.raises(OutOfTime, match=f"while reading the {what},"):
                reader(answer)
        with pytest.raises(OutOfTime, match="while reading the problem,"):
            read_problem(problem)


def test_an_answer_without_a_plan_has_no_table() -> None:
    problem = read_problem(json.dumps(plain() | {"pools": [{"name": "sram", "size": 8}]}).encode())[0]
    source = Source(json.dumps(plain() | {"pools": [{"name": "sram", "size": 8}]}).encode())
    for answer in (write_plan(plan(problem)), write_sharing(share(problem))):
        whose = asked(chosen(source, None), source, problem, None)
        with pytest.raises(BadInput, match="there is nothing to write: the plan is infeasible"):
            answer_kind(answer).open(whose, answer).written("csv")


STRANGE: tuple[Any, ...] = (0, -1, 1, 1 << 62, 1 << 70, None, "x", "", [], {}, True, 1.5, {"a": 1}, [1])


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from paths(each, (*at, key))


@pytest.mark.parametrize("kind", ANSWER_KINDS)
def test_spoilt_answers_are_refused_or_found_wrong(kind: str) -> None:
    right = json.loads(every_answer()[kind][1])
    places = [place for place in paths(right) if place != ("format",)]
    for seed in range(RUNS):
        chance, document = random.Random(seed), copy.deepcopy(right)
        *path, last = chance.choice(places)
        for key in path:
            document = document[key]
        what = chance.random()
        if what < 0.2:
            del document[last]
        elif what < 0.3 and isinstance(document, list):
            document.append(document[last])
        else:
            document[last] = chance.choice(STRANGE)
        for form in FORMS:
            with suppress(PlannerError):
                opened(kind, json.dumps(right_with(right, path, document)).encode()).written(form)


def right_with(right: Any, path: list[Any], spoilt: Any) -> Any:
    """Return the answer with what is spoilt at the path."""
    if not path:
        return spoilt
    key, *rest = path
    changed = copy.copy(right)
    changed[key] = right_with(right[key], rest, spoilt)
    return changed
