"""The frontier of a problem with variants on the page: its curve, points as they come, and the chosen point's map."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.http.queued.test_pareto import LONG, STRIPES
from tests.http.served import THREE, Served
from tests.web.browsing import Visiting, picture
from tests.web.test_keyboard import tab_to

MANY = {
    **STRIPES,
    "name": "many",
    "variants": {
        "costs": [{"name": "cycles"}],
        "groups": [
            {
                "name": f"layer{i}",
                "alternatives": [
                    {
                        "name": f"{1 << k} stripes",
                        "costs": {"cycles": (k + 1) * (100 + i)},
                        "buffers": [{"id": f"features{i}", "size": 16384 >> k, "live": [[1, 3]]}],
                    }
                    for k in range(3)
                ],
            }
            for i in range(2)
        ],
    },
}


def curve_of(page: Page, problem: object) -> None:
    page.fill("#text", json.dumps(problem))
    page.fill("[name=time_limit]", "90")  # after the usual ten, a busy machine may have proven nothing
    page.get_by_role("button", name="Frontier", exact=True).click()
    expect(page.locator(".curve [role=status]")).to_contain_text("all of the frontier, proven")
    expect(page.locator(".badge")).to_have_text("optimal")
    page.wait_for_selector(".stage:visible")


def until_shown(page: Page, cost: str) -> None:
    expect(page.locator(".figures > div", has_text="cost").first).to_contain_text(cost)
    expect(page.get_by_role("radio", checked=True)).to_have_attribute("data-part", cost.replace("\u202f", ""))


def middle(page: Page, number: int) -> tuple[float, float]:
    box = page.get_by_role("radio").nth(number).locator("circle").last.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_frontier_is_offered_where_there_are_variants(visiting: Visiting) -> None:
    page = visiting().open()
    offer = page.locator("#frontier")
    expect(offer).to_be_hidden()
    page.fill("#text", json.dumps(STRIPES))
    expect(offer).to_be_visible()
    page.fill("#text", json.dumps(THREE))
    expect(offer).to_be_hidden()


def test_a_point_is_chosen_and_its_map_is_shown(visiting: Visiting, service: Served) -> None:
    page = visiting().open()
    curve_of(page, STRIPES)
    points = page.get_by_role("radio")
    expect(points).to_have_count(2)
    assert [points.nth(i).get_attribute("aria-label") for i in range(2)] == [
        "cost 1\u202f000, memory 58.6 KiB, proven",
        "cost 1\u202f400, memory 24.4 KiB, proven",
    ]
    shown = {}
    for i, cost in ((0, "1\u202f000"), (1, "1\u202f400")):
        page.mouse.click(*middle(page, i))
        until_shown(page, cost)
        page.mouse.move(0, 0)
        shown[cost] = picture(page)
    assert len(set(shown.values())) == 2
    expect(page.locator(".remarks").last).to_contain_text("Chosen in 1 group")
    assert page.url.endswith("@1400")
    page.reload()
    until_shown(page, "1\u202f400")
    expect(page.locator("#jobs li").first).to_contain_text("frontier")
    page.goto(page.url.replace("@1400", "@1000"))
    until_shown(page, "1\u202f000")


def test_points_are_walked_with_arrows(visiting: Visiting) -> None:
    page = visiting().open()
    curve_of(page, MANY)
    points = page.get_by_role("radio")
    count = points.count()
    assert count > 3
    page.locator("#workspace").focus()
    chosen = page.get_by_role("radio", checked=True).get_attribute("aria-label")
    assert chosen is not None
    tab_to(page, chosen)
    for key, number in (("Home", 0), ("ArrowRight", 1), ("ArrowDown", 2), ("ArrowLeft", 1), ("End", count - 1)):
        page.keyboard.press(key)
        expect(points.nth(number)).to_have_attribute("aria-checked", "true")
        expect(points.nth(number)).to_be_focused()
    cost = points.nth(count - 1).get_attribute("data-part")
    assert cost is not None
    expect(page.locator(".figures")).to_contain_text(cost)


def test_a_tap_near_a_point_chooses_it(visiting: Visiting) -> None:
    page = visiting(has_touch=True, viewport={"width": 360, "height": 700}).open()
    curve_of(page, STRIPES)
    page.locator(".curve").scroll_into_view_if_needed()
    for i, cost in ((1, "1\u202f400"), (0, "1\u202f000")):
        x, y = middle(page, i)
        page.touchscreen.tap(x - 12, y + 12)
        until_shown(page, cost)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_points_appear_during_the_search_and_stay(visiting: Visiting) -> None:
    page = visiting().open()
    page.fill("[name=time_limit]", "600")
    page.fill("#text", LONG.decode())
    page.click("#frontier")
    status = page.locator(".curve [role=status]")
    expect(status).to_contain_text("more points are looked for")
    expect(page.get_by_role("radio").nth(2)).to_be_attached()
    page.wait_for_selector(".stage:visible")
    expect(page.locator(".badge")).to_have_text("running")
    page.get_by_role("button", name="Stop", exact=True).first.click()
    expect(page.locator(".badge")).to_have_text("cancelled")
    expect(status).to_contain_text("not proven to be all (cancelled)")
    assert page.get_by_role("radio").count() > 2


def test_the_margin_for_better_plans_is_stated_and_drawn(visiting: Visiting, service: Served) -> None:
    """Two points of a frontier are asked for; the page draws a line below which there is no plan."""
    job = service.client.post("/v1/pareto?points=2", json=MANY, headers={"Prefer": "respond-async"}).json()["id"]
    page = visiting().open(f"/#{job}")
    expect(page.locator(".curve [role=status]")).to_contain_text("not proven to be all", timeout=120_000)
    within = service.client.get(f"/v1/jobs/{job}/plan").json()["within"]
    assert within > 0
    share = f"{within * 100:.{2 if within < 0.1 else 1}f} %"
    status = "2 points · not proven to be all (no more were asked for): any plan is matched by one of these"
    status += f" but for {share}, proven"
    expect(page.locator(".curve [role=status]")).to_have_text(status)
    expect(page.locator(".figures > div").first).to_have_text(f"frontierwithin {share}, proven")
    bound = "() => document.querySelector('.curve polyline.bound').getAttribute('points').split(' ').map((at) => at.split(',').map(Number))"
    spot = "() => [...document.querySelectorAll('.curve g.spot circle:last-child')].map((at) => [+at.getAttribute('cx'), +at.getAttribute('cy')])"
    line, points = page.evaluate(bound), page.evaluate(spot)
    assert line[0][0] < points[0][0], "what is cheaper is ruled out only as far as is proven"
    for x, y in points:  # no point lies under the line: pixels grow downwards
        assert max(low for at, low in line if at <= x + 0.01) >= y - 0.01


def test_an_infeasible_frontier_is_shown_as_such(visiting: Visiting) -> None:
    page = visiting().open()
    page.fill("[name=capacity]", "100")
    page.fill("#text", json.dumps(STRIPES))
    page.click("#frontier")
    expect(page.locator(".badge")).to_have_text("infeasible")
    expect(page.locator(".curve [role=status]")).to_contain_text(
        "0 points · nothing fits: pool 'sram' is 24900 bytes too small"
    )
    expect(page.locator(".curve .key")).to_be_hidden()


def test_two_points_stand_side_by_side(visiting: Visiting) -> None:
    visit = visiting(viewport={"width": 1400, "height": 900})
    page = visit.open()
    curve_of(page, STRIPES)
    job = page.url.partition("#")[2].partition("@")[0]
    visit.open(f"/#{job}@1000+{job}@1400")
    expect(page.locator(".pane")).to_have_count(2)
    expect(page.locator(".comparison tr").filter(has_text="peak")).to_contain_text("−")


def test_the_curve_is_visible_in_light_and_dark(visiting: Visiting) -> None:
    page = visiting().open()
    curve_of(page, STRIPES)
    line = "() => getComputedStyle(document.querySelector('.curve polyline.peak')).stroke.match(/\\d+/g).map(Number)"
    for theme in ("light", "dark"):
        page.select_option("#theme", theme)
        red, green, _ = page.evaluate(line)[:3]
        assert (red + green > 200) is (theme == "dark")


def test_a_long_name_leaves_room_for_what_the_file_is(visiting: Visiting, service: Served) -> None:
    headers = {"Prefer": "respond-async"}
    job = service.client.post("/v1/pareto", json={**STRIPES, "name": "long" * 30}, headers=headers).json()["id"]
    page = visiting().open(f"/#{job}")
    expect(page.locator(".badge")).to_have_text("optimal")
    names = []
    for button in ("Download the picture of the frontier as SVG", "Download the map of all pools as SVG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        names.append(download.value.suggested_filename)
    assert names == [f"{'long' * 15}.frontier.svg", f"{'long' * 15}.svg"]


def test_answers_without_a_map_are_named_and_kept(visiting: Visiting, service: Served) -> None:
    job = service.client.post("/v1/jobs?objects=true", json=THREE).json()["id"]
    page = visiting().open(f"/#{job}")
    expect(page.locator(".badge")).to_have_text("optimal")
    expect(page.locator(".remarks").last).to_contain_text("This answer is a sharing")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the plan as JSON").click()
    assert json.loads(download.value.path().read_bytes())["format"] == "memplan-sharing/1"
