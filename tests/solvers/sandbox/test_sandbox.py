"""A well-behaved solver in a process of its own: its messages arrive, any caller may start it, nothing is left over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from solvers import sandbox
from solvers.kernels.selection import NATIVE_MODULE
from solvers.model.errors import StopReason, UnknownSolver, Unsupported
from solvers.model.instance import Placement
from solvers.model.outcome import Outcome, Value
from solvers.model.solver import Limits, Silent, Task
from solvers.sandbox import listening
from solvers.sandbox.launcher import launcher
from tests.small.instances import make_instance

ROOT = Path(__file__).resolve().parents[3]
INSTANCE = make_instance([(0, 2, 4), (1, 3, 4), (0, 3, 2)])
PATIENCE_SECONDS = 60.0


class Recorder(Silent):
    """A control that records the messages it gets."""

    def __init__(self, stop: StopReason | None = None) -> None:
        super().__init__()
        self.placements: list[list[int]] = []
        self.bounds: list[Value] = []
        self.lines: list[str] = []
        self.stop = stop

    def incumbent(self, placement: Placement) -> None:
        self.placements.append(placement.offset.tolist())

    def bound(self, bound: Value) -> None:
        self.bounds.append(bound)

    def log(self, line: str) -> None:
        self.lines.append(line)

    def stopped(self) -> StopReason | None:
        return self.stop


def run(name: str, task: Task | None = None, control: Silent | None = None) -> Outcome:
    return sandbox.run(f"tests.faults.faulty_solvers:{name}", INSTANCE, task or Task(), control or Silent())


def surroundings() -> dict[str, Any]:
    with pytest.raises(Unsupported) as caught:
        run("Surroundings")
    found: dict[str, Any] = json.loads(caught.value.reason)
    return found


def test_placements_bounds_and_the_outcome_arrive() -> None:
    control = Recorder()
    outcome = run("Honest", control=control)
    assert control.placements == [[0, 9, 18]]
    assert control.bounds == [(1,)]
    assert control.lines == []
    assert (outcome.stop, outcome.value, outcome.bound) == (StopReason.WORK_LIMIT, (10,), (1,))
    assert outcome.placement is not None
    assert outcome.placement.offset.tolist() == [0, 4, 8]
    assert outcome.reproducible


def test_output_of_a_solver_goes_to_verbose_callers(capfd: pytest.CaptureFixture[str]) -> None:
    control = Recorder()
    run("Honest", Task(verbose=True), control)
    run("Honest", Task(), control)
    assert control.lines == ["I begin", "printed", "written"]
    assert capfd.readouterr() == ("", "")


def test_reports_from_several_threads_do_not_mix() -> None:
    control = Recorder()
    outcome = run("Threaded", control=control)
    assert outcome.value == (10,)
    ends = [offsets[-1] for offsets in control.placements]
    assert ends == sorted(ends, reverse=True)


@pytest.fixture
def _grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a solver that is told to stop time to answer, even on a busy machine."""
    monkeypatch.setattr(listening, "GRACE_SECONDS", PATIENCE_SECONDS)


@pytest.mark.usefixtures("_grace")
def test_a_solver_that_listens_may_finish_its_answer() -> None:
    for seconds in (0.2, 5.0, 60.0):
        outcome = run("Patient", Task(limits=Limits(deadline=time.monotonic() + seconds)))
        assert outcome.stop is StopReason.TIME_LIMIT
        if outcome.bound:  # the solver had begun in time
            break
    assert outcome.bound == (2,)
    assert not outcome.reproducible


@pytest.mark.usefixtures("_grace")
def test_the_callers_reason_to_stop_is_the_outcomes() -> None:
    class Later(Recorder):
        def stopped(self) -> StopReason | None:
            return StopReason.WORK_LIMIT if self.bounds else None

    outcome = run("Patient", control=Later())
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.bound == (2,)
    assert not outcome.reproducible


@pytest.mark.parametrize(
    ("task", "control", "reason"),
    [
        (Task(limits=Limits(deadline=0.0)), Recorder(), StopReason.TIME_LIMIT),
        (Task(), Recorder(StopReason.CANCELLED), StopReason.CANCELLED),
    ],
)
def test_a_run_that_must_stop_at_once_is_not_started(task: Task, control: Recorder, reason: StopReason) -> None:
    outcome = run("Honest", task, control)
    assert outcome.stop is reason
    assert outcome.placement is None


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownSolver):
        sandbox.run("no such solver", INSTANCE, Task(), Silent())


