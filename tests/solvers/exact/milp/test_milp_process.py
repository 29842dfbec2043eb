"""The cbc program: which one is used, how its process ends, and how its answers are read."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solvers.exact.milp import Cbc
from solvers.exact.milp.cbc import find_cbc
from solvers.exact.milp.process import run_owned
from solvers.model.errors import StopReason
from tests.solvers.exact.milp.milp_child import ROOT

FAKE = """#!{python}
import sys, time
if "-stop" in sys.argv:
    print("Welcome to the CBC MILP Solver\\nVersion: {version}")
    sys.exit()
"""


def fake(folder: Path, version: str) -> Path:
    """Write a program that claims to be cbc of this version, and return its path."""
    path = folder / "cbc"
    path.write_text(FAKE.format(python=sys.executable, version=version))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def never() -> StopReason | None:
    return None


def test_an_environment_variable_names_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake(tmp_path, "1.0.0")
    monkeypatch.setenv("MEMPLAN_CBC", str(path))
    assert find_cbc() == path
    monkeypatch.setenv("MEMPLAN_CBC", str(tmp_path / "nothing"))
    assert find_cbc() is None
    assert Cbc().unavailable() == "MEMPLAN_CBC does not name a program"


@pytest.mark.parametrize(("version", "taken"), [("2.10.12", True), ("devel", True), ("2.9.9", False)])
def test_a_cbc_on_the_path_is_taken_unless_it_is_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, taken: bool
) -> None:
    monkeypatch.delenv("MEMPLAN_CBC", raising=False)
    path = fake(tmp_path, version)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_cbc() == path) is taken
    assert find_cbc() is not None, "PuLP has one too"


def test_another_program_called_cbc_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMPLAN_CBC", raising=False)
    path = tmp_path / "cbc"
    path.write_text("#!/bin/sh\necho the cipher block chaining tool\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_cbc() != path


def test_output_is_read_line_by_line_and_the_exit_code_returned(tmp_path: Path) -> None:
    lines: list[str] = []
    code, killed = run_owned(
        [sys.executable, "-c", "print('a'); print('b', end=''); exit(3)"], tmp_path, lines.append, never
    )
    assert (code, killed, lines) == (3, None, ["a", "b"])


def test_a_process_told_to_stop_is_killed(tmp_path: Path) -> None:
    calls: list[float] = []

    def stop() -> StopReason | None:
        calls.append(time.monotonic())
        return StopReason.CANCELLED if len(calls) > 2 else None

    code, killed = run_owned([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, lambda line: None, stop)
    assert killed is StopReason.CANCELLED
    assert code == -signal.SIGKILL


def test_a_process_out_of_time_is_interrupted_and_may_still_answer(tmp_path: Path) -> None:
    script = (
        "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: (print('in the end'), exit(0)))\ntime.sleep(60)"
    )
    lines: list[str] = []
    # By then the handler should be there; if not, the interrupt ends the process, which counts as the time limit.
    code, killed = run_owned([sys.executable, "-c", script], tmp_path, lines.append, never, time.monotonic() + 0.7)
    assert (code, killed, lines) in [(0, None, ["in the end"]), (-signal.SIGINT, StopReason.TIME_LIMIT, lines)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_a_killed_parent_leaves_no_process_behind(tmp_path: Path) -> None:
    sleeper = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    code = (
        "import sys; from pathlib import Path; from solvers.exact.milp.process import run_owned\n"
        f"run_owned([sys.executable, '-c', {sleeper!r}], Path('.'), lambda line: print(line, flush=True), lambda: None)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    orphan = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    for _ in range(5000):
        if not _is_running(orphan):
            return
        time.sleep(0.02)
    os.kill(orphan, signal.SIGKILL)
    pytest.fail("it outlived its parent")


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


SOLVE = """
import sys, time
from solvers.exact.milp import Cbc
from solvers.model.solver import Goal, Limits, Silent, Task
from tests.small.instances import make_instance, plain
# 12 is live at once, but alignment leaves a hole: the least peak is 13
instance = make_instance([plain(0, 1, 4, alignment=a) for a in (7, 5, 3)])
try:
    outcome = Cbc().solve(instance, Task(Limits(time.monotonic() + 60, memory_bytes={memory}), **{task}), Silent())
    print(outcome.stop.value, outcome.infeasible, outcome.value, outcome.bound)
