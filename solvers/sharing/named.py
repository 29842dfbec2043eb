"""The planners of ExecuTorch and of Relay for storage objects: their own rules, with object numbers as answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..model.errors import StopReason, Unsupported
from ..model.instance import Instance
from ..model.needs import needs, refusal
from ..model.solver import Feature, Task
from ..others.named.exir import ExirGreedy, greedy_objects
from ..others.named.heuristic import Interrupted, Run
from ..others.named.relay import RelayTokens, tokens_of
from ..others.named.rigid import Rigid, rigid
from ..others.named.shared_objects import Grid, SharedObject, homes
from .adapters import AsControl
from .arrangement import Arrangement, totals
from .solver import SharingControl, SharingOutcome, SharingSolver, SharingTask


class Named(SharingSolver, ABC):
    """A planner of another system, pool by pool."""

    name: ClassVar[str]
    features: ClassVar[frozenset[Feature]]

    @abstractmethod
    def objects(self, blocks: Rigid, pool: int, members: list[int], run: Run) -> list[SharedObject]:
        """The objects of one pool."""

    def share(self, instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
        missing = needs(instance, joint=False) - self.features
        if missing:
            raise Unsupported(self.name, refusal(missing))
        run = Run(AsControl(instance, control), Task(limits=task.limits))
        storage = np.zeros(instance.blocks, dtype=np.int64)
        blocks, number = rigid(instance), 0
        try:
            for pool, members in homes(instance).items():
                for thing in self.objects(blocks, pool, members, run):
                    storage[[block for block, _ in thing.members]] = number
                    number += 1
        except Interrupted:
            stop = control.stopped() or StopReason.TIME_LIMIT
            return SharingOutcome(stop, bounds=task.bounds, work=run.work, reproducible=False, took_part=(self.name,))
        arrangement = Arrangement(storage)
        control.incumbent(arrangement)
        is_proven = totals(instance, arrangement) == task.bounds
        return SharingOutcome(
            stop=StopReason.PROVED if is_proven else StopReason.WORK_LIMIT,
            arrangement=arrangement,
            bounds=task.bounds,
            solver=self.name,
            work=run.work,
            took_part=(self.name,),
        )


class ExirObjects(Named):
    """The largest first, each into the first object with no user that is live together with it."""

    name: ClassVar[str] = "exir_greedy"
    features: ClassVar[frozenset[Feature]] = ExirGreedy.features

    def objects(self, blocks: Rigid, pool: int, members: list[int], run: Run) -> list[SharedObject]:
        grid = Grid(blocks, pool, members, self.name)
        return greedy_objects(blocks, pool, members, grid, run, inside=False)


class RelayObjects(Named):
    """Tokens that serve one buffer at a time: of about the right size, and growing."""

    name: ClassVar[str] = "relay_tokens"
    features: ClassVar[frozenset[Feature]] = RelayTokens.features

    def objects(self, blocks: Rigid, pool: int, members: list[int], run: Run) -> list[SharedObject]:
        return tokens_of(blocks, members, Grid(blocks, pool, members, self.name), run)
