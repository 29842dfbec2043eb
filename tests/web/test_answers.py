"""Sweeps, plans for all shapes and nested arenas on the page: their parts, and the chosen part's map."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.http.queued.test_jobs import until
from tests.http.queued.test_studies import LOOP, SHAPED
from tests.http.served import THREE, Served
from tests.planner.formats.models.tflite.test_reading import looping
from tests.web.browsing import Visiting, picture

WIDE = {**THREE, "pools": [{"name": "arena"}]}
ASKED: dict[str, tuple[str, str, int]] = {
    "sweep": ("/v1/sweep?capacity=64..128&step=4", json.dumps(WIDE), 13),
    "shapes": ("/v1/shapes?mode=maximum", json.dumps(SHAPED), 5),
    "nested": ("/v1/plans?arenas=nested", LOOP.decode(), 2),
}
"""For each kind of answer: the path, the problem, and how many points there are to choose from."""


def shown(visiting: Visiting, service: Served, kind: str, part: str = "", **options: Any) -> Page:
    path, problem, _ = ASKED[kind]
    headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
    job = service.client.post(path, content=problem, headers=headers).json()
    until(service, job, "succeeded")  # while the job runs, the page would choose the part that comes first
    page = visiting(**options).open(f"/#{job['id']}{part}")
    page.wait_for_selector(".stage:visible")
    expect(page.locator(".pane")).to_have_attribute("aria-busy", "false")
    return page


def large(page: Page) -> str:
    """Return the pixels of the large map, which is the last one."""
    return picture(page, page.locator("canvas.base").count() - 1)


def radio(page: Page, number: int) -> str:
    """Wait until the point of this number is chosen, and return its label."""
    point = page.get_by_role("radio").nth(number)
    expect(point).to_have_attribute("aria-checked", "true")
    return point.get_attribute("aria-label") or point.inner_text()


@pytest.mark.parametrize("kind", ASKED)
def test_points_are_chosen_and_their_maps_shown(visiting: Visiting, service: Served, kind: str) -> None:
    page = shown(visiting, service, kind)
    points = page.get_by_role("radio")
    expect(points).to_have_count(ASKED[kind][2])
    assert large(page)
    first, last = page.url, ASKED[kind][2] - 1
    points.nth(1 if kind == "sweep" else 0).click(position={"x": 8, "y": 8} if kind == "nested" else None)
    expect(page).not_to_have_url(first)
    chosen = page.url
    radio(page, 1 if kind == "sweep" else 0)
    page.keyboard.press("ArrowRight")
    radio(page, 2 if kind == "sweep" else 1)
    page.reload()
    page.wait_for_selector(".stage:visible")
    radio(page, 2 if kind == "sweep" else 1)
    assert page.url != chosen
    assert last > 0


def test_a_sweep_shows_where_nothing_fits_and_the_smallest_size(visiting: Visiting, service: Served) -> None:
    page = shown(visiting, service, "sweep")
    status = page.locator(".curve [role=status]")
    expect(status).to_have_text(
        "17 sizes \u00b7 12 fit, 5 proven to be too small \u00b7 smallest arena: 84 B, proven on both sides"
    )
    assert page.url.endswith("@smallest")
    assert radio(page, 0) == "smallest size 84 B, proven to be the smallest"
    expect(page.locator(".curve polygon.none")).to_be_attached()
    expect(page.locator(".tabs")).to_contain_text("84 B")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the sweep as JSON").click()
    assert json.loads(download.value.path().read_bytes())["format"] == "memplan-sweep/1"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the picture of the sweep as SVG").click()
    assert download.value.path().read_bytes().startswith(b"<svg")


def test_shapes_show_their_waste(visiting: Visiting, service: Served) -> None:
    page = shown(visiting, service, "shapes", "@n%3D1")
    figures = page.locator(".figures")
    expect(figures).to_contain_text("n=1")
    expect(figures).to_contain_text("times the best")
    expect(page.locator(".curve polygon.waste")).to_be_attached()
    small = large(page)
    page.get_by_role("radio").last.click()
    expect(figures).to_contain_text("n=64")
    expect(page.locator(".tabs")).to_contain_text("20 KiB")
    assert large(page) != small
    expect(page.get_by_role("button", name="Download the plan as JSON")).to_be_hidden()


def test_arenas_stand_one_below_the_other(visiting: Visiting, service: Served) -> None:
    page = shown(visiting, service, "nested")
    expect(page.get_by_role("radio")).to_have_text(["block 10 KiB \u00b7 optimal", "main 22 KiB \u00b7 optimal"])
    expect(page.locator(".nested > [role=status]")).to_have_text("2 arenas \u00b7 together 22 KiB")
    maps = [page.locator(".row-of-arena .map").nth(i).bounding_box() for i in range(2)]
    assert maps[0] is not None
    assert maps[1] is not None
    assert maps[0]["y"] + maps[0]["height"] <= maps[1]["y"]
    expect(page.locator(".figures")).to_contain_text("main")
    page.locator(".row-of-arena canvas.over").first.click()
    expect(page.locator(".figures")).to_contain_text("block")
    expect(page.locator(".bar .tabs")).to_contain_text("10 KiB")


@pytest.mark.parametrize(("part", "first"), [("", "main"), ("@block", "block")])
def test_watching_arenas_being_planned_shows_the_final_answer(
    visiting: Visiting, service: Served, part: str, first: str
) -> None:
    job = service.client.post(
        "/v1/plans?arenas=nested", content=LOOP, headers={"Content-Type": "application/json", "Prefer": "respond-async"}
    ).json()
    until(service, job, "succeeded")
    visit, answers = visiting(), list[dict[str, Any]]()

    def first_at_work(route: Route) -> None:
        fetched = route.fetch()
        answers.append(fetched.json())
        route.fulfill(
            response=fetched, json=answers[0] | ({"state": "running", "finished": None} if len(answers) == 1 else {})
        )

    visit.page.route(f"**/v1/jobs/{job['id']}", first_at_work)
    page = visit.open(f"/#{job['id']}{part}")
    expect(page.locator(".badge")).to_have_text("optimal")
    expect(page.locator(".figures")).to_contain_text(first)
    assert [answer["state"] for answer in answers[:2]] == ["succeeded", "succeeded"]
    visit.page.unroute_all()


@pytest.mark.parametrize("kind", ASKED)
def test_answers_fit_a_phone_and_are_visible_in_the_dark(visiting: Visiting, service: Served, kind: str) -> None:
    size = {"width": 390, "height": 844}
    page = shown(visiting, service, kind, has_touch=True, viewport=size, color_scheme="dark")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    before = page.url
    point = page.get_by_role("radio").nth(1 if kind == "sweep" else 0)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + 12, box["y"] + 12)
    expect(page).not_to_have_url(before)
    if kind != "nested":
        line = page.locator(".curve polyline.peak, .curve polyline.optimum").last
        red, green, _ = line.evaluate("(line) => getComputedStyle(line).stroke.match(/\\d+/g).map(Number)")
        assert red + green > 200


@pytest.mark.parametrize(
    ("button", "problem", "capacity"),
    [("sweep", json.dumps(WIDE), "64..128"), ("shapes", json.dumps(SHAPED), ""), ("nested", LOOP.decode(), "")],
)
def test_the_form_offers_kinds_of_answers_that_make_sense(
    visiting: Visiting, button: str, problem: str, capacity: str
) -> None:
    page = visiting().open()
    names = ("frontier", "sweep", "shapes", "nested")
    page.fill("#text", json.dumps(THREE))
    for name in names:
        expect(page.locator(f"#{name}")).to_be_hidden()
    page.fill("#text", problem)
    page.fill("[name=capacity]", capacity)
    for name in names:
        expect(page.locator(f"#{name}")).to_be_visible(visible=name == button)
    page.click(f"#{button}")
    page.wait_for_selector(".stage:visible")
    expect(page.locator("#jobs li").first).to_contain_text(button)
    if button == "sweep":
        expect(page.locator("#jobs li").first).to_contain_text("smallest")


@pytest.mark.parametrize(
    ("path", "figures"),
    [("/v1/jobs?objects=true", "all objects96 Bbound96 Bbuffers3"), ("/v1/proof", "best84bound84gap0 %buffers3")],
)
def test_figures_of_an_answer_without_a_map_are_not_called_the_best_so_far(
    visiting: Visiting, service: Served, path: str, figures: str
) -> None:
    headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
    job = service.client.post(path, content=json.dumps(THREE), headers=headers).json()
    until(service, job, "succeeded")
    page = visiting().open(f"/#{job['id']}")
    expect(page.locator(".pane")).to_contain_text("of which this page has no map")
    expect(page.locator(".figures")).to_have_text(figures)


@pytest.mark.parametrize(
    ("size", "pools", "shown"),
    [
        (80, ("arena",), "needed84 Bthere is80 Blacking4 B"),
        (40, ("arena", "other"), "needed64 Bthere is40 Blacking24 B"),
    ],
    ids=["at one time", "a buffer alone"],
)
def test_an_infeasible_problem_has_what_is_lacking_and_no_kinds(
    visiting: Visiting, service: Served, size: int, pools: tuple[str, ...], shown: str
) -> None:
    kinds = [{**each, "kind": "input"} for each in THREE["buffers"]]
    small = {**THREE, "buffers": kinds, "pools": [{"name": name, "size": size} for name in pools]}
    job = service.client.post("/v1/jobs", json=small).json()
    until(service, job, "succeeded")
    page = visiting().open(f"/#{job['id']}")
    expect(page.locator(".figures")).to_contain_text(shown)
    expect(page.locator(".legend i[class^=k]")).to_have_count(0)


def test_nested_arenas_of_a_model_s_file(visiting: Visiting) -> None:
    page = visiting().open()
    for name, data, is_offered in (("x.csv", b"id,lower,upper,size\n", False), ("NET.TFLITE", looping(), True)):
        page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": data})
        expect(page.locator("#nested")).to_be_visible(visible=is_offered)
    page.click("#nested")
    expect(page.locator(".nested > [role=status]")).to_contain_text("5 arenas")
