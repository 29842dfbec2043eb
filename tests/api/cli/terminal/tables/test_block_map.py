"""The memory map in block characters shows every buffer, names where there is room, and what is needed if none fits."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from api.cli.terminal.tables.block_map import print_map
from planner import Buffer, Plan, Pool, Problem, plan
from planner.drawing import memory_map
from planner.generate import Request, generate

STAIRS = Problem(
    buffers=tuple(Buffer(f"buffer{i}", 64, live=((i, i + 2),)) for i in range(6)), pools=(Pool("sram", 256),)
)


def shown(problem: Problem, answer: Plan, width: int = 90, height: int = 30, *, colours: bool = False) -> list[str]:
    stream = io.StringIO()
    system = "256" if colours else None
    console = Console(file=stream, width=width, height=height, color_system=system, force_terminal=colours)  # type: ignore[arg-type]
    print_map(memory_map(problem, answer), console)
    return stream.getvalue().splitlines()


def test_the_map_fits_the_terminal_and_names_buffers_with_room() -> None:
    lines = shown(STAIRS, plan(STAIRS))
    assert all(len(line) <= 90 for line in lines)
    assert len(lines) <= 30
    text = "\n".join(lines)
    assert all(f"buffer{i}" in text for i in range(6))
    assert "sram   peak 128 B of 256 B" in text
    assert "◂ peak = bound" in text


@pytest.mark.parametrize("width", [20, 40, 200])
def test_a_map_of_any_width_is_drawn(width: int) -> None:
    lines = shown(STAIRS, plan(STAIRS), width)
    assert max(map(len, lines)) <= max(width, 40)


def test_the_smallest_buffer_is_visible() -> None:
    problem = Problem(buffers=(Buffer("large", 1 << 20, live=((0, 1000),)), Buffer("tiny", 1, live=((500, 501),))))
    assert "38;5;215" in "".join(shown(problem, plan(problem), colours=True))  # the second buffer's colour


def test_many_buffers_and_many_pools_are_drawn() -> None:
    problem = generate("random", Request(20_000, 1))
    assert len(shown(problem, plan(problem))) <= 30
    pools = tuple(Pool(f"p{i}", 64) for i in range(20))
    spread = Problem(buffers=tuple(Buffer(i, 64, live=((0, 1),), pools=(f"p{i}",)) for i in range(20)), pools=pools)
    assert "8 more pools are not shown" in "\n".join(shown(spread, plan(spread)))


def test_the_bytes_needed_are_shown_where_nothing_fits() -> None:
    tight = replace(STAIRS, pools=(Pool("sram", 100),))
    text = "\n".join(shown(tight, plan(tight)))
    assert "◂ end" in text
    assert "▓" in text  # marks memory beyond the pool's end
    assert "sram   needs 128 B, has 100 B" in text


def test_names_have_no_power_over_the_terminal() -> None:
    problem = Problem(buffers=(Buffer("\x1b[31mred\x1b[0m", 64, live=((0, 2),)),))
    assert "\x1b" not in "\n".join(shown(problem, plan(problem)))


def test_each_buffer_without_a_lifetime_has_a_column() -> None:
    problem = Problem(buffers=(Buffer("one", 64), Buffer("two", 32)))
    assert "no lifetimes: a column each" in "\n".join(shown(problem, plan(problem)))
