"""Ids that are the same text, such as 1 and "1", stay apart in every file, or the file is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import (
    BadInput,
    Buffer,
    Code,
    Pool,
    Problem,
    plan,
    read_problem,
    share,
    write_plan,
    write_problem,
    write_sharing,
)
from planner.formats import FORMATS, Format
from planner.formats.answers.opened import OpenedPlan, OpenedSharing
from planner.formats.documents import Source
from planner.formats.tables.answers import asked
from planner.formats.tables.plans import PLAN_FORMATS, PlanFormat
from planner.graph import Function, Operator, OperatorKind, Program, Tensor, program_problem
from planner.model.problem import Alternative, BufferId, Lifetimes, VariantGroup, Variants

WITHOUT_NAMES = ("idealloc", "cadence", "tflite", "tflm")
"""Formats that number buffers, or name none; TensorFlow Lite's are made of models alone."""
KEEPING = ("memplan", "dsa", "plan")
"""Those in which numbers are not texts."""
WAYS = (
    Alternative("one", (), (Buffer("x", 8, live=((0, 1),)),)),
    Alternative("other", (), (Buffer("1", 4, live=((0, 1),)),)),
)
CHOOSING = Problem(
    (Buffer(1, 8, live=((0, 1),)),),
    lifetimes=Lifetimes.HALF_OPEN,
    variants=Variants((VariantGroup("g", WAYS),)),
)


def with_ids(*ids: BufferId) -> Problem:
    return Problem(tuple(Buffer(id_, 8, live=((0, 1),)) for id_ in ids), lifetimes=Lifetimes.HALF_OPEN)


def places(error: BadInput) -> list[tuple[Code, str]]:
    return [(finding.code, finding.pointer) for finding in error.findings]


@pytest.mark.parametrize("row", [row for row in FORMATS.values() if row.writer], ids=lambda row: row.name)
@pytest.mark.parametrize("ids", [(1, "1"), ("1", "x", 1)])
def test_problems_keep_ids_apart_or_are_refused(row: Format, ids: tuple[BufferId, ...]) -> None:
    if row.name in (*KEEPING, *WITHOUT_NAMES):
        found = read_problem(row.write(with_ids(*ids)), format=row.name)[0]
        assert len({buffer.id for buffer in found.buffers}) == len(ids)
        assert row.name in WITHOUT_NAMES or [buffer.id for buffer in found.buffers] == list(ids)
        return
    with pytest.raises(BadInput) as caught:
        row.write(with_ids(*ids))
    if row.name != "columns":  # whose ids are all numbers or all names
        assert places(caught.value) == [(Code.DUPLICATE_ID, f"/buffers/{len(ids) - 1}/id")]
        assert "give one of them another id" in caught.value.findings[0].message


def test_numbers_that_a_format_has_no_room_for_are_texts_there() -> None:
    with pytest.raises(BadInput) as caught:
        FORMATS["dsa"].write(with_ids(-1, "-1"))
    assert places(caught.value) == [(Code.DUPLICATE_ID, "/buffers/1/id")]
    assert FORMATS["dsa"].write(with_ids(-1, "-2"))


@pytest.mark.parametrize("row", PLAN_FORMATS.values(), ids=lambda row: row.name)
def test_plans_do_so_too(row: PlanFormat) -> None:
    found = plan(CHOOSING)
    if row.name in KEEPING or row.name == "cadence":
        assert row.write(CHOOSING, found, b"")
    elif row.name not in WITHOUT_NAMES:
        with pytest.raises(BadInput) as caught:
            row.write(CHOOSING, found, b"")
        assert places(caught.value) == [(Code.DUPLICATE_ID, "/variants/groups/0/alternatives/1/buffers/0/id")]


def test_ids_of_alternatives_that_are_not_chosen_do_not_matter() -> None:
    found = plan(CHOOSING)
    [pick] = found.choice.alternatives if found.choice else []
    assert pick == ("g", "other")
    larger = (WAYS[0], Alternative("other", (), (Buffer("1", 16, live=((0, 1),)),)))
    problem = Problem(CHOOSING.buffers, lifetimes=Lifetimes.HALF_OPEN, variants=Variants((VariantGroup("g", larger),)))
    assert PLAN_FORMATS["csv"].write(problem, plan(problem), b"")


def test_tables_of_answers_do_so_too() -> None:
    problem = with_ids(1, "1")
    beside = asked(FORMATS["memplan"], Source(FORMATS["memplan"].write(problem)), problem, None)
    for opened in (
        OpenedPlan(beside, write_plan(plan(problem))),
        OpenedSharing(beside, write_sharing(share(problem))),
    ):
        with pytest.raises(BadInput) as caught:
            opened.written("csv")
        assert places(caught.value) == [(Code.DUPLICATE_ID, "/buffers/1/id")]


HALF = "a\ud800"


def with_half(field: str) -> Problem:
    """Return a problem in which only this text has half of a surrogate pair."""
    first = Buffer("x", 8, live=((0, 1),))
    match field:
        case "id":
            return Problem((replace(first, id=HALF),))
        case "kind":
            return Problem((replace(first, kind=HALF),))
        case "device":
            return Problem((replace(first, device=HALF),))
        case "dtype":
            return Problem((replace(first, dtype=HALF),))
        case "name":
            return Problem((first,), name=HALF)
        case "pool":
            return Problem((first,), (Pool(HALF),))
        case "step":
            return Problem((first,), steps=((0, HALF),))
    way = Alternative(HALF if field == "alternative" else "one", (), (first,))
    return Problem((), variants=Variants((VariantGroup(HALF if field == "group" else "g", (way,)),)))


@pytest.mark.parametrize(
    ("field", "at"),
    [
        ("id", "/buffers/0/id"),
        ("kind", "/buffers/0/kind"),
        ("device", "/buffers/0/device"),
        ("dtype", "/buffers/0/dtype"),
        ("name", "/name"),
        ("pool", "/pools/0/name"),
        ("step", "/steps/0/name"),
        ("group", "/variants/groups/0/name"),
        ("alternative", "/variants/groups/0/alternatives/0/name"),
    ],
)
def test_halves_of_surrogate_pairs_are_refused_as_no_file_can_be_read_with_them(field: str, at: str) -> None:
    problem = with_half(field)
    with pytest.raises(BadInput):
        read_problem(write_problem(problem))
    with pytest.raises(BadInput, match="half of a surrogate pair") as caught:
        plan(problem)
    assert places(caught.value) == [(Code.INVALID_VALUE, at)]


@pytest.mark.parametrize("at", ["id", "function", "operator"])
def test_so_are_they_in_programs(at: str) -> None:
    names = {name: HALF if name == at else name for name in ("id", "function", "operator")}
    made = Operator(OperatorKind.COMPUTE, (), (names["id"],), name=names["operator"])
    function = Function(names["function"], (Tensor(names["id"], (4,)),), (made,), (), (names["id"],))
    with pytest.raises(BadInput, match="half of a surrogate pair"):
        program_problem(Program((function,), (names["function"],)), (Pool("p"),))
