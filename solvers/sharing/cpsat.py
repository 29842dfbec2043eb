"""The exact solver of storage objects: CP-SAT, pool by pool, asked for a better arrangement until there is none.

Importing this module imports no heavy library. Solving does, so it runs in a child process (see solvers.sandbox).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..exact.cpsat.engine import WORK_PER_BLOCK, Budget, ReadValue, solve
from ..exact.cpsat.object_leaders import LeadersModel, leaders_model, leaders_terms
from ..exact.cpsat.object_sizes import SizesModel, Stretch, sizes_model, sizes_terms
from ..model.errors import StopReason, Unsupported
from ..model.instance import Instance
from ..model.libraries import ORTOOLS, Library
from .adapters import AsControl, AsSolver, run_sandboxed
from .arrangement import Best
from .bounds import by_size, ranked
from .cliques import conflict_cliques, has_exclusions, live_sets
from .interference import Interference
from .solver import SharingControl, SharingOutcome, SharingSolver, SharingTask

MOST_TERMS = 6_000_000
"""Most terms of a model: with more, building it takes longer than most users would wait."""
WORKERS = 1
"""Constant, so that every machine gives the same answer."""
STRATEGY = "max_lp"
"""The linear relaxation of counting objects by size is nearly exact, so the strategy that uses it most proves most."""
SHARE_OF_NARROW = 2
"""Half of the work is for the narrow question, which finds more than it proves."""
WORK_WITHOUT_LIMIT = 20_000_000
"""Work of a question that is not the last one, if there is no limit."""
WORK_PER_DETERMINISTIC_SECOND = 2_500_000
"""With that strategy, one of CP-SAT's seconds takes 1 to 5 of a core."""


