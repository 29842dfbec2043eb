"""The memory map on the page can be pointed at, moved, searched and touched."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from playwright.sync_api import expect

from tests.http.served import THREE
from tests.web.browsing import Visiting, picture, planned, point, words

RIGHT, TOP = 4, 96
"""The right and the top end of the map of THREE: all its steps, and addresses up to its pool's end."""


def test_pointing_at_a_buffer_describes_it(visiting: Visiting) -> None:
    page = visiting().open()
    planned(page)
    page.mouse.move(*point(page, 2.0, 70, RIGHT, TOP))
    tip = page.locator(".tip")
    expect(tip.locator("strong")).to_have_text("edges")
    text = " ".join(tip.inner_text().split())
    assert "size 20 B offset 64 to 84 hex 0x40 to 0x54 live [1, 3), 2 steps" in text
    page.mouse.click(*point(page, 3.0, 20, RIGHT, TOP))
    expect(page.locator(".chosen")).to_contain_text("score")
    page.mouse.move(*point(page, 0.2, 90, RIGHT, TOP))
    expect(tip).to_be_hidden()


def test_a_moving_map_updates_the_description_below_the_pointer(visiting: Visiting) -> None:
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
    names = words(page, "left")
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
    buffers[2]["live"] = [[0, 1], [2, 3], [4, 5]]
    planned(page, {**THREE, "pools": [{"name": "a", "size": 64}, {"name": "b"}], "buffers": buffers})
    find, found, tabs = page.get_by_role("searchbox"), page.locator(".tools output"), page.get_by_role("tab")
    find.fill("1")
    find.press("Enter")
    for key, count, tab in (
        ("", "1 of 2", 0),
        ("Enter", "2 of 2", 1),
        ("Enter", "1 of 2", 0),
        ("Shift+Enter", "2 of 2", 1),
    ):
        if key:
            find.press(key)
        expect(found).to_have_text(count)
        expect(tabs.nth(tab)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".chosen")).to_contain_text("b1")
    find.fill("c")
    find.press("Enter")
    expect(found).to_have_text("none on the map")
    for text, count in (("0 B", "1 of 1"), ("  ", "")):  # one buffer, however many lifetimes it has
        find.fill(text)
        find.press("Enter")
        expect(found).to_have_text(count)


def test_the_buffer_of_that_very_name_is_found_first_and_then_those_that_contain_it(visiting: Visiting) -> None:
    page = visiting().open()
    names = ("conv 10", "conv 1", "my conv 11", "other")
    buffers = [{"id": name, "size": 16, "live": [[i, i + 2]]} for i, name in enumerate(names)]
    planned(page, {**THREE, "pools": [{"name": "a"}], "buffers": buffers})
    find, found, chosen = page.get_by_role("searchbox"), page.locator(".tools output"), page.locator(".chosen dd").first
    find.fill("conv 1")
    for i, name in enumerate(("conv 1", "conv 10", "my conv 11", "conv 1")):
        find.press("Enter")
        expect(chosen).to_have_text(name)
        expect(found).to_have_text(f"{i % 3 + 1} of 3")


