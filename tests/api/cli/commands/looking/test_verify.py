"""`memplan verify` ends with exit code 1 for a faulty plan, and its output names the fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.running.command import run, run_on_terminal

PROBLEM = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "buffers": [
        {"id": "a\x1b[31m", "size": 64, "live": [[0, 2]]},
        {"id": "b", "size": 32, "live": [[0, 2]]},
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verify")
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    assert run("plan", str(folder / "problem.json"), "-o", str(folder / "plan.json")).returncode == 0
    plan: dict[str, Any] = json.loads((folder / "plan.json").read_bytes())
    for placement in plan["placements"]:
        placement["offset"] = 0
    (folder / "wrong.json").write_text(json.dumps(plan), encoding="utf-8")
    return folder


def test_a_right_plan_is_reported_valid(folder: Path) -> None:
    files = (str(folder / "problem.json"), str(folder / "plan.json"))
    done = run("verify", *files)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {"valid": True, "findings": [], "notes": []}
    code, text = run_on_terminal("verify", *files, env={"NO_COLOR": "1"})
    assert code == 0
    assert "2 placements checked, nothing wrong" in text


def test_a_wrong_plan_is_reported_with_its_faults(folder: Path) -> None:
    files = (str(folder / "problem.json"), str(folder / "wrong.json"))
    done = run("verify", *files)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["valid"] is False
    assert "overlap" in [finding["kind"] for finding in answer["findings"]]
    code, text = run_on_terminal("verify", *files, env={"NO_COLOR": "1"})
    assert code == 1
    assert "not valid" in text
    assert "overlap" in text
    assert "\x1b[31m" not in text


def test_either_file_may_come_through_a_pipe(folder: Path) -> None:
    plan = (folder / "plan.json").read_bytes()
    assert run("verify", str(folder / "problem.json"), "-", given=plan).returncode == 0


def test_errors_name_the_file_that_is_bad(folder: Path) -> None:
    problem = str(folder / "problem.json")
    done = run("verify", problem, problem)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"error: {problem}: ")
    done = run("verify", problem, str(folder / "absent.json"), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["errors"][0]["code"] == "unreadable"


def test_a_plan_made_for_a_preference_is_verified_and_reported_by_it(folder: Path) -> None:
    problem, made = str(folder / "problem.json"), str(folder / "fast.json")
    assert run("plan", problem, "--prefer", "speed", "-o", made).returncode == 0
    assert run("verify", problem, made, "--prefer", "speed").returncode == 0
    assert run("verify", problem, made).returncode == 1
    assert run("report", problem, made, "--prefer", "speed").returncode == 0


PRICED = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [{"name": "sram", "size": 3000}, {"name": "dram"}],
    "buffers": [
        {"id": "a", "size": 3000, "live": [[0, 2]], "reads": 1},
        {"id": "b", "size": 1000, "live": [[1, 3]], "reads": 900},
    ],
}


@pytest.mark.parametrize(
    "options",
    [
        ["--prefer", "speed"],
        ["--prefer", "balanced"],
        ["--capacity", "sram=4000"],
        ["--capacity", "sram=4000", "--prefer", "size"],
    ],
)
def test_options_that_a_plan_was_made_with_are_asked_for(options: list[str], tmp_path: Path) -> None:
    problem, made = tmp_path / "problem.json", str(tmp_path / "made.json")
    problem.write_text(json.dumps(PRICED), encoding="utf-8")
    assert run("plan", str(problem), *options, "-o", made).returncode == 0
    assert b"repeat" not in run("verify", str(problem), made, *options).stdout
    says = f"the plan was made with {' '.join(options)}: repeat that here"
    assert says in json.loads(run("verify", str(problem), made).stdout)["notes"]
    for command in (["verify"], ["report"], ["draw", "-o", str(tmp_path / "map.svg")]):
        code, text = run_on_terminal(command[0], str(problem), made, *command[1:], columns=300)
        assert (code, says in text) == (1, True)


@pytest.mark.parametrize(
    ("options", "made_with"),
    [
        (["--prefer", "speed"], "the file's own objective"),
        (["--prefer", "size", "--capacity", "sram=4000"], "--capacity sram=3000 and the file's own objective"),
    ],
)
def test_a_preference_that_a_plan_was_made_without_is_named(options: list[str], made_with: str, tmp_path: Path) -> None:
    problem, made = tmp_path / "problem.json", str(tmp_path / "made.json")
    problem.write_text(json.dumps(PRICED), encoding="utf-8")
    assert run("plan", str(problem), "-o", made).returncode == 0
    says = f"the plan was made with {made_with}: leave out --prefer, if given"
    assert says in json.loads(run("verify", str(problem), made, *options).stdout)["notes"]


@pytest.mark.parametrize("terms", [["moved_bytes", "sum_of_peaks"], ["stability"]])
def test_a_file_that_counts_moves_itself_is_not_taken_for_an_option(terms: list[str], tmp_path: Path) -> None:
    problem, made = tmp_path / "problem.json", str(tmp_path / "made.json")
    objective = {"terms": terms, "was": [{"buffer": "b", "pool": "sram", "offset": 0}]}
    problem.write_text(json.dumps({**PRICED, "objective": objective}), encoding="utf-8")
    for given, missing, says in (
        ([], ["--prefer", "size"], "the plan was made with the file's own objective: leave out --prefer, if given"),
        (
            ["--prefer", "size"],
            [],
            "the plan was made with --prefer size: repeat that here, and leave out --stability and --baseline, if given",
        ),
    ):
        assert run("plan", str(problem), *given, "-o", made).returncode == 0
        assert run("verify", str(problem), made, *given).returncode == 0
        assert json.loads(run("verify", str(problem), made, *missing).stdout)["notes"][0] == says


def test_a_wrong_plan_is_not_taken_for_one_with_other_options(folder: Path) -> None:
    done = run("verify", str(folder / "problem.json"), str(folder / "wrong.json"))
    assert "repeat" not in done.stdout.decode()


def test_a_plan_that_stays_close_to_an_older_one_is_verified_against_both(folder: Path) -> None:
    problem, old, made = (str(folder / name) for name in ("problem.json", "old.json", "stable.json"))
    assert run("plan", problem, "--solver", "greedy", "-o", old).returncode == 0
    stability = ("--stability", "first", "--baseline", old)
    assert run("plan", problem, *stability, "-o", made).returncode == 0
    document = json.loads(Path(made).read_bytes())
    assert next((term["name"], term["value"]) for term in document["objective"]["terms"]) == ("moved_bytes", 0)
    assert [place["offset"] for place in document["placements"]] == [
        place["offset"] for place in json.loads(Path(old).read_bytes())["placements"]
    ]
    assert run("verify", problem, made, *stability).returncode == 0
    without = run("verify", problem, made)
    assert (without.returncode, b"repeat --stability and --baseline" in without.stdout) == (1, True)
    assert run("report", problem, made, *stability).returncode == 0
    kept = run("verify", problem, old, *stability)
    assert (kept.returncode, b"leave out --stability and --baseline" in kept.stdout) == (1, True)
    alone = run("plan", problem, "--stability", "first")
    assert (alone.returncode, b"needs an older plan" in alone.stderr) == (2, True)
    wrong = run("plan", problem, "--stability", "first", "--baseline", problem)
    assert (wrong.returncode, b"error: --baseline: " in wrong.stderr) == (2, True)
