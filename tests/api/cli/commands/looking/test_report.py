"""`memplan report` and `memplan plan --report`, run as users run them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.running.command import planned, run, run_on_terminal

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
    return planned(tmp_path_factory.mktemp("report"), PROBLEM)


def test_a_pipe_gets_the_report_as_json(files: tuple[str, str]) -> None:
    done = run("report", *files)
    assert (done.returncode, done.stderr) == (0, b"")
    report = json.loads(done.stdout)
    assert (report["format"], report["peak"], report["pools"][0]["base"]) == ("memplan-report/1", 96, "0x1000")
    assert report["pools"][0]["name"] == "sram\x1b[31m\n"
    through_a_pipe = run("report", files[0], "-", given=Path(files[1]).read_bytes())
    assert through_a_pipe.stdout == done.stdout


def test_a_terminal_gets_the_report_as_tables(files: tuple[str, str]) -> None:
    code, text = run_on_terminal("report", *files, columns=120, env=BARE)
    assert code == 0
    assert "optimal\n  peak   96 B\n  bound  96 B\n" in text
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


def test_a_report_is_written_as_csv(files: tuple[str, str]) -> None:
    done = run("report", *files, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [(row["scope"], row["name"], row["peak"]) for row in rows] == [
        ("memory", "sram\x1b[31m\n", "96"),
        ("all", "", "96"),
    ]


def test_cadence_s_tables_are_printed_in_a_pipe_and_after_planning(files: tuple[str, str], tmp_path: Path) -> None:
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


def test_the_report_of_an_infeasible_plan_says_why_nothing_fits(files: tuple[str, str], tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.json")
    run("plan", files[0], "--capacity", "64", "-o", plan)
    wanted = json.loads(Path(plan).read_bytes())["shortage"]
    given = json.loads(run("report", files[0], plan, "--capacity", "64").stdout)
    assert (given["status"], given["shortage"]) == ("infeasible", wanted)
    text = run("report", files[0], plan, "--capacity", "64", "--report", "full").stdout.decode()
    assert "no plan fits" in text
    assert f"{wanted['bytes_short']} B" in text


def test_a_plan_for_other_sizes_is_refused_without_them(files: tuple[str, str], tmp_path: Path) -> None:
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


@pytest.fixture(scope="module")
def shared(files: tuple[str, str]) -> tuple[str, str]:
    sharing = Path(files[1]).with_name("sharing.json")
    assert run("share", files[0], "-o", str(sharing)).returncode == 0
    return files[0], str(sharing)


def test_a_sharing_has_a_report_of_its_own(shared: tuple[str, str]) -> None:
    done = run("report", *shared)
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr, report["format"]) == (0, b"", "memplan-sharing-report/1")
    assert (report["total"], report["kinds"][0]["pool"], report["unused"]) == (96, "sram\x1b[31m\n", 0)
    rows = list(csv.DictReader(io.StringIO(run("report", *shared, "--csv").stdout.decode())))
    assert [row["scope"] for row in rows] == ["object", "object", "kind", "all"]
    code, text = run_on_terminal("report", *shared, columns=120, env=BARE)
    assert (code, "optimal   total 96 B   bound 96 B   0.0 % unused on average" in text) == (0, True)
    assert r"pool sram\x1b[31m\n: 2 buffers, 2 objects of 96 B together, bound 96 B, 0.0 % unused" in " ".join(
        text.split()
    )
    for option in ("--csv", "--json", "--report=full"):
        code, text = run_on_terminal("report", *shared, option, columns=120, env=BARE)
        assert (code, text.replace("\n", "").isprintable()) == (0, True)


def test_the_report_of_an_infeasible_sharing_says_why(shared: tuple[str, str]) -> None:
    sharing = str(Path(shared[1]).with_name("none.json"))
    assert run("share", shared[0], "--capacity", "8", "-o", sharing).returncode == 3
    wanted = json.loads(Path(sharing).read_bytes())["shortage"]
    given = json.loads(run("report", shared[0], sharing, "--capacity", "8").stdout)
    assert given["shortage"] == wanted is not None
    assert b"no plan fits" in run("report", shared[0], sharing, "--capacity", "8", "--report", "full").stdout


def test_a_wrong_sharing_or_one_in_cadence_s_tables_gets_no_report(shared: tuple[str, str], tmp_path: Path) -> None:
    sharing = json.loads(Path(shared[1]).read_bytes())
    sharing["assignments"][1]["object"] = 0
    (tmp_path / "wrong.json").write_text(json.dumps(sharing), encoding="utf-8")
    done = run("report", shared[0], str(tmp_path / "wrong.json"))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"is no sharing of this problem" in done.stderr
    refused = run("report", *shared, "--report", "cadence")
    assert (refused.returncode, refused.stdout, b"not for a sharing" in refused.stderr) == (2, b"", True)


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
def test_contradictory_options_are_refused(files: tuple[str, str], options: tuple[str, ...]) -> None:
    done = run("report", *(() if options == ("-", "-") else files), *options)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--quiet", "-o-"])
def test_plan_refuses_report_beside_other_output(files: tuple[str, str], option: str) -> None:
    assert run("plan", files[0], "--report", "full", option).returncode == 2


def test_a_frontier_s_report_has_all_points(tmp_path: Path) -> None:
    problem, folder = tmp_path / "problem.json", tmp_path / "plans"
    made = run("generate", "variants", "-n", "8", "--set", "groups=2", "--set", "alternatives=2", "-o", str(problem))
    assert made.returncode == 0
    assert run("pareto", str(problem), "-o", str(folder), "--workers", "1", "--time-limit", "none").returncode == 0
    frontier = folder / "frontier.json"
    done = run("report", str(problem), str(frontier))
    assert (done.returncode, done.stderr) == (0, b"")
    report, index = json.loads(done.stdout), json.loads(frontier.read_bytes())
    assert report["format"] == "memplan-frontier-report/1"
    assert (report["complete"], report["within"]) == (index["complete"], index["within"])
    assert len(report["points"]) == len(index["points"]) > 1
    for point, listed in zip(report["points"], index["points"], strict=True):
        alone = run("report", str(problem), str(folder / listed["plan"]))
        assert point["report"] == json.loads(alone.stdout)
        assert {name: point[name] for name in listed if name != "plan"} == {
            name: listed[name] for name in listed if name != "plan"
        }
    code, text = run_on_terminal("report", str(problem), str(frontier), columns=120, env=BARE)
    assert code == 0
    assert text.count("cost ") == len(index["points"])
    for option in ("--csv", "--report=cadence"):
        assert run("report", str(problem), str(frontier), option).returncode == 2
    index["points"].reverse()
    frontier.write_text(json.dumps(index), encoding="utf-8")
    wrong = run("report", str(problem), str(frontier))
    assert wrong.returncode == 1
    assert b"is no frontier of this problem" in wrong.stderr


def test_nested_arenas_have_a_report_each(tmp_path: Path) -> None:
    loop, made = str(Path(__file__).resolve().parents[5] / "examples" / "loop.json"), tmp_path / "nested.json"
    assert run("plan", loop, "--arenas", "nested", "-o", str(made)).returncode == 0
    plans = json.loads(made.read_text())
    report = json.loads(run("report", loop, str(made), "--json").stdout)
    assert (report["format"], report["peak"]) == ("memplan-nested-report/1", plans["peak"])
    peaks = [(each["function"], each["plan"]["peak"]) for each in plans["arenas"]]
    assert [(each["function"], each["report"]["peak"]) for each in report["arenas"]] == peaks
    rows = [*csv.DictReader(io.StringIO(run("report", loop, str(made), "--csv").stdout.decode()))]
    assert [(row["function"], int(row["peak"])) for row in rows if row["scope"] == "all"] == peaks
    shown = run("report", loop, str(made), "--report", "full").stdout.decode()
    assert [line for line in shown.splitlines() if line.startswith("function ")] == ["function block", "function main"]
    cadence = run("report", loop, str(made), "--report", "cadence")
    assert (cadence.returncode, b"not for the arenas of functions" in cadence.stderr) == (2, True)
    plans["arenas"][0]["plan"]["placements"][0]["offset"] += 1
    made.write_text(json.dumps(plans))
    assert run("report", loop, str(made)).returncode == 1
