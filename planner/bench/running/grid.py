"""What is measured: instance x solver x seed, each with the same settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from solvers.model.solver import Goal

from .instances import File

FROM_NAME = "from-name"
"""The capacity is the number in names such as A.1048576.csv; generated problems have their known optimum in theirs."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for all cells of one measurement."""

    time_limit: float | None = 10.0
    """Seconds of planning; reading the file does not count."""
    work_limit: int | None = None
    memory_limit_bytes: int | None = None
    workers: int = 1
    capacity: int | str | None = None
    """Bytes, FROM_NAME, or None for what the problem says."""
    goal: Goal = Goal.MINIMISE
    grace_seconds: float = 30.0
    """What reading, checking and leaving may take beside the planning, before the process is killed."""

    def as_fields(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "goal": str(self.goal)}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: one instance, one solver, one seed."""

    file: File
    solver: str
    seed: int
    settings: Settings

    @property
    def key(self) -> str:
        """What tells one run from another. The grace decides nothing, and where the file lies does not either."""
        options = {name: value for name, value in self.settings.as_fields().items() if name != "grace_seconds"}
        content = [self.file.name, self.file.sha256, self.solver, self.seed, options]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    @property
    def hard_limit(self) -> float | None:
        """Seconds after which the process is killed."""
        limit = self.settings.time_limit
        return None if limit is None else limit + self.settings.grace_seconds


def grid(files: Iterable[File], solvers: Iterable[str], seeds: Iterable[int], settings: Settings) -> list[Cell]:
    """All cells, instance by instance, so that a look at half of the results compares solvers already."""
    solvers, seeds = tuple(solvers), tuple(seeds)
    return [Cell(file, solver, seed, settings) for file in files for seed in seeds for solver in solvers]
