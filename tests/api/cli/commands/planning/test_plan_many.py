"""`memplan plan-many` and `memplan diff`, run as users run them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from api.cli.commands.planning.shared_answers import SharedAnswers, as_the_service_has_them, key_of
from api.jobs.requests.endpoints import PLANS
from api.jobs.requests.posted_problem import understand
from api.settings import Settings
from planner import Options, read_problem, write_problem
from planner.generate import Request, generate
from planner.many import Entry, Farm, collect, plan_many
from planner.many.worker import Reader, WasRead
from solvers.model.solver import Goal
from tests.running.command import run
from tests.running.postgresql import Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for seed in range(3):
        (folder / f"{seed}.json").write_bytes(write_problem(generate("transformer", Request(20, seed))))
    (folder / "rows.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
    return folder


def test_all_problems_are_planned_and_counted(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("plan-many", str(folder), "-o", str(out))
    assert (done.returncode, done.stderr) == (0, b"")
    summary = json.loads(done.stdout)
    assert (summary["files"], summary["statuses"], summary["without_plan"]) == (4, {"optimal": 4}, [])
    again = json.loads(run("plan-many", str(folder), "-o", str(out)).stdout)
    assert {**again, "seconds": 0} == {**summary, "seconds": 0}
    lines = (out / "manifest.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["format"] == "memplan-manifest/1"
    plans = [out / json.loads(line)["plan"] for line in lines[1:]]
    assert all(json.loads(plan.read_bytes())["status"] == "optimal" for plan in plans)


def test_problems_without_a_plan_are_listed_with_the_reason(folder: Path, tmp_path: Path) -> None:
    done = run("plan-many", str(folder / "0.json"), str(folder / "rows.csv"), "-o", str(tmp_path), "--capacity", "8")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["statuses"] == {"optimal": 1, "infeasible": 1}
    assert "bytes more than the largest pool allowed" in summary["without_plan"][0]["reason"]


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


def test_a_diff_names_moved_buffers(folder: Path, tmp_path: Path) -> None:
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


def test_a_diff_draws_each_plan_with_its_own_sizes(folder: Path, tmp_path: Path) -> None:
    older = json.loads((folder / "1.json").read_bytes())
    newer = {**older, "buffers": older["buffers"][1:], "pools": [{"name": "other"}]}
    newer["buffers"][0] = {**newer["buffers"][0], "size": 2 * newer["buffers"][0]["size"] + 64}
    problems = [str(tmp_path / "older.json"), str(tmp_path / "newer.json")]
    plans = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    for problem, document, plan in zip(problems, (older, newer), plans, strict=True):
        Path(problem).write_text(json.dumps(document))
        assert run("plan", problem, "-o", plan).returncode == 0
    picture = tmp_path / "d.svg"
    refused = run("diff", *plans, "--problem", problems[1], "--plot", str(picture))
    assert refused.returncode == 2
    assert b"a.json: /placements/0/id: buffer " in refused.stderr
    assert b"--problem-before" in refused.stderr
    assert run("diff", *plans, "--problem", problems[1], "--problem-before", problems[0]).returncode == 2
    drawn = run("diff", *plans, "--problem", problems[1], "--problem-before", problems[0], "--plot", str(picture))
    assert drawn.returncode == 1, drawn.stderr
    assert ">A: other" not in picture.read_text()
    assert ">B: other<" in picture.read_text()


def sources(done: subprocess.CompletedProcess[bytes]) -> dict[str, int]:
    found: dict[str, int] = json.loads(done.stdout)["sources"]
    return found


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store, once of each kind of database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/answers.db"
    server: Server = request.getfixturevalue("postgresql")
    return server.new_database()


def take_away(url: str) -> None:
    """Make the store unreachable."""
    if url.startswith("sqlite"):
        database = Path(url.removeprefix("sqlite:///"))
        database.rename(database.with_name("gone.db"))
        return
    server, _, name = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))


def test_runs_share_a_store_of_answers(folder: Path, tmp_path: Path, url: str) -> None:
    store = ("--store", url)
    assert sources(run("plan-many", str(folder), "-o", str(tmp_path / "one"), *store)) == {"solved": 4}
    assert sources(run("plan-many", str(folder), "-o", str(tmp_path / "two"), *store)) == {"store": 4}
    plans = [{path.name: path.read_bytes() for path in (tmp_path / out).rglob("*.plan.json")} for out in ("one", "two")]
    assert plans[0] == plans[1]
    assert sources(run("plan-many", str(folder), "-o", str(tmp_path / "three"), *store, "--seed", "4")) == {"solved": 4}


def test_a_store_that_cannot_be_opened_ends_the_run(folder: Path, tmp_path: Path) -> None:
    unwritable = run("plan-many", str(folder), "-o", str(tmp_path / "four"), "--store", "sqlite:////nowhere/x.db")
    assert (unwritable.returncode, b"the store cannot be opened" in unwritable.stderr) == (2, True)


def test_stored_answers_are_verified(folder: Path, tmp_path: Path) -> None:
    database = tmp_path / "answers.db"
    store = ("--store", f"sqlite:///{database}")
    run("plan-many", str(folder), "-o", str(tmp_path / "one"), *store)
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for key, data in connection.execute("select key, data from plans").fetchall():
            plan = json.loads(data)
            plan["placements"][0]["offset"] += 1 << 20
            connection.execute("update plans set data = ? where key = ?", (json.dumps(plan).encode(), key))
    again = run("plan-many", str(folder), "-o", str(tmp_path / "two"), *store)
    assert sources(again) == {"solved": 4}
    assert b"the store is damaged" in again.stderr
    assert [path.read_bytes() for path in sorted((tmp_path / "one").rglob("*.plan.json"))] != []


def test_a_run_goes_on_without_a_lost_store(
    folder: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = SharedAnswers(url)
    options = as_the_service_has_them(Options(workers=1))
    farm = Farm(options, processes=1, answers=answers)
    monkeypatch.chdir(tmp_path)
    take_away(url)
    out = tmp_path / "out"
    out.mkdir()
    found: list[Entry] = []
    assert plan_many(collect([str(folder)], out), out, farm, found.append)
    answers.close()
    assert [entry.source for entry in found] == ["solved"] * 4
    assert answers.is_lost
    assert capsys.readouterr().err.count("going on without it") == 1


@pytest.mark.parametrize("given", [{}, {"seed": 3, "time_limit": 5.0, "solver": "greedy"}])
def test_the_service_uses_the_same_keys(folder: Path, given: dict[str, Any]) -> None:
    data = (folder / "0.json").read_bytes()
    read = Reader().read(data, "0.json", None)
    assert isinstance(read, WasRead)
    there = understand(data, None, PLANS.loose.model_validate(given), Settings())
    assert there.key == key_of(read, as_the_service_has_them(Options(workers=1, **given)))
    assert there.key != key_of(read, as_the_service_has_them(Options(workers=1, goal=Goal.FIT, **given)))
