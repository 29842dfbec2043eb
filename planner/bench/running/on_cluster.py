"""Runs of a measurement on a Dask cluster: each still has a process of its own, on whichever worker has room."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...many.cluster import REPEATS, connect, threads
from ..results.records import CellStatus, Record, parse
from .grid import Cell
from .process import CellProcess, without_answer


class OnCluster:
    """A cluster that runs already. So many runs are under way as it has threads: more would be timed while they wait."""

    def __init__(self, where: str) -> None:
        self._client = connect(where)
        self.jobs = max(threads(self._client), 1)

    def start(self, cell: Cell) -> ClusterCell:
        """Begin a run."""
        return ClusterCell(self._client, cell)

    def close(self) -> None:
        self._client.close()


class ClusterCell:
    """A run that is under way there."""

    def __init__(self, client: Any, cell: Cell) -> None:
        self._cell = cell
        data = cell.file.path.read_bytes()
        self._future = client.submit(run_there, data, cell, pure=False, retries=REPEATS)

    def result(self) -> Record:
        """Wait for the end, whatever it is."""
        try:
            return parse(self._future.result())
        except Exception as error:  # noqa: BLE001 - whatever became of the workers that had it
            return without_answer(self._cell, CellStatus.CRASHED, f"the cluster lost it: {type(error).__name__}")

    def kill(self) -> None:
        self._future.cancel()


def run_there(data: bytes, cell: Cell) -> str:
    """On a worker: the record of the run, as a line."""
    with tempfile.TemporaryDirectory(prefix="memplan-") as folder:
        path = Path(folder) / cell.file.path.name  # the name may say the capacity
        path.write_bytes(data)
        return CellProcess(replace(cell, file=replace(cell.file, path=path))).result().line()
