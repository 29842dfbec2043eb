"""Which solvers there are, what each takes, and whether it can run here."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.model.registry import entry_of, get, names
from solvers.model.solver import Feature


@dataclass(frozen=True, slots=True)
class SolverInfo:
    """One solver, for people who choose."""

    name: str
    features: frozenset[Feature]
    available: bool
    reason: str | None
    """Why it is not available."""
    kind: str = "user"
    """Whose method it is: docs/planners.md."""
    summary: str = ""
    """In one line what it is."""


def solver_list() -> list[SolverInfo]:
    """All registered solvers; no solver's library is imported for it."""
    listed = []
    for name in names():
        entry, solver = entry_of(name), get(name)
        reason = solver.unavailable()
        listed.append(SolverInfo(name, solver.features, reason is None, reason, entry.kind.value, entry.summary))
    return listed


def end_solver_processes() -> None:
    """End the processes that calls keep to start solvers from, and any run that is under way. A later call starts new ones."""
    from solvers.sandbox import shutdown

    shutdown()
