"""The two MILP solvers as the registry knows them."""

from __future__ import annotations

import importlib.util
import os
from typing import ClassVar

from ..model.errors import Unavailable
from ..model.instance import Instance
from ..model.outcome import Outcome
from ..model.solver import Control, Feature, Input, Task, Warm
from .cbc import VARIABLE, CbcBackend, find_cbc
from .highs import HighsBackend
from .stages import Stages

FEATURES = frozenset(Feature)
"""All: pool choice, terms, penalties, reserved ranges and pair rules are rows and binaries of one program."""


class Cbc:
    """The integer program, by the CBC process: for small problems, and for those who want a second opinion."""

    name: ClassVar[str] = "cbc"
    features: ClassVar[frozenset[Feature]] = FEATURES
    wants: ClassVar[Input] = Input.PRESOLVED
    sandboxed: ClassVar[bool] = True
    default_warm: ClassVar[Warm] = Warm.BOUND
    """The arm that won: docs/experiments.md, "MILP"."""

    def unavailable(self) -> str | None:
        """Needs PuLP, which writes the model, and a cbc program."""
        if importlib.util.find_spec("pulp") is None:
            return "PuLP is not installed: pip install 'pulp>=3.3,<4'"
        if find_cbc() is None:
            if VARIABLE in os.environ:
                return f"{VARIABLE} does not name a program"
            return "no cbc program was found on the PATH or in PuLP"
        return None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        reason = self.unavailable()
        if reason is not None:
            raise Unavailable(self.name, reason)
        return Stages(CbcBackend(), instance, task, control, task.warm or self.default_warm).run()


class Highs:
    """The integer program, by HiGHS, if its package is installed."""

    name: ClassVar[str] = "highs"
    features: ClassVar[frozenset[Feature]] = FEATURES
    wants: ClassVar[Input] = Input.PRESOLVED
    sandboxed: ClassVar[bool] = True
    default_warm: ClassVar[Warm] = Warm.BOUND
    """The arm that won: docs/experiments.md, "MILP"."""

    def unavailable(self) -> str | None:
        """Needs PuLP and highspy, neither of which is imported to find out."""
        if importlib.util.find_spec("pulp") is None:
            return "PuLP is not installed: pip install 'pulp>=3.3,<4'"
        if importlib.util.find_spec("highspy") is None:
            return "HiGHS is not installed: pip install memplan[highs]"
        return None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """See Solver."""
        reason = self.unavailable()
        if reason is not None:
            raise Unavailable(self.name, reason)
        return Stages(HighsBackend(), instance, task, control, task.warm or self.default_warm).run()
