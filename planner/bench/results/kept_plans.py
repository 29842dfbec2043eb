"""Plans that are kept beside the results for inspection: of each problem the best, the worst and the slowest."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ...formats import read_plan
from ...many.worker import write_whole
from ...model.errors import PlannerError
from ...model.plan import Plan
from .common_ground import ProblemKey, problem_of
from .records import Record

FOLDER = "plans"


class KeptPlans:
    """The plans in a folder of results: at most three for each problem, however many runs it had."""

    def __init__(self, folder: Path, records: Iterable[Record]) -> None:
        self._folder = folder / FOLDER
        self._kept: dict[ProblemKey, tuple[Record, ...]] = {}
        there = {path.stem for path in self._folder.glob("*.json")}
        for record in records:
            if record.key in there:
                self._kept[problem_of(record)] = (*self._kept.get(problem_of(record), ()), record)

    def add(self, record: Record, plan: bytes) -> None:
        """Keep it if it is now one of those, and drop others that no longer are. Raises OSError."""
        problem = problem_of(record)
        before = [other for other in self._kept.get(problem, ()) if other.key != record.key]
        kept = extremes([*before, record])
        if record in kept:
            write_whole(self._path(record), plan)
        self._kept[problem] = kept
        for other in before:
            if other not in kept:
                self._path(other).unlink(missing_ok=True)

    def of(self, record: Record) -> Plan | None:
        """Return a run's plan; None if it was not kept, or is unreadable."""
        with suppress(OSError, PlannerError):
            return read_plan(self._path(record).read_bytes())
        return None

    def _path(self, record: Record) -> Path:
        return self._folder / f"{record.key}.json"


def extremes(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return the best, the worst and the slowest of one problem's runs with a plan; of equals the first."""
    placed = [record for record in records if record.value is not None]
    if not placed:
        return ()
    best, worst = min(placed, key=worth), max(placed, key=worth)
    slowest = max(placed, key=lambda record: record.seconds or 0.0)
    chosen = {record.key: record for record in (best, *([worst] if worth(worst) > worth(best) else ()), slowest)}
    return tuple(chosen.values())


def worth(record: Record) -> tuple[int, ...]:
    """Return a plan's key of comparison: the values of all terms."""
    return tuple(value for value in record.values if value is not None)
