"""One cell's process, seen from outside: started, given its request, read, and killed with all it started when it will not end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...model.errors import echo
from ...model.versions import machine, versions
from ..results.records import CellStatus, Record, parse
from .grid import Cell

COMMAND = (sys.executable, "-P", "-m", "planner.bench.running.cell")
"""Without the current folder on the path: what lies there by chance must not stand in for a module."""
ROOT = Path(__file__).resolve().parents[3]
SAID_LENGTH = 500


class CellProcess:
    """A run that is under way."""

    def __init__(self, cell: Cell, command: Sequence[str] = COMMAND) -> None:
        self._cell = cell
        self._begun = time.monotonic()
        # A session of its own is a process group of its own, and Ctrl-C at the terminal does not reach it: the runner decides.
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))},
        )

    def result(self) -> Record:
        """Wait for the end, whatever it is."""
        request = {
            "runner": os.getpid(),
            "path": str(self._cell.file.path.resolve()),
            "solver": self._cell.solver,
            "seed": self._cell.seed,
            "settings": self._cell.settings.as_fields(),
        }
        killed = False
        try:
            out, said = self._process.communicate(json.dumps(request).encode(), timeout=self._cell.hard_limit)
        except subprocess.TimeoutExpired:
            killed = True
            self.kill()
            out, said = self._process.communicate()
        return self._record(out, said.decode("utf-8", "replace"), killed=killed)

    def kill(self) -> None:
        """End it, with everything in its group; solvers' processes see that their parent is gone. One that has ended is left alone."""
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _record(self, out: bytes, said: str, *, killed: bool) -> Record:
        cell = self._cell
        seconds = round(time.monotonic() - self._begun, 6)
        code = self._process.returncode
        if not killed and code == 0:
            try:
                return parse(json.dumps({**about(cell), "process_seconds": seconds, **json.loads(out)}))
            except (ValueError, TypeError) as error:
                said = f"it answered with something else than a record: {error}; {said}"
        if killed:
            why = f"still running after {cell.hard_limit:g} s" if cell.hard_limit is not None else "it was killed"
            return without_answer(cell, CellStatus.KILLED, why, seconds)
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        lines = said.strip().splitlines()
        last = echo(lines[-1]) if lines else "it said nothing"
        return without_answer(cell, CellStatus.CRASHED, f"its process ended {how}: {last}"[:SAID_LENGTH], seconds)


def about(cell: Cell) -> dict[str, Any]:
    """The fields of a record that are known before the run."""
    return {
        "key": cell.key,
        "instance": cell.file.name,
        "sha256": cell.file.sha256,
        "solver": cell.solver,
        "seed": cell.seed,
        "options": cell.settings.as_fields(),
    }


def without_answer(cell: Cell, status: CellStatus, why: str, seconds: float | None = None) -> Record:
    """The record of a run that told nothing."""
    here: dict[str, Any] = {"versions": versions(()), "machine": machine(), "process_seconds": seconds}
    return parse(json.dumps({**about(cell), **here, "status": str(status), "error": why}))
