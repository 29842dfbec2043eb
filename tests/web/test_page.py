"""The page as people use it: planning, watching, looking closely, comparing, keeping."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

from planner import read_plan, read_problem, verify
from planner.formats import FORMATS
from tests.http.served import SLOW, THREE, TOO_SMALL, Served
from tests.web.browsing import Visiting, picture, plan_text, planned, until_planned


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
    until_planned(page)  # the address names the job


def test_a_cost_is_labelled_as_one_and_keeps_its_gap(visiting: Visiting) -> None:
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
    planned(page, {**THREE, "name": "weighted", "pools": [{"name": "arena", "cost": 3}]})
    expect(figures).to_contain_text("peaks by cost (a cost)")
    page.locator("#jobs li", has_text="costly").first.get_by_role("button", name="Compare").click()
    rows = page.locator(".comparison tr")
    expect(rows.filter(has_text="access cost (a cost)")).to_be_visible()
    expect(rows.filter(has_text="gap").locator("td").nth(1)).to_have_text("0 %")


def test_an_objective_and_the_settings_of_a_format_can_be_chosen(visiting: Visiting) -> None:
    page = visiting().open()
    page.get_by_text("More options").click()
    page.select_option("[name=prefer]", "speed")
    page.fill("[name=format]", "minimalloc:inclusive")
    page.fill("#text", "id,lower,upper,size\na,0,1,64\nb,1,2,32\n")
    page.get_by_role("button", name="Plan", exact=True).click()
    until_planned(page)
    figures = page.locator(".figures")
    expect(figures).to_contain_text("access cost (a cost)")
    expect(figures).to_contain_text("96 B")  # the last time counts as well


def test_a_long_run_is_watched_and_stopped(visiting: Visiting) -> None:
    page = visiting().open()
    page.fill("[name=time_limit]", "600")
    page.locator("summary").click()
    page.fill("[name=work_limit]", "1000000000000")
    page.select_option("[name=solver]", "waiting")
    plan_text(page, SLOW.decode())
    expect(page.locator(".badge")).to_have_text("running")
    expect(page.locator(".convergence polyline")).to_have_count(2)
    page.wait_for_selector(".stage:visible")  # the map of the best plan so far
    expect(page.locator(".figures")).to_contain_text("best so far")
    page.get_by_role("button", name="Stop", exact=True).first.click()
    expect(page.locator(".badge")).to_have_text("cancelled")
    expect(page.locator(".figures")).to_contain_text("peak")
    expect(page.locator("#jobs li").first).to_contain_text("cancelled")
    # Another job is stopped from the list of jobs.
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


def test_errors_are_shown_where_the_problem_was_typed(visiting: Visiting) -> None:
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


def test_an_infeasible_plan_is_explained(visiting: Visiting) -> None:
    page = visiting().open()
    plan_text(page, json.dumps(TOO_SMALL))
    expect(page.locator(".badge")).to_have_text("infeasible")
    expect(page.locator(".remark.bad")).to_contain_text("4 bytes too small")
    expect(page.get_by_role("tab")).to_contain_text("needs 84 B, has 80 B")
    figures = page.locator(".figures")
    expect(figures).to_contain_text("needed84 Bthere is80 Blacking4 Bbuffers3")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    both = {**THREE, "pools": [{"name": "fast", "size": 48}, {"name": "slow", "size": 64}]}
    plan_text(page, json.dumps({**both, "buffers": [{"id": i, "size": 48, "live": [[0, 2]]} for i in range(3)]}))
    expect(figures).to_contain_text("needed144 Bthere is112 Blacking32 Bbuffers3")
    expect(page.locator(".legend")).to_contain_text("bytes needed")


def test_binary_files_are_sent_unchanged(visiting: Visiting, service: Served) -> None:
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
    plan["peak"] = 8
    drop("theirs.json", json.dumps(plan))
    expect(page.locator(".pane")).to_have_count(2)
    theirs = page.locator(".pane").nth(1)
    expect(theirs.locator(".badge")).to_have_text("wrong")
    expect(theirs.locator(".remark.bad")).to_contain_text("no valid plan")
    expect(theirs.locator(".figures")).to_contain_text("claimed peak")
    expect(page.locator(".comparison")).to_contain_text("B: theirs.json (wrong)")
    peak = page.locator(".comparison tr", has_text="peak")
    expect(peak).to_have_text("peak84 B8 B (claimed)–")
    expect(page.locator(".comparison .better, .comparison .worse")).to_have_count(0)
    expect(page.locator("#workspace")).not_to_contain_text("a cost")
    expect(theirs.locator(".legend")).to_contain_text("named in what is wrong")
    expect(page.locator(".pane").nth(0).locator(".legend")).not_to_contain_text("wrong")
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


def test_the_page_reports_a_lost_service(visiting: Visiting) -> None:
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
def test_the_page_follows_the_system_s_theme_or_the_chosen_one(visiting: Visiting, scheme: str) -> None:
    page = visiting(color_scheme=scheme).open()
    planned(page)
    brightness = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number).at(0)"
    own = picture(page)
    assert (page.evaluate(brightness) > 128) is (scheme == "light")
    page.select_option("#theme", "dark" if scheme == "light" else "light")
    assert (page.evaluate(brightness) > 128) is (scheme == "dark")
    assert picture(page) != own


@pytest.mark.parametrize("width", [320, 360])
def test_a_narrow_window_has_room_for_everything(width: int, visiting: Visiting) -> None:
    page = visiting(viewport={"width": width, "height": 700}).open()
    planned(page)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for last in ("#theme", ".tools button:last-child"):
        box = page.locator(last).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
    page.locator(".badge").scroll_into_view_if_needed()
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    assert box["width"] > width - 60
    assert box["height"] > 200


def test_an_answer_of_several_plans_can_be_closed_in_a_narrow_window(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 320, "height": 700}).open()
    page.fill("[name=capacity]", "80..100")
    page.fill("#text", json.dumps(THREE))
    page.click("#sweep")
    until_planned(page)
    expect(page.get_by_role("button", name="Download the picture of the sweep as SVG")).to_be_visible()
    box = page.get_by_role("button", name="Close this plan").bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 320


def test_what_is_said_of_a_buffer_with_a_long_name_leaves_the_map_in_sight(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 320, "height": 700}).open()
    planned(
        page,
        {
            **THREE,
            "buffers": [{**each, "id": str(n) * 1000, "kind": "k" * 1000} for n, each in enumerate(THREE["buffers"])],
        },
    )
    page.locator("canvas.over").focus()
    page.keyboard.press("n")
    expect(page.locator(".chosen")).to_contain_text("000")
    page.locator("canvas.over").scroll_into_view_if_needed()
    whole, chosen = page.locator("canvas.over").bounding_box(), page.locator(".chosen").bounding_box()
    assert whole is not None
    assert chosen is not None
    assert chosen["y"] - whole["y"] > whole["height"] / 2


def test_back_returns_to_what_was_shown_before(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    planned(page, {**THREE, "name": "second"})
    expect(page.locator(".pane h2")).to_have_text("second")  # until then what is planned is the first
    page.go_back()
    expect(page.locator(".pane h2")).to_have_text("three")
    page.go_back()
    expect(page.locator("#welcome")).to_be_visible()
    page.go_forward()
    page.go_forward()
    expect(page.locator(".pane h2")).to_have_text("second")
    page.get_by_role("button", name="Close this plan").click()
    expect(page.locator("#welcome")).to_be_visible()
    page.go_back()
    expect(page.locator(".pane h2")).to_have_text("second")


def test_what_is_printed_is_the_plan_in_dark_on_white(visiting: Visiting) -> None:
    page = visiting().open()
    page.select_option("#theme", "dark")
    planned(page)
    page.emulate_media(media="print")
    expect(page.locator("aside")).to_be_hidden()
    expect(page.locator("canvas.over")).to_be_visible()
    colour = page.locator(".pane h2").evaluate("(title) => getComputedStyle(title).color")
    shades = [int(each) for each in re.findall(r"\d+", colour)[:3]]
    page.emulate_media(media="screen")
    assert max(shades) < 100


@pytest.mark.parametrize(("system", "chosen"), [("dark", "auto"), ("light", "dark"), ("light", "auto")])
def test_the_map_is_printed_light_whatever_the_theme_is(visiting: Visiting, system: str, chosen: str) -> None:
    page = visiting(color_scheme=system).open()
    page.select_option("#theme", chosen)
    planned(page)
    before = picture(page)
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
      const map = document.querySelector("canvas.base");
      window.printed = [...map.getContext("2d").getImageData(1, 1, 1, 1).data, map.toDataURL() ];
    })"""
    )
    page.pdf()
    *corner, drawn = page.evaluate("() => window.printed")
    assert corner == [255] * 4
    assert (drawn == before) == ("dark" not in (system, chosen))
    assert picture(page) == before, "the screen is as it was"
