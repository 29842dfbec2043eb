"""`memplan`, run as a process on a terminal."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from planner.formats.tables.plans import PLAN_FORMATS
from planner.formats.tables.problems import written as written_formats
from tests.running.command import UNHURRIED, run, run_on_terminal


def without_styles(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def written(folder: Path, **rest: object) -> str:
    path = folder / "problem.json"
    problem = {
        "format": "memplan/1",
        "lifetimes": "half_open",
        "buffers": [
            {"id": "layer.0.\x1b]0;owned\x07weights", "size": 1 << 20, "live": [[0, 2]]},
            {"id": "[bold]\u202etxt.exe", "size": 24, "live": [[0, 2]]},
            {"id": "long." * 40, "size": 8, "live": [[1, 2]]},
        ],
        **rest,
    }
    path.write_text(json.dumps(problem), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("columns", [80, 120])
def test_a_plan_is_shown_as_tables_that_fit(columns: int, tmp_path: Path) -> None:
    code, text = run_on_terminal("plan", written(tmp_path), columns=columns, env={"NO_COLOR": "1"})
    assert code == 0
    shown = without_styles(text).replace("\x1b[K", "")  # what erases the progress, if there was time for any
    assert max(map(cell_len, shown.splitlines())) <= columns
    assert "1 048 608 B (1.0 MiB)" in text
    assert "[bold]" in text


def test_names_reach_the_terminal_escaped(tmp_path: Path) -> None:
    for extra in ((), ("--json",)):
        code, text = run_on_terminal("plan", written(tmp_path, name="\x9b2J"), *extra)
        assert code == 0
        assert "owned" in text
        assert not {"\x07", "\u202e", "\x9b"} & set(text)
        assert "\x1b]" not in text


def test_answers_in_every_format_reach_the_terminal_printable_and_files_exact(tmp_path: Path) -> None:
    problem, plan, table = written(tmp_path, name="\x9b2J"), str(tmp_path / "plan.json"), tmp_path / "plan.csv"
    assert run("plan", problem, "-o", plan).returncode == 0
    printing: list[tuple[str, ...]] = [("write", problem, plan, "--as", name) for name in PLAN_FORMATS]
    printing += [("convert", problem, "--to", name) for name in written_formats()]
    printing += [("plan", problem, "--as", "csv", "--quiet"), ("export-model", problem), ("draw", problem, plan)]
    for words in printing:
        _, text = run_on_terminal(*words, "-o", "-")
        assert text.replace("\n", "").isprintable(), words
    for out in ("-", "/dev/stdout"):
        code, text = run_on_terminal("write", problem, plan, "--as", "csv", "-o", out)
        assert code == 0
        assert "layer.0.\\u001b]0;owned\\u0007weights" in text
        assert "\x1b" not in text
    piped = run("write", problem, plan, "--as", "csv", "-o", "-").stdout
    assert run("write", problem, plan, "--as", "csv", "-o", str(table)).returncode == 0
    assert table.read_bytes() == piped
    assert b"\x1b]0;owned\x07" in piped


def test_colours_are_left_out_on_request(tmp_path: Path) -> None:
    problem = written(tmp_path)
    assert "\x1b[1;32moptimal\x1b[0m" in run_on_terminal("plan", problem)[1]
    assert "\x1b[1;32m" not in run_on_terminal("plan", problem, env={"NO_COLOR": "1"})[1]


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    assert run_on_terminal("plan", written(tmp_path), "--quiet") == (0, "")


def test_an_infeasible_problem_is_shown_as_a_panel(tmp_path: Path) -> None:
    pools = [{"name": "sram", "size": 1 << 20}]
    code, text = run_on_terminal("plan", written(tmp_path, pools=pools), "--explain", env={"NO_COLOR": "1"})
    assert code == 3
    # On a busy machine there was time to draw progress and to erase it.
    shown = without_styles(text).rpartition("\r\x1b[K")[2]
    assert shown.startswith("infeasible")
    assert "no plan fits" in text
    assert "cannot be placed together" in text
    quiet = run_on_terminal("plan", written(tmp_path, pools=pools), "--quiet")
    assert quiet[0] == 3
    assert quiet[1].startswith("infeasible: ")


def test_bad_input_is_reported_on_a_terminal(tmp_path: Path) -> None:
    code, text = run_on_terminal("plan", written(tmp_path, **{"\x1b[31mfield": 1}))
    assert code == 2
    assert "[unknown_field]" in text
    assert "\x1b" not in text


def test_no_word_is_broken_at_the_terminal_s_edge(tmp_path: Path) -> None:
    for columns in (40, 80):
        for wrong in (
            ["plan", written(tmp_path), "--solver", "nobody"],
            ["plan", written(tmp_path), "--goal", "nothing"],
        ):
            code, text = run_on_terminal(*wrong, columns=columns)
            assert code == 2
            assert max(map(len, text.splitlines())) <= columns
    name = "/".join(["folder"] * 20)
    assert name in run_on_terminal("plan", name)[1], "what has no blanks is not broken by us: it can be copied"


def test_a_plan_s_first_line_and_the_prompt_are_in_sight_together(tmp_path: Path) -> None:
    many = [{"id": f"b{i}", "size": 8, "live": [[i, i + 2]]} for i in range(60)]
    text = without_styles(run_on_terminal("plan", written(tmp_path, buffers=many), rows=24)[1])
    lines = text[text.rindex("\x1b[K") + 3 :] if "\x1b[K" in text else text
    assert len(lines.splitlines()) < 24
    assert "Buffer" in lines


def test_progress_is_drawn_and_erased(tmp_path: Path) -> None:
    slow = UNHURRIED.replace("    while not cancelled():\n", "    for _ in range(100):\n")
    assert slow != UNHURRIED
    command = (sys.executable, "-c", slow)
    code, text = run_on_terminal("plan", written(tmp_path), "--time-limit", "7", command=command)
    assert code == 130
    assert " of 7 s   best none yet" in text
    assert "\r\x1b[K" in text
    quiet = run_on_terminal("plan", written(tmp_path), "--quiet", command=command)[1]
    assert "best" not in quiet


@pytest.mark.parametrize("colour", [{}, {"NO_COLOR": "1"}])
def test_tables_and_maps_fit_a_terminal_that_knows_only_ascii(colour: dict[str, str], tmp_path: Path) -> None:
    live = [
        {"id": name, "size": 4096, "live": [[i, i + 2]]} for i, name in enumerate(["プール" * 9, "ну́ль", "é", "x" * 99])
    ]
    problem = written(tmp_path, buffers=live, pools=[{"name": "メモリ", "size": 1 << 20}])
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **colour}
    for extra in ("--map", "--explain", "--report full"):
        code, text = run_on_terminal("plan", problem, "--time-limit", "100", *extra.split(), env=narrow)
        shown = without_styles(text).rpartition("\r\x1b[K")[2]
        assert code == 0
        assert shown.isascii()
        assert max(map(len, shown.splitlines())) <= 80
        assert r"\u30d7" in text  # on a slow machine, progress may be told in between
        assert r"\u2588" not in shown
