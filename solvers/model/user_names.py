"""Which planners of the user's own may run: those that MEMPLAN_SOLVERS names. Nothing is looked for or imported to know that."""

from __future__ import annotations

import os

VARIABLE = "MEMPLAN_SOLVERS"


def allowed() -> tuple[str, ...]:
    """The names in MEMPLAN_SOLVERS, separated by commas, each once."""
    return tuple(dict.fromkeys(name for part in os.environ.get(VARIABLE, "").split(",") if (name := part.strip())))


def path_of_user_planner(name: str) -> str | None:
    """Where a process finds the planner, as module:attribute; None if it may not run."""
    return f"solvers.others.users.planners:{PREFIX}{name}" if name in allowed() else None


PREFIX = "planner "
"""Before a planner's name where it stands for an attribute, so that it is never taken for another one."""
