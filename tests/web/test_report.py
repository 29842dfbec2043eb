"""In a browser, the tables in the report of a benchmark can be sorted."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from planner.bench import CellStatus
from planner.bench.report.html import html
from tests.planner.bench.made_records import failed, made

RECORDS = [
    made("auto", instance="b.json", buffers=1200, gap=0.02),
    made("greedy", instance="b.json", buffers=1200, gap=0.5),
    made("auto", instance="a.json", buffers=90, gap=0.1),
    failed(CellStatus.CRASHED, solver="auto", instance="c.json"),
]


def column(page: Page, number: int) -> list[str]:
    found: list[str] = page.locator("table").last.locator(f"tbody td:nth-child({number})").all_inner_texts()
    return found


def test_a_column_that_is_clicked_sorts_its_table_up_and_down(browser: Browser) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_content(html(RECORDS))
    gap = page.locator("table").last.get_by_role("button", name="mean gap")
    assert column(page, 1) == ["a.json", "b.json", "b.json", "c.json"]
    gap.click()
    assert column(page, 8) == ["2.00 %", "10.00 %", "50.00 %", "–"]
    assert column(page, 1) == ["b.json", "a.json", "b.json", "c.json"]
    gap.click()
    assert column(page, 8) == ["50.00 %", "10.00 %", "2.00 %", "–"], "what is missing stays last"
    page.locator("table").last.get_by_role("button", name="buffers").click()
    assert column(page, 2) == ["10", "90", "1 200", "1 200"]
    assert faults == []
    page.close()
