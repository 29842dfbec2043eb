"""The folder of a measurement, which can be continued: a file with a line for each run, and plans beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...many.lines_file import LinesFile
from .kept_plans import KeptPlans
from .records import Record, parse

FILE_NAME = "results.jsonl"


class Results:
    """The records in a folder; a killed run loses none that was written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = LinesFile(folder / FILE_NAME)
        self._is_open = False
        self._records: dict[str, Record] = {}
        self._plans: KeptPlans | None = None

    @classmethod
    def read(cls, folder: Path) -> Results:
        """Return the existing records. A truncated last line, for example after a power cut, does not count."""
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
        """Return them in the order in which they were made."""
        return tuple(self._records.values())

    @property
    def plans(self) -> KeptPlans:
        """Return the kept plans."""
        if self._plans is None:
            self._plans = KeptPlans(self.folder, self._records.values())
        return self._plans

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def forget(self, keys: Iterable[str]) -> None:
        """Let these be run again; newer records replace the written ones."""
        for key in keys:
            self._records.pop(key, None)

    def add(self, record: Record) -> None:
        """Write it, with its plan if that is kept. Raises OSError."""
        if not self._is_open:
            self._file.open()
            self._is_open = True
        plan, record = record.plan, replace(record, plan=None)
        if plan is not None:  # before the line: a run with a line is not repeated
            self.plans.add(record, plan.encode())
        self._file.append(record.line())
        self._records.pop(record.key, None)
        self._records[record.key] = record

    def close(self) -> None:
        self._file.close()
        self._is_open = False
