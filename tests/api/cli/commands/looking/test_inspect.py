"""`memplan inspect` and `memplan convert` on the example of every format in the table."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from api.cli.app import app
from planner import Options, Plan, Problem, plan
from planner.formats import FORMATS, Format, read_problem
from planner.formats.tables.problems import written
from planner.model.deadline import expect
from tests.running.command import CliRunner, Result

EVERY = pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)


NOT_SAID = {
    ("dsa", "columns"),  # several terms to minimise
    *(("usmp", name) for name in ("minimalloc", "columns", "chrome-trace", "idealloc")),  # conflicts without lifetimes
    *(("xla-memory-space", name) for name in ("minimalloc", "columns", "dsa", "idealloc")),  # a choice of memories
    *(("cascade", name) for name in ("minimalloc", "columns", "dsa", "usmp", "idealloc")),  # alternatives
}
"""Pairs of formats where the second cannot express the first's example; every other example can be converted."""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def file_of(row: Format, folder: Path) -> Path:
    path = folder / f"problem{row.endings[0]}"
    path.write_bytes(row.document)
    return path


@EVERY
def test_inspect_describes_a_file(row: Format, tmp_path: Path) -> None:
    path, picture = file_of(row, tmp_path), tmp_path / "bytes.svg"
    found = json.loads(run("inspect", path, "--format", row.name).stdout)
    assert (found["format"], found["written_in"]) == ("memplan-inspection/1", row.name)
    assert (found["buffers"]["count"], found["buffers"]["bytes"]) == (2, 96)
    assert (found["peak"], found["bound"]) == (96, 96)
    assert (found["operators"] is None) == (row.contents is None)
    shown = run("inspect", path, "--format", row.name, "--tables", "--plot", picture)
    timed = found["live"] is not None
    assert shown.exit_code == (0 if timed else 2)
    assert picture.exists() == timed
    assert ("96 B" in shown.stdout) == timed


def test_alternatives_are_counted_and_the_chosen_ones_named(tmp_path: Path) -> None:
    path = file_of(FORMATS["memplan"], tmp_path)
    ways = [
        {"name": name, "buffers": [{"id": name, "size": size, "live": [[0, 2]]}]}
        for name, size in (("whole", 9), ("parts", 4))
    ]
    said = [{"name": "conv", "alternatives": ways}, {"name": "pool", "alternatives": [{"name": "only"}]}]
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"variants": {"groups": said}}))
    found = json.loads(run("inspect", path).stdout)["variants"]
    assert (found["groups"], found["alternatives"]) == (len(said), sum(len(each["alternatives"]) for each in said))
    assert set(found["chosen"]) == {each["name"] for each in said}
    shown = run("inspect", path, "--tables").stdout
    assert all(f"{group}: {way}" in shown for group, way in found["chosen"].items())


def test_what_follows_the_plan_counts_within_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, given = file_of(FORMATS["memplan"], tmp_path), list[float]()

    def planned(problem: Problem, options: Options, begun: float) -> Plan:
        given.append(options.time_limit or 0.0)
        return plan(problem, options, begun=begun)

    monkeypatch.setattr("planner.plan", planned)
    for more in ((), ("--plot", tmp_path / "bytes.svg")):
        assert run("inspect", path, "--time-limit", "9", *more).exit_code == 0
    assert given[1] < given[0] < 9  # a picture takes time, too
    for late in ("memory_report", "profile"):
        with monkeypatch.context() as patched:
            patched.setattr(f"api.cli.commands.looking.inspect.{late}", lambda *_: expect(1e9, "looking at"))
            found = run("inspect", path, "--plot", tmp_path / "bytes.svg", "--time-limit", "9")
        assert (found.exit_code, "over while looking at the problem" in found.stderr) == (4, True)


def test_operators_and_constants_are_counted(tmp_path: Path) -> None:
    found = {name: json.loads(run("inspect", file_of(FORMATS[name], tmp_path)).stdout) for name in ("onnx", "tflite")}
    assert found["onnx"]["operators"] == {"Constant": 1, "ReduceMax": 1}
    assert sum(found["tflite"]["operators"].values()) == 1
    assert found["onnx"]["buffers"]["kinds"] == {"input": 1, "output": 1}


@EVERY
@pytest.mark.parametrize("target", written().values(), ids=lambda row: row.name)
def test_every_format_is_converted_to_every_other_that_can_express_it(
    row: Format, target: Format, tmp_path: Path
) -> None:
    out = tmp_path / f"out{target.endings[0]}"
    result = run("convert", file_of(row, tmp_path), "-o", out, "--to", target.name, "--format", row.name)
    if (row.name, target.name) in NOT_SAID:
        assert result.exit_code == 2
        assert result.stderr.startswith("error: ")
        return
    assert result.exit_code == 0, result.stderr
    before, peak = as_read(row.name)
    after, _ = read_problem(out.read_bytes(), format=target.name)
    assert [buffer.size for buffer in after.buffers] == [buffer.size for buffer in before.buffers]
    if target.name != "idealloc":  # idealloc numbers its buffers
        assert [str(buffer.id) for buffer in after.buffers] == [str(buffer.id) for buffer in before.buffers]
    assert plan(after).peak == peak