def test_many_runs_work_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: run("Honest"), range(40)))
    assert all(outcome.value == (10,) for outcome in outcomes)


def test_an_error_of_the_caller_ends_the_child() -> None:
    class Broken(Silent):
        def bound(self, bound: Value) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("Deaf", control=Broken())
    assert run("Honest").value == (10,)


def test_runs_leave_no_open_files() -> None:
    run("Honest")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        run("Honest", Task(verbose=True))
        run("Killed")
        run("Babbling")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_children_inherit_no_files_of_their_siblings() -> None:
    alone = surroundings()["descriptors"]
    with ThreadPoolExecutor(4) as pool:
        busy = [pool.submit(run, "Patient", Task(limits=Limits(deadline=time.monotonic() + 0.5))) for _ in range(4)]
        time.sleep(0.2)
        assert surroundings()["descriptors"] == alone
    assert all(future.result().stop is StopReason.TIME_LIMIT for future in busy)


def test_a_child_sees_the_world_as_its_caller_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings()  # starts the fork server before the lines below
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMPLAN_TEST", "today")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = surroundings()
    assert found["folder"] == str(tmp_path)
    assert found["variable"] == "today"
    assert found["path"][0] == str(tmp_path)
    assert found["group"]


def test_temporary_files_of_a_child_are_removed_at_its_end() -> None:
    folder = Path(surroundings()["scratch"])
    assert folder.name.startswith("memplan-")
    give_up = time.monotonic() + PATIENCE_SECONDS
    while folder.exists() and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not folder.exists()


def test_the_process_that_forks_has_one_thread() -> None:
    assert surroundings()["fork_server_threads"] == 1
    sandbox.run("cpsat", INSTANCE, Task(), Silent())
    process, _ = launcher._fork_servers["solvers.exact.cpsat"]
    assert len(list(Path(f"/proc/{process.pid}/task").iterdir())) == 1


def test_a_child_need_not_load_what_each_child_needs() -> None:
    assert {NATIVE_MODULE, "numpy.ma"} <= {*surroundings()["modules"]}


UNGUARDED = """
from solvers import sandbox
from solvers.model.solver import Silent, Task
from tests.small.instances import make_instance

print(sandbox.run("cpsat", make_instance([(0, 2, 4), (1, 3, 4)]), Task(), Silent()).value)
"""

DAEMONIC = """
import multiprocessing

def work():
    from solvers import sandbox
    from solvers.model.solver import Silent, Task
    from tests.small.instances import make_instance
    print(sandbox.run("cpsat", make_instance([(0, 2, 4), (1, 3, 4)]), Task(), Silent()).value, flush=True)

if __name__ == "__main__":
    process = multiprocessing.get_context("{method}").Process(target=work, daemon=True)
    process.start()
    process.join()
"""

INTERRUPTED = """
import os, signal
from solvers import sandbox
from solvers.model.errors import StopReason
from solvers.model.solver import Silent, Task
from tests.small.instances import make_instance

interrupts = []
signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))

class Impatient(Silent):
    def bound(self, bound):
        os.killpg(0, signal.SIGINT)
    def stopped(self):
        return StopReason.CANCELLED if interrupts else None

outcome = sandbox.run("tests.faults.faulty_solvers:Patient", make_instance([(0, 1, 4)]), Task(), Impatient())
print(outcome.stop, outcome.value, outcome.bound)
"""


def python(*arguments: str, stdin: str | None = None) -> str:
    """Return the output of a Python program; anything on standard error is a failure."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_sandbox_works_from_a_script_without_a_guard(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    assert python(str(script)) == "(8,)"


def test_the_sandbox_works_without_a_script() -> None:
    assert python("-", stdin=UNGUARDED) == "(8,)"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_the_sandbox_works_in_a_daemonic_process(method: str, tmp_path: Path) -> None:
    script = tmp_path / "daemonic.py"
    script.write_text(DAEMONIC.format(method=method))
    assert python(str(script)) == "(8,)"


def test_an_interrupt_at_the_terminal_leaves_the_decision_to_the_caller() -> None:
    assert python("-c", INTERRUPTED) == "cancelled (4,) (2,)"
