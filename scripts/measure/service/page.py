"""How fluid the page is with very many rectangles: the time between frames while somebody zooms, moves and points.

    python -m scripts.measure.service.page --buffers 100000

Needs Chromium. Prints a row of docs/page.md for each thing that is done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import CDPSession, Page, expect

from planner.formats import write_problem
from planner.generate import Request, generate
from scripts.measure.arguments import Arguments
from tests.http.served import serving
from tests.web.browsing import Tabs, Visit, browsing

WATCH = """() => {
  window.frames_ = [];
  let before = performance.now();
  const next = (now) => { window.frames_.push(now - before); before = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
MOVES = 80
PAUSE = 12


def main() -> None:
    arguments = Arguments(__doc__)
    arguments.add_argument("--buffers", type=int, default=100_000)
    arguments.add_argument("--kinds", type=int, default=1, help="So many kinds, each of which has a colour.")
    arguments.add_argument("--picture", type=Path, help="Write a screenshot to this file.")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as service, browsing() as browser:
        problem = Path(folder) / "problem.json"
        made = generate("packing", Request(given.buffers))
        kinds = (replace(each, kind=f"kind {i % given.kinds}") for i, each in enumerate(made.buffers))
        problem.write_bytes(write_problem(replace(made, buffers=tuple(kinds))))
        visit = Visit(Tabs(browser), service.address, viewport={"width": 1440, "height": 900})
        page = visit.open()
        page.fill("[name=time_limit]", "2")
        page.set_input_files("#file", problem)
        begun = time.perf_counter()
        page.click("#plan")
        expect(page.locator(".figures")).to_contain_text("ended by", timeout=120_000)
        print(f"{given.buffers} buffers planned and drawn within {time.perf_counter() - begun:.1f} s")
        page.evaluate(WATCH)
        measure(page)
        if given.picture:
            page.screenshot(path=given.picture)


def measure(page: Page) -> None:
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def wheel(turn: float) -> Callable[[int], None]:
        return lambda _: page.mouse.wheel(0, turn)

    def move(step: int) -> None:
        page.mouse.move(x + step % 40 * 7, y + step % 40 * 4)

    page.mouse.move(x, y)
    print(
        "| what is done | frames | median ms | 95 % ms | longest ms | of which script, mean ms |\n|---|---|---|---|---|---|"
    )
    report(page, "nothing", lambda _: None)
    report(page, "moving the pointer, everything shown", move)
    page.mouse.down()
    report(page, "zooming in", wheel(-8))
    report(page, "moving the map", move)
    page.mouse.up()
    report(page, "zooming out", wheel(8))


def report(page: Page, what: str, act: Callable[[int], None]) -> None:
    """Do it again and again, and print how long the frames in between took."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    before = script_seconds(session)
    page.evaluate("() => { window.frames_.length = 0; }")
    for step in range(MOVES):
        act(step)
        page.wait_for_timeout(PAUSE)
    frames: list[float] = sorted(page.evaluate("() => window.frames_"))
    median, late = frames[len(frames) // 2], frames[int(len(frames) * 0.95)]
    script = (script_seconds(session) - before) / len(frames) * 1000
    print(f"| {what} | {len(frames)} | {median:.1f} | {late:.1f} | {frames[-1]:.1f} | {script:.1f} |")


def script_seconds(session: CDPSession) -> float:
    """How long the page's own code has run so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "ScriptDuration"))


if __name__ == "__main__":
    main()
