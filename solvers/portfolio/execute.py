"""Runs solvers: checks every answer, and keeps account of who took part, refused or broke."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from ..geometry.rules import violation
from ..model.errors import SolverFailed, StopReason, Unavailable, Unsupported
from ..model.instance import Instance
from ..model.libraries import require_available
from ..model.needs import is_joint, needs, refusal
from ..model.objective import evaluate
from ..model.outcome import Outcome, line_of_log
from ..model.registry import get
from ..model.solver import Control, Solver, Task

FULL = 4
"""Parts of a full share. An engine that finds nothing while others do gets half of them, then a quarter."""
MOST_HALVINGS = 2


class FeatureMissing(Unsupported):
    """The instance needs a feature that the solver does not list."""


def willing(name: str, instance: Instance) -> Solver:
    """The solver, if it is installed and has the features that the instance needs. Raises UnknownSolver, Unavailable and FeatureMissing."""
    solver = get(name)
    require_available(solver)
    missing = needs(instance, is_joint(instance)) - solver.features
    if missing:
        raise FeatureMissing(name, refusal(missing))
    return solver


def execute(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The solver's outcome, its placement checked and its value recomputed.

    Raises UnknownSolver, Unavailable and Unsupported; a solver that breaks or lies is SolverFailed.
    """
    solver = willing(name, instance)
    if solver.sandboxed:
        from ..sandbox import run

        outcome = run(name, instance, task, control)
    else:
        outcome = solver.solve(instance, task, control)
    outcome = replace(checked(name, instance, outcome), took_part=(name,))
    if task.verbose:
        told = (outcome.work, outcome.value, outcome.bound, outcome.stop)
        control.log(line_of_log(name, instance.blocks, *told, infeasible=outcome.infeasible))
    return outcome


def checked(name: str, instance: Instance, outcome: Outcome) -> Outcome:
    """The outcome with its placement verified and its value recomputed."""
    if outcome.placement is None:
        return outcome if outcome.value is None else replace(outcome, value=None)
    broken = violation(instance, outcome.placement)
    if broken is not None:
        raise SolverFailed(name, f"it returned a placement that breaks a rule: {broken}")
    value = evaluate(instance, outcome.placement)
    if outcome.infeasible or outcome.bound > value:
        raise SolverFailed(name, "it claims to have proven that the placement it returned is impossible")
    return replace(outcome, value=value)


def failed(error: SolverFailed) -> Outcome:
    """The outcome of a run that broke."""
    return Outcome(stop=StopReason.SOLVER_FAILED, reproducible=False, notes=(str(error),))


Declined = Unsupported | Unavailable
Answer = Outcome | Declined | None


def ask(name: str, instance: Instance, task: Task, control: Control) -> Answer:
    """The solver's outcome, even if it broke; or its refusal; or None if its features already say that it does not take the instance."""
    try:
        return execute(name, instance, task, control)
    except FeatureMissing:
        return None
    except (Unsupported, Unavailable) as refusal:
        return refusal
    except SolverFailed as error:
        return failed(error)


class Engines:
    """The solvers of one run: which still work, which took part, and their notes."""

    def __init__(self, names: Iterable[str], by_name: bool) -> None:
        self.active = list(names)
        self.work = 0
        self.broken: StopReason | None = None
        """Why an engine ended without doing its part; of several, the last one."""
        self._is_repeatable = True
        """True as long as every answer would be the same in another run."""
        self._by_name = by_name
        self._took_part: dict[str, None] = {}
        self._notes: dict[str, None] = {}

    @property
    def stop(self) -> StopReason:
        """Why the run ended if nothing else ended it."""
        return self.broken or StopReason.WORK_LIMIT

    def heard(self, name: str, answer: Answer) -> None:
        """Record an answer. An engine that refused or broke works no more; if it was asked for by name, its refusal is raised."""
        if answer is None:
            return
        if not isinstance(answer, Outcome):
            if name in self.active:
                if self._by_name:
                    raise answer
                self.retire(name)
                self._notes[str(answer)] = None
            return
        self.count(answer, name)
        self._notes.update(dict.fromkeys(answer.notes))
        if answer.stop in (StopReason.MEMORY_LIMIT, StopReason.SOLVER_FAILED):
            self.broken = answer.stop
            self.retire(name)
        elif answer.stop is StopReason.TIME_LIMIT:  # perhaps a little before the run's own clock says so
            self.broken = answer.stop
        elif answer.stop is not StopReason.CANCELLED:  # by what another engine did, if not with the run
            self._is_repeatable &= answer.reproducible

    def retire(self, name: str) -> None:
        """The engine has done all it can."""
        if name in self.active:
            self.active.remove(name)

    def count(self, outcome: Outcome, *names: str) -> None:
        """Record that these engines took part and did this work."""
        self.work += outcome.work
        self._took_part.update(dict.fromkeys(names))

    def sign(self, outcome: Outcome) -> Outcome:
        """The run's outcome, with the engines that took part and their notes."""
        is_repeatable = outcome.stop.is_repeatable and self.broken is None and self._is_repeatable
        return replace(
            outcome,
            work=self.work,
            took_part=tuple(self._took_part),
            reproducible=outcome.reproducible and is_repeatable,
            notes=tuple(self._notes),
        )


class Earnings:
    """What each engine of a run has earned: its share of a round depends on what it found and on the work it took before."""

    def __init__(self, most_doublings: int = 0) -> None:
        """An engine's share doubles, at most so often, each time it finds something."""
        self._most_doublings = most_doublings
        self._level: dict[str, int] = {}
        self._owed: dict[str, int] = {}

    def parts(self, name: str) -> int:
        """How many parts it gets in the next round; FULL are a full share."""
        level = self._level.get(name, 0)
        return FULL << level if level >= 0 else FULL >> -level

    def grant(self, name: str, work: int) -> int:
        """Its share, less what it overspent before."""
        owed = self._owed.get(name, 0)
        self._owed[name] = max(owed - work, 0)
        return max(work - owed, 0)

    def took(self, name: str, granted: int, work: int) -> None:
        """Record what the engine was granted, and what it took."""
        if work > granted:
            self._owed[name] = self._owed.get(name, 0) + work - granted

    def end_round(self, engines: Iterable[str], found: Container[str]) -> None:
        """Adjust the shares: `engines` were asked, and `found` are those that found or proved something. If none did, nothing changes."""
        engines = list(engines)
        if any(name in found for name in engines):
            for name in engines:
                level = self._level.get(name, 0)
                self._level[name] = (
                    min(max(level, 0) + 1, self._most_doublings) if name in found else max(level - 1, -MOST_HALVINGS)
                )
