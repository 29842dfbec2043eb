"""The command plans programs in one arena or in nested ones, draws them, and refuses bad ones with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from api.cli.app import app
from planner import Options, Plan, Problem, plan
from tests.running.command import CliRunner

LOOP = Path(__file__).parents[3] / "examples" / "loop.json"


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*arguments])
    return result.exit_code, result.stdout, result.stderr


def test_one_arena_needs_less_than_one_for_each_function() -> None:
    code, shown, _ = run("plan", str(LOOP))
    assert (code, json.loads(shown)["peak"], json.loads(shown)["bound"]) == (0, 18432, 18432)
    code, shown, _ = run("plan", str(LOOP), "--arenas", "nested")
    nested = json.loads(shown)
    assert (code, nested["format"], nested["peak"]) == (0, "memplan-nested/1", 22528)
    assert [(arena["function"], arena["plan"]["peak"]) for arena in nested["arenas"]] == [
        ("block", 10240),
        ("main", 22528),
    ]


def test_nested_plans_are_written_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "nested.json"
    assert run("plan", str(LOOP), "--arenas", "nested", "-o", str(out)) == (0, "", "")
    assert json.loads(out.read_bytes())["peak"] == 22528


def test_a_capacity_holds_for_nested_arenas_too() -> None:
    code, shown, _ = run("plan", str(LOOP), "--arenas", "nested", "--capacity", "20000", "--json")
    assert (code, json.loads(shown)["peak"]) == (3, None)


def test_nested_arenas_share_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Options] = []

    def plan_within(problem: Problem, options: Options, **_: object) -> Plan:
        given.append(options)
        return plan(problem, options)

    monkeypatch.setattr("planner.planning.placing.shared_limits.plan", plan_within)
    run("plan", str(LOOP), "--arenas", "nested", "--time-limit", "60", "--work-limit", "9000")
    assert [options.work_limit for options in given] == [3000, 3000]  # the third share is the state's
    left = [options.time_limit or 0 for options in given]
    assert left[0] <= 20
    assert left[1] <= 30


@pytest.mark.parametrize("more", [["--report", "full"], ["--explain"]])
def test_options_unfit_for_nested_arenas_are_refused(more: list[str]) -> None:
    code, _, errors = run("plan", str(LOOP), "--arenas", "nested", *more)
    assert code == 2
    assert "--arenas" in errors


def test_nested_arenas_of_a_problem_are_refused() -> None:
    code, _, errors = run("plan", str(LOOP.with_name("three.json")), "--arenas", "nested")
    assert code == 2
    assert "memplan-graph/2" in errors


def test_pictures_name_the_steps(tmp_path: Path) -> None:
    plan, picture = tmp_path / "plan.json", tmp_path / "map.svg"
    assert run("plan", str(LOOP), "-o", str(plan))[0] == 0
    assert run("draw", str(LOOP), str(plan), "-o", str(picture))[0] == 0
    assert "0 conv" in picture.read_text("utf-8")
