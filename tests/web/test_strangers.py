"""Names that strangers chose do nothing on the page, and the page shows strangers only what is theirs."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from playwright.sync_api import expect

from planner.checks.report import printable
from tests.http.served import THREE, serving
from tests.web.browsing import Visiting, plan_text, point, until_planned

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</bdi></li><iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert(1)//${alert(1)}{{7*7}}",
    "nul\x00bell\x07\x1b[31m",
    "\u202egnp.exe\u2066\u200f\u05d0\u05d1",
    "x" * 1024,
]


def test_hostile_names_are_shown_and_do_nothing(visiting: Visiting) -> None:
    """Each name is that of a pool and of a buffer in it, and the page only displays it."""
    page = visiting(viewport={"width": 1280, "height": 1000}).open()
    problem = {
        **THREE,
        "name": HOSTILE[0],
        "pools": [{"name": name, "size": 96} for name in HOSTILE],
        "buffers": [{"id": name, "size": 64, "live": [[0, 4]], "kind": name, "pools": [name]} for name in HOSTILE],
    }
    plan_text(page, json.dumps(problem))
    until_planned(page)
    for number, name in enumerate(HOSTILE):
        page.get_by_role("tab").nth(number).click()
        page.mouse.move(*point(page, 1.0, 30, 4, 96))
        page.mouse.click(*point(page, 1.0, 30, 4, 96))
        shown = page.locator(".tip strong, .chosen bdi, .tabs [aria-selected=true] bdi").all_inner_texts()
        assert len(shown) == 3
        for text in shown:
            assert text == printable(name)[: len(text) - 1] + text[-1]
            assert len(text) <= 300
            assert text.isprintable()
        page.keyboard.press("Escape")
    assert page.locator("h2 bdi, #jobs .shown .name").all_inner_texts() == [HOSTILE[0]] * 2
    assert page.locator(".pane img, .pane script, iframe, #jobs img").count() == 0
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the map of all pools as SVG").click()
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,60}\.svg", download.value.suggested_filename)


def test_hostile_names_in_errors_are_text(visiting: Visiting) -> None:
    page = visiting().open()
    plan_text(page, json.dumps({**THREE, "buffers": [], HOSTILE[0]: 1, HOSTILE[5]: 2}))
    expect(page.locator("#problem .error")).to_contain_text("<img src=x")
    assert page.locator("aside img").count() == 0


def test_addresses_name_a_job_or_nothing(visiting: Visiting) -> None:
    visit = visiting()
    for hash_ in ("#<img src=x onerror=alert(1)>", "#../../healthz", "#javascript:alert(1)"):
        page = visit.open(f"/{hash_}")
        expect(page.locator("#welcome")).to_be_visible()
        page.goto("about:blank")
    page = visit.open("/#0123456789abcdef")
    expect(page.locator(".pane .error")).to_contain_text("no such job")


def test_markup_from_text_is_impossible(visiting: Visiting) -> None:
    """With trusted types, even a mistake in the page's own code could not turn text into markup."""
    visit = visiting()
    visit.wanted = "TrustedHTML|Content Security Policy|CSP|CORS"
    page = visit.open()
    attempt = "() => { try { document.body.innerHTML = '<b>x</b>'; return 'done'; } catch { return 'refused'; } }"
    assert page.evaluate(attempt) == "refused"
    elsewhere = "() => fetch('//127.0.0.1:9/').then(() => 'sent', () => 'blocked')"
    assert page.evaluate(elsewhere) == "blocked"
    assert not any("left the host" in each for each in visit.wrong)


def test_with_tokens_the_page_asks_for_one_and_shows_its_jobs(visiting: Visiting, tmp_path: Path) -> None:
    tokens = ",".join(f"{name}={hashlib.sha256(name.encode()).hexdigest()}" for name in ("mine", "other"))
    with serving(tmp_path, tokens=tokens) as service:
        visit = visiting(service.address)
        page = visit.open()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        page.get_by_role("textbox", name="Token").fill("wrong")
        dialog.get_by_role("button", name="Use it").click()
        expect(dialog).to_contain_text("does not know")
        page.get_by_role("textbox", name="Token").fill("mine")
        page.keyboard.press("Enter")
        expect(page.locator("#first-steps button").first).to_be_visible()
        plan_text(page, json.dumps({**THREE, "name": "secret"}))
        until_planned(page)  # events come by a stream that needs the token, too
        other = visiting(service.address)
        page = other.open(f"/#{page.url.partition('#')[2]}")
        page.get_by_role("textbox", name="Token").fill("other")
        page.keyboard.press("Enter")
        expect(page.locator(".pane .error").last).to_contain_text("no such job")
        expect(page.locator("#jobs li")).to_have_count(0)
        assert visit.refusals
        assert other.refusals
