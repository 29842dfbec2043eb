"""The grid of a measurement: instance x solver x seed, each with the same settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from solvers.model.solver import Goal

from .instances import File

FROM_NAME = "from-name"
"""The capacity is the number in names such as A.1048576.csv, or the known optimum in those of generated problems."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings common to all cells of one measurement."""

    time_limit: float | None = 10.0
    """For planning, in seconds; reading the file does not count."""
    work_limit: int | None = None
    memory_limit_bytes: int | None = None
    workers: int = 1
    capacity: int | str | None = None
    """Bytes, FROM_NAME, or None for the problem's own."""
    goal: Goal = Goal.MINIMISE
    grace_seconds: float = 30.0
    """The time for reading, checking and exiting besides planning, before the process is killed."""

    def as_fields(self) -> dict[str, Any]:
        """Return the settings as in JSON."""
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
        """Return what distinguishes runs, which excludes the grace and the file's location."""
        options = {name: value for name, value in self.settings.as_fields().items() if name != "grace_seconds"}
        content = [self.file.name, self.file.sha256, self.solver, self.seed, options]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    @property
    def hard_limit(self) -> float | None:
        """Return the seconds after which the process is killed."""
        limit = self.settings.time_limit
        return None if limit is None else limit + self.settings.grace_seconds


def grid(files: Iterable[File], solvers: Iterable[str], seeds: Iterable[int], settings: Settings) -> list[Cell]:
    """Return all cells, instance by instance, so that partial results already compare solvers."""
    solvers, seeds = tuple(solvers), tuple(seeds)
    return [Cell(file, solver, seed, settings) for file in files for seed in seeds for solver in solvers]
