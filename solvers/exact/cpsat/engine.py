"""The only module that imports CP-SAT: a model goes in, an answer comes out, within a budget of counted work."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from ...model.errors import StopReason, Unavailable, Unsupported

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel

    from ...model.solver import Control

NAME = "cpsat"
WORK_PER_DETERMINISTIC_SECOND = 15_000_000
"""Units of work per deterministic second of CP-SAT. One such second takes 10 to 25 seconds of a core here, so a unit is about a microsecond."""
RATE_OF_SEVERAL_TERMS = 8_000_000
"""The same for models with choices and costs, of whose work CP-SAT counts more."""
RATE_OF_ORDER = 2_000_000
"""The same for models of which block lies below which, without linear relaxations and presolve: 1.5 to 2.6 seconds of a core."""
EARLY = 0.1
"""So many deterministic seconds are charged at `Budget.rate` before `Budget.later_rate` holds."""
WORK_PER_BLOCK = 200
"""Work of building and simplifying a model, which CP-SAT hardly counts: 0.2 to 0.4 ms per block and call."""
PAIRS_COUNTED = 20_000
"""CP-SAT hardly counts its work on pairs of rectangles that are live together. Up to this many pairs, that does not matter."""
WORK_PER_PAIR = 50
"""Work for each further pair: 15 to 70 µs before the search begins."""
WORK_PER_CONFLICT = 10
"""Work for each explicit conflict: finding cliques takes 5 to 15 µs."""
POLL_SECONDS = 0.05
MARGIN_SECONDS = 0.02
"""CP-SAT stops a little late, so its limit is this much before the deadline."""
EXACT_DOUBLE = 1 << 53
ROUNDINGS = 4
"""By how many units in the last place CP-SAT's bounds are off, at most. Two were seen."""
LARGEST_TRUSTED = 1 << 30
"""Where a variable may be greater, what OR-Tools 9.15 simplifies can become wrong (docs/experiments/exact.md): such models are solved as they are."""


class Answer(StrEnum):
    """CP-SAT's answer for a model."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class Relaxations(IntEnum):
    """CP-SAT's levels of linear relaxation."""

    NONE = 0
    ALL = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits and settings of one call."""

    work: int | None
    deadline: float | None
    seed: int = 0
    workers: int = 1
    verbose: bool = False
    rate: int = WORK_PER_DETERMINISTIC_SECOND
    later_rate: int | None = None
    """The rate after the first `EARLY` deterministic seconds, in which CP-SAT does much that it does not count; None: the same."""
    relaxations: Relaxations | None = None
    """The level of linear relaxations; None: CP-SAT's default."""
    presolve: bool = True
    """The model is simplified, before and during the search."""
    rounding_cuts: bool = True
    """Cuts are made by rounding sums of rows. CP-SAT does not count that work."""
    tableau_cuts: bool = True
    """Cuts are made from rows of the simplex tableau."""
    is_soon_simplified: bool = False
    """The model is simplified once, and with little probing, instead of again and again."""
    strategy: str | None = None
    """The CP-SAT strategy to use; None: its first."""

    def seconds(self, work: int) -> float:
        """The deterministic seconds that this work stands for."""
        early = min(work / self.rate, EARLY)
        return early + (work - early * self.rate) / (self.later_rate or self.rate)

    def work_of(self, seconds: float) -> int:
        """The work that so many deterministic seconds stand for."""
        early = min(seconds, EARLY)
        return round(early * self.rate + (seconds - early) * (self.later_rate or self.rate))


@dataclass(frozen=True, slots=True)
class Crowd:
    """Corrections for work that CP-SAT does not count, by the number of pairs of rectangles that are live together."""

    pairs: int
    slowness: int = 1
    """How many times as long everything takes, since pairs conflict that are not live together."""

    @property
    def work(self) -> int:
        """The uncounted work of each call before its search begins."""
        return WORK_PER_PAIR * max(self.pairs - PAIRS_COUNTED, 0)

    def rate(self, usual: int) -> int:
        """The work that one deterministic second stands for: more with more pairs to propagate."""
        return self.slowness * usual * max(self.pairs, PAIRS_COUNTED) // PAIRS_COUNTED


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of one call."""

    answer: Answer
    bound: int | None
    """No solution has a smaller objective."""
    work: int
    stopped: StopReason | None
    """Why it ended early: a limit on work, or a reason that depends on the clock; None if it was done."""
    values: Sequence[int] = ()
    """The values of the variables in the best solution, if there is one."""


class Written(Protocol):
    """A model as CP-SAT reads it, however it was made."""

    proto: Any

    def validate(self) -> str:
        """What is wrong with it; empty: nothing."""

    def has_objective(self) -> bool: ...


ReadValue = Callable[[Any], int]
"""The value of a variable in a solution."""


def load() -> Any:
    """The library's module."""
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise Unavailable(NAME, "OR-Tools is not installed: pip install ortools") from error
    if "numpy" in sys.modules:  # it may have been imported since `preload`
        vars(cp_model)["np"] = sys.modules["numpy"]
    return cp_model


