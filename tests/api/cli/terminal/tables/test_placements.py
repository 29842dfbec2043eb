"""Tables of placements show every figure in full, and names as far as there is room."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from api.cli.terminal.tables.columns import MAX_ROWS, more, rows_for, shares, shortened, shown_id
from api.cli.terminal.tables.placements import placements_table, pools_table, shown_placements
from planner.model.plan import Placement, PoolUse
from planner.model.problem import Pool
from tests.api.sample_plans import stacked


def printed(table: Table, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    console.print(table, crop=False)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_placements_are_a_memory_map() -> None:
    placements = (Placement("b", "ddr", 0, 8), Placement("top", "sram", 64, 64), Placement("low", "sram", 0, 64))
    pools = [Pool("sram", base=0x1000), Pool("ddr")]
    _, plan = stacked([])
    shown = shown_placements(replace(plan, placements=placements), pools, 3)
    lines = printed(placements_table(shown, pools, 80), 80)
    assert [line.split() for line in lines[2:]] == [
        ["low", "sram", "0x1000", "0", "64", "64"],
        ["top", "sram", "0x1040", "64", "128", "64"],
        ["b", "ddr", "0", "8", "8"],
    ]


def test_a_single_pool_has_no_column() -> None:
    lines = printed(placements_table([Placement(1, "default", 0, 8)], [Pool("default")], 80), 80)
    assert lines[0].split() == ["Buffer", "Offset", "End", "Size", "(B)"]


@pytest.mark.parametrize("width", [80, 120])
def test_long_names_are_cut_to_the_width_and_figures_never(width: int) -> None:
    placements = [Placement("layer/" * 50 + "output", "memory/" * 20, 1 << 40, 1 << 40)]
    pools = [Pool("memory/" * 20), Pool("other")]
    lines = printed(placements_table(placements, pools, width), width)
    assert max(map(cell_len, lines)) <= width
    assert "1 099 511 627 776   2 199 023 255 552   1 099 511 627 776" in lines[2]
    assert "…" in lines[2]


def test_figures_are_shown_even_on_a_narrower_terminal() -> None:
    lines = printed(placements_table([Placement("a", "p", 1 << 61, 1 << 61)], [Pool("p")], 30), 30)
    assert "4 611 686 018 427 387 904" in lines[2]


def test_names_cannot_break_the_table() -> None:
    ids: Sequence[str] = ["\x1b[2J", "[bold]x[/]", "a\nb", ":smile:"]
    lines = printed(placements_table([Placement(i, "p", k, 1) for k, i in enumerate(ids)], [Pool("p")], 80), 80)
    assert [line.split()[0] for line in lines[2:]] == [r"\x1b[2J", "[bold]x[/]", r"a\nb", ":smile:"]


def test_long_lists_are_cut() -> None:
    assert more(MAX_ROWS + 5) == "… and 5 more; -o FILE writes all"
    assert more(MAX_ROWS) is None
    assert more(30, 10) == "… and 20 more; -o FILE writes all"


def test_buffers_at_the_peak_and_the_largest_are_shown_of_too_many() -> None:
    _, plan = stacked([(number, size) for number, size in enumerate([1, 50, 2, 40, 3, 60, 4])])
    assert [p.id for p in shown_placements(plan, [Pool("default")], 7)] == list(range(7))
    assert [p.id for p in shown_placements(plan, [Pool("default")], 3)] == [6, 5, 1], "the last one ends at the peak"


@pytest.mark.parametrize(
    ("height", "terminal", "rows"), [(24, True, 13), (10, True, 6), (200, True, 40), (24, False, 40)]
)
def test_the_number_of_rows_depends_on_the_terminal_s_height(height: int, terminal: bool, rows: int) -> None:
    console = Console(file=io.StringIO(), width=80, height=height, force_terminal=terminal)
    assert rows_for(console, 10) == rows


def test_the_table_of_pools_has_sizes_and_peaks() -> None:
    uses = [PoolUse("sram", 2048, 1024, 512), PoolUse("flash", None, None, 0), PoolUse("none", 0, 0, 0)]
    lines = printed(pools_table(uses, 80), 80)
    assert [line.split() for line in lines[2:]] == [
        ["sram", "1", "024", "1.0", "KiB", "512", "2", "048", "50.0", "%"],
        ["flash", "none", "0", "unlimited"],
        ["none", "0", "0", "0"],
    ]


def test_an_id_that_reads_like_a_number_is_quoted() -> None:
    assert [shown_id(i) for i in (1, "1", "-1", "", " ", "a1")] == ["1", '"1"', '"-1"', '""', '" "', "a1"]


def test_without_numeric_ids_no_id_is_quoted() -> None:
    lines = printed(placements_table([Placement("1", "p", 0, 1), Placement("2", "p", 1, 1)], [Pool("p")], 80), 80)
    assert [line.split()[0] for line in lines[2:]] == ["1", "2"]


def test_names_are_cut_in_the_middle() -> None:
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghij", 5) == "ab…ij"
    assert cell_len(shortened("数据" * 40, 13)) <= 13
    assert shortened("abc", 1) == "…"


def test_the_width_is_shared_among_columns() -> None:
    assert shares([4, 100], 60) == [4, 56]
    assert shares([100, 100], 60) == [30, 30]
    assert shares([3, 4], 60) == [3, 4]
    assert shares([100, 100], 5) == [8, 8]
