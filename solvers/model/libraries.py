"""The libraries that solvers need, and how to install a missing one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import ClassVar, NamedTuple, Protocol

from .errors import Unavailable


class Library(NamedTuple):
    """A library's names in Python and in pip."""

    module: str
    distribution: str
    title: str
    install: str


ORTOOLS = Library("ortools", "ortools", "OR-Tools", "ortools")
PULP = Library("pulp", "pulp", "PuLP", "'pulp>=3.3,<4'")
HIGHS = Library("highspy", "highspy", "HiGHS", "'memplan[highs]'")
OMNIMALLOC = Library("omnimalloc", "omnimalloc", "omnimalloc", "'memplan[peers]'")
VELA = Library("ethosu", "ethos-u-vela", "ethos-u-vela", "'memplan[peers]'")


def missing(libraries: Iterable[Library]) -> str | None:
    """How to install the first missing library; None if all are there. Imports none of them."""
    for library in libraries:
        if find_spec(library.module) is None:
            return f"{library.title} is not installed: pip install {library.install}"
    return None


class Runnable(Protocol):
    """The facts needed before a solver starts: where it runs, and whether it can."""

    sandboxed: ClassVar[bool] = False
    """True if it must run in a child process of its own."""
    libraries: ClassVar[tuple[Library, ...]] = ()
    """The libraries that it needs."""

    def unavailable(self) -> str | None:
        """Why this solver cannot run here, or None. Cheap: imports no solver library."""
        return missing(self.libraries)


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    def unavailable(self) -> str | None: ...


def require_available(solver: _Named) -> None:
    """Raises Unavailable if the solver cannot run here."""
    reason = solver.unavailable()
    if reason is not None:
        raise Unavailable(solver.name, reason)
