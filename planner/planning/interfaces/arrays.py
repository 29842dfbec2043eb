"""Planning from columns of numbers: a million buffers without an object for each.

It covers the usual problem: one memory, and buffers with a size, one lifetime and perhaps an alignment. `plan` takes everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from solvers.geometry.presolve import ranked
from solvers.model.errors import SolverError, StopReason
from solvers.model.instance import ADDRESS_LIMIT, Instance, Ints, PoolSpec, Term
from solvers.model.outcome import Outcome
from solvers.model.solver import Silent, Task
from solvers.portfolio.solve import solve

from ...model.deadline import FINISH_SECONDS, expect, finish
from ...model.errors import BadInput, Code, Finding
from ...model.plan import PlanStatus
from ...verifying.arrays import most_live, wrong_in_arrays
from ..options.options import DECLARED, Options, bad_option, require_valid
from ..placing.lifting import status_of
from ..placing.pipeline import REPORT, cannot_solve, limits_of
from ..placing.watching import Clock

HEEDED = {"time_limit", "work_limit", "memory_limit_bytes", "solver", "workers", "seed", "goal", "warm"}
"""The options that have an effect here; the others are for `plan`."""
EARLIEST = 1 - ADDRESS_LIMIT
SECONDS_PER_ROW = 2e-6
"""What a placement by birth, checking it, and verifying the plan take: as much is kept of the time, so that there is a plan when it ends."""
LEAST_SECONDS_PER_ROW = 8e-7
"""What the same takes if the rows are in order, as measured with a million (docs/experiments/any-input.md); without this much time it is not begun."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayPlan:
    """An offset for every buffer, in the order of the columns, and what is proven about it."""

    status: PlanStatus
    stop: StopReason
    peak: int | None
    bound: int
    """No plan has a lower peak."""
    most_live: int
    """The most bytes needed at one time. If this equals the bound, it proves it."""
    offset: Ints | None
    """None if there is no plan."""
    solver: str | None
    reproducible: bool
    warnings: tuple[str, ...] = ()


def plan_arrays(
    size: npt.ArrayLike,
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    alignment: npt.ArrayLike = 1,
    capacity: int | None = None,
    options: Options | None = None,
) -> ArrayPlan:
    """Return an offset for every buffer of one memory, given as columns of integers.

    Buffer i has `size[i]` bytes, is needed from `start[i]` until just before `end[i]`, and lies at a multiple of `alignment` (one for all, or
    one each). `capacity` is the memory's size; None means unlimited. The offsets are those of `plan`, and verified; a bound above
    `most_live` rests on a search.
    Raises BadInput for bad columns or options, and CannotSolve for an unknown solver.
    """
    options = options or Options()
    require_valid(options)
    for name, row in DECLARED.items():
        if name not in HEEDED and getattr(options, name) != row.default:
            raise bad_option(name, "plan_arrays does not know it: make a Problem and call plan")
    clock = Clock(options.time_limit)
    with clock.holds():
        with clock.while_lowering():
            columns = _Columns(size, start, end, alignment, capacity)
            instance = columns.instance()
        after = SECONDS_PER_ROW * len(columns.size)
        if (late := LEAST_SECONDS_PER_ROW * len(columns.size) - FINISH_SECONDS) > 0:
            expect(late, "solving")
        task = Task(
            limits_of(options, clock, after),
            options.goal,
            options.seed,
            warm=options.warm,
        )
        try:
            outcome = solve(instance, task, Silent(task.limits), options.solver)
        except SolverError as refusal:
            raise cannot_solve(refusal) from refusal
        finish(after)
        return columns.answer(outcome)


