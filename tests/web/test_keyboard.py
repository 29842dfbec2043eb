"""Everything on the page can be done with the keyboard alone."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.http.served import THREE
from tests.web.browsing import Visiting, picture, until_planned

FOCUS = """() => {
  const at = document.activeElement;
  const shown = at.classList.contains("unseen") ? at.labels[0] : at;
  const style = getComputedStyle(shown);
  return [at.tagName, at.id, at.getAttribute("aria-label") ?? at.innerText?.trim() ?? "", style.outlineStyle];
}"""


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the wanted element has the focus; each one on the way must show that it has the focus."""
    for _ in range(200):
        page.keyboard.press("Tab")
        tag, id_, label, outline = page.evaluate(FOCUS)
        assert tag == "BODY" or outline not in ("none", ""), (tag, id_, label)
        if wanted in (id_, label, tag):
            return
    raise AssertionError(f"the focus never came to {wanted}")


def test_the_page_can_be_used_with_keys_alone(visiting: Visiting) -> None:
    page = visiting().open()
    expect(page.locator("#first-steps button").first).to_be_visible()
    tab_to(page, "text")
    page.keyboard.insert_text(json.dumps(THREE))
    page.keyboard.press("Control+Enter")
    until_planned(page)
    tab_to(page, "file")
    tab_to(page, "Memory map of pool arena, 3 rectangles")
    whole = picture(page)
    for key in ("+", "ArrowRight", "ArrowUp", "Shift+ArrowLeft", "ArrowDown", "-"):
        before = picture(page)
        page.keyboard.press(key)
        assert picture(page) != before, key
    page.keyboard.press("0")
    assert picture(page) == whole
    chosen = page.locator(".chosen")
    for key, name in (("n", "image"), ("n", "edges"), ("n", "score"), ("p", "edges")):
        page.keyboard.press(key)
        expect(chosen).to_contain_text(name)
        expect(page.locator(".map [role=status]")).to_contain_text(name)
    page.keyboard.press("Enter")
    assert picture(page) != whole
    page.keyboard.press("Escape")
    expect(chosen).not_to_contain_text("edges")


def test_jobs_and_tabs_are_walked_with_arrows(visiting: Visiting) -> None:
    page = visiting().open()
    pools = [{"name": "first", "size": 64}, {"name": "second", "size": 64}]
    for name in ("one", "two"):
        buffers = [{"id": pool["name"], "size": 8, "live": [[0, 2]], "pools": [pool["name"]]} for pool in pools]
        page.fill("#text", json.dumps({**THREE, "name": name, "pools": pools, "buffers": buffers}))
        page.keyboard.press("Control+Enter")
        expect(page.locator("h2 bdi")).to_have_text(name)
        until_planned(page)
    expect(page.locator("#jobs .name").nth(1)).to_have_text("one")
    page.locator("#jobs .open").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h2 bdi")).to_have_text("one")
    page.wait_for_selector(".stage:visible")
    page.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="second")).to_be_focused()
    expect(page.get_by_role("tab", name="second")).to_have_attribute("aria-selected", "true")
    page.locator(".away").press("Enter")
    expect(page.locator("#welcome")).to_be_visible()
