"""The folder of a measurement, which can be continued from what is in it: a file with a line for each run, and plans beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...many.lines_file import LinesFile
from .kept_plans import KeptPlans
from .records import Record, parse

FILE_NAME = "results.jsonl"


class Results:
    """The records in a folder; a run that is killed loses none that was noted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = LinesFile(folder / FILE_NAME)
        self._is_open = False
        self._records: dict[str, Record] = {}
        self._plans: KeptPlans | None = None

    @classmethod
    def read(cls, folder: Path) -> Results:
        """Those that are there already. A last line that was cut off, by a power cut say, does not count."""
        results = cls(folder)
        for number, line in enumerate(results._file.read(), 1):
            try:
                record = parse(line)
            except (ValueError, TypeError, IndexError) as error:
                raise results._file.refused(f"line {number} holds no record") from error
            results._records[record.key] = record
        return results

    @property
    def records(self) -> tuple[Record, ...]:
        """In the order in which they were made."""
        return tuple(self._records.values())

    @property
    def plans(self) -> KeptPlans:
        """Those that were kept."""
        if self._plans is None:
            self._plans = KeptPlans(self.folder, self._records.values())
        return self._plans

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def forget(self, keys: Iterable[str]) -> None:
        """Let these be run again; what was written of them counts no more once there is something newer."""
        for key in keys:
            self._records.pop(key, None)

    def add(self, record: Record) -> None:
        """Write it down, with its plan if that is one of those that are kept. Raises OSError."""
        if not self._is_open:
            self._file.open()
            self._is_open = True
        plan, record = record.plan, replace(record, plan=None)
        if plan is not None:  # before the line: what has one is not run again
            self.plans.add(record, plan.encode())
        self._file.append(record.line())
        self._records.pop(record.key, None)
        self._records[record.key] = record

    def close(self) -> None:
        self._file.close()
        self._is_open = False
