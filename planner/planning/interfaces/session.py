"""Planning repeatedly: a session remembers answers, up to a limit of memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import is_
from threading import Lock
from typing import Any

from solvers.model.errors import StopReason
from solvers.model.registry import AUTO
from solvers.model.solver import Goal

from ...checks import require_sound
from ...checks.arguments import checked, explained, require_types
from ...facts.digest import digest
from ...facts.figures import rows_of
from ...model.columns import Columns
from ...model.deadline import OutOfTime
from ...model.errors import echo
from ...model.plan import Plan, PlanStatus
from ...model.problem import DEFAULT_TERMS, NO_CONSTRAINTS, Buffer, Constraints, Neighbour, Pool, Problem
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.verify import verify
from ..options.capacity import planned_problem
from ..options.options import Options, bad_option, require_valid
from ..options.preference import Preference
from ..placing.pipeline import WORK_PER_SECOND
from ..placing.solving import plan
from .replanning.placing import placed_again
from .replanning.same_buffers import SameBuffers
from .tvm_interface import BufferInfo, InfoMemory, TensorPlacement, placements_of, problem_of

MOST_BYTES = 64 << 20
USUAL = Options()
LIMITS = (StopReason.WORK_LIMIT, StopReason.TIME_LIMIT)
NOTHING = Neighbour()
SHARE_OF_A_VARIANT = 5
"""If the limits left a plan open, its variants get the limits divided by this."""
MOST_IN_A_ROW = 20
"""After this many variants one gets all of the limits, if more is open by then."""
PLAN_BYTES, PLACEMENT_BYTES = 4096, 240
"""The memory of a plan itself, and of each placement or buffer named in certificates."""


class Session:
    """A planner for searches that plan many variants of one problem, some of them repeatedly.

    A plan has the status, peak and bound that `plan` would give, or better. If placing everything in the order of the earlier plan's addresses
    is proven optimal, that is the answer (it does not count as reproducible); otherwise `plan` makes it. Only if the limits left a plan open do
    its variants get a fifth of them, starting from that plan, so slightly more may stay open. With `afresh`, `plan` makes every answer, and
    earlier requests affect only the time. Threads may share a session.
    """

    @checked
    def __init__(self, max_bytes: int = MOST_BYTES, *, afresh: bool = False) -> None:
        if max_bytes < 0:
            raise bad_option("max_bytes", f"{echo(max_bytes)} is out of range: it must be 0 or more")
        self.max_bytes = max_bytes
        self.afresh = afresh
        self.bytes = 0
        """The approximate memory of all remembered answers."""
        self.hits = 0
        self.misses = 0
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        """The answer requested longest ago comes first."""
        self._lock = Lock()
        self._before = NOTHING
        """The last problem whose plan had placements; the next may be a variant of it."""
        self._same = SameBuffers()
        self._infos = InfoMemory()
        self._plan: Plan | None = None
        """That plan."""
        self._valid = USUAL, repr(USUAL)
        """The last options found valid that nobody can change, and their text."""
        self._besides: tuple[tuple[object, ...], str] = (), ""
        """The last pools and what else keys contain besides buffers and options, and their text."""
        self._plain = USUAL, self._valid
        """The last of these that change the problem, and the others with their text."""
        self._open: _Open | None = None
        """Set if a plan stayed open although it had all of the limits."""

    @explained
    def plan(self, problem: Problem, options: Options | None = None) -> Plan:
        """Plan as the library's `plan` does, with the same errors."""
        options = options or USUAL
        if not isinstance(problem.buffers, tuple | Columns):  # somebody could change it
            problem = replace(problem, buffers=tuple(problem.buffers))
        same = self._key_of(problem, options)
        known = self._known(same)
        return self._made(problem, options, same) if known is None else known

    @explained
    def plan_memory(
        self,
        pools: Iterable[Pool | tuple[str, int | None]],
        buffers: Iterable[Buffer | BufferInfo],
        options: Options | None = None,
    ) -> list[TensorPlacement]:
        """Plan as the library's `plan_memory` does, with the same errors."""
        pools, buffers, options = tuple(pools), tuple(buffers), options or USUAL
        if not ({*map(type, buffers)} <= {Buffer} and {*map(type, pools)} <= {Pool}):
            return placements_of(self.plan(problem_of(pools, buffers, self._infos), options))
        besides = self._text_besides((pools, DEFAULT_TERMS, 1, ()))  # the problem has nothing else
        same = tuple(map(id, buffers)), besides, self._text_of(options)
        kept = self._find(same)
        if kept is None:
            return placements_of(self._made(problem_of(pools, buffers), options, same))
        if kept.tensors is None:
            kept.tensors = placements_of(kept.plan)
        return kept.tensors.copy()

    def _made(self, problem: Problem, options: Options, same: Hashable | None) -> Plan:
        """Return the plan of a problem whose buffer objects are new; equal ones may have been planned."""
        begun = time.monotonic()
        if options is not self._valid[0]:
            require_types(options, ("options",))
            require_valid(options)
            if not isinstance(options.capacity, Mapping):
                self._valid = options, repr(options)
        before = self._before  # once: another thread may set it meanwhile
        if not _named_alike(before.pools, problem.pools):
            before = NOTHING
        buffers = tuple(problem.buffers)
        rows = rows_of(before, buffers)
        if rows.new:
            buffers = self._same.in_place_of(buffers, rows.new)
            rows = rows_of(before, buffers)
        copy = replace(problem, buffers=buffers)  # that nobody else can change
        copy.facts.neighbour, copy.facts.rows = before, rows
        planned = planned_problem(copy, options.capacity, options.prefer, options.stability)
        facts = planned.facts
        facts.take_over(copy.facts)
        require_sound(planned)
        facts.is_sound = True
        usual, text = self._plain_of(options, planned)
        key = (digest(planned), tuple(map(tuple, planned.constraints.listed)), text)
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
        if _cannot_change(planned, rows.new):
            if known.placements:
                self._same.remember(planned.buffers, rows.new)
                rules = _unchanging(planned.constraints, before.rules, facts.rules)
                self._before = Neighbour(
                    planned.buffers,
                    planned.pools,
                    facts.written,
                    facts.figures,
                    rules,
                    facts.columns,
                    facts.of_rules,
                )
                self._plan = known
            self._keep(same, known, (problem.buffers,))
        return known

    def _again(self, problem: Problem, options: Options, begun: float) -> Plan | None:
        """Return a plan made from the last one, verified, and either optimal or as open as that was; None if that one does not help."""
        is_usual = options.solver == AUTO and options.goal is Goal.MINIMISE and options.max_cost is None
        if self.afresh or self._plan is None or not is_usual:
            return None
        made = placed_again(problem, self._plan, options.seed)
        if made is None or made.status is not PlanStatus.OPTIMAL:
            return self._sooner(problem, options, made, begun)
        return None if verify(problem, made, digest(problem), effort=BRIEF) else made

    def _sooner(self, problem: Problem, options: Options, start: Plan | None, begun: float) -> Plan | None:
        """Return a plan made with part of the limits, if all of them left the plan of a similar problem open; None otherwise."""
        before = self._open
        if before is None or options != before.options or not self._is_variant(problem):
            return None
        try:
            made = plan(problem, _part_of(options), start=start, begun=begun)
        except OutOfTime:
            return None
        before.variants += 1
        if made.gap is not None and made.gap > before.gap and before.variants > MOST_IN_A_ROW:
            with suppress(OutOfTime):  # then the plan from part of the limits stands
                made = plan(problem, options, start=made, begun=begun)
            self._open = _opened(options, made)
        return made if made.placements or made.stop is StopReason.PROVED else None

    def _is_variant(self, problem: Problem) -> bool:
        """True if most buffers were in the last plan."""
        known = set() if self._plan is None else {place.id for place in self._plan.placements}
        return 2 * sum(buffer.id in known for buffer in problem.buffers) > len(problem.buffers)

    def _key_of(self, problem: Problem, options: Options) -> Hashable | None:
        """Return a key that only a problem with these buffer objects and options has; None if it has more than buffers and pools."""
        if problem.constraints != NO_CONSTRAINTS or problem.constraints.listed or problem.variants is not None:
            return None
        buffers = problem.buffers if isinstance(problem.buffers, tuple) else (problem.buffers,)
        besides = tuple(problem.pools), problem.terms, problem.peak_price, problem.was
        return tuple(map(id, buffers)), self._text_besides(besides), self._text_of(options)

    def _text_besides(self, parts: tuple[Any, ...]) -> str:
        """Return the text of pools and what follows them; as it was, if they are the same objects, which nobody can change."""
        pools, *others = parts
        flat = (*pools, *others)
        before, text = self._besides
        if len(before) == len(flat) and all(map(is_, before, flat)):
            return text
        text = repr(parts)
        if _is_unchanging(flat):
            self._besides = flat, text
        return text

    def _plain_of(self, options: Options, planned: Problem) -> tuple[Options, str]:
        """Return the options without those that the planned problem already contains, and their text."""
        if planned.variants is not None:  # then its objective does not say what is preferred
            return _plain(options, prefer=options.prefer)
        if (options.capacity, options.prefer, options.stability) == (None, None, None):
            return options, self._text_of(options)
        if options is not self._valid[0]:
            return _plain(options)
        before, plain = self._plain
        if before is not options:
            plain = _plain(options)
            self._plain = options, plain
        return plain

    def _text_of(self, options: Options) -> str:
        valid, text = self._valid
        return text if options is valid else repr(options)

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
        """Remember an answer; `inputs` must live as long as the key."""
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
    """The plan as tensors, once requested."""


