"""The report on a terminal: full figures, names without control of the terminal, and Cadence's tables by columns."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from api.cli.terminal.tables.plan import terms
from api.cli.terminal.tables.report import print_cadence, print_full
from planner import Options, plan
from planner.model.problem import Buffer, Pool, Problem
from planner.reporting.report import MemoryReport, memory_report

HOSTILE = "\x1b[2J\u202e\n[bold]"


def reported(problem: Problem, **options: object) -> MemoryReport:
    return memory_report(problem, plan(problem, Options(solver="greedy", workers=1, **options)))  # type: ignore[arg-type]


def shown(report: MemoryReport, *, cadence: bool = False, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    (print_cadence if cadence else print_full)(report, console)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


TWO = Problem(
    (
        Buffer("a", 60, live=((0, 3),), pools=("SPACE A",)),
        Buffer("b", 50, live=((2, 6),), pools=("SPACE A",)),
        Buffer("c", 36864, live=((2, 3),), pools=("SPACE B",)),
    ),
    (Pool("SPACE A", 65213, 16, 0x57BE0000), Pool("SPACE B", 65521, base=0x57BF0000), Pool("SPACE C")),
    name="two",
)


def test_cadence_prints_its_two_tables() -> None:
    assert shown(reported(TWO), cadence=True, width=40) == [
        "+--------------+--------------+---------------------+---------------------------+",
        "| Memory Space | Base Address | Memory Size (Bytes) | Peak Memory Usage (Bytes) |",
        "+==============+==============+=====================+===========================+",
        "| SPACE A      |   0x57be0000 |               65213 |                       114 |",
        "| SPACE B      |   0x57bf0000 |               65521 |                     36864 |",
        "| SPACE C      |              |                     |                         0 |",
        "+--------------+--------------+---------------------+---------------------------+",
        "+-------------------------------------+-------------+--------+",
        "| Peak memory usage across all spaces | 36974 bytes | Node 2 |",
        "+-------------------------------------+-------------+--------+",
    ]


def test_cadence_s_columns_stay_where_they_are_beside_names_of_any_width() -> None:
    names = ("数据", "e\u0301te\u0301", "ก็", "한국어", "a\u20dd", "plain")
    lines = shown(reported(Problem((), tuple(Pool(name, 1) for name in names))), cadence=True)
    edges = {tuple(cell_len(line[:i]) for i, c in enumerate(line) if c == "|") for line in lines[1:10] if "|" in line}
    assert len(edges) == 1


def test_cadence_s_tables_are_printed_without_a_plan_or_buffers() -> None:
    none = reported(replace(TWO, pools=(Pool("SPACE A", 10), *TWO.pools[1:])))
    assert "| SPACE A      |              |                  10 |                           |" in shown(
        none, cadence=True
    )
    assert "| Peak memory usage across all spaces | not known |  |" in shown(none, cadence=True)
    nothing = shown(reported(Problem((), (Pool("p", 1),))), cadence=True)
    assert "| Peak memory usage across all spaces | 0 bytes | Node 0 |" in nothing


def test_the_report_fits_on_one_screen() -> None:
    lines = shown(reported(TWO))
    assert lines[:3] == ["optimal   two", "  peak   36 978 B (36.1 KiB)", "  bound  36 978 B (36.1 KiB)"]
    assert lines[4].split() == [
        "Memory",
        "Base",
        "Size",
        "(B)",
        "Peak",
        "(B)",
        "Bound",
        "(B)",
        "Most",
        "live",
        "(B)",
        "Free",
        "(B)",
        "Fragmented",
    ]
    assert lines[6].split() == ["SPACE", "A", "0x57be0000", "65", "213", "114", "114", "110", "65", "099", "3.5", "%"]
    assert lines[8].split() == ["SPACE", "C", "unlimited", "0", "0", "0"]
    text = "\n".join(lines)
    assert "Most in use at once: 36 974 B (36.1 KiB), first at step 2" in text
    assert [line.split() for line in lines if line.startswith("b ")] == [
        ["b", "SPACE", "A", "64", "114", "50", "2", "to", "5"]
    ]
    assert "SPACE B: no plan has a smaller peak unless one of these shrinks (all are needed at step 2): c" in text


def test_buffers_that_the_table_shows_are_not_listed_again() -> None:
    buffers = (Buffer("a", 60, live=((0, 3),)), Buffer("b", 50, live=((2, 6),)))
    report = reported(Problem(buffers, (Pool("arena"),)))
    assert shown(report)[-1] == "arena: no plan has a smaller peak unless one of the buffers above shrinks"
    more = replace(report, pools=(*report.pools, *reported(TWO).pools[2:]))
    assert "no plan has a smaller peak unless one of these shrinks (all are needed at step 2): a, b" in shown(more)[-1]


def test_a_peak_that_may_be_smaller_is_marked() -> None:
    report = reported(TWO)
    pools = tuple(
        replace(pool, bound=4, cause=replace(pool.cause, proven=False)) for pool in report.pools[:1] if pool.cause
    )
    assert "SPACE A: in another plan the peak may be up to 110 B smaller; in this plan these hold it up: a, b" in shown(
        replace(report, pools=pools), width=140
    )
    unknown = tuple(replace(pool, bound=0) for pool in pools)
    lines = shown(replace(report, pools=unknown), width=140)
    assert "SPACE A: nothing is proven about its peak; in this plan these hold it up: a, b" in lines
    proven = tuple(replace(pool, bound=pool.peak or 0) for pool in pools)
    lines = shown(replace(report, pools=proven), width=140)
    assert "SPACE A: no plan has a smaller peak; in this plan these hold it up: a, b" in lines


def test_several_moments_of_most_bytes_are_summarised() -> None:
    buffers = (Buffer("a", 8, live=((0, 9),)), Buffer("b", 8, live=((1, 2),)), Buffer("c", 8, live=((3, 4),)))
    text = " ".join(shown(reported(Problem(buffers)), width=300))
    assert "So much is in use at 2 times" in text
    assert "In use at all of them: a. The first time:" in text
    text = " ".join(
        shown(reported(Problem((Buffer("a", 8, live=((0, 1),)), Buffer("b", 8, live=((1, 2),))))), width=300)
    )
    assert "None is in use at all of them." in text


def test_buffers_without_lifetimes_are_mentioned() -> None:
    assert "1 buffer has no lifetime, and so counts at no step" in shown(reported(Problem((Buffer("a", 8),))))
    assert "2 buffers have no lifetime, and so count at no step" in shown(
        reported(Problem((Buffer("a", 8), Buffer("b", 8))))
    )


def test_numbers_and_strings_are_distinguished() -> None:
    mixed = (Buffer(3, 8, live=((0, 2),)), Buffer("3", 8, live=((0, 2),)))
    lines = shown(reported(Problem(mixed)))
    assert sorted(line.split()[0] for line in lines if line.startswith(("3", '"3"'))) == ['"3"', "3"]
    plain = (Buffer("3", 8, live=((0, 2),)),)
    assert "shrinks (all are needed at step 0): 3" in "\n".join(shown(reported(Problem(plain)), width=140))


@pytest.mark.parametrize("cadence", [True, False])
def test_names_cannot_control_the_terminal(cadence: bool) -> None:
    problem = Problem((Buffer(HOSTILE, 8, live=((0, 2),)),), (Pool(HOSTILE, 8),), name=HOSTILE)
    lines = shown(reported(problem), cadence=cadence)
    assert all(line.isprintable() for line in lines)
    assert any(r"\x1b[2J\u202e\n[bold]" in line for line in lines)


def test_long_lists_and_long_names_are_cut_and_figures_never() -> None:
    buffers = tuple(Buffer(f"layer/{'x' * 300}/{i}", 1 << 50, live=((0, 2),)) for i in range(50))
    lines = shown(reported(Problem(buffers, tuple(Pool(f"pool{'y' * 300}{i}") for i in range(45)))), width=120)
    assert "… and 5 more; --json lists all" in lines
    assert "… and 10 more; --json lists all" in lines
    assert "and 38 more" in " ".join(lines)
    assert max(map(cell_len, lines)) <= 120
    assert any(str(50 * (1 << 50)) in line.replace(" ", "") for line in lines)


def test_what_was_minimised_besides_the_peak_is_said_and_a_bound_of_nothing_is_none() -> None:
    problem = Problem(TWO.buffers[:2], (Pool("SPACE A", 65213, cost=3),))
    made = plan(problem, Options(solver="greedy", workers=1))
    report = replace(memory_report(problem, made), bound=0)
    console = Console(file=io.StringIO(), width=100, markup=False, emoji=False, highlight=False)
    print_full(report, console, terms(problem, made))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[2:4] == ["  bound  nothing is proven about the peak", "  peaks by cost  330   bound 330"]


def test_tables_stand_closer_where_the_terminal_is_narrow() -> None:
    wide, closer, narrow = (shown(reported(TWO), width=width)[4] for width in (100, 90, 80))
    assert "Size (B)   Peak (B)" in wide
    assert "Size (B)  Peak (B)" in closer, "two spaces, since there is one within a figure"
    assert "Size    Peak" in narrow
    assert len(narrow) <= 80 < len(closer) <= 90 < len(wide)
