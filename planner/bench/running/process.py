"""A cell's process, seen from outside: forked by a process that stays for the next cell, given its request, read, and killed with its children if it does not end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from solvers.sandbox.companion import Companion, always

from ...model.errors import echo
from ...model.versions import machine, versions
from ..results.records import CellStatus, Record, parse
from .forks import Ended
from .grid import Cell

FORKING = "planner.bench.running.forks:work"
RUN = "planner.bench.running.cell:answered"
SAID_LENGTH = 500


class CellProcesses:
    """Processes of this machine: one forking process for each thread that starts runs, as it would end with the thread."""

    def __init__(self, answering: str = RUN) -> None:
        self.answering = answering
        """The function of a run, as `module:function`."""
        self._of_thread = threading.local()
        self._all: list[Companion] = []

    def start(self, cell: Cell) -> CellProcess:
        """Begin a run."""
        return CellProcess(self, cell)

    def borrow(self) -> Companion:
        """Return this thread's process, without a run."""
        found: Companion | None = getattr(self._of_thread, "companion", None)
        if found is None:
            found = self._of_thread.companion = Companion(FORKING)
            self._all.append(found)
        return found

    def end(self, companion: Companion) -> int:
        """End this thread's process, whatever it does; return its exit code."""
        self._of_thread.companion = None
        self._all.remove(companion)
        return companion.end()

    def close(self) -> None:
        """Close all. They must no longer be in use."""
        while self._all:
            self._all.pop().end()


class CellProcess:
    """A run in progress."""

    def __init__(self, processes: CellProcesses, cell: Cell) -> None:
        self._processes, self._cell = processes, cell
        self._companion = processes.borrow()
        self._begun = time.monotonic()
        try:
            self._send()
        except OSError:  # somebody ended it between two runs; a new one is as good
            processes.end(self._companion)
            self._companion = processes.borrow()
            self._send()

    def _send(self) -> None:
        cell = self._cell
        request = {
            "path": str(cell.file.path.resolve()),
            "solver": cell.solver,
            "seed": cell.seed,
            "settings": cell.settings.as_fields(),
        }
        self._companion.send((self._processes.answering, request))

    def result(self, wanted: Callable[[], bool] = always) -> Record:
        """Wait for the end in any case; `wanted` tells now and then whether anybody still waits. Called by the thread that started it."""
        try:
            return self._record(self._companion.receive_within(self._cell.hard_limit, wanted))
        except TimeoutError as late:
            self._processes.end(self._companion)
            return self._record(None, str(late))
        except EOFError:
            code = self._processes.end(self._companion)
            return self._record(Ended(code, b"", b""))

    def kill(self) -> None:
        """End it, with everything in its group; solvers' processes notice that their parent is gone."""
        self._companion.kill()

    def _record(self, ended: Ended | None, why: str = "") -> Record:
        """Return the record; None: it was ended, and why."""
        cell = self._cell
        seconds = round(time.monotonic() - self._begun, 6)
        if ended is None:
            return without_answer(cell, CellStatus.KILLED, why, seconds)
        code, output = ended.code, ended.output.decode("utf-8", "replace")
        if code == 0:
            try:
                return parse(json.dumps({**about(cell), "process_seconds": seconds, **json.loads(ended.answer)}))
            except (ValueError, TypeError) as error:
                output = f"it answered with something else than a record: {error}; {output}"
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        lines = output.strip().splitlines()
        last = echo(lines[-1]) if lines else "it said nothing"
        return without_answer(cell, CellStatus.CRASHED, f"its process ended {how}: {last}"[:SAID_LENGTH], seconds)


def about(cell: Cell) -> dict[str, Any]:
    """Return the fields of a record that are known before the run."""
    return {
        "key": cell.key,
        "instance": cell.file.name,
        "sha256": cell.file.sha256,
        "solver": cell.solver,
        "seed": cell.seed,
        "options": cell.settings.as_fields(),
    }


def without_answer(cell: Cell, status: CellStatus, why: str, seconds: float | None = None) -> Record:
    """Return the record of a run without an answer."""
    here: dict[str, Any] = {"versions": versions(()), "machine": machine(), "process_seconds": seconds}
    return parse(json.dumps({**about(cell), **here, "status": str(status), "error": why}))