class _Columns:
    """The buffers, as int64."""

    def __init__(
        self,
        size: npt.ArrayLike,
        start: npt.ArrayLike,
        end: npt.ArrayLike,
        alignment: npt.ArrayLike,
        capacity: int | None,
    ) -> None:
        self.size = _integers("size", size, 0)
        count = len(self.size)
        self.start, self.end = _integers("start", start, EARLIEST, count), _integers("end", end, EARLIEST, count)
        one_for_all = np.ndim(alignment) == 0
        self.alignment = _integers("alignment", np.full(count, alignment) if one_for_all else alignment, 1, count)
        if capacity is not None and (isinstance(capacity, bool) or not isinstance(capacity, int | np.integer)):
            raise _wrong_type("capacity", "an integer is wanted, or None")
        self.capacity = None if capacity is None else int(capacity)
        if self.capacity is not None and not 0 <= self.capacity < ADDRESS_LIMIT:
            raise _out_of_range("/capacity", self.capacity, 0)
        early = np.flatnonzero(self.end < self.start)
        if len(early):
            i = int(early[0])
            text = f"the lifetime ends at {self.end[i]}, before it begins at {self.start[i]}"
            raise BadInput(Finding(Code.INTERVAL_REVERSED, f"/end/{i}", text))

    def instance(self) -> Instance:
        """Return the instance that a Problem with these buffers would give."""
        count = len(self.size)
        each, none = np.arange(count, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        stacked = sum(self.size.tolist()) + sum(self.alignment.tolist())
        if stacked >= ADDRESS_LIMIT:
            text = "the sizes add up to 2^62 bytes or more; use a larger unit than bytes"
            raise BadInput(Finding(Code.TOO_LARGE, "/size", text))
        part = np.flatnonzero((self.size > 0) & (self.end > self.start))
        times, first, last = ranked(self.start[part], self.end[part])
        residue = np.zeros((count, 1), dtype=np.int64)
        modulus = self.alignment[:, None].copy()
        ceiling = stacked if self.capacity is None else min(self.capacity, stacked)
        highest = ceiling - self.size[:, None]
        highest -= highest % modulus
        return Instance(
            pools=(PoolSpec(self.capacity),),
            terms=(Term.SUM_OF_PEAKS,),
            sections=max(len(times) - 1, 0),
            part_block=each,
            part_low=np.zeros(count, dtype=np.int64),
            part_high=self.size.copy(),
            rect_part=part.astype(np.int64),
            rect_start=first,
            rect_end=last,
            allowed=highest >= 0,
            modulus=modulus,
            residue=residue,
            lowest=residue.copy(),
            highest=highest,
            access_cost=np.zeros((count, 1), dtype=np.int64),
            pool_class=each,
            preference=np.zeros((count, 1), dtype=np.int64),
            apart=none,
            conflicts=none,
            exclusions=none,
            penalties=np.zeros((0, 3), dtype=np.int64),
            hint=np.zeros(count, dtype=np.int64),
            hinted=np.zeros(count, dtype=bool),
            input_rank=each,
            name_rank=each,
        )

    def answer(self, outcome: Outcome) -> ArrayPlan:
        """Return what the solvers found, without anything that turns out wrong."""
        proven = [c.value for c in outcome.certificates] if outcome.infeasible else list(outcome.bound)
        made = ArrayPlan(
            status=status_of(outcome),
            stop=outcome.stop,
            peak=None if outcome.value is None else outcome.value[0],
            bound=max(proven, default=0),
            most_live=most_live(self.size, self.start, self.end),
            offset=None if outcome.placement is None else outcome.placement.offset,
            solver=outcome.solver,
            reproducible=outcome.reproducible,
            warnings=outcome.notes,
        )
        if made.offset is None:
            return made
        columns = self.size, self.start, self.end, self.alignment
        wrong = wrong_in_arrays(*columns, self.capacity, made.offset, made.peak, made.bound)
        if wrong is None:
            return made
        text = f"the plan that was made failed verification and is withheld ({wrong}); {REPORT}"
        return replace(
            made,
            status=PlanStatus.UNKNOWN,
            stop=StopReason.SOLVER_FAILED,
            peak=None,
            bound=0,
            offset=None,
            warnings=(text,),
        )


def _integers(name: str, column: npt.ArrayLike, least: int, count: int | None = None) -> Ints:
    """Return the column as int64, if it is a column of integers, none below the least."""
    if isinstance(column, np.ma.MaskedArray) and len(masked := np.flatnonzero(column.mask)):
        raise BadInput(Finding(Code.INVALID_VALUE, f"/{name}/{masked[0]}", "is masked, so its value is not known"))
    try:
        given = np.asarray(column)
    except ValueError:  # rows of different lengths
        given = np.zeros((0, 0))
    if given.ndim != 1:
        raise _wrong_type(name, "a column of integers is wanted, one for each buffer")
    if count is not None and len(given) != count:
        raise BadInput(Finding(Code.INVALID_VALUE, f"/{name}", f"has {len(given)} entries for {count} buffers"))
    if not len(given):
        return np.zeros(0, dtype=np.int64)
    if given.dtype.kind not in "iu":
        raise _wrong_type(name, f"integers of 64 bits at most are wanted, not {given.dtype}")
    found = given.astype(np.int64)
    lowest = max(least, 0) if given.dtype.kind == "u" else least  # from 2^63 on they come out negative
    beyond = np.flatnonzero((found < lowest) | (found >= ADDRESS_LIMIT))
    if len(beyond):
        raise _out_of_range(f"/{name}/{beyond[0]}", int(given[beyond[0]]), least)
    return found


def _wrong_type(name: str, message: str) -> BadInput:
    return BadInput(Finding(Code.WRONG_TYPE, f"/{name}", message))


def _out_of_range(pointer: str, value: int, least: int) -> BadInput:
    text = f"{value} is out of range: it must be at least {least} and below 2^62"
    return BadInput(Finding(Code.OUT_OF_RANGE, pointer, text))
