"""Planning again and again: a session remembers the answers to the problems it has seen, up to so many bytes of memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from threading import Lock

from solvers.model.errors import StopReason
from solvers.model.registry import AUTO
from solvers.model.solver import Goal

from ...checks import require_sound
from ...facts.digest import digest
from ...model.deadline import OutOfTime
from ...model.errors import echo
from ...model.plan import Plan, PlanStatus
from ...model.problem import DEFAULT_TERMS, NO_CONSTRAINTS, Buffer, Neighbour, Pool, Problem
from ...verifying.quick_check import is_plainly_right
from ...verifying.verify import verify
from ..options.capacity import planned_problem
from ..options.options import Options, bad_option, require_valid
from ..placing.path import WORK_PER_SECOND
from ..placing.solving import plan
from .replanning.placing import placed_again
from .tvm_interface import BufferInfo, TensorPlacement, placements_of, problem_of

MOST_BYTES = 64 << 20
LIMITS = (StopReason.WORK_LIMIT, StopReason.TIME_LIMIT)
NOTHING = Neighbour()
SHARE_OF_A_VARIANT = 5
"""Where the limits left a plan open, its variants get this part of them,"""
MOST_IN_A_ROW = 20
"""and the first after so many all of them, if more is open then."""
PLAN_BYTES, PLACEMENT_BYTES = 4096, 240
"""What a plan takes by itself, and for each of its placements and buffers named in certificates."""


class Session:
    """A planner for searches that ask for many variants of one problem, some of them again and again.

    A plan has the status, peak and bound of the one that `plan` makes, or better ones: where placing all in the order of the addresses of the
    plan before is proven to be optimal, that is the answer (it is not called reproducible), and else `plan` makes it. Only where the limits left
    a plan open, its variants get a fifth of them, and begin with that plan: of these a little more may be left open. With `afresh` it is always
    `plan` that makes it, and what was asked before has no effect but on time. Threads may share a session.
    """

    def __init__(self, max_bytes: int = MOST_BYTES, *, afresh: bool = False) -> None:
        if max_bytes < 0:
            raise bad_option("max_bytes", f"{echo(max_bytes)} is out of range: it must be 0 or more")
        self.max_bytes = max_bytes
        self.afresh = afresh
        self.bytes = 0
        """What is kept takes about so many."""
        self.hits = 0
        self.misses = 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        """The one that was asked for longest ago comes first."""
        self._lock = Lock()
        self._before = NOTHING
        """The last problem, of which the next may be a variant,"""
        self._plan: Plan | None = None
        """and the last plan that had placements."""
        self._open: _Open | None = None
        """If all of the limits left a plan open the last time that they were used."""

    def plan(self, problem: Problem, options: Options | None = None) -> Plan:
        """As `plan` of the library. Raises what it raises."""
        options = options or Options()
        same = _of_the_same_objects(problem, options)
        known = self._known(same)
        return self._made(problem, options, same) if known is None else known

    def plan_memory(
        self,
        pools: Iterable[Pool | tuple[str, int | None]],
        buffers: Iterable[Buffer | BufferInfo],
        options: Options | None = None,
    ) -> list[TensorPlacement]:
        """As `plan_memory` of the library. Raises what it raises."""
        pools, buffers, options = tuple(pools), tuple(buffers), options or Options()
        if not ({*map(type, buffers)} <= {Buffer} and {*map(type, pools)} <= {Pool}):
            return placements_of(self.plan(problem_of(pools, buffers), options))
        same = _key(buffers, (pools, DEFAULT_TERMS, 1, (), options))  # nothing else is in the problem
        kept = self._find(same)
        if kept is None:
            return placements_of(self._made(problem_of(pools, buffers), options, same))
        if kept.tensors is None:
            kept.tensors = placements_of(kept.plan)
        return kept.tensors.copy()

    def _made(self, problem: Problem, options: Options, same: Hashable | None) -> Plan:
        """The plan of a problem whose buffers were not asked about before; perhaps others that are equal were."""
        begun = time.monotonic()
        require_valid(options)
        planned = planned_problem(problem, options.capacity, options.prefer, options.stability)
        planned = replace(planned, buffers=tuple(planned.buffers))  # a copy that nobody else knows
        before = self._before if _named_alike(self._before.pools, planned.pools) else NOTHING
        planned.facts.neighbour, planned.facts.rows = before, before.rows_of(planned.buffers)
        require_sound(planned)
        planned.facts.is_sound = True
        changes = any(each is not None for each in (options.capacity, options.prefer, options.stability))
        usual = replace(options, capacity=None, prefer=None, stability=None) if changes else options
        key = (digest(planned), planned.constraints.listed, usual)
        known = self._known(key)
        if known is None:
            with self._lock:
                self.misses += 1
            again = self._again(planned, usual, begun)
            known = again or plan(planned, usual, begun=begun)
            if again is None:
                self._open = _opened(usual, known)
            if known.reproducible or (again is not None and known.stop.is_repeatable):
                self._keep(key, known, ())
            else:
                same = None
        if _cannot_change(planned):
            facts, buffers = planned.facts, tuple(planned.buffers)
            rows = dict(zip(map(id, buffers), range(len(buffers)), strict=True))
            self._before = Neighbour(buffers, planned.pools, rows, facts.written, facts.figures)
            if known.placements:
                self._plan = known
            self._keep(same, known, (problem.buffers,))
        return known

    def _again(self, problem: Problem, options: Options, begun: float) -> Plan | None:
        """A plan like the one before, verified and proven to be optimal or left open as that was; None: that one is of no help."""
        is_usual = options.solver == AUTO and options.goal is Goal.MINIMISE and options.max_cost is None
        if self.afresh or self._plan is None or not is_usual:
            return None
        made = placed_again(problem, self._plan, options.seed)
        if made is None or made.status is not PlanStatus.OPTIMAL:
            return self._sooner(problem, options, made, begun)
        return made if is_plainly_right(problem, made, digest(problem)) or not verify(problem, made) else None

    def _sooner(self, problem: Problem, options: Options, start: Plan | None, begun: float) -> Plan | None:
        """A plan with a part of the limits, where all of them left that of a problem like it open; None: there is none."""
        before = self._open
        if before is None or options != before.options or not self._is_variant(problem):
            return None
        try:
            made = plan(problem, _part_of(options), start=start, begun=begun)
        except OutOfTime:
            return None
        before.variants += 1
        if made.gap is not None and made.gap > before.gap and before.variants > MOST_IN_A_ROW:
            made = plan(problem, options, start=made, begun=begun)
            self._open = _opened(options, made)
        return made if made.placements or made.stop is StopReason.PROVED else None

    def _is_variant(self, problem: Problem) -> bool:
        """True if most buffers were in the plan before."""
        known = set() if self._plan is None else {place.id for place in self._plan.placements}
        return 2 * sum(buffer.id in known for buffer in problem.buffers) > len(problem.buffers)

    def _known(self, key: Hashable | None) -> Plan | None:
        kept = self._find(key)
        return None if kept is None else kept.plan

    def _find(self, key: Hashable | None) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or key is None:
                return None
            self._kept.move_to_end(key)
            self.hits += 1
            return kept

    def _keep(self, key: Hashable | None, made: Plan, inputs: tuple[object, ...]) -> None:
        """`inputs` is what must live as long as the key does."""
        size = bytes_of(made)
        if key is None or size > self.max_bytes:
            return
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = _Kept(made, inputs, size)
            self.bytes += size
            while self.bytes > self.max_bytes:
                _, oldest = self._kept.popitem(last=False)
                self.bytes -= oldest.size


@dataclass(slots=True)
class _Kept:
    plan: Plan
    inputs: tuple[object, ...]
    size: int
    tensors: list[TensorPlacement] | None = None
    """The same as tensors have it, once that was asked for."""


@dataclass(slots=True)
class _Open:
    options: Options
    gap: float
    variants: int = 0
    """So many have had a part of the limits since."""


def _opened(options: Options, made: Plan) -> _Open | None:
    """None: the limits did not leave it open."""
    return _Open(options, made.gap) if made.stop in LIMITS and made.gap is not None else None


def _part_of(options: Options) -> Options:
    work, seconds = options.work_limit, options.time_limit
    if work is None and seconds is not None:
        work = int(WORK_PER_SECOND * seconds)
    return replace(
        options,
        work_limit=None if work is None else work // SHARE_OF_A_VARIANT,
        time_limit=None if seconds is None else seconds / SHARE_OF_A_VARIANT,
    )


def _of_the_same_objects(problem: Problem, options: Options) -> Hashable | None:
    """A key that only a problem of the very same buffers has; None where there is more to it than buffers and pools."""
    if problem.constraints != NO_CONSTRAINTS or problem.constraints.listed or problem.variants is not None:
        return None
    buffers = problem.buffers if isinstance(problem.buffers, tuple) else (problem.buffers,)
    return _key(buffers, (problem.pools, problem.terms, problem.peak_price, problem.was, options))


def _key(buffers: tuple[object, ...], besides: tuple[object, ...]) -> Hashable:
    return tuple(map(id, buffers)), repr(besides)


def _named_alike(pools: tuple[Pool, ...], others: tuple[Pool, ...]) -> bool:
    """True if what buffers say of pools means the same, which are there and in which order; how large they are may differ."""
    return [(pool.name, pool.rank, pool.read_only) for pool in pools] == [
        (other.name, other.rank, other.read_only) for other in others
    ]


def _cannot_change(problem: Problem) -> bool:
    """True if there are no lists in its buffers and pools, which somebody might change; those of the neighbour have none."""
    try:
        hash(problem.pools)
        for buffer, row in zip(problem.buffers, problem.facts.rows, strict=True):
            if row is None:
                hash(buffer)
    except TypeError:
        return False
    return True


def bytes_of(plan: Plan) -> int:
    """What a plan takes in memory, about."""
    named = sum(len(certificate.buffers) + len(certificate.weights) for certificate in plan.certificates)
    return PLAN_BYTES + PLACEMENT_BYTES * (len(plan.placements) + named + len(plan.run.trace))
