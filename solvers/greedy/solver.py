"""Many cheap placements, the best one kept, until the bound is met or every order has been tried."""

from __future__ import annotations

from typing import ClassVar

from ..model.instance import Instance
from ..model.outcome import Outcome
from ..model.solver import Control, Feature, Solver, Task
from .one_pool import is_one_pool, solve_one_pool


class Greedy(Solver):
    """About ten orders, lowest fit and best fit."""

    name: ClassVar[str] = "greedy"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        if is_one_pool(instance):
            return solve_one_pool(self.name, instance, task, control)
        from .many_pools import solve_many_pools  # most problems do without

        return solve_many_pools(self.name, instance, task, control)
