"""A Dask cluster of real processes gives the same plans, although a worker and later the scheduler are killed."""

from __future__ import annotations

import importlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from planner import BadInput, Options, bench, read_plan, read_problem, verify, write_problem
from planner.bench.running.on_cluster import OnCluster
from planner.generate import Request, generate
from planner.many import Entry, Farm, Manifest, ProblemFile, collect, plan_many
from planner.many.cluster import ClusterPlace, lost_by, room_for
from solvers.sandbox.parent_death import kill_group
from tests.running.dask_processes import scheduler_at, worker_of
from tests.running.forked import Forked, children_of
from tests.running.processes import free_port, until, until_ended

pytest.importorskip("distributed")
ROOT = Path(__file__).parents[3]
OPTIONS = Options(time_limit=20, workers=1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Forked]]]:
    """Start a scheduler and two workers; the first test kills one of them."""
    address = f"tcp://127.0.0.1:{free_port()}"
    folder = tmp_path_factory.mktemp("dask")
    processes = [scheduler_at(address), *(worker_of(address, folder) for _ in range(2))]
    yield address, processes
    for process in processes:
        kill_group(process.pid)
        process.wait()


def thirty(folder: Path) -> list[ProblemFile]:
    """Write thirty problem files, five of them duplicates, and a folder for plans below the current folder."""
    (folder / "problems").mkdir()
    for seed in range(30):
        problem = generate("transformer", Request(60, seed % 25))
        (folder / f"problems/{seed}.json").write_bytes(write_problem(problem))
    (folder / "out").mkdir()
    return collect(["problems"], folder / "out")


