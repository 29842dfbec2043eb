"""Each run has a process of its own and gives a row, however it ends, and the others go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from planner import BadInput
from planner.bench import Cell, CellStatus, File, Results, Settings, collect, grid, run
from planner.bench.results.records import FrontierPoint
from planner.bench.running.frontiers import contradiction
from planner.bench.running.process import CellProcesses
from planner.bench.running.runner import missing
from planner.formats import write_problem
from planner.generate import Request, generate
from solvers.model.solver import Goal
from tests.planner.bench.made_records import made
from tests.planner.bench.running.strange_cell import STRANGE
from tests.running.forked import forking_companions
from tests.running.processes import until, until_ended

ROOT = Path(__file__).resolve().parents[4]

RUNNER = """
import sys
from pathlib import Path
from planner.bench import Cell, File, Settings
from planner.bench.running.process import CellProcesses
process = CellProcesses().start(Cell(File("x", Path(sys.argv[1]), "x"), "cbc", 0, Settings(time_limit=60)))
print(process._companion._process.pid, flush=True)
process.result()
"""


@pytest.fixture(autouse=True)
def _forked() -> Iterator[None]:
    """Fork this process's companions, which is fast; those of the runner that is killed start as they do for users."""
    with forking_companions():
        yield


@pytest.fixture
def processes() -> Iterator[CellProcesses]:
    with closing(CellProcesses()) as made:
        yield made


@pytest.fixture
def strange() -> Iterator[CellProcesses]:
    with closing(CellProcesses(STRANGE)) as made:
        yield made


@pytest.fixture
def packing(tmp_path: Path) -> File:
    path = tmp_path / "packing.json"
    path.write_bytes(write_problem(generate("packing", Request(8, 1))))
    return collect([str(path)], tmp_path)[0][0]


def test_a_run_s_record_is_complete(packing: File, processes: CellProcesses) -> None:
    (cell,) = grid([packing], ["auto"], [3], Settings(goal=Goal.FIT, capacity="from-name"))
    record = processes.start(cell).result()
    assert (record.status, record.stop, record.error) == (CellStatus.OPTIMAL, "proved", None)
    assert (record.value, record.bound, record.gap, record.capacity) == (1 << 20, 1 << 20, 0.0, 1 << 20)
    assert (record.buffers, record.seed, record.solver, record.reproducible) == (8, 3, "auto", True)
    assert record.key == cell.key
    assert record.options["goal"] == "fit"
    assert record.seconds is not None
    assert record.seconds_to_best is not None
    assert record.seconds_to_proof is not None
    assert record.process_seconds is not None
    assert 0 < record.seconds_to_best <= record.seconds_to_proof <= record.seconds <= record.process_seconds
    assert 10_000_000 < (record.peak_memory_bytes or 0) < 2_000_000_000
    assert record.versions["memplan"]
    assert record.machine["cores"]
    assert record.wrong is None


def test_the_frontier_of_variants_is_measured(tmp_path: Path, processes: CellProcesses) -> None:
    path = tmp_path / "variants.json"
    path.write_bytes(write_problem(generate("variants", Request(12, 1, parameters={"groups": 4, "alternatives": 3}))))
    files, _ = collect([str(path)], tmp_path)
    whole, fitting = (
        processes.start(grid(files, ["auto"], [0], Settings(goal=goal))[0]).result()
        for goal in (Goal.MINIMISE, Goal.FIT)
    )
    assert (whole.status, whole.stop, whole.error, whole.wrong) == (CellStatus.OPTIMAL, "proved", None, None)
    assert len(whole.points) > 3
    assert all(cost == least and value == lowest for cost, least, value, lowest in whole.points)
    assert (whole.value, whole.bound, whole.gap) == (whole.points[-1][2], whole.points[-1][2], 0.0)
    assert whole.buffers == 12
    assert whole.seconds == whole.seconds_to_proof
    assert whole.trace[-1][1:] == (whole.value, whole.bound)
    assert fitting.points == []


@pytest.mark.parametrize(
    ("points", "least", "wrong"),
    [
        ([(1, 1, 20, 20), (5, 5, 10, 10)], None, None),
        ([(1, None, 20, 0), (5, 3, 10, 8)], 10, None),
        ([(1, 1, 20, 20), (5, 5, 10, 10)], 11, "10 is below 11"),
        ([(1, 1, 20, 20), (5, 5, 10, 12)], None, "the bound is 12, but 10 is reached"),
        ([(1, 2, 20, 20)], None, "the bound of the cost is 2, but 1 is reached"),
    ],
)
def test_frontiers_that_cannot_be_true_are_reported(
    points: list[FrontierPoint], least: int | None, wrong: str | None
) -> None:
    message = contradiction(points, least)
    assert (message is None) == (wrong is None)
    assert wrong is None or wrong in (message or "")


