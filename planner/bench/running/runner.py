"""Runs the missing cells, some side by side, and writes each record when it ends."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from ...model.errors import BadInput, Code, Finding
from ...model.versions import versions
from ..results.folder import Results
from ..results.records import Record
from .grid import Cell

POLL_SECONDS = 0.1


class Running(Protocol):
    """A run in progress, here or elsewhere."""

    def result(self) -> Record:
        """Wait for the end in any case."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


def missing(cells: Sequence[Cell], results: Results) -> list[Cell]:
    """Return the cells without a result. Raises BadInput if the results are of another version, since they would be mixed."""
    made_with = {record.versions.get("memplan") for record in results.records} - {None}
    here = versions(()).get("memplan")
    if here is not None and made_with - {here}:
        other = ", ".join(sorted(str(version) for version in made_with - {here}))
        text = f"{results.folder} holds results of memplan {other}, and this is {here}; measure into another folder"
        raise BadInput(Finding(Code.INVALID_OPTION, "", text))
    return [cell for cell in cells if cell.key not in results]


def run(
    cells: Sequence[Cell],
    results: Results,
    start: Callable[[Cell], Running],
    *,
    jobs: int = 1,
    on_record: Callable[[Record], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> bool:
    """Run the cells, `jobs` at a time, each started by `start`. False if `stopped` ended it before all were done; runs in progress are then not recorded."""
    lanes = _Lanes(cells, start)
    left = len(cells)
    lanes.open(min(jobs, len(cells)))
    try:
        while left and not stopped():
            record = lanes.next(POLL_SECONDS)
            if record is None:
                continue
            left -= 1
            results.add(record)
            if on_record is not None:
                on_record(record)
    finally:
        lanes.close()
    return left == 0


class _Lanes:
    """Threads, each of which runs one waiting cell after the other."""

    def __init__(self, cells: Sequence[Cell], start: Callable[[Cell], Running]) -> None:
        self._start = start
        self._waiting = deque(cells)
        self._ended: queue.SimpleQueue[Record | Exception] = queue.SimpleQueue()
        self._running: dict[int, Running] = {}
        self._is_closed = False
        self._lock = threading.Lock()
        """Held to change what is waiting or running."""
        self._threads: list[threading.Thread] = []

    def open(self, count: int) -> None:
        """Begin to run cells, this many at a time."""
        self._threads = [threading.Thread(target=self._work, args=(i,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def next(self, seconds: float) -> Record | None:
        """Return the record of the next cell that ends; None if none does so soon. Raises what kept a cell from being run."""
        try:
            record = self._ended.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(record, Exception):
            raise record
        return record

    def close(self) -> None:
        """End all runs in progress, and wait for the threads."""
        with self._lock:
            self._is_closed = True
            for process in self._running.values():
                process.kill()
        for thread in self._threads:
            thread.join()

    def _work(self, lane: int) -> None:
        try:
            while (process := self._begin(lane)) is not None:
                record = process.result()
                with self._lock:
                    del self._running[lane]
                self._ended.put(record)
        except Exception as error:  # noqa: BLE001 - no process could be started, say; whoever waits must hear of it
            self._ended.put(error)

    def _begin(self, lane: int) -> Running | None:
        """Start the next cell; None if there is none, or all is over."""
        with self._lock:
            if self._is_closed or not self._waiting:
                return None
            process = self._running[lane] = self._start(self._waiting.popleft())
            return process
