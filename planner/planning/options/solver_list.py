"""The list of solvers: what each takes, and whether it can run here."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.model.registry import entry_of, get, names
from solvers.model.solver import Feature


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """One solver, described for users."""

    name: str
    features: frozenset[Feature]
    available: bool
    reason: str | None
    """Why it is not available."""
    kind: str = "user"
    """The origin of its method: docs/planners.md."""
    summary: str = ""
    """What it is, in one line."""


def solver_list() -> list[SolverInfo]:
    """Return all registered solvers, without importing their libraries."""
    listed = []
    for name in names():
        entry, solver = entry_of(name), get(name)
        reason = solver.unavailable()
        listed.append(SolverInfo(name, solver.features, reason is None, reason, entry.kind.value, entry.summary))
    return listed


def end_solver_processes() -> None:
    """End the processes kept for starting solvers, and any run in progress. A later call starts new ones."""
    from solvers.sandbox import shutdown

    shutdown()
