"""How to plan: limits, solver, seed, goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from solvers.model.solver import Goal, Warm

from ..errors import BadInput, Code, Finding, echo
from .preference import Preference

GREATEST = 1 << 62


def told(help_: str, least: int | None = None) -> dict[str, Any]:
    """What help says of an option at every door (library, command, query and body), and the least number it takes."""
    return {"help": help_, "least": least}


@dataclass(frozen=True, slots=True)
class Options:
    """What planner.plan may use and what it should aim for. Help and limits of every door come from here."""

    time_limit: float | None = field(
        default=10.0, metadata=told("Seconds of wall time from call to answer, everything included.", 0)
    )
    work_limit: int | None = field(
        default=None,
        metadata=told(
            "Units of work, about a microsecond each; a run that ends by work ends alike on every machine.", 0
        ),
    )
    """None: half of what the time limit allows."""
    memory_limit_bytes: int | None = field(default=None, metadata=told("Memory of each solver process.", 1))
    solver: str = field(default="auto", metadata=told("auto, or a name that the list of solvers has."))
    workers: int | None = field(
        default=None, metadata=told("Solver processes side by side; the plan is the same with any number.", 1)
    )
    """None: as many as there are cores."""
    seed: int = field(default=0, metadata=told("Seed of everything random.", 0))
    capacity: int | Mapping[str, int] | None = field(
        default=None, metadata=told("Replaces a pool's size: bytes for the only pool, or for several by name.")
    )
    goal: Goal = field(default=Goal.MINIMISE, metadata=told("fit stops at the first plan within all capacities."))
    explain: bool = field(
        default=False, metadata=told("Say why nothing smaller is possible, or find out which buffers cannot fit.")
    )
    warm: Warm | None = field(
        default=None, metadata=told("What exact solvers are told of the best plan so far; by default what suits each.")
    )
    verbose: bool = field(default=False, metadata=told("The solvers' logs."))
    prefer: Preference | None = field(
        default=None,
        metadata=told(
            "Replaces the problem's objective: the smallest peaks, the fastest accesses, or both weighed against each other."
        ),
    )


def help_of(name: str) -> str:
    """What help says of the option."""
    return next(str(each.metadata["help"]) for each in fields(Options) if each.name == name)


def require_valid(options: Options) -> None:
    """Raises BadInput for an option that makes no sense."""
    for each in fields(options):
        value, least = getattr(options, each.name), each.metadata["least"]
        if value is not None and least is not None and not least <= value < GREATEST:
            raise bad_option(each.name, f"{echo(value)} is out of range: it must be at least {least} and below 2^62")


def bad_option(name: str, message: str) -> BadInput:
    """What is wrong with an option, as bad input."""
    return BadInput(Finding(Code.INVALID_OPTION, f"/options/{name}", message))
