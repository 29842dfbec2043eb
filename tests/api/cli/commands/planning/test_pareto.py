"""`memplan pareto`: the folder it writes, its output and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.running.command import run, run_on_terminal


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("pareto") / "variants.json")
    options = ("--buffers", "12", "--set", "groups=4", "--set", "alternatives=3")
    assert run("generate", "variants", *options, "-o", path).returncode == 0
    return path


def test_the_folder_holds_a_plan_for_each_point_a_list_and_a_curve(problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    assert (done := run("pareto", problem, "-o", str(folder), "--json", "--time-limit", "120")).returncode == 0
    index = json.loads((folder / "frontier.json").read_bytes())
    assert index == json.loads(done.stdout)
    for quiet in ([], ["--quiet"]):
        again = run("pareto", problem, "-o", str(folder), "--time-limit", "120", *quiet)
        assert (again.returncode, again.stdout) == (0, b"")
    assert (index["format"], index["complete"], index["stop"]) == ("memplan-frontier/1", True, "proved")
    assert len(index["points"]) >= 2
    costs = [point["cost"] for point in index["points"]]
    memory = [point["memory"] for point in index["points"]]
    assert costs == sorted(set(costs))
    assert memory == sorted(set(memory), reverse=True)
    picture = (folder / "frontier.svg").read_text()
    assert picture.count('<path class="curve') >= 2
    assert f"{len(costs)} points" in picture
    for point in (index["points"][0], index["points"][-1]):
        plan = json.loads((folder / point["plan"]).read_bytes())
        assert (plan["choice"]["cost"], plan["peak"]) == (point["cost"], point["memory"])
        assert run("verify", problem, str(folder / point["plan"])).returncode == 0
        assert run("draw", problem, str(folder / point["plan"]), "-o", str(tmp_path / "map.svg")).returncode == 0
        assert run("report", problem, str(folder / point["plan"])).returncode == 0


def test_a_frontier_without_a_folder_holds_its_plans(problem: str, tmp_path: Path) -> None:
    done = run("pareto", problem, "--json")
    points = json.loads(done.stdout)["points"]
    assert {point["plan"]["format"] for point in points} == {"memplan-plan/1"}
    assert (shown := run("verify", problem, "-", given=done.stdout)).returncode == 0, shown.stderr
    assert run("pareto", problem, "-o", str(tmp_path)).returncode == 0
    named = run("verify", problem, "-", given=(tmp_path / "frontier.json").read_bytes())
    says = (
        b"/points/0/plan: must be a plan: it names a file, which is looked for only beside a file that is named itself"
    )
    assert (named.returncode, says in named.stderr) == (2, True), named.stderr


def test_a_drawing_that_there_is_none_of_blames_the_option_that_asks_for_it(problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    assert run("pareto", problem, "-o", str(folder)).returncode == 0
    index, picture = str(folder / "frontier.json"), str(tmp_path / "f.svg")
    for options, blamed in (
        (["-o", str(tmp_path / "f.html")], b"--out"),
        (["-o", picture, "--compare", index], b"--compare"),
        (["-o", picture, "--profile"], b"--what"),
    ):
        done = run("draw", problem, index, *options)
        assert (done.returncode, done.stderr[:20].split(b": ")[1]) == (2, blamed)


def test_a_folder_named_like_a_file_is_refused(problem: str, tmp_path: Path) -> None:
    done = run("pareto", problem, "-o", str(tmp_path / "f.svg"))
    assert (done.returncode, b"f.svg is named like a file, and a folder is meant" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_list_of_points_can_be_inspected_alone(problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    assert run("pareto", problem, "-o", str(folder)).returncode == 0
    index = str(folder / "frontier.json")
    done = run("inspect", index)
    assert (done.returncode, done.stderr) == (0, b"")
    shown, listed = json.loads(done.stdout), json.loads(Path(index).read_bytes())
    assert [point["memory"] for point in shown["points"]] == [point["memory"] for point in listed["points"]]
    assert all(point["plan"]["format"] == "memplan-plan/1" for point in shown["points"])
    assert b"of the frontier, proven" in run("inspect", index, "--tables").stdout
    assert run("inspect", index, "--plot", str(tmp_path / "curve.svg")).returncode == 2


def test_a_terminal_gets_a_curve_of_characters(problem: str) -> None:
    code, text = run_on_terminal("pareto", problem, "--points", "3", env={"NO_COLOR": "1"})
    assert code == 0
    assert "●" in text
    assert "memory" in text


def test_plan_shows_the_chosen_alternatives(problem: str) -> None:
    code, text = run_on_terminal("plan", problem, "--prefer", "speed", env={"NO_COLOR": "1"})
    assert code == 0
    assert "chosen group0: 0" in text
    assert "cost" in text


def test_a_problem_that_does_not_fit_ends_with_3(problem: str) -> None:
    assert run("pareto", problem, "--capacity", "16").returncode == 3
    assert run("plan", problem, "--max-cost=-1").returncode == 3


def test_a_problem_without_variants_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    path.write_text('{"format": "memplan/1", "buffers": []}')
    done = run("pareto", str(path), "-o", str(tmp_path / "plans"))
    assert done.returncode == 2
    assert b"no variants" in done.stderr
    assert not (tmp_path / "plans").exists()


def test_sharings_models_and_sweeps_for_size_refuse_variants(problem: str, tmp_path: Path) -> None:
    sweep = ("sweep", problem, "--capacity", "64..128", "--step", "64", "--prefer", "size")
    for command in (("share", problem), ("export-model", problem, "-o", str(tmp_path / "m.lp")), sweep):
        done = run(*command)
        assert done.returncode == 2
        assert b"variants" in done.stderr


def test_a_frontier_is_verified_and_drawn(problem: str, tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    assert run("pareto", problem, "--points", "3", "-o", str(folder)).returncode == 0
    index, picture = folder / "frontier.json", tmp_path / "curve.svg"
    done = run("verify", problem, str(index))
    assert (done.returncode, json.loads(done.stdout)["valid"]) == (0, True)
    assert run("draw", problem, str(index), "-o", str(picture)).returncode == 0
    assert picture.read_bytes() == (folder / "frontier.svg").read_bytes()
    for wrong in (["-o", str(tmp_path / "page.html")], ["-o", str(picture), "--what", "profile"]):
        done = run("draw", problem, str(index), *wrong)
        assert (done.returncode, b"of a frontier there is memory over cost alone" in done.stderr) == (2, True)
    plan = json.loads((folder / "point-2.json").read_bytes())
    plan["placements"][0]["offset"] += 1 << 20
    (folder / "point-2.json").write_text(json.dumps(plan))
    done = run("verify", problem, str(index))
    assert done.returncode != 0
    findings = json.loads(done.stdout)["findings"]
    assert findings
    assert all(each["message"].startswith("point 2: ") for each in findings)
    done = run("draw", problem, str(index), "-o", str(picture))
    assert (done.returncode, b"is no frontier of this problem" in done.stderr) == (1, True)
    content = json.loads(index.read_bytes())
    for change, place in (
        ({"memory": 1}, "/points/1/memory"),
        ({"plan": "../point-1.json"}, "/points/1/plan"),
        ({"plan": "gone.json"}, "/points/1/plan"),
        ({"plan": 3}, "/points/1/plan"),
    ):
        content["points"][1] = content["points"][0] | change
        index.write_text(json.dumps(content))
        done = run("verify", problem, str(index), "--json")
        assert (done.returncode, place.encode() in done.stdout + done.stderr) == (2, True), change
