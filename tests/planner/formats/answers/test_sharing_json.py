"""memplan-sharing/1 is always written the same way, and read strictly; memplan/1 holds the buffers' kinds."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import BadInput, Buffer, PlanStatus, Problem, StopReason, read_problem, read_sharing, write_problem
from planner.facts.digest import digest
from planner.formats import read_plan, write_sharing
from planner.formats.answers.sharing.wire import SharingWire
from planner.model.plan import Run, Shortage, TracePoint
from planner.model.storage import (
    Assignment,
    Kind,
    PoolTotal,
    Sharing,
    SharingCertificate,
    SharingProof,
    StorageObject,
    Witness,
)
from tests.small.strategies import effort

SHARING = Sharing(
    status=PlanStatus.FEASIBLE,
    stop=StopReason.WORK_LIMIT,
    total=96,
    bound=64,
    gap=0.5,
    pools=(PoolTotal("default", None, 96, 64),),
    objects=(StorageObject(0, 64, Kind("default", "cpu", "f32")), StorageObject(1, 32, Kind("default"))),
    assignments=(Assignment("a", 0), Assignment(2, 1)),
    solver="greedy",
    seed=0,
    reproducible=True,
    versions={"memplan": "0.1.0", "abc": "1"},
    problem_digest="f" * 64,
    certificates=(
        SharingCertificate(SharingProof.RANKED, 64, Kind("default", "cpu", "f32"), (Witness(-3, ("a", 2)),)),
        SharingCertificate(SharingProof.SEARCH, 70, Kind("default"), solver="x"),
    ),
    shortage=Shortage("too small", "default", 7),
    warnings=("w",),
    run=Run(0.25, (TracePoint(0.1, 96, 64), TracePoint(0.2, None, 1)), {"cores": 2}),
)


def changed(**changes: Any) -> bytes:
    return json.dumps({**json.loads(write_sharing(SHARING)), **changes}).encode()


def test_reading_a_written_sharing_gives_the_same_sharing() -> None:
    data = write_sharing(SHARING)
    assert read_sharing(data) == SHARING
    assert list(json.loads(data)) == list(SharingWire.__annotations__)
    assert data == write_sharing(read_sharing(data))


def test_optional_fields_of_a_sharing_may_be_missing() -> None:
    document = json.loads(write_sharing(SHARING))
    for name in ("versions", "certificate", "shortage", "warnings", "run"):
        del document[name]
    for thing in document["objects"]:
        del thing["device"], thing["dtype"]
    made = read_sharing(json.dumps(document).encode())
    assert made.objects[0].kind == Kind("default")
    assert (made.certificates, made.versions) == ((), {})


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"format": "memplan-plan/1"}, "unknown_format", "/format"),
        ({"status": "good"}, "invalid_value", "/status"),
        ({"total": -1}, "out_of_range", "/total"),
        ({"total": "96"}, "wrong_type", "/total"),
        ({"objects": [{"id": 0, "size": 1}]}, "missing_field", "/objects/0/pool"),
        ({"objects": [{"id": -1, "size": 1, "pool": "p"}]}, "out_of_range", "/objects/0/id"),
        ({"assignments": [{"id": "a", "object": 0, "offset": 4}]}, "unknown_field", "/assignments/0/offset"),
        ({"assignments": [{"id": True, "object": 0}]}, "wrong_type", "/assignments/0/id"),
        ({"certificate": [{"proof": "faith", "value": 1, "pool": "p"}]}, "invalid_value", "/certificate/0/proof"),
        (
            {"certificate": [{"proof": "ranked", "value": 1, "pool": "p", "sets": [{"time": 1}]}]},
            "missing_field",
            "/certificate/0/sets/0/buffers",
        ),
    ],
)
def test_unreadable_sharings_are_refused_with_the_place(changes: dict[str, Any], code: str, pointer: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_sharing(changed(**changes))
    assert [(finding.code, finding.pointer) for finding in caught.value.findings] == [(code, pointer)]


def test_plans_and_sharings_are_not_read_as_each_other() -> None:
    with pytest.raises(BadInput, match="memplan-plan/1"):
        read_plan(write_sharing(SHARING))
    with pytest.raises(BadInput, match="memplan-sharing/1"):
        read_sharing(b'{"format": "memplan-plan/1"}')


@effort(20, 2000)
@given(st.data())
def test_any_value_of_a_field_is_read_or_refused(data: st.DataObject) -> None:
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=5,
    )
    field = data.draw(st.sampled_from(sorted(set(SharingWire.__annotations__) - {"format"})))
    document = changed(**{field: data.draw(anything)})
    with contextlib.suppress(BadInput):
        assert write_sharing(read_sharing(document))


def test_kinds_of_buffers_are_read_written_and_part_of_the_digest() -> None:
    plain = Problem((Buffer("a", 4),))
    kinds = [
        replace(plain, buffers=(replace(plain.buffers[0], device=device, dtype=dtype),))
        for device in (None, "x", "y")
        for dtype in (None, "x", "y")
    ]
    assert len({digest(problem) for problem in kinds}) == len(kinds)
    for problem in kinds:
        assert read_problem(write_problem(problem))[0].buffers == problem.buffers


def test_the_page_has_a_row_for_every_field() -> None:
    page = (Path(__file__).parents[4] / "docs" / "sharing.md").read_text("utf-8")
    table = page.split("## The file: memplan-sharing/1", 1)[1].split("\n## ", 1)[0]
    rows = {name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
    assert rows == set(SharingWire.__annotations__) - {"format"}