@dataclass(slots=True)
class _Open:
    options: Options
    gap: float
    variants: int = 0
    """The variants since then that got part of the limits."""


def _plain(options: Options, prefer: Preference | None = None) -> tuple[Options, str]:
    plain = replace(options, capacity=None, prefer=prefer, stability=None)
    return plain, repr(plain)


def _opened(options: Options, made: Plan) -> _Open | None:
    """Return what stayed open; None if the limits left nothing open."""
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


def _named_alike(pools: Sequence[Pool], others: Sequence[Pool]) -> bool:
    """True if both have the same pools in the same order, apart from their sizes, so that buffers' pool names mean the same."""
    return [(pool.name, pool.rank, pool.read_only) for pool in pools] == [
        (other.name, other.rank, other.read_only) for other in others
    ]


def _unchanging(
    constraints: Constraints, before: tuple[Constraints, str] | None, text: str
) -> tuple[Constraints, str] | None:
    """Return the constraints with their text; None if that was not written, or if they contain lists, which somebody could change."""
    if before is not None and before[0] is constraints:
        return before
    return (constraints, text) if text and _is_unchanging((constraints,)) else None


def _is_unchanging(some: tuple[object, ...]) -> bool:
    try:
        hash(some)
    except TypeError:
        return False
    return True


def _cannot_change(problem: Problem, new: Sequence[int]) -> bool:
    """True if the pools and these buffers contain no lists, which somebody could change; those of the neighbour have none."""
    return _is_unchanging((problem.pools, *[problem.buffers[i] for i in new]))


def bytes_of(plan: Plan) -> int:
    """Return the approximate memory of a plan."""
    named = sum(len(certificate.buffers) + len(certificate.weights) for certificate in plan.certificates)
    return PLAN_BYTES + PLACEMENT_BYTES * (len(plan.placements) + named + len(plan.run.trace))