def test_no_file_is_lost_with_a_worker(
    cluster: tuple[str, list[Forked]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, (_, doomed, _) = cluster
    monkeypatch.chdir(tmp_path)
    files = thirty(tmp_path)
    entries: list[Entry] = []

    def note(entry: Entry) -> None:
        entries.append(entry)
        if len(entries) == 4:
            with suppress(ProcessLookupError):
                os.killpg(doomed.pid, signal.SIGKILL)

    deadline = time.monotonic() + 120
    assert plan_many(files, tmp_path / "out", Farm(OPTIONS, cluster=address), note, lambda: time.monotonic() > deadline)
    assert doomed.wait(60) == -signal.SIGKILL
    assert sorted(entry.file for entry in entries) == sorted(file.name for file in files)
    assert sorted(entry.source or "" for entry in entries) == ["same"] * 5 + ["solved"] * 25
    (tmp_path / "here").mkdir()
    assert plan_many(files, tmp_path / "here", Farm(OPTIONS, processes=2))
    for entry in entries:
        assert entry.plan is not None
        there, here = (read_plan((tmp_path / out / entry.plan).read_bytes()) for out in ("out", "here"))
        assert (there.placements, there.status) == (here.placements, here.status)


def test_a_measurement_runs_on_a_cluster_too(
    cluster: tuple[str, list[Forked]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for seed in range(4):
        (tmp_path / f"{seed}.json").write_bytes(write_problem(generate("transformer", Request(20, seed))))
    files, _ = bench.collect(["0.json", "1.json", "2.json", "3.json"], tmp_path)
    results = bench.Results(tmp_path)
    there = OnCluster(cluster[0])
    assert bench.run(bench.grid(files, ["greedy", "auto"], [0], bench.Settings()), results, jobs=2, start=there.start)
    there.close()
    results.close()
    records = bench.Results.read(tmp_path).records
    assert sorted(record.solver for record in records) == ["auto"] * 4 + ["greedy"] * 4
    assert all(record.wrong is None and record.error is None for record in records)
    assert {str(record.status) for record in records if record.solver == "auto"} == {"optimal"}
    assert {path.stem for path in (tmp_path / "plans").iterdir()} <= {record.key for record in records}
    assert len(list((tmp_path / "plans").iterdir())) >= len(files)


def test_a_killed_client_goes_on_when_it_is_back(
    cluster: tuple[str, list[Forked]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = thirty(tmp_path)
    manifest = tmp_path / "out" / "manifest.jsonl"
    command = (sys.executable, "-m", "api.cli", "plan-many", "problems", "-o", "out", "--cluster", cluster[0])
    doomed = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)
    until(lambda: doomed.poll() is not None or (manifest.exists() and manifest.read_bytes().count(b"\n") >= 4))
    assert doomed.poll() is None
    kill_group(doomed.pid)
    doomed.wait()
    before = Manifest.read(tmp_path / "out").entries
    made: list[Entry] = []
    assert plan_many(files, tmp_path / "out", Farm(Options(workers=1), cluster=cluster[0]), made.append)
    after = Manifest.read(tmp_path / "out").entries
    assert {name: after[name] for name in before} == before
    assert sorted(after) == sorted(entry.file for entry in made) == sorted(file.name for file in files)
    require_right(after, tmp_path)


def test_tasks_without_a_client_end(
    cluster: tuple[str, list[Forked]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.json").write_bytes(write_problem(generate("random", Request(400, seed=5))))
    (tmp_path / "out").mkdir()
    files = collect(["long.json"], tmp_path / "out")
    worker = cluster[1][-1].pid
    before, new = descendants_of(worker), set[int]()
    deadline = time.monotonic() + 120

    def has_begun() -> bool:
        new.update(descendants_of(worker) - before)
        return bool(new) or time.monotonic() > deadline

    forever = Options(solver="cbc", time_limit=None, work_limit=10**12, workers=1)
    assert not plan_many(files, tmp_path / "out", Farm(forever, cluster=cluster[0]), stopped=has_begun)
    assert new
    until_ended(new)


def descendants_of(pid: int) -> set[int]:
    found: set[int] = set()
    for child in children_of(pid):
        with suppress(OSError):
            found |= {child, *descendants_of(child)}
    return found


def require_right(entries: Mapping[str, Entry], folder: Path) -> None:
    """Require that each entry's plan is right for its problem."""
    for name, entry in entries.items():
        assert entry.plan is not None
        problem, _ = read_problem((folder / name).read_bytes())
        assert verify(problem, read_plan((folder / "out" / entry.plan).read_bytes())) == ()


def test_a_restarted_scheduler_loses_no_file_and_a_lost_one_ends_the_run(
    cluster: tuple[str, list[Forked]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is the last test that uses the cluster, since it ends the cluster."""
    address, processes = cluster
    monkeypatch.chdir(tmp_path)
    files = thirty(tmp_path)
    entries: list[Entry] = []
    dead: list[float] = []

    def note(entry: Entry) -> None:
        entries.append(entry)
        if len(entries) in (4, 20):
            for process in processes:
                kill_group(process.pid)
                process.wait()
            dead.append(time.monotonic())
            if len(dead) == 1:
                processes[:] = [scheduler_at(address), worker_of(address, tmp_path / "dask")]

    deadline = time.monotonic() + 120
    monkeypatch.setattr("planner.many.cluster.CONNECT_SECONDS", "15s")
    with pytest.raises(BadInput, match="the same command goes on"):
        plan_many(files, tmp_path / "out", Farm(OPTIONS, cluster=address), note, lambda: time.monotonic() > deadline)
    assert len(dead) == 2
    assert {str(entry.status) for entry in entries} == {"optimal"}
    assert plan_many(files, tmp_path / "out", Farm(OPTIONS))
    found = Manifest.read(tmp_path / "out").entries
    assert len(found) == 30
    require_right(found, tmp_path)


def test_a_missing_scheduler_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.many.cluster.CONNECT_SECONDS", "0.2s")
    with pytest.raises(BadInput, match=r"no scheduler answers at tcp://127\.0\.0\.1:"):
        plan_many([], tmp_path, Farm(OPTIONS, cluster=f"tcp://127.0.0.1:{free_port()}"))


def test_a_place_given_up_writes_nothing_more(tmp_path: Path) -> None:
    place = ClusterPlace(None, 1.0)
    numbers = {place.fileno(), place.fileno() + 1}
    place.end()
    with (tmp_path / "a").open("wb") as one, (tmp_path / "b").open("wb") as other:
        assert numbers & {one.fileno(), other.fileno()}  # the numbers now belong to these files
        place._done(Cancelled())
    assert (tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes() == b""


class Cancelled:
    """A future that was cancelled."""

    status = "cancelled"


def test_dask_s_reason_for_a_loss_is_passed_on_in_one_line() -> None:
    assert lost_by(KeyError()) == "the cluster lost it: KeyError"
    assert (
        lost_by(RuntimeError("no module\n named\x1b[31m " + 400 * "x"))[:57]
        == ("the cluster lost it: RuntimeError: no module named\\x1b[31m "[:57])
    )
    assert len(lost_by(RuntimeError(400 * "x"))) < 350


def test_a_large_cluster_has_as_many_places_as_files_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [(512, 1024)]
    monkeypatch.setattr(resource, "getrlimit", lambda _which: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _which, wanted: limits.append(wanted))
    assert room_for(100) == 100
    assert room_for(2000) == (1024 - 128) // 2
    assert room_for(2000) == (1024 - 128) // 2
    assert limits[-1] == (1024, 1024)
    limits.append((512, resource.RLIM_INFINITY))
    assert room_for(2000) == 2000
    assert limits[-1][0] >= 4000
    limits.append((resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert room_for(10_000_000) == 10_000_000


def test_dask_understands_the_times_in_the_recipe_for_slurm() -> None:
    """Dask reads a time like `3h50m` as 0 s, and each job would end at once."""
    seconds_of: Any = importlib.import_module("dask.utils").parse_timedelta
    recipe = (ROOT / "docs" / "many.md").read_text(encoding="utf-8")
    times = dict(re.findall(r'"(--lifetime[a-z-]*)", "([^"]+)"', recipe))
    walltime = re.search(r'walltime="0?(\d+):00:00"', recipe)
    assert walltime is not None
    assert sum(seconds_of(times[name]) for name in ("--lifetime", "--lifetime-stagger")) <= 3600 * int(walltime[1]), (
        "a job ends before Slurm ends it"
    )
