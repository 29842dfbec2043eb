"""`memplan sweep` turns a file into figures, a plot and plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.running.command import ROOT, run, run_on_terminal

THREE = str(ROOT / "examples" / "three.json")


def test_a_sweep_in_a_pipe_is_json() -> None:
    done = run("sweep", THREE, "--capacity", "64..128", "--step", "8")
    assert (done.returncode, done.stderr) == (0, b"")
    made = json.loads(done.stdout)
    assert made["format"] == "memplan-sweep/1"
    assert made["smallest"] == {"pool": "arena", "capacity": 84, "bound": 84, "status": "optimal"}
    assert [p["status"] for p in made["points"]] == ["infeasible"] * 3 + ["optimal"] * 6


def test_files_and_plans_can_be_verified(tmp_path: Path) -> None:
    out, plot, plans = tmp_path / "s.json", tmp_path / "s.svg", tmp_path / "plans"
    done = run(
        "sweep",
        THREE,
        "--capacity",
        "arena=80,90",
        "-o",
        str(out),
        "--plot",
        str(plot),
        "--theme",
        "dark",
        "--plans",
        str(plans),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert plot.read_bytes().startswith(b"<svg")
    assert len(json.loads(out.read_bytes())["points"]) == 2
    assert {path.name for path in plans.iterdir()} <= {"80.json", "90.json", "smallest.json", "sweep.json"}
    assert run("verify", THREE, str(plans / "90.json"), "--capacity", "90").returncode == 0


def test_a_whole_sweep_can_be_verified(tmp_path: Path) -> None:
    out, plans = tmp_path / "s.json", tmp_path / "plans"
    assert (
        run("sweep", THREE, "--capacity", "64..128", "--step", "8", "-o", str(out), "--plans", str(plans)).returncode
        == 0
    )
    index = plans / "sweep.json"
    done = run("verify", THREE, str(index))
    assert (done.returncode, json.loads(done.stdout)["findings"]) == (0, [])
    figures = run("verify", THREE, str(out))
    assert figures.returncode == 2
    assert b"sweep --plans FOLDER" in figures.stderr

    made = json.loads(index.read_bytes())
    made["points"][-1]["peaks"]["arena"] -= 1
    index.write_text(json.dumps(made))
    done = run("verify", THREE, str(index))
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["kind"] == "sweep"
    for name in ("../three.json", "gone.json"):
        made["points"][-1]["plan"] = name
        index.write_text(json.dumps(made))
        assert run("verify", THREE, str(index)).returncode == 2
    assert run("verify", THREE, str(index), "--proof", str(out)).returncode == 2


def test_a_terminal_gets_a_table() -> None:
    code, shown = run_on_terminal("sweep", THREE, "--capacity", "64..128", "--step", "8")
    assert code == 0
    assert "nothing fits into less" in shown


def test_a_sweep_of_variants_lists_the_cost_of_each_size(tmp_path: Path) -> None:
    def way(name: str, cycles: int, size: int) -> dict[str, object]:
        return {"name": name, "costs": {"cycles": cycles}, "buffers": [{"id": name, "size": size, "live": [[0, 1]]}]}

    group = {"name": "layer", "alternatives": [way("whole", 5, 64), way("striped", 9, 16)]}
    variants = {"costs": [{"name": "cycles"}], "groups": [group]}
    problem = {"format": "memplan/1", "lifetimes": "half_open", "buffers": [], "variants": variants}
    source, plans = tmp_path / "v.json", tmp_path / "plans"
    source.write_text(json.dumps(problem))
    done = run("sweep", str(source), "--capacity", "8..72", "--step", "16", "--plans", str(plans))
    assert (done.returncode, done.stderr) == (0, b"")
    made = json.loads(done.stdout)
    assert made["terms"] == ["cost", "sum_of_peaks"]
    assert [point["value"] for point in made["points"]] == [None, [9, 16], [9, 16], [9, 16], [5, 64]]
    assert run("verify", str(source), str(plans / "72.json"), "--capacity", "72").returncode == 0
    code, shown = run_on_terminal("sweep", str(source), "--capacity", "8..72", "--step", "16")
    assert code == 0
    assert "cost" in shown


def test_a_sweep_in_which_nothing_fits_ends_with_3() -> None:
    assert run("sweep", THREE, "--capacity", "1..83", "--step", "8").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--capacity", "9..8"], b"before it begins"),
        (["--capacity", "1kB"], b"is not a number of bytes"),
        (["--capacity", "dram=1"], b"no pool"),
        (["--capacity", "1..9", "--step", "0"], b"the step must be 1 byte or more"),
        (["--capacity", "1..9", "--plot", "x.html"], b"must end in .svg, .png or .pdf"),
        (["--capacity", "1..9", "-o", "x.svg"], b".json would; the option --plot draws it"),
        (["--capacity", "1..9", "--processes", "0"], b"processes"),
    ],
)
def test_bad_input_names_the_option(arguments: list[str], says: bytes) -> None:
    done = run("sweep", THREE, *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_plans_whose_files_names_would_be_too_long_are_refused_before_planning(tmp_path: Path) -> None:
    names, buffers = [f"p{i}" for i in range(40)], [{"id": "a", "size": 64, "live": [[0, 2]]}]
    problem = tmp_path / "problem.json"
    pools = [{"name": name, "size": 4096} for name in names]
    document = {"format": "memplan/1", "lifetimes": "half_open", "pools": pools, "buffers": buffers}
    problem.write_text(json.dumps(document), encoding="utf-8")
    for count, code in ((31, 0), (32, 2)):
        capacities = [word for name in names[:count] for word in ("--capacity", f"{name}=1000000")]
        plans = tmp_path / str(count)
        done = run("sweep", str(problem), *capacities, "--plans", str(plans))
        assert done.returncode == code
        assert len([*plans.iterdir()]) == (0 if code else 2)
    assert b"error: --plans: files of plans are named" in done.stderr
    assert b"only the others as capacities" in done.stderr
