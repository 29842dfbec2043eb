"""Runs CBC as our own process: finds the program, calls it, and reads its answers.

PuLP could run it too, but cannot be told to stop and reports "Optimal" when the time ran out. So PuLP only writes the model file; CBC's own status
line and log are read here.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...model.errors import StopReason
from .answer import Answer, Budget, Listener
from .process import run_owned
from .program.build import TOLERANCE

VARIABLE = "MEMPLAN_CBC"
BUNDLED_VERSION = (2, 10, 3)
REPORTING_SECONDS = 0.2
REPORTING_SHARE = 0.08
"""Part of the time limit that is kept back: CBC checks the clock only rarely, and if it is killed it leaves no solution."""
KILL_SECONDS = 0.1
SHARE_WITHOUT_CUTS = 0.3
ANY_GAP = 1e30
MOST_NODES = (1 << 31) - 1

_BOUND = re.compile(r"best possible (-?[\d.e+]+)|^Lower bound:\s+(-?[\d.e+]+)")
_NODES = re.compile(r"^Enumerated nodes:\s+(\d+)")
_VERSION = re.compile(r"^Version:\s*(\d+)\.(\d+)(?:\.(\d+))?", re.MULTILINE)


def find_cbc() -> Path | None:
    """The cbc program: the one that MEMPLAN_CBC names; else `cbc` on the PATH, unless it is older than PuLP's; else PuLP's."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        path = shutil.which(named)
        return None if path is None else Path(path)
    found = shutil.which("cbc")
    if found is not None and _is_recent(found):
        return Path(found)
    return _bundled()


def no_cbc() -> str | None:
    """Why there is no cbc program; None if there is one."""
    if find_cbc() is not None:
        return None
    return (
        f"{VARIABLE} does not name a program"
        if VARIABLE in os.environ
        else "no cbc program was found on the PATH or in PuLP"
    )


def _bundled() -> Path | None:
    """PuLP's program, found without importing PuLP."""
    try:
        spec = importlib.util.find_spec("pulp")
    except (ImportError, ValueError):
        return None
    system = {"linux": "linux", "darwin": "osx"}.get(sys.platform)
    machine = {"x86_64": "i64", "amd64": "i64", "aarch64": "arm64", "arm64": "arm64", "i686": "i32"}.get(
        platform.machine().lower()
    )
    if spec is None or system is None or machine is None:
        return None
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, "solverdir", "cbc", system, "i64" if system == "osx" else machine, "cbc")
        if path.is_file():
            return path
    return None


