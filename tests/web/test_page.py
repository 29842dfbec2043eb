"""The page as people use it: planning, watching, looking closely, comparing, keeping."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Page, expect

from planner import read_plan, read_problem, verify
from planner.formats import FORMATS
from tests.http.served import SLOW, THREE, TOO_SMALL, Served
from tests.web.browsing import Visiting, picture, plan_text, point, until_planned

RIGHT, TOP = 4, 96
"""What the map of THREE shows: all steps, and addresses up to the end of its pool."""


def planned(page: Page, problem: object = THREE) -> None:
    plan_text(page, json.dumps(problem))
    until_planned(page)


def test_an_example_is_planned_and_shown(visiting: Visiting, service: Served) -> None:
    page = visiting().open()
    expect(page.get_by_role("heading", name="No plan yet")).to_be_visible()
    page.locator("#first-steps button", has_text="U-Net").click()
    until_planned(page)
    figures = page.locator(".figures > div").all_inner_texts()
    peak, bound = (figure.split("\n")[1] for figure in figures[:2])
    assert peak == bound
    expect(page.locator(".legend")).to_contain_text("intermediate")
    expect(page.locator("#jobs li").first).to_contain_text("160 buffers")
    page.reload()
    until_planned(page)  # its address names the job


def test_pointing_at_a_buffer_says_what_it_is(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    page.mouse.move(*point(page, 2.0, 70, RIGHT, TOP))
    tip = page.locator(".tip")
    expect(tip.locator("strong")).to_have_text("edges")
    said = " ".join(tip.inner_text().split())
    assert "size 20 B offset 64 to 84 hex 0x40 to 0x54 live [1, 3), 2 steps" in said
    page.mouse.click(*point(page, 3.0, 20, RIGHT, TOP))
    expect(page.locator(".chosen")).to_contain_text("score")
    page.mouse.move(*point(page, 0.2, 90, RIGHT, TOP))
    expect(tip).to_be_hidden()


def test_what_a_pointer_is_told_is_of_the_buffer_below_it_when_the_map_moves(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    page.mouse.move(*point(page, 2.2, 50, RIGHT, TOP))
    tip = page.locator(".tip strong")
    expect(tip).to_be_hidden()
    for key in ("+",) * 3 + ("ArrowDown",) * 5:
        page.locator("canvas.over").press(key)
    expect(tip).to_be_visible()
    expect(tip).to_have_text("score")


def test_names_do_not_run_into_each_other(visiting: Visiting) -> None:
    page = visiting().open()
    outer = {"id": "an outer buffer of a long name", "size": 64, "live": [[0, 40]]}
    inner = [{"id": f"inner {i}", "size": 64, "live": [[6 * i, 6 * i + 6]]} for i in range(1, 6)]
    inside = {"colocations": [{"buffer": each["id"], "base": outer["id"], "offset": 0} for each in inner]}
    planned(page, {**THREE, "pools": [{"name": "arena"}], "buffers": [outer, *inner], "constraints": inside})
    names = page.evaluate("""() => new Promise((done) => {
      const names = [], draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y, room) {
        if (this.textAlign === "left") names.push({ text, x, y, end: x + Math.min(this.measureText(text).width, room) });
        draw.call(this, text, x, y, room);
      };
      document.querySelector("canvas.over").dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
      requestAnimationFrame(() => requestAnimationFrame(() => {
        CanvasRenderingContext2D.prototype.fillText = draw;
        done(names);
      }));
    })""")
    assert {each["text"] for each in names} >= {each["id"] for each in inner}
    for one, other in combinations(names, 2):
        is_beside = one["end"] <= other["x"] or other["end"] <= one["x"] or abs(one["y"] - other["y"]) > 10
        assert is_beside, (one, other)


def test_the_map_zooms_and_moves_and_comes_back(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    page.mouse.move(0, 0)
    whole = picture(page)

    def turn_the_wheel() -> None:
        page.mouse.move(*point(page, 2.2, 50, RIGHT, TOP))
        page.mouse.wheel(0, -400)

    steps: dict[str, Callable[[], None]] = {
        "wheel": turn_the_wheel,
        "button": lambda: page.get_by_role("button", name="Zoom in").click(),
        "key": lambda: page.locator("canvas.over").press("+"),
    }
    for name, act in steps.items():
        act()
        near = picture(page)
        assert near != whole, name
        x, y = point(page, 2.0, 50, RIGHT, TOP)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y - 40, steps=3)
        page.mouse.up()
        assert picture(page) not in (near, whole), name
        page.get_by_role("button", name="Show all of it").click()
        assert picture(page) == whole, name


def test_a_buffer_is_found_by_its_name(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    find = page.get_by_role("searchbox")
    find.fill("scor")
    find.press("Enter")
    expect(page.locator(".chosen")).to_contain_text("score")
    find.fill("nowhere")
    find.press("Enter")
    expect(find).to_have_attribute("aria-invalid", "true")


def test_buffers_are_found_in_every_pool_one_after_the_other(visiting: Visiting) -> None:
    page = visiting().open()
    buffers = [{"id": f"{pool}{i}", "size": 16, "live": [[0, 2]], "pools": [pool]} for pool in "ab" for i in range(2)]
    planned(page, {**THREE, "pools": [{"name": "a", "size": 64}, {"name": "b"}], "buffers": buffers})
    find, found, tabs = page.get_by_role("searchbox"), page.locator(".tools output"), page.get_by_role("tab")
    find.fill("1")
    find.press("Enter")
    for key, said, tab in (
        ("", "1 of 2", 0),
        ("Enter", "2 of 2", 1),
        ("Enter", "1 of 2", 0),
        ("Shift+Enter", "2 of 2", 1),
    ):
        if key:
            find.press(key)
        expect(found).to_have_text(said)
        expect(tabs.nth(tab)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".chosen")).to_contain_text("b1")
    find.fill("c")
    find.press("Enter")
    expect(found).to_have_text("none")


def test_a_finger_chooses_and_two_go_nearer(visiting: Visiting) -> None:
    page = visiting(has_touch=True).open()
    planned(page)
    whole = picture(page)
    page.touchscreen.tap(*point(page, 3.0, 20, RIGHT, TOP))
    expect(page.locator(".chosen")).to_contain_text("score")
    devtools = page.context.new_cdp_session(page)
    x, y = point(page, 2.0, 50, RIGHT, TOP)
    for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 100), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert picture(page) != whole
    page.get_by_role("button", name="Show all of it").click()
    assert picture(page) == whole


def test_a_cost_is_called_one_and_keeps_its_gap(visiting: Visiting) -> None:
    page = visiting().open()
    pools = [{"name": "fast", "size": 64, "rank": 0}, {"name": "slow", "rank": 1}]
    buffers = [{"id": i, "size": 48, "live": [[0, 2]], "accesses": 3 + i} for i in range(2)]
    planned(
        page,
        {
            **THREE,
            "name": "costly",
            "pools": pools,
            "buffers": buffers,
            "objective": {"terms": ["access_cost", "sum_of_peaks"]},
        },
    )
    figures = page.locator(".figures")
    expect(figures).to_contain_text("access cost (a cost)")
    expect(figures).to_contain_text("bound of it")
    expect(figures.locator("div", has_text="gap")).to_contain_text("0 %")
    planned(page)
    page.locator("#jobs li", has_text="costly").first.get_by_role("button", name="Compare").click()
    rows = page.locator(".comparison tr")
    expect(rows.filter(has_text="access cost (a cost)")).to_be_visible()
    expect(rows.filter(has_text="gap").locator("td").nth(1)).to_have_text("0 %")


def test_compared_maps_are_of_one_height(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 1400, "height": 900}).open()
    many = [{"id": f"b{i}", "size": 8, "live": [[0, 2]], "kind": f"kind {i}"} for i in range(12)]
    planned(page)
    planned(page, {**THREE, "name": "kinds", "pools": [{"name": "arena"}], "buffers": many})
    page.locator("#jobs li", has_text="three").first.get_by_role("button", name="Compare").click()
    expect(page.locator(".map")).to_have_count(2)
    expect(page.locator(".figures").last).to_contain_text("ended by")
    for i in range(2):
        expect(page.locator(".map").nth(i)).to_be_visible()
    boxes = [page.locator(".map").nth(i).bounding_box() for i in range(2)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["height"] == boxes[1]["height"]


def test_a_long_run_is_watched_and_stopped(visiting: Visiting) -> None:
    page = visiting().open()
    page.fill("[name=time_limit]", "600")
    page.locator("summary").click()
    page.fill("[name=work_limit]", "1000000000000")
    page.select_option("[name=solver]", "waiting")
    plan_text(page, SLOW.decode())
    expect(page.locator(".badge")).to_have_text("running")
    expect(page.locator(".convergence polyline")).to_have_count(2)
    page.wait_for_selector(".stage:visible")  # the best plan so far
    expect(page.locator(".figures")).to_contain_text("best so far")
    page.get_by_role("button", name="Stop", exact=True).first.click()
    expect(page.locator(".badge")).to_have_text("cancelled")
    expect(page.locator(".figures")).to_contain_text("peak")
    expect(page.locator("#jobs li").first).to_contain_text("cancelled")
    # Another one, by the list of jobs.
    page.click("#plan")
    expect(page.locator("#jobs li").first).to_contain_text("running")
    page.locator("#jobs li").first.get_by_role("button", name="Stop").click()
    expect(page.locator("#jobs li").first).to_contain_text("cancelled")
    page.select_option("#jobs select", "succeeded")
    expect(page.locator("#jobs li", has_text="cancelled")).to_have_count(0)


def test_two_plans_are_compared_side_by_side(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    more = {"id": "more", "size": 8, "live": [[1, 2]]}
    larger = {**THREE, "name": "larger", "pools": [{"name": "arena"}], "buffers": [*THREE["buffers"], more]}
    planned(page, larger)
    page.locator("#jobs li", has_text="three").first.get_by_role("button", name="Compare").click()
    expect(page.locator(".pane")).to_have_count(2)
    rows = page.locator(".comparison tr")
    expect(rows.filter(has_text="peak")).to_contain_text("−")
    expect(rows.filter(has_text="buffers")).to_contain_text("of 3")
    before = picture(page, 0), picture(page, 1)
    page.locator("canvas.over").first.press("+")
    after = picture(page, 0), picture(page, 1)
    assert after[0] != before[0]
    assert after[1] != before[1]
    page.get_by_label("Move both maps together").uncheck()
    page.locator("canvas.over").first.press("0")
    assert (picture(page, 0), picture(page, 1)) == (before[0], after[1])
    page.get_by_role("button", name="Close this plan").first.click()
    expect(page.locator(".pane")).to_have_count(1)
    expect(page.locator(".comparison")).to_have_count(0)


def test_plan_and_pictures_are_kept_as_files(visiting: Visiting, service: Served, tmp_path: Path) -> None:
    page = visiting().open()
    planned(page)

    def kept(button: str) -> tuple[str, bytes]:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        download.value.save_as(tmp_path / "file")
        return download.value.suggested_filename, (tmp_path / "file").read_bytes()

    name, data = kept("Download the plan as JSON")
    problem, _ = read_problem(json.dumps(THREE).encode())
    assert (name, verify(problem, read_plan(data))) == ("three.plan.json", ())
    name, data = kept("Download the map of all pools as SVG")
    assert name == "three.svg"
    assert ET.fromstring(data).tag.endswith("svg")
    name, data = kept("Download what the map shows as PNG")
    assert (name, data[:8]) == ("three.png", b"\x89PNG\r\n\x1a\n")
    box = page.locator("canvas.base").bounding_box()
    assert box is not None
    width, height = struct.unpack(">II", data[16:24])
    assert width == round(box["width"])
    assert height > box["height"] + 60, "title, figures and legend stand around the map"


def test_pools_are_tabs(visiting: Visiting) -> None:
    page = visiting().open()
    buffers = [{"id": f"{pool}{i}", "size": 16, "live": [[0, 2]], "pools": [pool]} for pool in "ab" for i in range(3)]
    planned(page, {**THREE, "pools": [{"name": "a", "size": 64}, {"name": "b"}], "buffers": buffers})
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(2)
    first = picture(page)
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    assert picture(page) != first


def test_what_is_wrong_is_said_where_it_was_typed(visiting: Visiting) -> None:
    page = visiting().open()
    error = page.locator("#problem .error")
    page.click("#plan")
    expect(error).to_contain_text("Paste a problem")
    plan_text(page, json.dumps({**THREE, "buffers": [{"id": "a", "size": -4}, {"id": "b"}]}))
    expect(error).to_contain_text("/buffers/0/size")
    expect(error).to_contain_text("/buffers/1")
    page.fill("[name=capacity]", "plenty")
    plan_text(page, json.dumps(THREE))
    expect(error).to_contain_text("plenty")
    page.fill("[name=capacity]", "")
    page.click("#plan")
    expect(error).to_be_hidden()


def test_why_nothing_fits_is_said(visiting: Visiting) -> None:
    page = visiting().open()
    plan_text(page, json.dumps(TOO_SMALL))
    expect(page.locator(".badge")).to_have_text("infeasible")
    expect(page.locator(".remark.bad")).to_contain_text("4 bytes too small")
    expect(page.get_by_role("tab")).to_contain_text("needs 84 B, has 80 B")
    expect(page.locator(".legend")).to_contain_text("bytes needed")


def test_files_that_are_no_text_are_sent_as_they_are(visiting: Visiting, service: Served) -> None:
    visit = visiting()
    visit.wanted = "checked by the command"
    page = visit.open()
    row = FORMATS["tflite"]
    page.set_input_files(
        "#file", {"name": "net.tflite", "mimeType": "application/octet-stream", "buffer": row.document}
    )
    expect(page.locator("#kept")).to_contain_text("net.tflite")
    page.click("#plan")
    until_planned(page)
    job = page.url.partition("#")[2]
    assert service.client.get(f"/v1/jobs/{job}/problem").content == row.document
    plan = service.client.get(f"/v1/jobs/{job}/plan").text
    page.set_input_files("#file", {"name": "plan.json", "mimeType": "application/json", "buffer": plan.encode()})
    expect(page.locator(".pane")).to_have_count(2)
    theirs = page.locator(".pane").nth(1)
    expect(theirs.locator(".badge")).to_have_text("optimal")
    expect(theirs.locator(".map")).to_be_visible()


def test_dropped_files_are_taken_and_a_dropped_plan_is_checked(visiting: Visiting, service: Served) -> None:
    page = visiting().open()

    def drop(name: str, text: str) -> None:
        data = page.evaluate_handle(
            "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name)); return data; }",
            [name, text],
        )
        for kind in ("dragenter", "dragover", "drop"):
            page.dispatch_event("body", kind, {"dataTransfer": data})

    drop("rows.csv", "id,lower,upper,size\na,0,2,64\nb,1,3,20\n")
    expect(page.locator("#text")).to_have_value("id,lower,upper,size\na,0,2,64\nb,1,3,20\n")
    expect(page.locator("#veil")).to_be_hidden()
    for kind in ("frontier", "nested", "proved", "shapes", "sharing", "sweep"):
        drop("answer.json", json.dumps({"format": f"memplan-{kind}/1"}))
        expect(page.get_by_role("alert")).to_contain_text(f"This is an answer ({kind}), not a problem.")
        expect(page.locator("#text")).to_have_value("id,lower,upper,size\na,0,2,64\nb,1,3,20\n")
    page.click("#plan")
    until_planned(page)
    job = page.url.partition("#")[2]
    plan = service.client.get(f"/v1/jobs/{job}/plan").json()
    for place in plan["placements"]:
        place["offset"] = 0
    drop("theirs.json", json.dumps(plan))
    expect(page.locator(".pane")).to_have_count(2)
    theirs = page.locator(".pane").nth(1)
    expect(theirs.locator(".badge")).to_have_text("wrong")
    expect(theirs.locator(".remark.bad")).to_contain_text("no valid plan")
    expect(theirs.locator(".figures")).to_contain_text("claimed peak")
    expect(page.locator(".comparison")).to_contain_text("B: theirs.json (wrong)")
    verdict, map_ = theirs.locator(".remark.bad").bounding_box(), theirs.locator(".map").bounding_box()
    assert verdict is not None
    assert map_ is not None
    assert verdict["y"] < map_["y"], "above the map, where it is seen"
    expect(page.locator("#jobs li").first).to_contain_text("rows.csv")
    for place in plan["placements"]:
        place["id"] = f"other {place['id']}"
    page.set_viewport_size({"width": 1000, "height": 700})
    drop("another.json", json.dumps(plan))
    expect(theirs.locator(".error")).to_be_in_viewport()
    expect(theirs.locator(".figures")).to_be_hidden()
    expect(page.locator(".comparison")).to_be_hidden()
    expect(theirs.locator(".badge")).to_have_text("refused")
    expect(theirs.locator(".error")).to_contain_text(
        "This is a plan of another problem: buffer 'other a' is not in the problem."
    )


def test_buffers_without_lifetimes_are_shown(visiting: Visiting) -> None:
    page = visiting().open()
    buffers = [{"name_hint": f"b{i}", "size_bytes": 8, "conflicts": [f"b{(i + 1) % 3}"]} for i in range(3)]
    planned(page, {"buffers": buffers})
    page.mouse.move(*point(page, 1.5, 12, 3, 25))
    expect(page.locator(".tip")).to_contain_text("no lifetime")


def test_when_the_service_is_gone_the_page_says_so(visiting: Visiting) -> None:
    visit = visiting()
    page = visit.open()
    expect(page.locator("#first-steps button").first).to_be_visible()
    visit.context.set_offline(True)
    plan_text(page, json.dumps(THREE))
    expect(page.locator("#problem .error")).to_contain_text("cannot be reached")
    visit.context.set_offline(False)
    page.click("#plan")
    until_planned(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_light_or_dark_as_the_system_is_or_as_it_is_told(visiting: Visiting, scheme: str) -> None:
    page = visiting(color_scheme=scheme).open()
    planned(page)
    brightness = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number).at(0)"
    own = picture(page)
    assert (page.evaluate(brightness) > 128) is (scheme == "light")
    page.select_option("#theme", "dark" if scheme == "light" else "light")
    assert (page.evaluate(brightness) > 128) is (scheme == "dark")
    assert picture(page) != own


def test_a_narrow_window_has_room_for_everything(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 360, "height": 700}).open()
    planned(page)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.locator(".badge").scroll_into_view_if_needed()
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    assert box["width"] > 300
    assert box["height"] > 200
