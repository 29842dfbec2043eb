"""A child process that may load PuLP and HiGHS: tests send it instances, get outcomes, and load neither themselves."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

from solvers.exact.milp import tries
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Silent, Solver, Task

ROOT = Path(__file__).resolve().parents[4]
CODE = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.solvers.exact.milp.milp_child import serve; serve()"


class Child:
    """The child process, seen from its parent; it solves one instance after the other."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def solve(self, solver: str, instance: Instance, task: Task | None = None) -> Outcome:
        """Return the outcome of a solver, a class of solvers.exact.milp such as Cbc; raise its exceptions here."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        pickle.dump((solver, instance, task or Task()), self.process.stdin)
        self.process.stdin.flush()
        answer = pickle.load(self.process.stdout)
        if isinstance(answer, Outcome):
            return answer
        raise answer

    def close(self) -> None:
        self.process.communicate()
        assert self.process.returncode == 0


def serve() -> None:
    """Answer requests in the child until its input ends. Local search, which leaves programs little to do, is off."""
    warnings.simplefilter("error")
    tries.TRIES = 0
    while True:
        try:
            name, instance, task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Outcome | Exception
        try:
            solver: Solver = getattr(import_module("solvers.exact.milp"), name)()
            answer = solver.solve(instance, task, Silent(task.limits))
        except Exception as error:  # noqa: BLE001 - it is raised on the other side
            answer = error
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()
