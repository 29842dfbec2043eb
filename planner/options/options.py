"""How to plan: limits, solver, seed, goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from solvers.model.solver import Goal, Warm

from ..errors import BadInput, Code, Finding, echo
from .preference import Preference

GREATEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Options:
    """What planner.plan may use and what it should aim for."""

    time_limit: float | None = 10.0
    """Seconds of wall time from call to answer, everything included; None: no limit."""
    work_limit: int | None = None
    """Units of work (about a microsecond each) that end a hard problem alike on every machine; None: half of what the time limit allows."""
    memory_limit_bytes: int | None = None
    """For each solver process."""
    solver: str = "auto"
    workers: int | None = None
    """Solver processes side by side; None: as many as there are cores. The plan is the same with any number."""
    seed: int = 0
    capacity: int | Mapping[str, int] | None = None
    """Replaces the problem's pool sizes: by name, or one number for a problem with one pool."""
    goal: Goal = Goal.MINIMISE
    explain: bool = False
    """Find out which buffers make an infeasible problem infeasible."""
    warm: Warm | None = None
    """What exact solvers are told of the best known plan; None: each solver's default."""
    verbose: bool = False
    prefer: Preference | None = None
    """Replaces the problem's objective by a preset; None: as the problem says."""


def require_valid(options: Options) -> None:
    """Raises BadInput for an option that makes no sense."""
    for name, value, least in (
        ("time_limit", options.time_limit, 0),
        ("work_limit", options.work_limit, 0),
        ("memory_limit_bytes", options.memory_limit_bytes, 1),
        ("workers", options.workers, 1),
        ("seed", options.seed, 0),
    ):
        if value is not None and not least <= value < GREATEST:
            raise bad_option(name, f"{echo(value)} is out of range: it must be at least {least} and below 2^62")


def bad_option(name: str, message: str) -> BadInput:
    """What is wrong with an option, as bad input."""
    return BadInput(Finding(Code.INVALID_OPTION, f"/options/{name}", message))