def preload() -> None:
    """Imports the library without numpy and pandas, for a process in which only this module uses it.

    They take most of the time. OR-Tools asks numpy only whether what it is given is of its types, and pandas is for models in columns, of which there
    are none here.
    """
    absent = [name for name in ("numpy", "pandas") if name not in sys.modules]
    sys.modules.update({name: _Absent(name) for name in absent})
    try:
        load()
    finally:
        for name in absent:
            del sys.modules[name]


class _Absent(ModuleType):
    """Stands for a module where only its types are named."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = type(name, (), {})
        setattr(self, name, kind)
        return kind


def new_model() -> CpModel:
    """An empty model."""
    model: CpModel = load().CpModel()
    return model


def domain(ranges: tuple[tuple[int, int], ...]) -> Any:
    """The integers in any of these inclusive ranges."""
    return load().Domain.from_intervals([list(r) for r in ranges])


def weighted_sum(variables: Sequence[Any], weights: Sequence[int]) -> Any:
    """The sum of the variables times their weights."""
    return load().LinearExpr.weighted_sum(variables, weights)


def solve(
    model: CpModel | Written,
    budget: Budget,
    control: Control,
    on_solution: Callable[[ReadValue], None] | None = None,
    on_bound: Callable[[int], None] | None = None,
    enough: int | None = None,
) -> Reply:
    """Searches until done, or until the budget ends or the caller stops it. Passes solutions on as they are found.

    Also ends once it is proven that no solution is below `enough`.
    """
    cp_model = load()
    if model.validate():
        raise Unsupported(NAME, "too large for this solver")
    solver = cp_model.CpSolver()
    configure(solver.parameters, budget)
    if budget.presolve and _has_large_variables(model):
        # Without presolve OR-Tools 9.15 is wrong about rectangles that may be absent, whatever their size; with no more than
        # its translation it is still wrong about some sums.
        if _has_rectangles(model):
            solver.parameters.max_presolve_iterations = 0
        else:
            solver.parameters.cp_model_presolve = False

    class Hand(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, name-defined]
        def on_solution_callback(self) -> None:
            assert on_solution is not None
            on_solution(self.value)

    reach = _reach(model.proto) if model.has_objective() else 0

    def hear(value: float) -> None:
        bound = whole(value, reach)
        if bound is not None and on_bound is not None:
            on_bound(bound)
        if bound is not None and enough is not None and bound >= enough:
            solver.stop_search()

    if on_bound is not None or enough is not None:
        solver.best_bound_callback = hear
    status, reason = _search(solver, model, Hand if on_solution is not None else None, control)
    answer = _answer(status)
    if answer is None:
        raise Unsupported(NAME, "too large for this solver")
    values = list(solver.response_proto.solution)
    bound = None
    if model.has_objective() and answer is not Answer.INFEASIBLE:
        bound = _bound(solver, model.proto.objective, reach)
        if answer is Answer.OPTIMAL and reach >= EXACT_DOUBLE and bound != _value(model.proto.objective, values):
            answer = Answer.FEASIBLE  # CP-SAT compares in floating point
    is_done = answer in (Answer.OPTIMAL, Answer.INFEASIBLE)
    return Reply(
        answer=answer,
        bound=bound,
        work=budget.work_of(solver.response_proto.deterministic_time),
        stopped=None if is_done else reason or _limit_reached(budget),
        values=values,
    )


def _has_large_variables(model: CpModel | Written) -> bool:
    ranges = (variable.domain for variable in model.proto.variables)  # of which [-1] is not the last
    return any(ends[len(ends) - 1] > LARGEST_TRUSTED or ends[0] < -LARGEST_TRUSTED for ends in ranges)


def _has_rectangles(model: CpModel | Written) -> bool:
    return any(each.has_no_overlap_2d() for each in model.proto.constraints)


def _search(
    solver: Any, model: CpModel | Written, new_callback: Callable[[], Any] | None, control: Control
) -> tuple[Any, StopReason | None]:
    """Searches until done or stopped: (CP-SAT's status, why the caller stopped it or None)."""
    ended = threading.Event()
    reasons: list[StopReason] = []

    def watch() -> None:
        while not ended.wait(POLL_SECONDS):
            reason = control.stopped()
            if reason is not None:
                reasons.append(reason)
                solver.stop_search()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        status = solver.solve(model, new_callback and new_callback())
    except IndexError:
        # OR-Tools 9.15 fails on some small models while it looks for symmetries; without that it solves them.
        solver.parameters.symmetry_level = 0
        status = solver.solve(model, new_callback and new_callback())
    finally:
        ended.set()
        watcher.join()
    return status, reasons[0] if reasons else None


def _limit_reached(budget: Budget) -> StopReason:
    is_late = budget.deadline is not None and time.monotonic() >= budget.deadline - 2 * MARGIN_SECONDS
    return StopReason.TIME_LIMIT if is_late else StopReason.WORK_LIMIT


def _answer(status: Any) -> Answer | None:
    """What CP-SAT's status means; None: it refused the model."""
    cp_model = load()
    meanings = {
        cp_model.OPTIMAL: Answer.OPTIMAL,
        cp_model.FEASIBLE: Answer.FEASIBLE,
        cp_model.INFEASIBLE: Answer.INFEASIBLE,
        cp_model.UNKNOWN: Answer.UNKNOWN,
    }
    return meanings.get(status)


def _reach(proto: Any) -> int:
    """No part of the objective is further from 0."""
    goal, variables = proto.objective, proto.variables
    parts = (abs(weight) * max(map(abs, variables[v].domain)) for v, weight in zip(goal.vars, goal.coeffs, strict=True))
    return int(sum(parts) + math.ceil(abs(goal.offset)))


def _value(goal: Any, values: Sequence[int]) -> int:
    """The objective of a solution; its constant is exact below EXACT_DOUBLE."""
    return int(sum(weight * values[v] for v, weight in zip(goal.vars, goal.coeffs, strict=True))) + int(goal.offset)


def _bound(solver: Any, goal: Any, reach: int) -> int | None:
    """A bound on the objective: the one in integers, unless the one in floating point shows that it is not set."""
    bound: float = solver.best_objective_bound
    exact: int = solver.response_proto.inner_objective_lower_bound + int(goal.offset)
    if abs(goal.offset) < EXACT_DOUBLE and abs(exact - bound) <= _slack(reach):
        return exact
    return whole(bound, reach)


def whole(bound: float, reach: int) -> int | None:
    """The floating-point bound of what is no further from 0 than `reach`, as an integer; None: it can be off by whole numbers."""
    return math.ceil(bound - _slack(reach)) if reach < EXACT_DOUBLE else None


def _slack(reach: int) -> float:
    """How far off a sum can be that was rounded a few times."""
    return max(1e-6, ROUNDINGS * math.ulp(reach))


def configure(parameters: Any, budget: Budget) -> None:
    """Sets the parameters of CP-SAT that the budget asks for."""
    parameters.num_workers = budget.workers
    parameters.random_seed = budget.seed % (1 << 31)
    parameters.log_search_progress = budget.verbose
    parameters.cp_model_presolve = budget.presolve
    parameters.presolve_inclusion_work_limit = 0  # with inclusions, OR-Tools 9.15 proves what is wrong (its issue 5293)
    if not budget.presolve:
        parameters.inprocessing_dtime_ratio = 0.0
    parameters.add_mir_cuts = parameters.add_zero_half_cuts = budget.rounding_cuts
    parameters.add_cg_cuts = budget.tableau_cuts
    if budget.is_soon_simplified:
        parameters.max_presolve_iterations = 1
        parameters.cp_model_probing_level = 1
    if budget.relaxations is not None:
        parameters.linearization_level = budget.relaxations
    if budget.strategy is not None:
        parameters.interleave_search = True  # needed for one worker to take a strategy by name
        parameters.subsolvers.append(budget.strategy)
    if budget.work is not None:
        parameters.max_deterministic_time = budget.seconds(budget.work)
    if budget.deadline is not None:
        parameters.max_time_in_seconds = max(budget.deadline - time.monotonic() - MARGIN_SECONDS, 0.001)
