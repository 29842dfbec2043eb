"""The record of a run, one line of JSON each."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeAlias

FrontierPoint: TypeAlias = tuple[int, int | None, int, int]
"""Cost, its proven bound (None: none), value, its proven bound."""


class CellStatus(StrEnum):
    """How a run ended: what the plan is worth, or why there is none."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    """The solver does not exist here or does not support the problem, or the problem is invalid."""
    CRASHED = "crashed"
    KILLED = "killed"
    """It continued after its limit and its grace."""

    @property
    def is_proven(self) -> bool:
        return self in (CellStatus.OPTIMAL, CellStatus.INFEASIBLE)

    @property
    def has_failed(self) -> bool:
        return self in (CellStatus.CRASHED, CellStatus.KILLED)


@dataclass(frozen=True, slots=True)
class Record:
    """One run."""

    key: str
    instance: str
    sha256: str
    """The file's."""
    solver: str
    seed: int
    options: dict[str, Any]
    status: CellStatus
    problem: str | None = None
    digest: str | None = None
    buffers: int | None = None
    capacity: int | None = None
    stop: str | None = None
    peak: int | None = None
    peak_bound: int | None = None
    value: int | None = None
    """The objective's first term; with one pool of cost 1 the peak."""
    values: list[int | None] = field(default_factory=list)
    """All terms."""
    bound: int | None = None
    """The proven bound of `value`."""
    gap: float | None = None
    """value / bound - 1."""
    points: list[FrontierPoint] = field(default_factory=list)
    """The points of the frontier, if measured; the value is then their least."""
    within: float | None = None
    """The greatest share by which anything may be better than each of the points."""
    reproducible: bool | None = None
    found_by: str | None = None
    seconds: float | None = None
    """The time for planning: from the problem in memory to the verified plan."""
    seconds_to_best: float | None = None
    seconds_to_proof: float | None = None
    seconds_to_read: float | None = None
    process_seconds: float | None = None
    """From start to end of the process."""
    peak_memory_bytes: int | None = None
    """That of the largest process involved."""
    trace: list[tuple[float, int | None, int | None]] = field(default_factory=list)
    """(seconds, value, bound) at each change."""
    wrong: str | None = None
    """Why the answer cannot be true."""
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str | int] = field(default_factory=dict)
    plan: str | None = None
    """The plan itself as JSON, on its way from the run; it is not part of the line."""

    def line(self) -> str:
        """Return one line of JSON."""
        fields = {**asdict(self), "status": str(self.status)}
        del fields["plan"]
        return json.dumps(fields, allow_nan=False)


_NAMES = frozenset(f.name for f in fields(Record))
_REQUIRED = frozenset(("key", "instance", "sha256", "solver", "seed", "options", "status"))


def parse(line: str) -> Record:
    """Return the record in a line. Unknown fields are ignored. Raises ValueError."""
    content = json.loads(line)
    if not isinstance(content, dict) or not content.keys() >= _REQUIRED:
        raise ValueError("no record")
    known = {name: value for name, value in content.items() if name in _NAMES}
    known["status"] = CellStatus(known["status"])
    known["points"] = [(point[0], point[1], point[2], point[3]) for point in known.get("points", ())]
    known["trace"] = [(point[0], point[1], point[2]) for point in known.get("trace", ())]
    return Record(**known)
