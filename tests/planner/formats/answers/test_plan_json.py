"""memplan-plan/1 is always written the same way, and read strictly."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.formats import read_plan, write_plan
from planner.model.errors import BadInput
from planner.model.plan import (
    Objective,
    Placement,
    Plan,
    PlanCertificate,
    PlanStatus,
    PoolUse,
    Run,
    Shortage,
    TermValue,
    TracePoint,
)
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.small.strategies import effort

PLAN = Plan(
    status=PlanStatus.FEASIBLE,
    stop=StopReason.WORK_LIMIT,
    peak=96,
    bound=64,
    gap=0.5,
    objective=Objective(96, 64, (TermValue(Term.SUM_OF_PEAKS, 96, 64),)),
    pools=(PoolUse("default", None, 96, 64),),
    placements=(Placement("a", "default", 0, 64), Placement(2, "default", 64, 32)),
    solver="greedy",
    seed=0,
    reproducible=True,
    versions={"memplan": "0.1.0", "abc": "1"},
    problem_digest="f" * 64,
    certificates=(
        PlanCertificate(Proof.LIVE_TOGETHER, 64, "default", 3, ("a", 2)),
        PlanCertificate(Proof.POOL_SHARING, 5, weights=(("default", -3, 1, 2),), solver="x"),
    ),
    shortage=Shortage("too small", "default", 7, 3, ("a",), ("a", 2), True),
    warnings=("w",),
    run=Run(0.25, (TracePoint(0.1, 96, 64), TracePoint(0.2, None, 1)), {"cores": 2, "arch": "x"}),
)

SMALLEST = Plan(
    status=PlanStatus.UNKNOWN,
    stop=StopReason.TIME_LIMIT,
    peak=None,
    bound=0,
    gap=None,
    objective=Objective(None, None, (TermValue(Term.REUSE_COST, None, None),)),
    pools=(PoolUse("p", 8, None, 0),),
    placements=(),
    solver=None,
    seed=1,
    reproducible=False,
    versions={},
    problem_digest="",
)


@pytest.mark.parametrize("plan", [PLAN, SMALLEST])
def test_reading_a_written_plan_gives_the_same_plan(plan: Plan) -> None:
    assert read_plan(write_plan(plan)) == plan


def test_a_plan_s_document_has_the_expected_form() -> None:
    text = write_plan(PLAN).decode()
    document = json.loads(text)
    assert list(document) == [
        "format",
        "status",
        "stop",
        "peak",
        "bound",
        "gap",
        "objective",
        "pools",
        "placements",
        "solver",
        "seed",
        "reproducible",
        "versions",
        "problem_digest",
        "certificate",
        "shortage",
        "warnings",
        "run",
    ]
    assert document["format"] == "memplan-plan/1"
    assert document["objective"] == {
        "value": 96,
        "bound": 64,
        "terms": [{"name": "sum_of_peaks", "value": 96, "bound": 64}],
    }
    assert list(document["versions"]) == ["abc", "memplan"]
    assert '\n  {"id": "a", "pool": "default", "offset": 0, "size": 64},\n' in text


def test_only_the_end_depends_on_the_clock() -> None:
    later = replace(PLAN, run=Run(9.0))
    head, mark, _ = write_plan(PLAN).partition(b'\n "run": ')
    assert mark
    assert write_plan(later).startswith(head + mark)


def document(**changes: Any) -> bytes:
    fields = {**json.loads(write_plan(PLAN)), **changes}
    return json.dumps({name: value for name, value in fields.items() if value != "gone"}).encode()


@pytest.mark.parametrize("field", ["certificate", "shortage", "warnings", "run", "versions"])
def test_optional_fields_of_a_plan_may_be_missing(field: str) -> None:
    assert read_plan(document(**{field: "gone"})).placements == PLAN.placements


@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        ({"format": "memplan/1"}, "unknown_format", "/format"),
        ({"format": "gone"}, "unknown_format", ""),
        ({"status": "good"}, "invalid_value", "/status"),
        ({"status": "gone"}, "missing_field", "/status"),
        ({"stop": None}, "invalid_value", "/stop"),
        ({"peak": "96"}, "wrong_type", "/peak"),
        ({"peak": -1}, "out_of_range", "/peak"),
        ({"bound": None}, "wrong_type", "/bound"),
        ({"gap": "0.5"}, "wrong_type", "/gap"),
        ({"reproducible": 1}, "wrong_type", "/reproducible"),
        ({"colour": 1}, "unknown_field", "/colour"),
        ({"placements": {}}, "wrong_type", "/placements"),
        ({"placements": [{"id": 1, "pool": "p", "offset": 0}]}, "missing_field", "/placements/0/size"),
        ({"placements": [{"id": 1, "pool": "p", "offset": -1, "size": 1}]}, "out_of_range", "/placements/0/offset"),
        (
            {"placements": [{"id": 1, "pool": "p", "offset": 1 << 63, "size": 1}]},
            "out_of_range",
            "/placements/0/offset",
        ),
        ({"placements": [{"id": 1.0, "pool": "p", "offset": 0, "size": 1}]}, "wrong_type", "/placements/0/id"),
        ({"run": {"seconds": 0, "trace": [{"seconds": 0, "value": 1}]}}, "missing_field", "/run/trace/0/bound"),
        ({"run": {"seconds": 0, "machine": {"cores": None}}}, "wrong_type", "/run/machine/cores"),
        ({"versions": {"a": 1}}, "wrong_type", "/versions/a"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, Any], code: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_plan(document(**changes))
    assert [(f.code, f.pointer) for f in caught.value.findings] == [(code, place)]


def test_many_bad_placements_are_counted() -> None:
    with pytest.raises(BadInput) as caught:
        read_plan(document(placements=[1] * 5000))
    assert (len(caught.value.findings), caught.value.more) == (20, 4980)


def test_a_list_is_refused_as_a_plan() -> None:
    with pytest.raises(BadInput, match="must be a JSON object"):
        read_plan(b"[]")


@effort(15, 1000)
@given(
    st.lists(st.tuples(st.integers(-9, 9) | st.text(min_size=1), st.text(), st.integers(0, 1 << 62))), st.floats(0, 1e9)
)
def test_names_of_all_kinds_survive(rows: list[tuple[int | str, str, int]], seconds: float) -> None:
    placements = tuple(Placement(id_, pool, offset, 1) for id_, pool, offset in rows)
    plan = replace(PLAN, placements=placements, gap=seconds, run=Run(seconds))
    assert read_plan(write_plan(plan)) == plan
