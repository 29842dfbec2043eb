"""Elements of the page do not overlap, whatever the window's size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.http.served import THREE, Served
from tests.web.browsing import Visiting, plan_text, until_planned

KINDS = (
    "input",
    "workspace",
    "intermediate",
    "output",
    "mutable",
    "weights",
    "an activation",
    "scratch",
    "a view",
    "state",
)
MANY: dict[str, Any] = {
    **THREE,
    "name": "many kinds",
    "buffers": [{"id": f"b{i}", "size": 4, "live": [[i, i + 3]], "kind": kind} for i, kind in enumerate(KINDS)],
}
WINDOWS = {"desk": (1280, 800), "low": (1280, 460), "tablet": (820, 1180), "phone": (360, 700)}
OVERLAPS = """() => {
  for (const whole of [document.scrollingElement, document.getElementById("workspace")]) whole.scrollTop = whole.scrollHeight; // what sticks is in its place
  return [...document.querySelectorAll(".pane, .stage")].flatMap((whole) => {
  const shown = [...whole.children].filter((each) => each.checkVisibility() && getComputedStyle(each).position !== "absolute");
  return shown.slice(1).flatMap((below, i) => {
    const above = shown[i].getBoundingClientRect(), lower = below.getBoundingClientRect();
    const ends = Math.max(above.top + shown[i].scrollHeight, above.bottom);
    return ends > lower.top + 1 ? [`${shown[i].className} ends at ${ends}, ${below.className} begins at ${lower.top}`] : [];
  });
});
}"""


def opened(visiting: Visiting, window: str) -> Page:
    width, height = WINDOWS[window]
    page = visiting(viewport={"width": width, "height": height}).open()
    plan_text(page, json.dumps(MANY))
    until_planned(page)
    return page


@pytest.mark.parametrize("window", WINDOWS)
def test_no_element_lies_over_another(visiting: Visiting, service: Served, window: str) -> None:
    page = opened(visiting, window)
    page.locator("canvas.over").press("n")
    expect(page.locator(".chosen dd").first).to_be_visible()
    assert page.evaluate(OVERLAPS) == []
    plan = service.client.post("/v1/plans", json=MANY).text
    page.set_input_files("#file", {"name": "other.plan.json", "mimeType": "application/json", "buffer": plan.encode()})
    expect(page.locator(".stage:visible")).to_have_count(2)
    assert page.evaluate(OVERLAPS) == []


HEIGHTS = """async (figures) => {
  const { framed, PART } = await import("/web/map/picture.js");
  const map = Object.assign(document.createElement("canvas"), { width: 300, height: 100 });
  const picture = await framed(map, 1, ["title", figures.join(PART)], [], { page: "white", ink: "black", soft: "gray", kinds: [] });
  return (await createImageBitmap(picture)).height;
}"""


def test_figures_of_a_narrow_picture_are_wrapped_between_figures(visiting: Visiting) -> None:
    page = visiting().open()
    one, three = (page.evaluate(HEIGHTS, ["m" * 20] * count) for count in (1, 3))
    assert three == one + 2 * 18


CUT = """async (value) => {
  const { Convergence } = await import("/web/pane/convergence.js");
  const shown = new Convergence();
  document.body.append(shown.root);
  shown.replace([{ seconds: 0, value, bound: 0 }, { seconds: 1, value, bound: value - 1 }], 2);
  const left = shown.svg.getBoundingClientRect().left;
  return [...shown.svg.querySelectorAll("text")].filter((each) => each.getBoundingClientRect().left < left).map((each) => each.textContent);
}"""


@pytest.mark.parametrize("value", [9, 10**15])
def test_no_figure_of_a_run_is_cut(visiting: Visiting, value: int) -> None:
    assert visiting().open().evaluate(CUT, value) == []
