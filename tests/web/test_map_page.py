"""A plan's own page works from a file and loads nothing, and nothing in a plan becomes markup."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from api.map_page import MapOfPlan, map_page
from planner import Buffer, Options, Plan, Problem, plan
from planner.drawing import Theme, memory_map, profile, svg
from planner.formats import write_plan
from planner.generate import Request, generate
from tests.web.browsing import Tabs, Visit, picture

EVIL = "</script><script>document.title = 'taken'</script><!--"


def held(problem: Problem, answer: Plan, name: str | None = None) -> MapOfPlan:
    drawn = memory_map(problem, answer)
    return MapOfPlan(name, write_plan(answer), drawn, svg(drawn))


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
