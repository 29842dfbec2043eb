"""A file gets what the ending of its name says; what no table of formats knows is refused before the work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

from api.cli.app import app
from api.cli.invocation import invoke
from planner import read_problem
from planner.formats.tables.plans import PLAN_FORMATS
from tests.api.cli.test_bad_input import THREE, Captured, written
from tests.running.command import ROOT, planned, run_on_terminal

WITH_OUT = {
    "plan": ["{problem}"],
    "share": ["{problem}"],
    "sweep": ["{problem}", "--capacity", "8..16"],
    "shapes": ["{problem}"],
    "draw": ["{problem}", "{plan}"],
    "convert": ["{problem}"],
    "write": ["{problem}", "{plan}"],
    "check-run": ["{problem}", "--estimate"],
    "export-model": ["{problem}"],
    "generate": ["random", "-n", "9"],
}


@pytest.mark.parametrize("command", [*WITH_OUT])
@pytest.mark.parametrize("name", ["x.docx", "x.json.old", "x.exe"])
def test_nothing_is_written_into_files_whose_ending_says_something_else(
    command: str, name: str, tmp_path: Path, capfdbinary: Captured
) -> None:
    files = {"problem": written(tmp_path, THREE), "plan": str(tmp_path / "plan.json")}
    assert invoke(["plan", files["problem"], "-o", files["plan"], "-q"]) == 0
    out = tmp_path / name
    assert invoke([command, *(word.format(**files) for word in WITH_OUT[command]), "-o", str(out)]) == 2
    assert re.search(rb"\bmust end in\b|\bending\b", capfdbinary.readouterr()[1])
    assert not out.exists()


def test_every_command_that_writes_one_file_is_tested() -> None:
    group = typer.main.get_command(app)
    found = {
        name
        for name, command in getattr(group, "commands", {}).items()
        for option in command.params
        if "-o" in option.opts and option.metavar not in ("DIR", "FOLDER")
    }
    assert found == {*WITH_OUT}


def test_a_made_up_problem_is_not_written_as_a_program(tmp_path: Path, capfdbinary: Captured) -> None:
    out = tmp_path / "x.Graph.json"
    assert invoke(["generate", "random", "-n", "9", "-o", str(out)]) == 2
    assert (
        b"ends as programs do, and what is made up is a problem: give it another ending" in capfdbinary.readouterr()[1]
    )
    assert not out.exists()


@pytest.mark.parametrize(("name", "start"), [("x.csv", b"id,"), ("x.JSON", b"{"), ("x", b"{"), ("x.npz", b"PK")])
def test_a_made_up_problem_is_written_in_the_format_of_the_ending(name: str, start: bytes, tmp_path: Path) -> None:
    out = tmp_path / name
    assert invoke(["generate", "random", "-n", "9", "-o", str(out)]) == 0
    assert out.read_bytes().startswith(start)
    assert len(read_problem(out.read_bytes(), name=name)[0].buffers) == 9


@pytest.mark.parametrize(("command", "programs"), [("generate", ""), ("convert", ".graph.json, ")])
def test_each_ending_is_named_once(command: str, programs: str, tmp_path: Path, capfdbinary: Captured) -> None:
    words = [word.format(problem=written(tmp_path, THREE)) for word in WITH_OUT[command]]
    assert invoke([command, *words, "-o", str(tmp_path / "x.h")]) == 2
    text = capfdbinary.readouterr()[1]
    assert f"but .json, .csv, .npz, {programs}.trace, .trace.json, .plc would".encode() in text


@pytest.mark.parametrize(
    ("name", "start"),
    [("x.trace", b'{"displayTimeUnit"'), ("x.trace.json", b'{"displayTimeUnit"'), ("x", b'{\n "format"')],
)
def test_plans_and_problems_are_written_by_the_same_endings(name: str, start: bytes, tmp_path: Path) -> None:
    problem, out = written(tmp_path, THREE), tmp_path / name
    for command in (["plan", problem, "-q"], ["convert", problem], ["generate", "random", "-n", "3"]):
        assert invoke([*command, "-o", str(out)]) == 0
        assert out.read_bytes().startswith(start)
        out.unlink()


def test_an_integer_program_without_an_ending_is_lp(tmp_path: Path) -> None:
    problem = written(tmp_path, THREE)
    for name in ("x", "x.lp"):
        assert invoke(["export-model", problem, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "x").read_bytes() == (tmp_path / "x.lp").read_bytes()


def test_the_page_on_firmware_names_every_ending() -> None:
    rows = re.findall(r"^\| `(\w[\w-]*)` \| (.*?) \|", (ROOT / "docs/firmware.md").read_text("utf-8"), re.MULTILINE)
    named = {name: tuple(re.findall(r"`(\.[\w.]+)`", cell)) for name, cell in rows}
    assert named == {row.name: row.endings for row in PLAN_FORMATS.values()}


@pytest.mark.parametrize("command", ["plan", "share", "shapes", "draw", "convert", "write", "export-model", "generate"])
def test_a_terminal_is_told_what_was_written(command: str, tmp_path: Path) -> None:
    problem, plan = planned(tmp_path, json.loads(THREE))
    out = str(tmp_path / {"draw": "x.svg", "export-model": "x.lp"}.get(command, "x.json"))
    words = [word.format(problem=problem, plan=plan) for word in WITH_OUT[command]]
    code, text = run_on_terminal(command, *words, "-o", out, columns=300)
    assert (code, text.endswith(f"written to {out}\n")) == (0, True)
    assert text.count("written to") == 1


def test_a_terminal_is_told_of_folders_and_pictures(tmp_path: Path) -> None:
    problem, _ = planned(tmp_path, json.loads(THREE))
    plans, plot = str(tmp_path / "plans"), str(tmp_path / "x.svg")
    code, text = run_on_terminal("sweep", problem, "--capacity", "8", "--plot", plot, "--plans", plans, columns=300)
    assert (code, text.endswith(f"written to {plot}\nwritten to {plans}\n")) == (0, True)
    assert "1 configuration, 1 of them" in text


def test_one_thing_is_not_counted_as_several(tmp_path: Path) -> None:
    _, plan = planned(tmp_path, json.loads(THREE))
    code, text = run_on_terminal("diff", plan, plan)
    assert (code, "no difference: 1 buffer is where it was" in text) == (0, True)


def test_the_standard_output_gets_the_named_format(tmp_path: Path, capfdbinary: Captured) -> None:
    problem, out = written(tmp_path, THREE), tmp_path / "x.h"
    for command, name in (("plan", "c"), ("plan", "plan"), ("plan", "csv"), ("convert", "minimalloc")):
        asked = "--as" if command == "plan" else "--to"
        assert invoke([command, problem, asked, name, "-o", str(out)]) == 0
        capfdbinary.readouterr()
        for where in (["-o", "-"], []) if command == "convert" else (["-o", "-"],):
            assert invoke([command, problem, asked, name, *where]) == 0
            printed = capfdbinary.readouterr()[0]
            assert printed.splitlines()[0] == out.read_bytes().splitlines()[0]
            assert name == "plan" or printed == out.read_bytes()
    for arguments, text in (
        (["plan", problem, "--as", "c", "-o", "-", "--json"], b"--json"),
        (["convert", problem], b"say where to write"),
    ):
        assert invoke(arguments) == 2
        out_, err = capfdbinary.readouterr()
        assert text in out_ + err
    assert invoke(["plan", problem, "--as", "c", "-o", "-", "--capacity", "1"]) == 3
    assert capfdbinary.readouterr()[0] == b""


def test_a_plan_without_an_ending_is_json(tmp_path: Path) -> None:
    out = tmp_path / "plan"
    assert invoke(["plan", written(tmp_path, THREE), "-q", "-o", str(out)]) == 0
    assert out.read_bytes().startswith(b"{")


def test_a_comparison_of_arenas_has_one_format(tmp_path: Path, capfdbinary: Captured) -> None:
    problem = written(tmp_path, THREE)
    for more, text in ((["--as", "c"], b"--as"), ([], b".json would")):
        assert invoke(["plan", problem, "--arenas", "nested", "-o", str(tmp_path / "x.h"), *more]) == 2
        assert text in capfdbinary.readouterr()[1]
