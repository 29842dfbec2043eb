"""What can end the search before its answer."""

from __future__ import annotations

from ....model.errors import SolverError


class TooLarge(SolverError):
    """There are more conflicting pairs, or members of cliques, than may be listed."""


class Stopped(SolverError):
    """Whoever started the search wants it to end. Never leaves the kernel."""
