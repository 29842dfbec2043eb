"""A plan's own page works from a file and loads nothing, and nothing in a plan becomes markup."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, expect

from api.map_page import MapOfPlan, map_page
from planner import Buffer, Options, Plan, Problem, plan
from planner.drawing import Theme, memory_map, profile, svg
from planner.formats import write_plan
from planner.generate import Request, generate
from planner.model.plan import TracePoint
from planner.model.problem import Lifetimes
from tests.web.browsing import Tabs, Visit, picture, words

EVIL = "</script><script>document.title = 'taken'</script><!--"


def held(problem: Problem, answer: Plan, name: str | None = None) -> MapOfPlan:
    drawn = memory_map(problem, answer)
    return MapOfPlan(name, write_plan(answer), drawn, svg(drawn))


def box_of(element: Locator) -> FloatRect:
    box = element.bounding_box()
    assert box is not None
    return box


def test_a_page_shows_its_plan_and_loads_nothing(tabs: Tabs, tmp_path: Path) -> None:
    problem = generate("transformer", Request(60, 1))
    answer = plan(problem)
    (tmp_path / "map.html").write_bytes(map_page(problem.name, [held(problem, answer)], Theme.DARK))
    visit = Visit(tabs, tmp_path.as_uri())
    page = visit.open("/map.html")
    expect(page.locator(".badge")).to_have_text("optimal")
    page.wait_for_selector(".stage:visible")
    whole = picture(page)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
    page.get_by_label("Find a buffer by its name").fill(str(problem.buffers[3].id))
    page.keyboard.press("Enter")
    expect(page.locator("output")).to_contain_text("1 of")
    assert picture(page) != whole
    with page.expect_download() as download:
        page.get_by_label("Download the plan as JSON").click()
    assert json.loads(download.value.path().read_bytes())["peak"] == answer.peak
    visit.end()


def test_a_very_long_run_is_drawn_with_no_more_points_than_can_be_seen(tabs: Tabs, tmp_path: Path) -> None:
    problem = generate("transformer", Request(60, 1))
    answer = plan(problem)
    peak, count = answer.peak or 0, 300_000
    trace = tuple(TracePoint(n / 1000, peak + (count - n) * (n % 7 + 1), peak - count + n) for n in range(count + 1))
    long = replace(answer, run=replace(answer.run, seconds=count / 1000, trace=trace))
    (tmp_path / "map.html").write_bytes(map_page(problem.name, [held(problem, long)]))
    visit = Visit(tabs, tmp_path.as_uri())
    page = visit.open("/map.html")
    page.wait_for_selector(".stage:visible")
    drawn = page.locator(".convergence polyline.peak").get_attribute("points")
    assert drawn is not None
    points = [tuple(map(float, each.split(","))) for each in drawn.split(" ")]
    assert 2_000 < len(points) < 20_000
    assert max(y for _, y in points) == points[-1][1], "the last is the best"
    assert min(y for _, y in points) < points[0][1], "the worst is in between"
    with page.expect_download() as download:
        page.get_by_label("Download the plan as JSON").click()
    assert download.value.path().read_bytes() == write_plan(long), "the whole record"
    visit.end()


def test_two_plans_stand_beside_each_other(tabs: Tabs, tmp_path: Path) -> None:
    problem = generate("transformer", Request(60, 1))
    plans = [
        held(problem, plan(problem), "best.json"),
        held(problem, plan(problem, Options(solver="usmp_by_size")), "other.json"),
    ]
    (tmp_path / "both.html").write_bytes(map_page(problem.name, plans))
    visit = Visit(tabs, tmp_path.as_uri())
    page = visit.open("/both.html")
    expect(page.locator(".comparison")).to_contain_text("lie elsewhere")
    assert page.locator(".pane").count() == 2
    for pane in range(2):
        expect(page.locator(".legend").nth(pane)).to_contain_text("lies elsewhere in the other")
    marked = picture(page, 1)
    page.evaluate("document.documentElement.style.setProperty('--moved', 'transparent')")
    page.get_by_label("Theme").select_option("light")
    assert picture(page, 1) != marked, "an outline around what lies elsewhere"
    visit.end()


def test_maps_beside_each_other_begin_at_one_height_whatever_stands_above_them(tabs: Tabs, tmp_path: Path) -> None:
    problem = generate("transformer", Request(60, 1))
    answer = plan(problem)
    long = replace(answer, solver="a_solver_of_such_a_long_name_that_" + "the_figures_take_more_lines_" * 2)
    above = ("bytes in use over time", profile(problem, answer))
    plans = [held(problem, each, name)._replace(above=above) for each, name in ((answer, "a.json"), (long, "b.json"))]
    (tmp_path / "both.html").write_bytes(map_page(problem.name, plans))
    visit = Visit(tabs, tmp_path.as_uri(), viewport={"width": 1400, "height": 1000})
    page = visit.open("/both.html")
    expect(page.locator(".comparison")).to_contain_text("lie elsewhere")
    figures = [box_of(page.locator(".figures > :last-child").nth(pane)) for pane in range(2)]
    maps = [box_of(page.locator(".map").nth(pane)) for pane in range(2)]
    assert figures[0]["y"] < figures[1]["y"], "the second has more lines of figures"
    assert (maps[0]["y"], maps[0]["height"]) == (maps[1]["y"], maps[1]["height"])
    captions = page.locator("figcaption")
    assert captions.all_inner_texts() == ["A a.json: bytes in use over time", "B b.json: bytes in use over time"]
    visit.end()


def test_times_and_names_have_room(tabs: Tabs, tmp_path: Path) -> None:
    buffers = tuple(
        Buffer(f"model/activation_{i}/Relu;model/batch_normalization_{i}/FusedBatchNormV3", 64, live=((i, i + 2),))
        for i in range(30)
    )
    steps = tuple((i, f"DEPTHWISE_CONV_2D.{i}") for i in range(32))
    problem = Problem((*buffers, Buffer("model/thin", 1, live=((0, 20),))), lifetimes=Lifetimes.HALF_OPEN, steps=steps)
    (tmp_path / "map.html").write_bytes(map_page(problem.name, [held(problem, plan(problem))]))
    visit = Visit(tabs, tmp_path.as_uri(), viewport={"width": 1000, "height": 800})
    page = visit.open("/map.html")
    expect(page.locator(".badge")).to_have_text("optimal")
    times = words(page, "center")
    assert len(times) > 3
    assert all(one["end"] + 4 < other["x"] for one, other in pairwise(times))
    names = words(page, "left")
    assert names
    assert all("BatchNorm" not in each["text"] for each in names)
    assert "thin" in {each["text"] for each in names}, "beside its box, since there is no room inside"
    assert min(len(each["text"].replace("…", "")) for each in names if "…" in each["text"]) >= 5
    assert len({each["text"] for each in names}) == len(names)
    page.get_by_label("Find a buffer by its name").fill("activation_3/")
    page.keyboard.press("Enter")
    term = page.locator(".chosen dt", has_text="buffer")
    assert box_of(term)["height"] < 25, "one line, however long the name beside it is"
    visit.end()


def test_a_picture_above_the_map_follows_the_page_s_theme(tabs: Tabs, tmp_path: Path) -> None:
    problem = generate("transformer", Request(60, 1))
    answer = plan(problem)
    above = ("bytes in use over time", profile(problem, answer))
    (tmp_path / "map.html").write_bytes(map_page(problem.name, [held(problem, answer)._replace(above=above)]))
    visit = Visit(tabs, tmp_path.as_uri())
    page = visit.open("/map.html")
    page.wait_for_selector(".stage:visible")
    image = page.get_by_alt_text("bytes in use over time")
    shots = []
    for theme in ("light", "dark"):
        page.get_by_label("Theme").select_option(theme)
        shots.append(image.screenshot())
    assert shots[0] != shots[1]
    visit.end()


def test_names_have_no_power_over_the_page(tabs: Tabs, tmp_path: Path) -> None:
    problem = Problem(buffers=(Buffer(EVIL, 64, live=((0, 2),)),), name=EVIL)
    (tmp_path / "map.html").write_bytes(map_page(problem.name, [held(problem, plan(problem))]))
    visit = Visit(tabs, tmp_path.as_uri())
    page = visit.open("/map.html")
    expect(page.locator(".badge")).to_have_text("optimal")
    assert page.title() == EVIL
    visit.end()