class CpSatSharing(SharingSolver):
    """Minimises the sum of the objects' sizes, given the best known total and the bound."""

    name: ClassVar[str] = "cpsat"
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (ORTOOLS,)

    def share(self, instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
        return _Run(instance, task, control).run()


class InChild(AsSolver):
    """The solver as the sandbox runs it."""

    def __init__(self) -> None:
        super().__init__(CpSatSharing())


def in_a_process_of_its_own(instance: Instance, task: SharingTask, control: SharingControl) -> SharingOutcome:
    """The solver's outcome, from a child process. Raises Unavailable and Unsupported."""
    return run_sandboxed("solvers.sharing.cpsat:InChild", CpSatSharing.name, instance, task, control)


def preload() -> None:
    """Imports what every solve needs. Called once in the process from which the sandbox forks."""
    from ..exact.cpsat import engine

    engine.preload()


@dataclass(frozen=True, slots=True)
class _Question:
    """One pool: its blocks by size, the largest first, in units of their common divisor, and the known bounds."""

    pool: int
    order: list[int]
    unit: int
    size: list[int]
    least: list[int]
    cliques: list[list[int]]
    spans: list[Stretch] | None
    """When each block is needed, if each has one stretch of time and no other rule restricts sharing."""


class _Run:
    """The state of one run: bounds and best objects of each pool, and the remaining work."""

    def __init__(self, instance: Instance, task: SharingTask, control: SharingControl) -> None:
        self._instance, self._task, self._control = instance, task, control
        self._best = Best(instance, task.start)
        self._interference = Interference(instance)
        self._bounds = list(task.bounds or (0,) * len(instance.pools))
        self._work = 0
        self._solver: str | None = None

    def run(self) -> SharingOutcome:
        left = [pool for pool, bound in enumerate(self._bounds) if self._best.total(pool) != bound]
        stop = StopReason.PROVED
        refusals: list[Unsupported] = []
        for number, pool in enumerate(left):
            try:
                stopped = self._solve(pool, len(left) - number)
            except Unsupported as refusal:
                refusals.append(refusal)
                stopped = StopReason.WORK_LIMIT
            stop = stopped or stop
            if not stop.is_repeatable:
                break
        if refusals and len(refusals) == len(left):
            raise refusals[0]
        return SharingOutcome(
            stop=stop,
            arrangement=self._best.arrangement(),
            bounds=tuple(self._bounds),
            solver=self._solver,
            work=self._work,
            reproducible=stop.is_repeatable,
            notes=tuple(str(refusal) for refusal in refusals),
        )

    def _solve(self, pool: int, pools_left: int) -> StopReason | None:
        """Solves one pool. Returns why it was left open; None if it is settled. Raises Unsupported if it is too large."""
        question = self._question(pool)
        if question.spans is not None:
            stopped = self._ask(question, pools_left * SHARE_OF_NARROW, narrow=True)
            if stopped is not None and not stopped.is_repeatable:
                return stopped
        if self._best.total(pool) == self._bounds[pool]:
            return None
        return self._ask(question, pools_left)

    def _question(self, pool: int) -> _Question:
        instance = self._instance
        order = by_size(instance, pool)
        bytes_of = instance.block_high[order]
        unit = int(np.gcd.reduce(bytes_of))
        cliques = list(conflict_cliques(instance, order))
        listed = sum(map(len, cliques))
        only_times = not has_exclusions(instance, order)
        only_stretches = (
            only_times and not cliques and all(self._interference.is_one_stretch(block) for block in order.tolist())
        )
        for _, members in live_sets(instance, order) if only_times else ():
            cliques.append(members.tolist())
            listed += len(members)
            _require_room(listed)
        unmet = set(range(len(order))).difference(*cliques)
        cliques += [[member] for member in sorted(unmet)]
        spans = [(self._interference.first(block), self._interference.length(block)) for block in order.tolist()]
        sizes = self._task.least[pool] if self._task.least else ranked(instance, pool).sizes
        size: list[int] = (bytes_of // unit).tolist()
        least = [each // unit for each in sizes]
        _require_room(sizes_terms(size, cliques) if only_stretches else leaders_terms(len(size), cliques))
        return _Question(pool, order.tolist(), unit, size, least, cliques, spans if only_stretches else None)

    def _ask(self, question: _Question, shares: int, *, narrow: bool = False) -> StopReason | None:
        """Asks for a better arrangement than the known one, with one of `shares` equal shares of the remaining work.

        Returns why it ended early, or None.
        """
        best = self._best.total(question.pool)
        below = sum(question.size) + 1 if best is None else best // question.unit
        model: SizesModel | LeadersModel
        if question.spans is None:
            model = leaders_model(question.size, question.cliques, question.least, below)
        else:
            model = sizes_model(question.size, question.cliques, question.least, below, question.spans, narrow=narrow)
        self._work += WORK_PER_BLOCK * len(question.size)

        def on_solution(value: ReadValue) -> None:
            objects = [[question.order[member] for member in members] for members in model.objects(value)]
            if self._best.note(question.pool, objects):
                self._solver = CpSatSharing.name
                arrangement = self._best.arrangement()
                if arrangement is not None:
                    self._control.incumbent(arrangement)

        def on_bound(bound: int) -> None:
            if not narrow and bound * question.unit > self._bounds[question.pool]:
                self._bounds[question.pool] = bound * question.unit
                self._control.bound(sum(self._bounds))

        reply = solve(model.cp, self._budget(shares), AsControl(self._instance, self._control), on_solution, on_bound)
        self._work += reply.work
        if reply.stopped is None and (settled := self._best.total(question.pool)) is not None:
            on_bound(settled // question.unit)
        elif reply.bound is not None:
            on_bound(min(reply.bound, below))
        return reply.stopped

    def _budget(self, shares: int) -> Budget:
        limits = self._task.limits
        work = None if shares == 1 else WORK_WITHOUT_LIMIT
        return Budget(
            work=work if limits.work is None else max(limits.work - self._work, 0) // shares,
            deadline=limits.deadline,
            seed=self._task.seed,
            workers=WORKERS,
            verbose=self._task.verbose,
            rate=WORK_PER_DETERMINISTIC_SECOND,
            strategy=STRATEGY,
        )


def _require_room(terms: int) -> None:
    if terms > MOST_TERMS:
        text = (
            f"too large for this solver: its model would have {terms:,} terms, and it takes no more than {MOST_TERMS:,}"
        )
        raise Unsupported(CpSatSharing.name, text)
