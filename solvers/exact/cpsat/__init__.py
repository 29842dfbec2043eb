"""CP-SAT, the constraint solver of OR-Tools: places blocks, chooses pools, and refutes heights.

Importing this package imports no heavy library, nor numpy, which questions about choices do without. Solving does, so it runs in a child process (see
solvers.sandbox).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ...model.errors import StopReason, Unsupported
from ...model.libraries import ORTOOLS, Library
from ...model.outcome import Outcome
from ...model.solver import ONE_PEAK, Control, Feature, Solver, Task, Warm
from .. import EXPORT

if TYPE_CHECKING:
    from ...model.instance import Instance
    from .descent import Models
    from .engine import Budget
    from .single_peak import SinglePeak

WORKERS = 1
"""Constant, so that every machine gives the same answer. One worker was faster than eight that take turns deterministically."""


class CpSat(Solver):
    """Decides whether a height is enough, from the bound upwards. With several pools or terms, minimises them as variables."""

    name: ClassVar[str] = "cpsat"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (ORTOOLS,)
    warm: ClassVar[Warm] = Warm.BOUND
    """The default use of the best known placement; docs/experiments/exact.md has the figures."""

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """The best placement within the limits."""
        from ...model.instance import ADDRESS_LIMIT
        from .engine import RATE_OF_SEVERAL_TERMS, Budget, Relaxations
        from .lexicographic import Lexicographic

        if not instance.blocks:
            return _nothing_to_place(instance)
        if sum(instance.block_high.tolist()) >= ADDRESS_LIMIT:
            raise Unsupported(self.name, "too large for this solver: its sizes add up to more than 2^62")
        warm = self.warm if task.warm is None else task.warm
        budget = Budget(task.limits.work, task.limits.deadline, task.seed, WORKERS, task.verbose)
        single = self._single_peak(instance)
        if single is None:
            several = replace(budget, rate=RATE_OF_SEVERAL_TERMS)
            if instance.weighs_reuse:
                several = replace(several, relaxations=Relaxations.ALL)
            return Lexicographic(instance, task, control, warm, several).run()
        from .descent import Descent  # not needed for several terms

        models, budget = self._models(budget)
        return Descent(instance, single, task, control, warm, budget, models).minimise()

    def _models(self, budget: Budget) -> tuple[Models, Budget]:
        """The models that are asked about one peak, and the budget as it counts for them."""
        from .descent import Models
        from .program.model import build

        return Models(build), budget

    def _single_peak(self, instance: Instance) -> SinglePeak | None:
        from .single_peak import single_peak_of

        return single_peak_of(instance)


class CpSatPeak(CpSat):
    """Minimises every peak as a variable: slower, but bound and placement improve together."""

    name: ClassVar[str] = "cpsat_peak"

    def _single_peak(self, instance: Instance) -> SinglePeak | None:
        return None


class CpSatOrder(CpSat):
    """Decides which block lies below which, with sums of the sizes below and above: for few blocks that fill nearly all room at busy times.

    Without presolve: simplifying the model takes longer than most answers.
    """

    name: ClassVar[str] = "cpsat_order"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK

    def _single_peak(self, instance: Instance) -> SinglePeak | None:
        import numpy as np

        from ...model.needs import is_joint

        single = super()._single_peak(instance)
        if single is None and (is_joint(instance) or np.count_nonzero(instance.allowed.any(axis=0)) > 1):
            raise Unsupported(self.name, "it takes one pool and its peak alone")
        return single

    def _models(self, budget: Budget) -> tuple[Models, Budget]:
        from .descent import Models
        from .engine import RATE_OF_ORDER, Relaxations
        from .program.order import build, build_least

        return Models(build, build_least), replace(
            budget, rate=RATE_OF_ORDER, relaxations=Relaxations.NONE, presolve=False
        )


def preload() -> None:
    """Imports the library. Called once in the process from which the sandbox forks."""
    from . import engine

    engine.preload()


def preload_solvers() -> None:
    """Imports what every solve needs. Called there before the first child that solves."""
    from . import descent, lexicographic  # noqa: F401


def export(instance: Instance, blocks: Sequence[str], pools: Sequence[str]) -> str:
    """The model as text (CpModelProto in protobuf's text format), with readable names. It minimises the objective's first term.

    A block's offset is `lowest + modulus * k`; `k[block, pool]` is that step. Later terms of a lexicographic objective are left out.
    """
    from .program.cover import cover
    from .program.model import build
    from .program.objective import Costs

    covered = cover(instance)
    model = build(instance, covered)
    if model.is_impossible:
        raise Unsupported(EXPORT, "a block has no place at all, as sizes and capacities alone show")
    for what, variables in (("k", model.steps), ("in", model.chosen)):
        for (block, pool), variable in variables.items():
            model.cp.proto.variables[variable.index].name = f"{what}[{blocks[block]}, {pools[pool]}]"
    costs = Costs(model, covered)
    if instance.terms:
        model.cp.minimize(costs.term(instance.terms[0]))
    model.cp.name = "memplan"
    return str(model.cp.proto)


def _nothing_to_place(instance: Instance) -> Outcome:
    from ...model.instance import Placement

    nothing = (0,) * len(instance.terms)
    return Outcome(StopReason.PROVED, Placement.in_one_pool([]), nothing, nothing)