def test_refusals_of_a_solver_give_a_row(packing: File, processes: CellProcesses) -> None:
    (cell,) = grid([packing], ["nonsense"], [0], Settings())
    record = processes.start(cell).result()
    assert record.status is CellStatus.REFUSED
    assert "nonsense" in (record.error or "")


def test_crashes_and_hangs_are_rows_and_nothing_is_left_behind(
    packing: File, tmp_path: Path, strange: CellProcesses
) -> None:
    cells = grid([packing], ["auto"], range(7), Settings(time_limit=0.5, grace_seconds=7.5))
    results = Results(tmp_path)
    assert run(cells, results, strange.start, jobs=3)
    results.close()
    found = {record.seed: record for record in Results.read(tmp_path).records}
    assert [str(found[seed].status) for seed in range(5)] == ["unknown", "crashed", "crashed", "killed", "crashed"]
    assert [str(found[seed].status) for seed in (5, 6)] == ["crashed", "unknown"], "whoever forks them is replaced"
    assert "by signal 9" in (found[5].error or "")
    assert "all is lost" in (found[1].error or "")
    assert "by signal 11" in (found[2].error or "")
    assert "still running after 8 s" in (found[3].error or "")
    assert "something else than a record" in (found[4].error or "")
    pid = int(Path(f"{packing.path}.child").read_text())
    until_ended([pid])


def test_the_forking_process_may_end_between_two_runs(packing: File, strange: CellProcesses) -> None:
    first, second = grid([packing], ["auto"], [0, 6], Settings())
    assert strange.start(first).result().status is CellStatus.UNKNOWN
    companion = strange.borrow()
    os.kill(companion._process.pid, signal.SIGKILL)
    companion._process.wait()
    assert strange.start(second).result().status is CellStatus.UNKNOWN


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_run_ends_with_its_runner_whatever_ends_that(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_bytes(write_problem(generate("packing", Request(30, 1))))
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert runner.stdout is not None
    cell = int(runner.stdout.readline())
    until(lambda: children_of(cell))  # the solver runs, so planning has begun
    (solver, *_) = children_of(cell)
    runner.kill()
    runner.wait()
    runner.stdout.close()
    until_ended([cell, solver])


def children_of(pid: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def test_several_pools_keep_their_sizes_whatever_the_name_says(tmp_path: Path, processes: CellProcesses) -> None:
    path = tmp_path / "full.4096.json"
    path.write_bytes(write_problem(generate("pool_packing", Request(5, 1))))
    cells = grid(collect([str(path)], tmp_path)[0], ["auto", "vela"], [0], Settings(capacity="from-name"))
    solved, refused = (processes.start(cell).result() for cell in cells)
    assert (solved.status, solved.capacity, solved.wrong) == (CellStatus.OPTIMAL, None, None)
    assert solved.gap == 0
    assert refused.status is CellStatus.REFUSED


def test_only_missing_runs_are_measured(packing: File, tmp_path: Path, strange: CellProcesses) -> None:
    results = Results.read(tmp_path)
    first = grid([packing], ["a", "b"], [0], Settings())
    run(first, results, strange.start)
    more = grid([packing], ["a", "b"], [0, 1], Settings(grace_seconds=99))
    left = missing(more, Results.read(tmp_path))
    assert [(cell.solver, cell.seed) for cell in left] == [("a", 1), ("b", 1)]
    assert len(missing(grid([packing], ["a"], [0], Settings(time_limit=11)), results)) == 1
    results.close()


def test_a_stop_keeps_finished_runs_and_kills_the_others(packing: File, tmp_path: Path, strange: CellProcesses) -> None:
    results = Results(tmp_path)
    cells: list[Cell] = grid([packing], ["auto"], [0, 3], Settings())
    assert not run(
        cells,
        results,
        strange.start,
        stopped=lambda: Path(f"{packing.path}.child").exists(),
    )
    assert [record.seed for record in results.records] == [0]
    results.close()


def test_results_of_another_version_are_not_mixed_in(packing: File, tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(made(versions={"memplan": "0.0.0"}))
    results.close()
    with pytest.raises(BadInput, match=r"holds results of memplan 0\.0\.0"):
        missing(grid([packing], ["auto"], [0], Settings()), results)


def test_a_run_s_key_depends_only_on_what_is_measured(packing: File, tmp_path: Path) -> None:
    def key(file: File = packing, solver: str = "auto", seed: int = 0, **settings: float) -> str:
        return Cell(file, solver, seed, Settings(**settings)).key  # type: ignore[arg-type]

    moved = File(packing.name, tmp_path / "elsewhere.json", packing.sha256)
    assert key() == key(moved) == key(grace_seconds=1.0)
    assert len({key(), key(solver="search"), key(seed=1), key(time_limit=1.0), key(workers=2)}) == 5
    assert json.dumps(Settings().as_fields())
