"""The page in a real Chromium; whatever a page must never do makes the test fail."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect, sync_playwright

from tests.http.served import THREE

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs to look for; the first is the same engine without windows, and needs half the processor time for a page."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
PATIENCE = 90_000
"""Milliseconds to wait for anything, enough for a busy machine."""
WATCH = "addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective}`))"
FORGET = "() => addEventListener('pagehide', () => { localStorage.clear(); sessionStorage.clear(); })"
"""A script that empties the storage when the page is left, after all other handlers."""
WINDOW = {"width": 1280, "height": 800}
GUTTER = {"left": 68, "right": 12, "top": 8, "bottom": 24}
"""The margins of the map in pixels, as in map/painter.js."""


expect.set_options(timeout=PATIENCE)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Open a browser without a window, which can reach no other machine."""
    with sync_playwright() as playwright:
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", nowhere]
        )
        yield browser
        browser.close()


class Tab:
    """A page for one visit after the other, each as if it were new; a new one takes a second of processor time."""

    def __init__(self, browser: Browser, options: dict[str, Any]) -> None:
        self.context = browser.new_context(
            **{"viewport": WINDOW, "accept_downloads": True, "reduced_motion": "reduce", **options}
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(WATCH)
        self.page: Page = self.context.new_page()
        self.visit: Visit | None = None
        self.color_scheme = "light"
        self.context.on("request", lambda request: self._tell(lambda visit: visit.sees(request)))
        self.page.on("console", lambda message: self._tell(lambda visit: visit.hears(message)))
        self.page.on("pageerror", lambda error: self._tell(lambda visit: visit.wrong.append(f"error: {error}")))
        self.page.on("dialog", self._dismiss)

    def look(self, viewport: dict[str, int], color_scheme: str) -> None:
        """Change the window's size and the system's theme, if a visit before had others."""
        if self.page.viewport_size != viewport:
            self.page.set_viewport_size(viewport)  # type: ignore[arg-type]
        if self.color_scheme != color_scheme:
            self.page.emulate_media(color_scheme=color_scheme)  # type: ignore[arg-type]
            self.color_scheme = color_scheme

    def leave(self) -> None:
        """End the visit, so that nothing of it is left."""
        self.visit = None
        self.context.set_offline(False)
        self.page.evaluate(FORGET)
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.context.clear_cookies()

    def _tell(self, of_it: Callable[[Visit], None]) -> None:
        if self.visit is not None:
            of_it(self.visit)

    def _dismiss(self, dialog: Dialog) -> None:
        self._tell(lambda visit: visit.wrong.append(f"dialog: {dialog.message}"))
        dialog.dismiss()


class Tabs:
    """The tabs of a browser, by their options."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._free: dict[str, list[Tab]] = {}

    def take(self, options: dict[str, Any]) -> Tab:
        free = self._free.setdefault(repr(options), [])
        return free.pop() if free else Tab(self.browser, options)

    def give_back(self, tab: Tab, options: dict[str, Any]) -> None:
        tab.leave()
        self._free[repr(options)].append(tab)


class Visit:
    """One test's use of a page, and everything that happened there and should not have."""

    def __init__(
        self,
        tabs: Tabs,
        address: str,
        viewport: dict[str, int] = WINDOW,
        color_scheme: str = "light",
        **options: Any,
    ) -> None:
        """Options besides are the context's; each set of them has tabs of its own."""
        self.address = address
        self.wrong: list[str] = []
        self.wanted = ""
        """A regular expression for what a test brings about on purpose."""
        self.refusals = 0
        """The number of requests that the service refused, which a test may want."""
        self._tabs, self._options = tabs, options
        self._tab = tabs.take(options)
        self._tab.look(viewport, color_scheme)
        self._tab.visit = self
        self.context, self.page = self._tab.context, self._tab.page

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.address + path)
        return self.page

    def end(self) -> None:
        self._tabs.give_back(self._tab, self._options)
        assert [each for each in self.wrong if not (self.wanted and re.search(self.wanted, each))] == []

    def hears(self, message: ConsoleMessage) -> None:
        if "Failed to load resource" in message.text:
            self.refusals += 1
        elif message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def sees(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("blob", "data") and address.netloc != urlsplit(self.address).netloc:
            self.wrong.append(f"left the host: {request.url}")


Visiting = Callable[..., Visit]
"""A function that begins a visit, by default to the service of the tests."""


def point(page: Page, time: float, address: float, right: float, top: float, pane: int = 0) -> tuple[float, float]:
    """Return where a time and an address are on the screen when the whole map is shown."""
    box = page.locator("canvas.over").nth(pane).bounding_box()
    assert box is not None
    across = box["width"] - GUTTER["left"] - GUTTER["right"]
    up = box["height"] - GUTTER["top"] - GUTTER["bottom"]
    x = box["x"] + GUTTER["left"] + time / right * across
    return x, box["y"] + GUTTER["top"] + (1 - address / top) * up


def picture(page: Page, pane: int = 0) -> str:
    """Return all pixels of the map, once it has been drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    data: str = page.locator("canvas.base").nth(pane).evaluate("(canvas) => canvas.toDataURL()")
    return data


def words(page: Page, align: str) -> list[dict[str, Any]]:
    """Return the texts that the map draws with this alignment: `text`, `x`, `y`, and their `end`."""
    found: list[dict[str, Any]] = page.evaluate(
        """(align) => new Promise((done) => {
      const found = [], draw = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y, room = Infinity) {
        const width = Math.min(this.measureText(text).width, room);
        const begin = align === "center" ? x - width / 2 : x;
        if (this.textAlign === align) found.push({ text, x: begin, y, end: begin + width });
        draw.call(this, text, x, y, room);
      };
      document.querySelector("canvas.over").dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
      requestAnimationFrame(() => requestAnimationFrame(() => {
        CanvasRenderingContext2D.prototype.fillText = draw;
        done(found);
      }));
    })""",
        align,
    )
    return found


def until_planned(page: Page) -> None:
    """Wait until an optimal plan is there, with everything that is shown of it."""
    expect(page.locator(".badge").last).to_have_text("optimal")
    expect(page.locator(".figures").last).to_contain_text("ended by")
    page.wait_for_selector(".stage:visible")


def plan_text(page: Page, problem: str) -> None:
    """Paste a problem and have it planned."""
    page.fill("#text", problem)
    page.click("#plan")


def planned(page: Page, problem: object = THREE) -> None:
    plan_text(page, json.dumps(problem))
    until_planned(page)
