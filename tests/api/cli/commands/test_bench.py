"""`memplan bench` and `memplan bench compare`, run as processes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

from api.cli.app import app
from api.cli.bench_arguments import parse_capacity, parse_seeds, parse_solvers
from api.cli.terminal.progress.bench import Progress
from api.cli.terminal.progress.redrawn_line import clock
from planner.bench import CellStatus, Results
from planner.formats import write_problem
from planner.generate import Request, generate
from tests.planner.bench.made_records import failed, made
from tests.running.command import CliRunner, run, run_on_terminal


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    path = tmp_path / "packing.json"
    path.write_bytes(write_problem(generate("packing", Request(6, 1))))
    return path


def test_bench_measures_reports_and_continues(instance: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    first = run("bench", str(instance), "--solvers", "auto", "-o", str(out), "--time-limit", "5")
    assert (first.returncode, first.stderr) == (0, b"")
    answer = json.loads(first.stdout)
    assert (answer["ran"], answer["runs"], answer["wrong"]) == (1, 1, [])
    assert answer["solvers"][0]["statuses"]["optimal"] == 1
    files = ("report.html", "report.md", "results.jsonl", "summary.csv")
    assert set(files) <= {path.name for path in out.iterdir()}
    own = {"MEMPLAN_SOLVERS": "nonsense"}  # a planner of the user's own that is not installed
    again = run("bench", str(instance), "--solvers", "auto,nonsense", "-o", str(out), "--time-limit", "5", env=own)
    assert (json.loads(again.stdout)["ran"], json.loads(again.stdout)["runs"]) == (1, 2)
    code, text = run_on_terminal(
        "bench", str(instance), "--solvers", "auto", "-o", str(out), "--time-limit", "5", env={"NO_COLOR": "1"}
    )
    assert code == 0
    assert re.search(r"auto +1 +1 +0 +0 ", text)
    assert re.search(r"nonsense +1 +0 +0 +1 +– ", text)


def test_only_finished_runs_are_counted(instance: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C, all that was to be run was once called run."""
    monkeypatch.setattr("api.cli.terminal.interrupt.Interrupt.requested", lambda _: True)
    done = CliRunner().invoke(app, ["bench", str(instance), "--solvers", "auto,greedy", "-o", str(tmp_path / "out")])
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["ran"], answer["runs"]) == (130, 0, 0)


def test_an_answer_that_cannot_be_true_is_reported_and_fails(instance: Path, tmp_path: Path) -> None:
    lie = tmp_path / "lie.json"
    lie.write_bytes(instance.read_bytes().replace(b"optimum=1048576", b"optimum=1048577"))
    done = run("bench", str(lie), "-o", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "is below 1048577" in json.loads(done.stdout)["wrong"][0]
    assert b"is below 1048577" in done.stderr
    assert "## Wrong" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent.json",), b"no such file"),
        (("empty",), b"holds a problem"),
        (("@nothing",), b"known are @smoke"),
        (("compare", "empty", "empty"), b"holds no results"),
        (("@smoke", "--solvers", "auto,gredy"), b"--solvers: no solver is named 'gredy'"),
        (("@smoke", "--seeds", "x"), b"no list of seeds"),
        ((), b"try 'memplan bench --help'"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[str, ...], message: bytes, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("bench", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == b""


def test_compare_names_regressions(tmp_path: Path) -> None:
    for name, records in (("old", [made(), made(seed=1)]), ("new", [made(), made(seed=1, values=[101])])):
        (tmp_path / name).mkdir()
        results = Results(tmp_path / name)
        for record in records:
            results.add(record)
        results.close()
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    worse = run("bench", "compare", old, new)
    assert worse.returncode == 1
    assert json.loads(worse.stdout)["changes"][0]["text"] == "value 100 became 101"
    assert run("bench", "compare", new, old).returncode == 0
    code, text = run_on_terminal("bench", "compare", old, new, env={"NO_COLOR": "1"})
    assert code == 1
    assert "worse than before" in text
    assert "value 100 became 101" in text


def test_arguments_are_parsed_or_refused() -> None:
    assert parse_seeds("0-2,7,1") == (0, 1, 2, 7)
    assert parse_solvers("auto, search,auto") == ("auto", "search")
    assert [parse_capacity(text) for text in ("from-name", "none", "64KiB")] == ["from-name", None, 65536]
    for wrong in ("", "4-2", "a", "0-99999999", "-1"):
        with pytest.raises(typer.BadParameter):
            parse_seeds(wrong)
    with pytest.raises(typer.BadParameter):
        parse_solvers(" , ")


def test_progress_estimates_the_remaining_time(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(10, 2, quiet=False)
    progress(made(process_seconds=30.0))
    progress(failed(CellStatus.CRASHED, process_seconds=10.0))
    assert progress.line() == "[####----------------] 2 of 10 runs   about 1:20 left   nets/a.json auto: crashed"
    assert "crashed: it is gone" in capsys.readouterr().err
    assert [clock(seconds) for seconds in (0, 59.6, 3661)] == ["0:00", "1:00", "1:01:01"]