@cache
def as_read(name: str) -> tuple[Problem, int]:
    """Return the example of a format and its least peak."""
    problem, _ = read_problem(FORMATS[name].document, format=name)
    peak = plan(problem).peak
    assert peak is not None
    return problem, peak


def test_the_ending_or_a_name_decides_the_written_format(tmp_path: Path) -> None:
    path = file_of(FORMATS["onnx"], tmp_path)
    assert json.loads(run("convert", path, "-o", "-").stdout)["format"] == "memplan/1"
    for arguments in (("-o", tmp_path / "x.docx"), ("-o", "-", "--to", "onnx")):
        refused = run("convert", path, *arguments)
        assert refused.exit_code == 2
        assert "written are memplan, " in refused.stderr


def test_convert_says_what_the_other_format_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(
        '{"format": "memplan/1", "lifetimes": "half_open", "pools": [{"name": "sram", "size": 64}],'
        ' "buffers": [{"id": "a", "size": 8, "live": [[0, 1]], "reads": 2}]}'
    )
    done = run("convert", path, "-o", tmp_path / "out.csv")
    assert done.exit_code == 0
    assert done.stderr == "warning: minimalloc does not say all: sizes of memories, numbers of uses\n"
    assert run("convert", path, "-o", tmp_path / "again.json").stderr == ""


@pytest.mark.parametrize("name", ["chrome-trace", "idealloc"])
def test_convert_writes_nothing_that_cannot_be_read_again(tmp_path: Path, name: str) -> None:
    path, out = tmp_path / "in.json", tmp_path / "out"
    path.write_text('{"format": "memplan/1", "buffers": []}')
    refused = run("convert", path, "-o", out, "--to", name)
    assert refused.exit_code == 2
    assert f"error: {name} cannot express this problem: read again, " in refused.stderr
    assert not out.exists()


def test_the_plan_in_a_file_can_be_compared_drawn_and_reported(tmp_path: Path) -> None:
    file, own, other = (tmp_path / name for name in ("model.log", "own.json", "other.json"))
    row = "{0} (id={0}): size=64, offset={1}, first_used=0 last_used=1\n"
    file.write_text(row.format(1, 0) + row.format(2, 128))
    shown = run("inspect", file, "--own-plan", own)
    assert (shown.exit_code, json.loads(shown.stdout)["own_peaks"]) == (0, {"arena": 192})
    assert run("verify", file, own).exit_code == 0
    assert json.loads(run("report", file, own, "--json").stdout)["pools"][0]["peak"] == 192
    assert run("plan", file, "-o", other, "--quiet").exit_code == 0
    assert json.loads(run("diff", own, other, "--json").stdout)["bytes"] == 64
    assert run("draw", file, own, "--compare", other, "-o", tmp_path / "two.svg").exit_code == 0
    printed = run("inspect", file, "--own-plan", "-")
    assert json.loads(printed.stdout)["placements"] == json.loads(own.read_text())["placements"]


def test_a_wrong_plan_in_a_file_is_written_and_explained(tmp_path: Path) -> None:
    file, own = tmp_path / "model.log", tmp_path / "own.json"
    row = "{0} (id={0}): size=64, offset={1}, first_used=0 last_used=1\n"
    file.write_text(row.format(1, 0) + row.format(2, 32))
    shown = run("inspect", file, "--own-plan", own)
    assert (shown.exit_code, "1 thing is wrong; the first: buffers '1'" in shown.stderr) == (1, True)
    assert run("draw", file, own, "-o", tmp_path / "map.svg").exit_code == 1
    open_ = tmp_path / "three.csv"
    open_.write_bytes(FORMATS["minimalloc"].document)
    assert "gives no place to 'a'" in run("inspect", open_, "--own-plan", own).stderr
    for wrong in ("x.svg", file):
        assert run("inspect", file, "--own-plan", wrong).exit_code == 2


def test_memories_of_a_file_s_plan_are_shown_apart(tmp_path: Path) -> None:
    file = tmp_path / "two.log"
    first = FORMATS["vela-log"].example
    file.write_text(first + first.replace("Sram", "Dram"))
    assert json.loads(run("inspect", file).stdout)["own_peaks"] == {"Sram": 96, "Dram": 96}
    assert "Dram: 96 B, 0.0 % above the bound" in run("inspect", file, "--tables").stdout
