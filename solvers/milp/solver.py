"""The two MILP solvers as the registry knows them."""

from __future__ import annotations

from typing import ClassVar

from ..model.errors import Unavailable
from ..model.instance import Instance
from ..model.libraries import HIGHS, PULP, Library, missing
from ..model.outcome import Outcome
from ..model.solver import Control, Feature, Solver, Task, Warm
from .cbc import CbcBackend, no_cbc
from .highs import HighsBackend
from .stages import Stages

FEATURES = frozenset(Feature)
"""All: pool choice, terms, penalties, reserved ranges and pair rules are rows and binaries of one program."""


class Cbc(Solver):
    """The integer program, by the CBC process: for small problems, and for those who want a second opinion."""

    name: ClassVar[str] = "cbc"
    features: ClassVar[frozenset[Feature]] = FEATURES
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (PULP,)
    default_warm: ClassVar[Warm] = Warm.BOUND
    """The arm that won: docs/experiments.md, "MILP"."""

    def unavailable(self) -> str | None:
        """PuLP writes the model, and a cbc program solves it."""
        return missing(self.libraries) or no_cbc()

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        reason = self.unavailable()
        if reason is not None:
            raise Unavailable(self.name, reason)
        return Stages(CbcBackend(), instance, task, control, task.warm or self.default_warm).run()


class Highs(Solver):
    """The integer program, by HiGHS, if its package is installed."""

    name: ClassVar[str] = "highs"
    features: ClassVar[frozenset[Feature]] = FEATURES
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (PULP, HIGHS)
    default_warm: ClassVar[Warm] = Warm.BOUND
    """The arm that won: docs/experiments.md, "MILP"."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        reason = self.unavailable()
        if reason is not None:
            raise Unavailable(self.name, reason)
        return Stages(HighsBackend(), instance, task, control, task.warm or self.default_warm).run()
