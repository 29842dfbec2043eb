"""The picture of a run shows its bounds and values over time, as recorded in the plan."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import BadInput, Buffer, Options, Plan, Pool, Problem, Term, plan
from planner.drawing import Sheet, Theme, convergence
from planner.model.plan import Run, TracePoint

NAMESPACE = "{http" + "://www.w3.org/2000/svg}"
PROBLEM = Problem((Buffer("a", 64, live=((0, 2),)),), (Pool("arena", 4096),), name="<one>")
ONE = plan(PROBLEM, Options(work_limit=0, workers=1))
TRACE = (
    TracePoint(0.1, None, 40),
    TracePoint(0.2, 100, 40),
    TracePoint(0.2, 80, 40),
    TracePoint(0.5, 80, 60),
    TracePoint(1.0, 64, 64),
)


def recorded(*trace: TracePoint, seconds: float = 1.0) -> Plan:
    return replace(ONE, run=Run(seconds, trace))


def paths(picture: bytes) -> dict[str, str]:
    """Return the first path of each class; the legend's paths of the same class come later."""
    drawn = list(ET.fromstring(picture).iter(NAMESPACE + "path"))
    return {each.attrib["class"]: each.attrib["d"] for each in reversed(drawn)}


def numbers(path: str, letter: str) -> list[float]:
    """Return the numbers that follow a letter in a path, in order."""
    return [float(part.split("H")[0].split("V")[0].rstrip("Z")) for part in path.split(letter)[1:]]


def test_the_best_value_falls_the_bound_rises_and_both_meet() -> None:
    drawn = paths(convergence(PROBLEM, recorded(*TRACE)))
    best, bound = numbers(drawn["best"], "V"), numbers(drawn["bound"], "V")
    assert best == sorted(best)  # y grows down the picture
    assert bound == sorted(bound, reverse=True)
    assert best[-1] == bound[-1]
    assert drawn["best"].endswith("H1180")
    assert drawn["bound"].endswith("H1180")


def test_every_better_plan_is_a_dot_once() -> None:
    picture = ET.fromstring(convergence(PROBLEM, recorded(*TRACE)))
    assert len(list(picture.iter(NAMESPACE + "circle"))) == 3


def test_the_picture_states_the_result() -> None:
    texts = [each.text for each in ET.fromstring(convergence(PROBLEM, recorded(*TRACE))).iter(NAMESPACE + "text")]
    assert "<one>" in texts
    assert "optimal after 1 s  ·  best 64 B  ·  bound 64 B  ·  1 buffer" in texts
    assert {"best plan so far", "proven bound: no plan is better", "still open"} <= set(texts)


def test_a_run_without_a_plan_shows_the_bound_alone() -> None:
    picture = convergence(PROBLEM, recorded(TracePoint(0.1, None, 40), TracePoint(0.3, None, 50)))
    assert {"bound"} == set(paths(picture)) - {"grid"}
    assert b"best plan so far" not in picture


def test_costs_of_any_size_have_room_beside_the_field() -> None:
    costly = replace(PROBLEM, terms=(Term.ACCESS_COST,))
    for much in (10**6, 10**9, 2**62):
        trace = (TracePoint(0.1, much, much - much // 1000),)
        said = ET.fromstring(convergence(costly, recorded(*trace))).iter(NAMESPACE + "text")
        marks = [each.text or "" for each in said if each.attrib["class"] == "soft right"]
        assert len(set(marks)) == len(marks) >= 2
        assert all(len(mark) <= 11 for mark in marks)


def test_a_plan_that_records_nothing_is_refused_with_the_place() -> None:
    with pytest.raises(BadInput) as refused:
        convergence(PROBLEM, recorded())
    assert [finding.pointer for finding in refused.value.findings] == ["/run/trace"]


@pytest.mark.parametrize("theme", Theme)
def test_light_and_dark_differ_in_colours_alone(theme: Theme) -> None:
    picture = convergence(PROBLEM, recorded(*TRACE), Sheet(theme=theme))
    assert (b"prefers-color-scheme" in picture) == (theme is Theme.SYSTEM)
    assert paths(picture) == paths(convergence(PROBLEM, recorded(*TRACE)))


@given(
    st.lists(
        st.builds(TracePoint, st.floats(0, 1e6), st.integers(0, 2**62) | st.none(), st.integers(0, 2**62) | st.none()),
        max_size=20,
    ).map(lambda points: sorted(points, key=lambda point: point.seconds)),
    st.sampled_from([640, 1200]),
)
def test_pictures_of_any_record_are_well_formed_and_small(trace: list[TracePoint], width: int) -> None:
    answer = recorded(*trace, seconds=0.0)
    if all(point.value is None and point.bound is None for point in trace):
        with pytest.raises(BadInput):
            convergence(PROBLEM, answer)
        return
    picture = convergence(PROBLEM, answer, Sheet(width))
    assert len(picture) < 20_000
    for path in paths(picture).values():
        assert all(-1 <= x <= width for x in numbers(path, "H")), path


@pytest.mark.parametrize("order", [1, -1])
def test_of_many_points_no_more_are_drawn_than_can_be_seen(order: int) -> None:
    count = 100_000
    points = [TracePoint(0.3 + 0.6 * k / count, 2 * count - k, k // 2) for k in range(count)]
    picture = convergence(PROBLEM, recorded(TracePoint(0.1, None, 0), *points[::order]))
    assert len(picture) < 600_000
    drawn = paths(picture)
    few = paths(convergence(PROBLEM, recorded(TracePoint(0.1, None, 0), *points[:: order * 100])))
    for name in ("best", "bound"):
        heights, of_few = numbers(drawn[name], "V"), numbers(few[name], "V")
        assert (min(heights), max(heights)) == pytest.approx((min(of_few), max(of_few)), abs=1)


def test_the_highest_and_the_lowest_within_a_pixel_are_drawn() -> None:
    points = [TracePoint(0.5 + k * 1e-9, 100 if k == 1234 else 1 if k == 1500 else 50, 0) for k in range(3000)]
    heights = numbers(paths(convergence(PROBLEM, recorded(*points)))["best"], "V")
    first = float(paths(convergence(PROBLEM, recorded(*points)))["best"].split("H")[0].split(" ")[1])
    assert min(heights) < first < max(heights)
    assert heights[-1] == first
