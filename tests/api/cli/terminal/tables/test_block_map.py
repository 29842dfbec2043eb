"""The memory map in block characters shows every buffer, names where there is room, and what is needed if none fits."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from api.cli.terminal.tables.block_colours import BY_KIND, colours_for
from api.cli.terminal.tables.block_map import print_map
from planner import Buffer, Plan, Pool, Problem, plan
from planner.drawing import memory_map
from planner.drawing.style import KNOWN, LIGHT
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


def test_the_colours_of_kinds_are_explained() -> None:
    kinds = tuple(replace(each, kind="input" if i % 2 else "own kind") for i, each in enumerate(STAIRS.buffers))
    problem = replace(STAIRS, buffers=kinds)
    answer = plan(problem)
    *_, legend, _ = shown(problem, answer, colours=True)
    assert [(entry[1], entry[2]) for entry in re.finditer(r"38;5;(\d+)m██\x1b\[0m (\w+ ?\w+)", legend)] == [
        (str(BY_KIND[6][0]), "own kind"),
        (str(BY_KIND[2][0]), "input"),
    ]
    assert "shades tell neighbours apart" in "\n".join(shown(problem, answer))
    assert "colours tell neighbours apart" in "\n".join(shown(STAIRS, plan(STAIRS), colours=True))
    tight = replace(problem, pools=(Pool("sram", 100),))
    assert "██ needed   ▓▓ more than there is" in "\n".join(shown(tight, plan(tight)))


def test_kinds_have_the_colours_of_the_pictures() -> None:
    assert len(BY_KIND) == len(LIGHT)
    assert {len(shades) for shades in BY_KIND} == {4}
    assert len({number for shades in BY_KIND for number in shades}) == 4 * len(LIGHT)
    assert BY_KIND[KNOWN["intermediate"]][:2] == (111, 75), "blue"
    apart = Problem(tuple(Buffer(i, 8, live=((3 * i, 3 * i + 1),), kind="input") for i in range(9)))
    used = set(re.findall(r"38;5;(\d+)", "".join(shown(apart, plan(apart), colours=True)[1:-2])))
    assert used - {"16"} == {str(BY_KIND[KNOWN["input"]][0])}, "the nearest, where no neighbour has it"
    many = Problem(tuple(Buffer(i, 8, live=((0, 1),), kind=f"kind {i}") for i in range(20)))
    lines = "".join(shown(many, plan(many), colours=True))
    assert "kind 11" in lines
    assert "8 more kinds" in lines


@pytest.mark.parametrize("kind", [None, "intermediate"])
def test_neighbours_differ(kind: str | None) -> None:
    tiles = tuple(Buffer(6 * i + j, 64, live=((j, j + 1),), kind=kind) for i in range(6) for j in range(6))
    problem = Problem(tiles, (Pool("arena", 384),))
    grid = np.kron(np.arange(1, 37, dtype=np.int32).reshape(6, 6), np.ones((2, 3), dtype=np.int32))
    for are_colours in (False, True):
        colours = colours_for(memory_map(problem, plan(problem)), grid, are_colours=are_colours)
        painted = np.vectorize(colours.of.__getitem__)(grid)
        for one, other in (
            (grid[:, 1:] != grid[:, :-1], np.diff(painted, axis=1)),
            (grid[1:] != grid[:-1], np.diff(painted, axis=0)),
        ):
            assert (other[one] != 0).all()
            assert (other[~one] == 0).all()


def test_names_that_say_too_little_are_left_out() -> None:
    numbered = tuple(Buffer(f"activation_{i}/Relu", 64, live=((i, i + 2),)) for i in range(16))
    problem = Problem(numbered, (Pool("arena"),))
    assert "activation_3/Relu" in "\n".join(shown(problem, plan(problem), 300))
    assert "…n_15/Relu" in "\n".join(shown(problem, plan(problem), 110))
    assert "…" not in "\n".join(shown(problem, plan(problem), 70)), "four letters are no name"
    alike = tuple(Buffer(f"{side}/attention/output", 64, live=((0, 2),)) for side in ("left", "right"))
    other = Buffer("a", 64, live=((2, 4),))
    both = Problem((*alike, other), (Pool("arena"),))
    assert "…" not in "\n".join(shown(both, plan(both), 56)), "neither would say which of the two it is"


def test_names_have_no_power_over_the_terminal() -> None:
    problem = Problem(buffers=(Buffer("\x1b[31mred\x1b[0m", 64, live=((0, 2),)),))
    assert "\x1b" not in "\n".join(shown(problem, plan(problem)))


WIDE = (
    "数据缓冲区",
    "バッファ",
    "e\u0301tage\u0300res",
    "한국어",
    "🚀🚀 emoji",
    "❤\ufe0f",
    "👍🏽",
    "\u0301",
    "กำลัง",
    "très long " * 9 + "数" * 40,
)


@pytest.mark.parametrize("width", [*range(40, 60), 200])
@pytest.mark.parametrize("colours", [False, True])
def test_names_of_any_width_do_not_move_what_stands_beside_them(width: int, colours: bool) -> None:
    problem = Problem(tuple(Buffer(name, 64, live=((2 * i, 2 * i + 5),)) for i, name in enumerate(WIDE)))
    lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in shown(problem, plan(problem), width, colours=colours)]
    rows = [line for line in lines if line.count("│") == 2]
    assert len(rows) > 4
    assert len({cell_len(line[: line.rindex("│")]) for line in rows}) == 1
    assert width < 200 or all(any(name in line for line in rows) for name in WIDE[:7])


def test_each_buffer_without_a_lifetime_has_a_column() -> None:
    problem = Problem(buffers=(Buffer("one", 64), Buffer("two", 32)))
    assert "no lifetimes: a column each" in "\n".join(shown(problem, plan(problem)))


@pytest.mark.parametrize("buffers", [(), (Buffer("a", 0, live=((0, 4),)),), (Buffer("never", 8, live=()),)])
def test_where_nothing_is_ever_in_use_the_map_is_empty(buffers: tuple[Buffer, ...]) -> None:
    problem = Problem(buffers)
    text = "\n".join(shown(problem, plan(problem)))
    assert "default   peak" in text
    assert "█" not in text
    assert "no lifetimes" not in text
