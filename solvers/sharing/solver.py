"""The interface of solvers of shared objects, their task and answer, and the registry that finds them by name."""

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
    """Best arrangement known so far; a valid one."""
    bounds: tuple[int, ...] = ()
    """Proven of each pool's total; empty: nothing is."""
    least: tuple[tuple[int, ...], ...] = ()
    """Proven of the objects of each pool, the largest first; empty: it has not been worked out."""
    verbose: bool = False


class SharingControl(Protocol):
    """A solver's line to whoever started it."""

    def incumbent(self, arrangement: Arrangement) -> None:
        """An arrangement better than any before: keep it, whatever happens to me next."""

    def bound(self, bound: int) -> None:
        """Proven of the sum of all totals from now on."""

    def log(self, line: str) -> None:
        """A line of the solver's log, for users who request it."""

    def stopped(self) -> StopReason | None:
        """Must I stop now, and why? Ask often."""


@dataclass(frozen=True, slots=True)
class SharingOutcome:
    """The end of a run on one instance."""

    stop: StopReason
    arrangement: Arrangement | None = None
    bounds: tuple[int, ...] = ()
    """Proven: no arrangement has a smaller total in that pool."""
    solver: str | None = None
    """Which solver found the arrangement."""
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
"""name -> module:class. A module is imported when its solver is first asked for; none of them imports its library on import."""


SEARCHERS = ("cpsat",)
"""Those that may say to have gone through all there is."""


def get(name: str) -> SharingSolver:
    """The solver of that name. Raises UnknownSolver, and Unsupported if it gives addresses alone."""
    path = SHARERS.get(name)
    if path is None:
        if name in registry.names():
            raise Unsupported(name, f"it gives addresses; storage objects are given by {', '.join((AUTO, *SHARERS))}")
        raise UnknownSolver(name, (AUTO, *SHARERS))
    module, _, attribute = path.partition(":")
    solver: SharingSolver = getattr(import_module(module), attribute)()
    return solver