def test_one_finger_chooses_and_two_zoom(visiting: Visiting) -> None:
    page = visiting(has_touch=True).open()
    planned(page)
    whole = picture(page)
    page.touchscreen.tap(*point(page, 3.0, 20, RIGHT, TOP))
    expect(page.locator(".chosen")).to_contain_text("score")
    x, y = point(page, 3.0, 84, RIGHT, TOP)  # the upper right corner of edges; score is nearly as near
    page.touchscreen.tap(x + 4, y - 3)
    expect(page.locator(".chosen")).to_contain_text("edges")
    devtools = page.context.new_cdp_session(page)
    x, y = point(page, 2.0, 50, RIGHT, TOP)
    for kind, apart in (("touchStart", 20), ("touchMove", 60), ("touchMove", 100), ("touchEnd", None)):
        points = [] if apart is None else [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert picture(page) != whole
    page.get_by_role("button", name="Show all of it").click()
    assert picture(page) == whole


def test_on_a_phone_the_chosen_buffer_and_all_pools_are_in_sight(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 390, "height": 640}, has_touch=True).open()
    pools = [{"name": f"memory {i}", "size": 4000} for i in range(4)]
    buffers = [{"id": f"b{i}", "size": 3000, "live": [[0, 4]], "pools": [f"memory {i}"]} for i in range(4)]
    planned(page, {**THREE, "pools": pools, "buffers": buffers})
    tabs = page.get_by_role("tab")
    assert tabs.evaluate_all("(tabs) => tabs.filter((tab) => tab.scrollWidth > tab.clientWidth).length") == 0
    for i in range(4):
        expect(tabs.nth(i)).to_be_in_viewport(ratio=1)
    page.locator("canvas.over").evaluate("(map) => map.scrollIntoView({ block: 'end' })")
    page.touchscreen.tap(*point(page, 2.0, 3000, RIGHT, 4000))
    expect(page.locator(".chosen")).to_contain_text("b0")
    expect(page.locator(".chosen")).to_be_in_viewport(ratio=0.99)
    find = page.get_by_role("searchbox")
    find.fill("b3")
    find.press("Enter")
    expect(page.locator(".chosen")).to_contain_text("b3")
    expect(page.locator(".chosen")).to_be_in_viewport(ratio=0.99)


def test_twelve_kinds_have_colours_of_their_own(visiting: Visiting) -> None:
    page = visiting().open()
    many = [{"id": f"b{i}", "size": 8, "live": [[0, 2]], "kind": f"kind {i}"} for i in range(14)]
    planned(page, {**THREE, "pools": [{"name": "arena"}], "buffers": many})
    marks = page.locator(".legend i[class^=k]")
    expect(marks).to_have_count(13)
    expect(page.locator(".legend")).to_contain_text("2 more kinds")
    colours = marks.evaluate_all("(marks) => marks.map((each) => getComputedStyle(each).backgroundColor)")
    assert len(set(colours)) == 13


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


def test_each_pool_has_a_tab(visiting: Visiting) -> None:
    page = visiting().open()
    buffers = [{"id": f"{pool}{i}", "size": 16, "live": [[0, 2]], "pools": [pool]} for pool in "ab" for i in range(3)]
    planned(page, {**THREE, "pools": [{"name": "a", "size": 64}, {"name": "b"}], "buffers": buffers})
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(2)
    first = picture(page)
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    assert picture(page) != first


def test_buffers_without_lifetimes_are_shown(visiting: Visiting) -> None:
    page = visiting().open()
    buffers = [{"name_hint": f"b{i}", "size_bytes": 8, "conflicts": [f"b{(i + 1) % 3}"]} for i in range(3)]
    planned(page, {"buffers": buffers})
    page.mouse.move(*point(page, 1.5, 12, 3, 25))
    expect(page.locator(".tip")).to_contain_text("no lifetime")


def test_compared_maps_are_of_one_scale_whatever_their_pools_are_called(visiting: Visiting) -> None:
    page = visiting(viewport={"width": 1400, "height": 900}).open()
    for name, count, size in (("one", 3, 4096), ("other", 9, 64)):
        buffers = [{"id": i, "size": size, "live": [[2 * i, 2 * i + 2]]} for i in range(count)]
        planned(page, {**THREE, "name": name, "pools": [{"name": f"pool of {name}", "size": size}], "buffers": buffers})
        expect(page.locator(".pane h2")).to_have_text(name)
    page.locator("#jobs li", has_text="one").first.get_by_role("button", name="Compare").click()
    expect(page.locator(".comparison tr", has_text="buffers")).to_contain_text("lie elsewhere")
    expect(page.locator("canvas.over:visible")).to_have_count(2)
    tips = page.locator(".tip strong")
    for pane in range(2):
        page.mouse.move(*point(page, 4.5, 40, 18, 4096, pane))
        expect(tips.nth(pane)).to_have_text("2")
    page.get_by_label("Move both maps together").uncheck()
    page.mouse.move(*point(page, 4.5, 40, 18, 64, 0))
    expect(tips.nth(0)).to_have_text("2")
