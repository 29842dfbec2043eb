"""No process outlives the one that it works for."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from solvers import sandbox
from solvers.model.errors import StopReason
from solvers.model.outcome import Outcome, Value
from solvers.model.solver import Silent, Task
from tests.running.processes import is_alive, until, until_ended
from tests.small.instances import make_instance

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

ROOT = Path(__file__).resolve().parents[2]
INSTANCE = make_instance([(0, 2, 4), (1, 3, 4)])
PATIENCE_SECONDS = 60.0

SCRIPT = """
import os, signal
from solvers import sandbox
from solvers.model.solver import Silent, Task
from tests.small.instances import make_instance

class Telling(Silent):
    def bound(self, bound):
        parent = open(f"/proc/{bound[0]}/stat").read().rpartition(")")[2].split()[1]
        print(*bound, parent, flush=True)

sandbox.run("tests.faults.faulty_solvers:WithChild", make_instance([(0, 1, 1)]), Task(), Telling())
"""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def scratch_of(pid: int) -> Path:
    """Wait for a program that a child has started, and return the child's folder for temporary files."""
    found = until(lambda: re.findall(rb"(?:^|\0)TMPDIR=([^\0]*)", Path(f"/proc/{pid}/environ").read_bytes()))
    return Path(os.fsdecode(found[0]))


class Background:
    """Runs, in a thread, a solver that starts a program of its own and waits."""

    def __init__(self, name: str) -> None:
        self.pids: list[int] = []
        self.outcome: Outcome | None = None
        self.stop: StopReason | None = None
        self._name = name
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Background:
        self._thread.start()
        assert self._started.wait(PATIENCE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop = self.stop or StopReason.CANCELLED
        self._thread.join()

    def _run(self) -> None:
        background = self

        class Telling(Silent):
            def bound(self, bound: Value) -> None:
                background.pids = list(bound)
                background._started.set()

            def stopped(self) -> StopReason | None:
                return background.stop

        self.outcome = sandbox.run(f"tests.faults.faulty_solvers:{self._name}", INSTANCE, Task(), Telling())
        self._started.set()

    def wait(self) -> Outcome:
        self._thread.join(PATIENCE_SECONDS)
        assert self.outcome is not None
        return self.outcome


def test_killing_the_caller_ends_all_its_processes() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, env=environment, text=True) as caller:
        assert caller.stdout is not None
        child, grandchild, fork_server = (int(word) for word in caller.stdout.readline().split())
        assert all(is_alive(pid) for pid in (child, grandchild, fork_server))
        caller.kill()
    until_ended([child, grandchild, fork_server])


def test_a_killed_child_leaves_no_grandchild() -> None:
    with Background("DyingWithChild") as background:
        assert background.wait().stop is StopReason.SOLVER_FAILED
        until_ended(background.pids)


def test_a_cancelled_child_leaves_no_grandchild() -> None:
    with Background("WithChild") as background:
        background.stop = StopReason.CANCELLED
        assert background.wait().stop is StopReason.CANCELLED
        until_ended(background.pids)


def test_a_killed_fork_server_ends_its_children_and_is_replaced() -> None:
    with Background("WithChild") as background:
        scratch = scratch_of(background.pids[1])
        os.kill(parent_of(background.pids[0]), signal.SIGKILL)
        assert background.wait().stop is StopReason.SOLVER_FAILED
        until_ended(background.pids)
    assert not scratch.exists()
    outcome = sandbox.run("tests.faults.faulty_solvers:Honest", INSTANCE, Task(), Silent())
    assert outcome.stop is StopReason.WORK_LIMIT


def test_a_shutdown_ends_all_processes_and_the_next_run_starts_new_ones() -> None:
    with Background("WithChild") as background:
        fork_server = parent_of(background.pids[0])
        sandbox.shutdown()
        until_ended([*background.pids, fork_server])
        assert background.wait().stop is StopReason.SOLVER_FAILED
    outcome = sandbox.run("tests.faults.faulty_solvers:Honest", INSTANCE, Task(), Silent())
    assert outcome.stop is StopReason.WORK_LIMIT


FORKING = """
import os, time
from solvers import sandbox
from solvers.sandbox.launcher import launcher
from solvers.model.solver import Silent, Task
from tests.small.instances import make_instance

honest = "tests.faults.faulty_solvers:Honest", make_instance([(0, 1, 1)]), Task(), Silent()
sandbox.run(*honest)
fork_server = launcher._fork_servers[None][0].pid
copy = os.fork()
if copy == 0:
    assert sandbox.run(*honest).placement is not None
    print(os.getpid(), fork_server, launcher._fork_servers[None][0].pid, flush=True)
time.sleep(60)
"""


def test_a_forked_copy_keeps_no_fork_server_of_the_original_alive() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdout=subprocess.PIPE, env=environment, text=True
    ) as original:
        assert original.stdout is not None
        copy, fork_server, server_of_copy = (int(word) for word in original.stdout.readline().split())
        assert fork_server != server_of_copy
        original.kill()
        until_ended([fork_server])
        assert is_alive(copy)
        assert is_alive(server_of_copy)
        os.kill(copy, signal.SIGKILL)
        until_ended([copy, server_of_copy])
