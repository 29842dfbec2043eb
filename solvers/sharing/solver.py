"""The interface of solvers of storage objects, their task and answer, and the registry that finds them by name."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from importlib import import_module
from typing import ClassVar, Protocol

from ..model import registry
from ..model.errors import StopReason, UnknownSolver, Unsupported
from ..model.instance import Instance
from ..model.libraries import Runnable
from ..model.solver import Limits
from .arrangement import Arrangement


@dataclass(frozen=True, slots=True)
class SharingTask:
    """A solver's task for an instance."""

    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    start: Arrangement | None = None
    """Best valid arrangement known so far."""
    bounds: tuple[int, ...] = ()
    """Proven lower bound on each pool's total; empty if there is none."""
    least: tuple[tuple[int, ...], ...] = ()
    """Proven least sizes of the objects of each pool, the largest first; empty if not computed."""
    verbose: bool = False


class SharingControl(Protocol):
    """A solver's connection to its caller."""

    def incumbent(self, arrangement: Arrangement) -> None:
        """Reports an arrangement better than all before, so that it is kept whatever happens to the solver."""

    def bound(self, bound: int) -> None:
        """Reports a proven bound on the sum of all totals."""

    def log(self, line: str) -> None:
        """Reports a line of the solver's log, for users who request it."""

    def stopped(self) -> StopReason | None:
        """Why the solver must stop now, or None. To be called often."""


@dataclass(frozen=True, slots=True)
class SharingOutcome:
    """The result of a run on one instance."""

    stop: StopReason
    arrangement: Arrangement | None = None
    bounds: tuple[int, ...] = ()
    """Proven: no arrangement has a smaller total in that pool."""
    solver: str | None = None
    """The solver that found the arrangement."""
    work: int = 0
    reproducible: bool = True
    took_part: tuple[str, ...] = ()
    """Every solver that took part."""
    notes: tuple[str, ...] = ()
    provers: tuple[str | None, ...] = ()
    """The solver that exhausted all arrangements below the bound of each pool; None if another argument proves it."""


class SharingSolver(Runnable, Protocol):
    """Decides which blocks of an instance share a storage object."""

    name: ClassVar[str]

    @abstractmethod
    def share(self, instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
        """The best arrangement within the limits. Raises Unsupported for what it does not take."""


AUTO = "auto"
SHARERS: dict[str, str] = {
    "greedy": "solvers.sharing.greedy:Greedy",
    "largest_first": "solvers.sharing.greedy:LargestFirst",
    "exir_greedy": "solvers.sharing.named:ExirObjects",
    "relay_tokens": "solvers.sharing.named:RelayObjects",
    "cpsat": "solvers.sharing.cpsat:CpSatSharing",
}
"""name -> module:class. A module is imported when its solver is first used; none of them imports its library on import."""


SEARCHERS = ("cpsat",)
"""Solvers that may claim to have exhausted all arrangements."""


def get(name: str) -> SharingSolver:
    """The solver of that name. Raises UnknownSolver, and Unsupported if it only gives addresses."""
    path = SHARERS.get(name)
    if path is None:
        if name in registry.names():
            raise Unsupported(name, f"it gives addresses; storage objects are given by {', '.join((AUTO, *SHARERS))}")
        raise UnknownSolver(name, (AUTO, *SHARERS))
    module, _, attribute = path.partition(":")
    solver: SharingSolver = getattr(import_module(module), attribute)()
    return solver
