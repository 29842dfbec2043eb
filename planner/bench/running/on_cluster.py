"""Runs of a measurement on a Dask cluster: each still has its own process, on whichever worker has room."""

from __future__ import annotations

import tempfile
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...many.cluster import REPEATS, cancel, close, connect, lost_by, require_there, threads, wanted_there
from ..results.records import CellStatus, Record, parse
from .grid import Cell
from .process import CellProcesses, without_answer

PROCESSES = CellProcesses()
"""On a worker: one for each of its threads."""


class OnCluster:
    """A running cluster, with as many runs in progress as it has threads: further ones would be timed while waiting."""

    def __init__(self, where: str) -> None:
        self._client = connect(where)
        self.jobs = max(threads(self._client), 1)

    def start(self, cell: Cell) -> ClusterCell:
        """Begin a run."""
        return ClusterCell(self._client, cell)

    def close(self) -> None:
        close(self._client)


class ClusterCell:
    """A run in progress there."""

    def __init__(self, client: Any, cell: Cell) -> None:
        self._client, self._cell = client, cell
        self._data = cell.file.path.read_bytes()
        self._is_killed = False
        self._future = self._submitted()

    def _submitted(self) -> Any:
        require_there(self._client)
        return self._client.submit(run_there, self._data, self._cell, pure=False, retries=REPEATS)

    def result(self) -> Record:
        """Wait for the end in any case. Raises BadInput if the scheduler is gone for good."""
        while True:
            try:
                line, plan = self._future.result()
                return replace(parse(line), plan=plan)
            except CancelledError:  # with the scheduler, which may return
                if self._is_killed:
                    return without_answer(self._cell, CellStatus.CRASHED, "it was stopped")
                self._future = self._submitted()
            except Exception as error:  # noqa: BLE001 - whatever became of the workers that had it
                return without_answer(self._cell, CellStatus.CRASHED, lost_by(error))

    def kill(self) -> None:
        self._is_killed = True
        cancel(self._future)


def run_there(data: bytes, cell: Cell) -> tuple[str, str | None]:
    """On a worker: return the record of the run as a line, and its plan."""
    with tempfile.TemporaryDirectory(prefix="memplan-") as folder:
        path = Path(folder) / cell.file.path.name  # the name may contain the capacity
        path.write_bytes(data)
        record = PROCESSES.start(replace(cell, file=replace(cell.file, path=path))).result(wanted_there())
        return record.line(), record.plan
