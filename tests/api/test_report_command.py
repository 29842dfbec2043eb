"""`memplan report`, and `memplan plan --report`, as users call them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.api.processes import run, run_on_terminal

PROBLEM = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [{"name": "sram\x1b[31m\n", "size": 128, "base": 4096}],
    "buffers": [
        {"id": "a\x1b[31m\u202e", "size": 64, "live": [[0, 2]]},
        {"id": "b", "size": 32, "live": [[0, 2]]},
    ],
}
BARE = {"NO_COLOR": "1", "TERM": "dumb"}
CADENCE = "Base Address | Memory Size (Bytes) | Peak Memory Usage (Bytes) |"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("report")
    problem, plan = folder / "problem.json", folder / "plan.json"
    problem.write_text(json.dumps(PROBLEM), encoding="utf-8")
    assert run("plan", str(problem), "-o", str(plan)).returncode == 0
    return str(problem), str(plan)


def test_json_in_a_pipe(files: tuple[str, str]) -> None:
    done = run("report", *files)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads(done.stdout)
    assert (report["format"], report["peak"], report["pools"][0]["base"]) == ("memplan-report/1", 96, "0x1000")
    assert report["pools"][0]["name"] == "sram\x1b[31m\n"
    through_a_pipe = run("report", files[0], "-", given=Path(files[1]).read_bytes())
    assert through_a_pipe.stdout == done.stdout


def test_tables_on_a_terminal(files: tuple[str, str]) -> None:
    code, text = run_on_terminal("report", *files, columns=120, env=BARE)
    assert code == 0
    assert "optimal   peak 96 B   bound 96 B" in text
    assert "Most in use at once: 96 B, first at step 0" in text
    assert r"a\x1b[31m\u202e" in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("option", ["--csv", "--json", "--report=cadence"])
def test_no_form_lets_names_control_the_terminal(files: tuple[str, str], option: str) -> None:
    code, text = run_on_terminal("report", *files, option, columns=120, env=BARE)
    assert code == 0
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == len(
        run("report", *files, option).stdout.decode().replace("31m\n", "31m").splitlines()
    )


def test_csv(files: tuple[str, str]) -> None:
    done = run("report", *files, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [(row["scope"], row["name"], row["peak"]) for row in rows] == [
        ("memory", "sram\x1b[31m\n", "96"),
        ("all", "", "96"),
    ]


def test_cadence_in_a_pipe_and_after_planning(files: tuple[str, str], tmp_path: Path) -> None:
    text = run("report", *files, "--report", "cadence").stdout.decode()
    assert CADENCE in text
    assert "| Peak memory usage across all spaces | 96 bytes | Node 0 |" in text
    planned = run("plan", files[0], "--report", "cadence", "-o", str(tmp_path / "plan.json"))
    assert (planned.returncode, planned.stdout.decode()) == (0, text)
    assert json.loads((tmp_path / "plan.json").read_bytes())["peak"] == 96


def test_planning_with_another_capacity_reports_that_one(files: tuple[str, str]) -> None:
    done = run("plan", files[0], "--report", "cadence", "--capacity", "65536")
    assert "65536" in done.stdout.decode()
    short = run("plan", files[0], "--report", "cadence", "--capacity", "64")
    assert short.returncode == 3
    assert b"infeasible" in short.stderr


def test_a_plan_made_for_other_sizes_needs_them_said(files: tuple[str, str], tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.json")
    assert run("plan", files[0], "--capacity", "96", "-o", plan).returncode == 0
    refused = run("report", files[0], plan)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"is no plan of this problem" in refused.stderr
    assert json.loads(run("report", files[0], plan, "--capacity", "96").stdout)["pools"][0]["free"] == 0


def test_a_wrong_plan_gets_no_report(files: tuple[str, str], tmp_path: Path) -> None:
    plan = json.loads(Path(files[1]).read_bytes())
    plan["placements"][1]["offset"] = 0
    (tmp_path / "wrong.json").write_text(json.dumps(plan), encoding="utf-8")
    done = run("report", files[0], str(tmp_path / "wrong.json"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"'memplan verify' lists them" in done.stderr
    assert b"\x1b" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--csv", "--json"),
        ("--csv", "--report", "full"),
        ("--json", "--report", "full"),
        ("--report", "nobody's"),
        ("-", "-"),
    ],
)
def test_what_cannot_be_combined_is_refused(files: tuple[str, str], options: tuple[str, ...]) -> None:
    done = run("report", *(() if options == ("-", "-") else files), *options)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--quiet", "-o-"])
def test_plan_takes_report_only_alone(files: tuple[str, str], option: str) -> None:
    assert run("plan", files[0], "--report", "full", option).returncode == 2
