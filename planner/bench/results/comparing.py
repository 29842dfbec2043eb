"""Two measurements compared run by run: what got better or worse, and how the times changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .curves import curve_changes
from .intervals import Ratio, mean_ratio
from .records import CellStatus, Record

QUICKEST = 1e-3
"""In seconds; differences below are noise of the machine."""
DEFAULT_THRESHOLD = 0.05

Key = tuple[str, str, str, int, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One run with a different result."""

    instance: str
    solver: str
    seed: int
    text: str
    is_worse: bool
    is_certain: bool
    """Both runs are reproducible, so the clock did not cause it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two measurements."""

    paired: int
    only_before: int
    only_after: int
    changes: tuple[Change, ...]
    times: dict[str, Ratio]
    """For each solver: seconds after / seconds before."""
    threshold: float

    @property
    def slower(self) -> list[str]:
        """Return the solvers whose times surely grew beyond the threshold."""
        limit = 1 + self.threshold
        return [s for s, ratio in self.times.items() if ratio.mean > limit and ratio.low is not None and ratio.low > 1]

    @property
    def is_regression(self) -> bool:
        return bool(self.slower) or any(change.is_worse and change.is_certain for change in self.changes)


def compare(before: Iterable[Record], after: Iterable[Record], threshold: float = DEFAULT_THRESHOLD) -> Comparison:
    """Compare pairs by instance, solver and seed; runs without a partner are only counted."""
    before, after = list(before), list(after)
    # if a folder has runs with several settings, equal ones are compared; otherwise settings may differ, to show their effect
    several = any(len({_settings(record) for record in records}) > 1 for records in (before, after))
    old = {_key(record, several=several): record for record in before}
    new = {_key(record, several=several): record for record in after}
    pairs = [(old[key], new[key]) for key in old if key in new]
    changes = [change for pair in pairs for change in _changes(*pair)]
    times = {}
    for solver in dict.fromkeys(record.solver for _, record in pairs):
        ratio = mean_ratio(list(_ratios(pair for pair in pairs if pair[1].solver == solver)))
        if ratio is not None:
            times[solver] = ratio
    return Comparison(len(pairs), len(old) - len(pairs), len(new) - len(pairs), tuple(changes), times, threshold)


def _key(record: Record, *, several: bool) -> Key:
    return record.instance, record.sha256, record.solver, record.seed, _settings(record) if several else ""


def _settings(record: Record) -> str:
    return json.dumps(
        {name: value for name, value in record.options.items() if name != "grace_seconds"}, sort_keys=True
    )


def _changes(before: Record, after: Record) -> Iterable[Change]:
    is_certain = before.reproducible is True and after.reproducible is True

    def change(text: str, *, worse: bool, certain: bool = is_certain) -> Change:
        return Change(after.instance, after.solver, after.seed, text, worse, certain)

    if (after.wrong is None) != (before.wrong is None):
        yield change(
            f"now wrong: {after.wrong}" if after.wrong else "no longer wrong", worse=bool(after.wrong), certain=True
        )
    failed = [r.status.has_failed or r.status is CellStatus.REFUSED for r in (before, after)]
    if failed[0] != failed[1]:
        yield change(f"{before.status} became {after.status}", worse=failed[1], certain=True)
    if any(failed):
        return
    if before.status.is_proven != after.status.is_proven:
        proven = after.status.is_proven
        yield change("proven now" if proven else f"proof lost: {before.status} became {after.status}", worse=not proven)
    if before.values != after.values:
        yield change(f"value {_shown(before)} became {_shown(after)}", worse=_is_worse(before.values, after.values))
    for found in curve_changes(before, after):
        yield change(found.text, worse=found.is_worse)


def _is_worse(before: Sequence[int | None], after: Sequence[int | None]) -> bool:
    """Compare term by term; no plan is worse than any."""
    for old, new in zip(before, after, strict=False):
        if old != new:
            return new is None or (old is not None and new > old)
    return len(after) < len(before)


def _shown(record: Record) -> str:
    return ", ".join("none" if value is None else str(value) for value in record.values) or "none"


def _ratios(pairs: Iterable[tuple[Record, Record]]) -> Iterable[tuple[tuple[str, str], float]]:
    """Return ratios of planning time, for runs that both ended by themselves; each pair counts equally."""
    for before, after in pairs:
        if before.seconds is None or after.seconds is None or before.status is not after.status:
            continue
        yield (after.instance, after.sha256), max(after.seconds, QUICKEST) / max(before.seconds, QUICKEST)
