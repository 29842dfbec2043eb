"""`memplan plan-many` and `memplan diff`, as users call them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner import read_problem, write_problem
from planner.generate import Request, generate
from tests.api.processes import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for seed in range(3):
        (folder / f"{seed}.json").write_bytes(write_problem(generate("transformer", Request(20, seed))))
    (folder / "rows.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
    return folder


def test_it_plans_all_and_says_so(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("plan-many", str(folder), "-o", str(out))
    assert (done.returncode, done.stderr) == (0, b"")
    said = json.loads(done.stdout)
    assert (said["files"], said["statuses"], said["without_plan"]) == (4, {"optimal": 4}, [])
    again = json.loads(run("plan-many", str(folder), "-o", str(out)).stdout)
    assert {**again, "seconds": 0} == {**said, "seconds": 0}
    lines = (out / "manifest.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["format"] == "memplan-manifest/1"
    plans = [out / json.loads(line)["plan"] for line in lines[1:]]
    assert all(json.loads(plan.read_bytes())["status"] == "optimal" for plan in plans)


def test_what_has_no_plan_is_said_with_its_reason(folder: Path, tmp_path: Path) -> None:
    done = run("plan-many", str(folder / "0.json"), str(folder / "rows.csv"), "-o", str(tmp_path), "--capacity", "8")
    assert done.returncode == 1
    said = json.loads(done.stdout)
    assert said["statuses"] == {"optimal": 1, "infeasible": 1}
    assert "bytes more than the largest pool allowed" in said["without_plan"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("nothing.json -o {out}", b"nothing.json: there is no such file"),
        ("{folder} -o {folder}/rows.csv", b"--out: cannot make the folder"),
        ("{folder} -o {out} --baseline {folder}", b"--baseline: "),
        ("{folder} -o {out} --solver none", b"unknown_solver"),
        ("{folder} -o {out} --seed -1", b"--seed"),
    ],
)
def test_bad_input_is_refused(folder: Path, tmp_path: Path, arguments: str, says: bytes) -> None:
    done = run("plan-many", *arguments.format(folder=folder, out=tmp_path / "out").split())
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr


def test_a_diff_says_what_moved(folder: Path, tmp_path: Path) -> None:
    problem = str(folder / "1.json")
    plans = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert run("plan", problem, "-o", plans[0]).returncode == 0
    assert run("plan", problem, "--solver", "usmp_by_size", "-o", plans[1]).returncode == 0
    picture = tmp_path / "d.svg"
    done = run("diff", *plans, "--problem", problem, "--plot", str(picture))
    found = json.loads(done.stdout)
    assert done.returncode == (1 if found["changes"] else 0)
    assert len(found["changes"]) + found["unchanged"] == len(read_problem((folder / "1.json").read_bytes())[0].buffers)
    assert "lie elsewhere in B" in picture.read_text()
    assert run("diff", plans[0], plans[0]).returncode == 0
    assert run("diff", *plans, "--plot", str(picture)).returncode == 2
