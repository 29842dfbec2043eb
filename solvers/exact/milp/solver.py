"""The two MILP solvers, as the registry lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ...model.instance import Instance
from ...model.libraries import HIGHS, PULP, Library, missing, require_available
from ...model.outcome import Outcome
from ...model.solver import Control, Feature, Solver, Task, Warm
from .answer import Backend
from .cbc import CbcBackend, no_cbc
from .highs import HighsBackend
from .stages import Stages


class _IntegerProgram(Solver):
    """The integer program, run by any backend."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature) - {Feature.MOVES}
    """All but moves: pool choice, terms, penalties, reserved ranges and pair rules are rows and binaries of one program."""
    sandboxed: ClassVar[bool] = True
    default_warm: ClassVar[Warm] = Warm.BOUND
    """The best setting measured: docs/experiments/exact.md, "MILP"."""
    backend: ClassVar[Callable[[], Backend]]

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        require_available(self)
        return Stages(type(self).backend(), instance, task, control, task.warm or self.default_warm).run()


class Cbc(_IntegerProgram):
    """Runs the CBC process: for small problems, and for a second opinion."""

    name: ClassVar[str] = "cbc"
    libraries: ClassVar[tuple[Library, ...]] = (PULP,)
    backend = CbcBackend

    def unavailable(self) -> str | None:
        """Needs PuLP to write the model and a cbc program to solve it."""
        return missing(self.libraries) or no_cbc()


class Highs(_IntegerProgram):
    """Runs HiGHS, if its package is installed."""

    name: ClassVar[str] = "highs"
    libraries: ClassVar[tuple[Library, ...]] = (PULP, HIGHS)
    backend = HighsBackend
