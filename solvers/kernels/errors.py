"""What can go wrong with the kernels themselves."""

from __future__ import annotations

from ..model.errors import SolverError


class BadKernelInput(SolverError):
    """Arguments that break a kernel's contract: a fault of the caller, not of the problem."""


class KernelsUnavailable(SolverError):
    """MEMPLAN_KERNELS asks for kernels that are not there, or for no kernels that exist."""
