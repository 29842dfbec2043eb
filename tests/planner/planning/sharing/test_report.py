"""Every figure in the report of a sharing is right, on problems that can be checked by hand."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

from hypothesis import given

from planner import (
    Buffer,
    Colocation,
    Constraints,
    Options,
    PlanStatus,
    Pool,
    Problem,
    StopReason,
    share,
    verify_sharing,
)
from planner.formats.answers.sharing.write_report import (
    COLUMNS,
    write_sharing_report_csv,
    write_sharing_report_json,
)
from planner.model.storage import Kind, StorageObject
from planner.planning.sharing.findings import SharingFindingKind
from planner.planning.sharing.report import KindReport, ObjectReport, SharingReport, sharing_report
from tests.planner.planning.sharing.truth import sharable
from tests.small.strategies import effort

PAGE = (Path(__file__).parents[4] / "docs" / "sharing.md").read_text("utf-8")
GPU, CPU = Kind("default", "gpu", "f32"), Kind("default", "cpu")
PROBLEM = Problem(
    (
        Buffer("c", 60, live=((2, 4),), device="gpu", dtype="f32"),
        Buffer("a", 64, live=((0, 2),), device="gpu", dtype="f32"),
        Buffer("b", 32, live=((1, 3),), device="gpu", dtype="f32"),
        Buffer("x", 8, live=((3, 4),), device="cpu"),
    ),
    name="by hand",
)


def of(problem: Problem) -> SharingReport:
    return sharing_report(problem, share(problem))


def test_every_figure_of_the_report_is_right() -> None:
    """Of four steps, the object of 64 bytes is full for two and holds 60 for two; 32 are full for two, 8 for one."""
    assert of(PROBLEM) == SharingReport(
        "by hand",
        PlanStatus.OPTIMAL,
        104,
        104,
        (0, 4),
        (104 * 4 - 64 * 2 - 60 * 2 - 32 * 2 - 8) / (104 * 4),
        (
            KindReport(
                GPU,
                3,
                96,
                96,
                (96 * 4 - 64 * 2 - 60 * 2 - 32 * 2) / (96 * 4),
                (
                    ObjectReport(0, 64, ("a", "c"), 0.0, (64 * 4 - 64 * 2 - 60 * 2) / (64 * 4)),
                    ObjectReport(1, 32, ("b",), 0.5, 0.5),
                ),
            ),
            KindReport(CPU, 1, 8, 8, 0.75, (ObjectReport(2, 8, ("x",), 0.75, 0.75),)),
        ),
        0,
    )


def test_overlapping_users_of_an_object_count_once_and_only_while_needed() -> None:
    """In one object lie 40 and 24 bytes: at 0 and 4 the larger is needed, at 1 both, at 2 the smaller, at 3 neither."""
    both = (Buffer("large", 40, live=((0, 2), (4, 5))), Buffer("small", 24, live=((1, 3),)))
    report = of(Problem(both, constraints=Constraints(colocations=(Colocation("small", "large", 0),))))
    (thing,) = report.kinds[0].objects
    assert (thing.users, thing.idle, thing.unused) == (("large", "small"), 1 / 5, (200 - 40 - 40 - 24 - 40) / 200)


def test_without_lifetimes_no_use_is_claimed() -> None:
    timed, untimed = Buffer("a", 8, live=((0, 4),)), Buffer("b", 8)
    report = of(Problem((timed, untimed), constraints=Constraints(conflicts=(("a", "b"),))))
    assert [(thing.idle, thing.unused) for thing in report.kinds[0].objects] == [(0.0, 0.0), (None, None)]
    assert (report.unused, report.kinds[0].unused, report.untimed) == (None, None, 1)
    nothing = of(Problem((Buffer("a", 0, live=((0, 4),)),)))
    assert (nothing.time, nothing.unused, nothing.kinds[0].objects) == (
        None,
        None,
        (ObjectReport(0, 0, ("a",), None, None),),
    )


def test_an_object_without_users_counts_as_unused() -> None:
    made = share(PROBLEM)
    spare = StorageObject(3, 16, Kind("default", "tpu"))
    pools = (replace(made.pools[0], total=120),)
    wasteful = replace(made, status=PlanStatus.FEASIBLE, stop=StopReason.TIME_LIMIT, total=120, gap=120 / 104 - 1)
    wasteful = replace(wasteful, reproducible=False)
    wasteful = replace(wasteful, objects=(*made.objects, spare), pools=pools)
    assert {finding.kind for finding in verify_sharing(PROBLEM, wasteful)} == {SharingFindingKind.UNUSED_OBJECT}
    last = sharing_report(PROBLEM, wasteful).kinds[-1]
    assert last == KindReport(spare.kind, 0, 16, 0, 1.0, (ObjectReport(3, 16, (), 1.0, 1.0),))


def test_a_report_without_a_sharing_has_bounds() -> None:
    report = of(replace(PROBLEM, pools=(Pool("default", 90),)))
    assert (report.status, report.total, report.bound, report.unused) == (PlanStatus.INFEASIBLE, None, 104, None)
    assert [(kind.total, kind.bound, kind.objects) for kind in report.kinds] == [(None, 96, ()), (None, 8, ())]


@effort(15, 5_000)
@given(sharable())
def test_figures_agree_with_the_sharing(problem: Problem) -> None:
    made = share(problem, Options(solver="greedy"))
    report = sharing_report(problem, made)
    assert sum(kind.bound for kind in report.kinds) == made.bound
    assert sum(kind.buffers for kind in report.kinds) == len(problem.buffers)
    if made.total is not None:
        assert sum(kind.total or 0 for kind in report.kinds) == made.total
        named = [id_ for kind in report.kinds for thing in kind.objects for id_ in thing.users]
        assert sorted(map(repr, named)) == sorted(repr(buffer.id) for buffer in problem.buffers)
    for thing in (thing for kind in report.kinds for thing in kind.objects):
        if thing.idle is not None and thing.unused is not None:
            assert 0 <= thing.idle <= thing.unused <= 1


def test_json_and_csv_hold_the_same_figures() -> None:
    report = of(PROBLEM)
    document = json.loads(write_sharing_report_json(report))
    assert (document["format"], document["time"], document["unused"]) == (
        "memplan-sharing-report/1",
        [0, 4],
        report.unused,
    )
    rows = list(csv.DictReader(io.StringIO(write_sharing_report_csv(report).decode())))
    assert [row["scope"] for row in rows] == ["object", "object", "kind", "object", "kind", "all"]
    first, kind = rows[0], document["kinds"][0]
    assert [first["pool"], first["device"], first["dtype"]] == [kind["pool"], kind["device"], kind["dtype"]]
    assert (json.loads(first["buffers"]), float(first["unused"])) == (
        kind["objects"][0]["users"],
        kind["objects"][0]["unused"],
    )
    assert (rows[2]["objects"], rows[2]["size"], rows[2]["bound"]) == ("2", "96", "96")
    assert (rows[-1]["objects"], rows[-1]["size"], rows[-1]["bound"]) == ("3", "104", "104")


def test_the_page_names_every_field() -> None:
    section = PAGE.split("## The report", 1)[1]
    document = json.loads(write_sharing_report_json(of(PROBLEM)))
    kind = document["kinds"][0]
    for name in (*document, *kind, *kind["objects"][0], *COLUMNS):
        assert f"`{name}`" in section