@lru_cache(maxsize=8)
def _is_recent(path: str) -> bool:
    """True if the program is CBC and no older than PuLP's. A development version counts as new."""
    try:
        done = subprocess.run(
            [path, "-stop"], capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    if "CBC MILP Solver" not in done.stdout:
        return False
    version = _VERSION.search(done.stdout)
    return version is None or tuple(int(number or 0) for number in version.groups()) >= BUNDLED_VERSION


class CbcBackend:
    """Runs programs with the cbc process."""

    name = "cbc"

    def run(self, problem: Any, start: Mapping[str, float] | None, budget: Budget, listener: Listener) -> Answer:
        """See Backend. CBC reports bounds during the run, but solutions only at the end.

        Where the first solution is enough, it first gets a share of the budget without cuts: nodes take a fraction of the time then.
        """
        if not budget.first_only or (budget.nodes is None and budget.deadline is None):
            return self._run(problem, start, budget, listener, cuts=True)
        first = self._run(problem, start, budget.part(SHARE_WITHOUT_CUTS), listener, cuts=False)
        is_open = first.values is None and first.stop in (StopReason.WORK_LIMIT, StopReason.TIME_LIMIT)
        if not is_open or listener.control.stopped():
            return first
        left = replace(budget, nodes=None if budget.nodes is None else max(budget.nodes - first.nodes, 1))
        second = self._run(problem, start, left, listener, cuts=True)
        return replace(second, nodes=first.nodes + second.nodes)

    def _run(
        self, problem: Any, start: Mapping[str, float] | None, budget: Budget, listener: Listener, *, cuts: bool
    ) -> Answer:
        program = find_cbc()
        if program is None:
            return Answer(StopReason.SOLVER_FAILED, message="the cbc program was not found")
        if not os.access(program, os.X_OK):
            program.chmod(program.stat().st_mode | 0o500)
        with tempfile.TemporaryDirectory(prefix="memplan-cbc-") as name:
            folder = Path(name)
            _, variables, _, _ = problem.writeMPS(str(folder / "model.mps"), rename=1)
            if start is not None:
                _write_start(
                    folder / "start.sol", {variables[v]: value for v, value in start.items() if v in variables}
                )
            log = _Log(listener)
            command = [str(program), *_arguments(budget, warm=start is not None, cuts=cuts)]
            interrupt_at = None if budget.deadline is None else budget.deadline - _reserve(budget.deadline) / 2
            code, killed = run_owned(
                command, folder, log.line, lambda: listener.control.stopped() or _too_late(budget), interrupt_at
            )
            if killed is not None:
                return Answer(killed, bound=log.bound)
            solution = folder / "answer.sol"
            if code != 0 or not solution.exists():
                return _broken(code, log, budget)
            return _read(solution.read_text(), log, {short: name for name, short in variables.items()})


def _reserve(deadline: float) -> float:
    seconds = max(deadline - time.monotonic(), 0)
    return min(REPORTING_SECONDS + REPORTING_SHARE * seconds, seconds / 2)


def _too_late(budget: Budget) -> StopReason | None:
    """TIME_LIMIT if CBC has overrun its own limit: it is killed while there is still time to report that."""
    if budget.deadline is not None and time.monotonic() > budget.deadline - KILL_SECONDS:
        return StopReason.TIME_LIMIT
    return None


def _arguments(budget: Budget, *, warm: bool, cuts: bool) -> list[str]:
    # A limit on the number of solutions could stop at the first one, but with it CBC sometimes drops solutions it has just found.
    gap: float = ANY_GAP if budget.first_only else 0
    options: list[tuple[str, object]] = [
        ("ratio", gap),
        ("allow", gap),
        ("integerT", TOLERANCE),
        ("timeMode", "elapsed"),
        ("randomCbcSeed", budget.seed % 1_000_000 + 1),
        ("randomSeed", budget.seed % 1_000_000 + 1),
    ]
    if not cuts:
        options.append(("cuts", "off"))
    if budget.nodes is not None:
        options.append(("maxN", min(budget.nodes, MOST_NODES)))
    if budget.deadline is not None:
        seconds = budget.deadline - time.monotonic() - _reserve(budget.deadline)
        options.append(("sec", round(max(seconds, 0.01), 3)))
    arguments = ["model.mps", *(["-mips", "start.sol"] if warm else [])]
    for option, value in options:
        arguments += [f"-{option}", str(value)]
    return [*arguments, "-solve", "-printingOptions", "all", "-solution", "answer.sol"]


def _write_start(path: Path, values: Mapping[str, float]) -> None:
    lines = [f"{i:>7} {name} {value:.15g} 0\n" for i, (name, value) in enumerate(values.items())]
    path.write_text("".join(["Stopped on time - objective value 0\n", *lines]))


class _Log:
    """The lower bound, the number of nodes and the ending, read from CBC's log."""

    def __init__(self, listener: Listener) -> None:
        self.bound: float | None = None
        self.nodes = 0
        self.complete = True
        self.interrupted = False
        self.tail = ""
        self._listener = listener

    def line(self, text: str) -> None:
        if not text:
            return
        self.tail = text
        self._listener.control.log(f"cbc: {text}")
        found = _BOUND.search(text)
        if found is not None:
            bound = float(found[1] or found[2])
            if abs(bound) < 1e40:
                self.bound = bound if self.bound is None else max(bound, self.bound)
                self._listener.on_bound(self.bound)
        nodes = _NODES.match(text)
        if nodes is not None:
            self.nodes = int(nodes[1])
        self.interrupted |= "Exiting on user event" in text
        if "Partial search" in text or "within gap tolerance" in text:
            self.complete = False


def _broken(code: int, log: _Log, budget: Budget) -> Answer:
    """The answer for a CBC that ended without one. With a memory cap, being killed or out of memory is put down to the cap."""
    out_of_memory = code in (-signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV) or "bad_alloc" in log.tail
    stop = StopReason.MEMORY_LIMIT if out_of_memory and budget.memory_bytes is not None else StopReason.SOLVER_FAILED
    return Answer(stop, bound=log.bound, nodes=log.nodes, message=f"cbc ended with {code}: {log.tail[:200]}")


def _read(text: str, log: _Log, names: Mapping[str, str]) -> Answer:
    """Reads the solution file: a status line, then number, name, value and reduced cost of each row and column."""
    status, *lines = text.splitlines()
    if status.startswith(("Infeasible", "Integer infeasible")):
        return Answer(StopReason.PROVED, bound=log.bound, nodes=log.nodes)
    proved = status.startswith("Optimal") and log.complete
    stop = StopReason.PROVED if proved else _why_stopped(status, log)
    if "no integer solution" in status or not status.startswith(("Optimal", "Stopped")):
        return Answer(stop, bound=log.bound, nodes=log.nodes, message=status)
    values: dict[str, float] = {}
    for line in lines:
        _, short, value, *_ = line.replace("**", " ").split()
        if short in names:
            values[names[short]] = float(value)
    objective = float(status.rsplit(" ", 1)[1])
    return Answer(stop, values, objective, objective if proved else log.bound, log.nodes, status)


def read_duals(text: str) -> dict[str, float]:
    """The last number of each row and column in the solution file of a linear program."""
    duals = {}
    for line in text.splitlines()[1:]:
        _, short, _, dual, *_ = line.replace("**", " ").split()
        duals[short] = float(dual)
    return duals


def _why_stopped(status: str, log: _Log) -> StopReason:
    if "time" in status or log.interrupted:
        return StopReason.TIME_LIMIT
    if status.startswith(("Optimal", "Stopped")):
        return StopReason.WORK_LIMIT
    return StopReason.SOLVER_FAILED