except Exception as error:
    print(type(error).__name__, error)
"""


def answer(tmp_path: Path, body: str, memory: int | None = None, task: str = "{}") -> str:
    """Return what a new process prints of the outcome of Cbc with a cbc program that runs this body."""
    path = fake(tmp_path, "2.10.3")
    path.write_text(path.read_text() + body)
    environment = {**os.environ, "MEMPLAN_CBC": str(path), "PYTHONPATH": str(ROOT)}
    code = SOLVE.format(memory=memory, task=task)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    return done.stdout.strip() or done.stderr


def test_a_cbc_that_crashes_is_a_failure(tmp_path: Path) -> None:
    assert answer(tmp_path, "sys.exit(9)").startswith("SolverFailed cbc failed: cbc ended with 9")


def test_a_cbc_that_writes_nothing_is_a_failure(tmp_path: Path) -> None:
    assert answer(tmp_path, "").startswith("SolverFailed")


def test_a_cbc_that_runs_out_of_its_memory_cap_met_the_memory_limit(tmp_path: Path) -> None:
    assert answer(tmp_path, "import os; os.abort()", memory=1 << 30).startswith("memory_limit")


LIE = """
print({log!r})
names = [l.split()[0] for l in open("model.mps") if l.startswith("    X")]
with open("answer.sol", "w") as out:
    out.write({status!r} + "\\n")
    for i, name in enumerate(dict.fromkeys(names)):
        out.write(f"{{i}} {{name}} {value} 0\\n")
"""


def test_a_false_solution_is_repaired_or_ignored(tmp_path: Path) -> None:
    output = answer(tmp_path, LIE.format(log="", status="Stopped on time - objective value 5", value=0.5))
    assert output.startswith("time_limit False")


def test_time_up_without_a_solution_is_no_solution(tmp_path: Path) -> None:
    status = "Stopped on time (no integer solution - continuous used) - objective value 5.0"
    assert answer(tmp_path, LIE.format(log="", status=status, value=0.5)).startswith("time_limit False None")


def test_optimal_after_a_partial_search_proves_nothing(tmp_path: Path) -> None:
    log = "Cbc0005I Partial search - best objective 18 (best possible 12), took 1 iterations and 1 nodes (1.0 seconds)"
    output = answer(tmp_path, LIE.format(log=log, status="Optimal - objective value 18.0", value=0))
    assert output.startswith("work_limit False")


def test_a_bound_above_a_reached_value_is_a_failure(tmp_path: Path) -> None:
    log = "Cbc0010I After 9 nodes, 1 on tree, 1e+50 best solution, best possible 1000 (1.0 seconds)"
    output = answer(tmp_path, LIE.format(log=log, status="Stopped on time - objective value 12.0", value=0))
    assert output.startswith("SolverFailed cbc failed: it claimed a bound of 1000")


def test_the_first_solution_is_looked_for_without_cuts_then_with_them(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    status = "Stopped on nodes (no integer solution - continuous used) - objective value 5.0"
    body = f"open({str(asked)!r}, 'a').write(' '.join(sys.argv) + chr(10))" + LIE.format(
        log="Enumerated nodes: 7", status=status, value=0.5
    )
    output = answer(tmp_path, body, task="{'goal': Goal.FIT}")
    assert output.startswith("work_limit False None")
    first, second = asked.read_text().splitlines()
    assert "-cuts off" in first
    assert "-cuts" not in second


def test_a_solution_without_cuts_is_enough(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'a').write('x')" + LIE.format(
        log="", status="Optimal - objective value 13.0", value=0
    )
    answer(tmp_path, body, task="{'goal': Goal.FIT}")
    assert asked.read_text() == "x"
