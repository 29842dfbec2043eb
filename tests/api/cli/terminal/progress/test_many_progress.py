"""The progress line of a run over many problems."""

from __future__ import annotations

import time

import pytest
from rich.cells import cell_len

from api.cli.terminal.progress.many import ManyProgress
from api.cli.terminal.progress.redrawn_line import first_columns
from planner.many import Entry, EntryStatus, Reached, UnderWay


def line(total: int, done: int, under_way: dict[str, UnderWay], time_limit: float | None = 30.0) -> str:
    progress = ManyProgress(total, under_way, time_limit=time_limit, quiet=True)
    progress._begun -= 10.0
    progress._recent[0] = (progress._begun, 0)
    for number in range(done):
        progress(Entry(f"{number}.json", "", EntryStatus.OPTIMAL))
    return progress.line()


def test_quick_problems_are_counted_but_not_named() -> None:
    shown = line(100, 50, {"a.json": UnderWay()})
    assert shown.startswith("50 of 100 planned   5.0/s   about 0:10 left")
    assert "a.json" not in shown


def test_long_runs_are_named_with_their_progress() -> None:
    now = time.monotonic()
    under_way = {"b.json": UnderWay(now - 3), "big.json": UnderWay(now - 12.2, Reached(123_456, 100_000))}
    shown = line(100, 50, under_way)
    assert shown.endswith("big.json 0:12 best 123 456 bound 100 000")
    under_way["big.json"].reached = Reached(None, 7)
    assert line(100, 50, under_way).endswith("big.json 0:12 best none yet bound 7")
    under_way["big.json"].reached = None
    assert line(100, 50, under_way).endswith("big.json 0:12")


def test_the_remaining_time_of_the_last_runs_is_their_limit() -> None:
    under_way = {"big.json": UnderWay(time.monotonic() - 12.2)}
    shown = line(101, 100, under_way)
    assert "about" not in shown
    assert "at most 0:18 left" in shown
    assert "left" not in line(101, 100, under_way, time_limit=None), "nobody knows"
    assert "at most 0:00 left" in line(101, 100, under_way, time_limit=5.0)


@pytest.mark.parametrize("name", ["plain", "数据缓冲区", "e\u0301" * 9, "🚀"])
def test_the_line_is_cut_where_the_terminal_ends(name: str) -> None:
    shown = line(100, 50, {f"{name}.json": UnderWay(time.monotonic() - 3)})
    assert first_columns(shown, cell_len(shown)) == shown
    for width in range(1, cell_len(shown)):
        assert cell_len(first_columns(shown, width)) == width
