"""Runs the missing cells, some side by side, and writes each record when it ends."""

from __future__ import annotations

import queue
import threading
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
    stopped: Callable[[], bool] | None = None,
) -> bool:
    """Run the cells, `jobs` at a time, each started by `start`. False if `stopped` ended it before all were done; runs in progress are then not recorded."""
    waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
    for cell in cells:
        waiting.put(cell)
    ended: queue.SimpleQueue[Record | Exception] = queue.SimpleQueue()
    under_way: dict[int, Running] = {}
    lock, stop = threading.Lock(), threading.Event()

    def work(place: int) -> None:
        try:
            while not stop.is_set():
                try:
                    cell = waiting.get_nowait()
                except queue.Empty:
                    return
                with lock:
                    if stop.is_set():
                        return
                    process = under_way[place] = start(cell)
                record = process.result()
                with lock:
                    del under_way[place]
                ended.put(record)
        except Exception as error:  # noqa: BLE001 - no process could be started, say; whoever waits must hear of it
            ended.put(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(min(jobs, len(cells)))]
    for thread in threads:
        thread.start()
    left = len(cells)
    try:
        while left and not (stopped is not None and stopped()):
            try:
                record = ended.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if isinstance(record, Exception):
                raise record
            left -= 1
            results.add(record)
            if on_record is not None:
                on_record(record)
    finally:
        stop.set()
        with lock:
            for process in under_way.values():
                process.kill()
        for thread in threads:
            thread.join()
    return left == 0
