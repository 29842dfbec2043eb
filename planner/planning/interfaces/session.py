"""Planning repeatedly: a session remembers answers, up to a limit of memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter, is_
from threading import Lock
from typing import Any

from solvers.model.errors import StopReason
from solvers.model.registry import AUTO
from solvers.model.solver import Goal

from ...checks import require_sound
from ...checks.arguments import checked, explained, require_types
from ...checks.declared.like import made_plain
from ...facts.digest import digest
from ...facts.figures import rows_of
from ...model.columns.rows import Columns
from ...model.deadline import OutOfTime, time_limit
from ...model.errors import echo
from ...model.plan import Plan, PlanStatus
from ...model.problem import DEFAULT_TERMS, NO_CONSTRAINTS, Buffer, Constraints, Neighbour, Pool, Problem
from ...verifying.arguments.counterexamples import BRIEF
from ...verifying.verify import verify
from ..options.capacity import planned_problem
from ..options.options import Options, Preference, bad_option, require_valid
from ..placing.pipeline import WORK_PER_SECOND
from ..placing.solving import plan
from .replanning.exact import are_exact, is_exact
from .replanning.memory import Key, bytes_of, bytes_of_buffers, bytes_of_key
from .replanning.placing import placed_again
from .replanning.same_buffers import SameBuffers
from .tvm_interface import BufferInfo, InfoMemory, TensorPlacement, placements_of, problem_of

MOST_BYTES = 64 << 20
USUAL = Options()
LIMITS = (StopReason.WORK_LIMIT, StopReason.TIME_LIMIT)
NOTHING = Neighbour()
OTHERS = attrgetter("constraints", "terms", "name", "lifetimes", "steps", "peak_price", "was", "variants")
WORTH = attrgetter("name", "cost", "rank", "speed")
RULES = attrgetter(*Constraints.__dataclass_fields__)
SHARE_OF_A_VARIANT = 5
"""If the limits left a plan open, its variants get the limits divided by this."""
MOST_IN_A_ROW = 20
"""After this many variants one gets all of the limits, if more is open by then."""


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
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
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
        self._others: tuple[object, ...] = OTHERS(Problem((), constraints=NO_CONSTRAINTS))
        """What the last problem of known types has besides buffers and pools."""
        self._plain = USUAL, self._valid
        """The last of these that change the problem, and the others with their text."""
        self._open: _Open | None = None
        """Set if a plan stayed open although it had all of the limits."""

    @explained
    def plan(self, problem: Problem, options: Options | None = None) -> Plan:
        """Plan as the library's `plan` does, with the same errors."""
        options = USUAL if options is None else options
        if list in (type(problem.buffers), type(problem.pools)):  # somebody could change it
            problem = replace(problem, buffers=_as_tuple(problem.buffers), pools=_as_tuple(problem.pools))
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
        pools, buffers, options = tuple(pools), tuple(buffers), USUAL if options is None else options
        if not ({*map(type, buffers)} <= {Buffer} and {*map(type, pools)} <= {Pool}):
            return placements_of(self.plan(problem_of(pools, buffers, self._infos), options))
        same = self._key(buffers, (pools, DEFAULT_TERMS, 1, ()), options)  # the problem has nothing else
        kept = self._find(same)
        if kept is None:
            return placements_of(self._made(problem_of(pools, buffers), options, same))
        if kept.tensors is None:
            kept.tensors = placements_of(kept.plan)
        return kept.tensors.copy()

    def _made(self, problem: Problem, options: Options, same: Key | None) -> Plan:
        """Return the plan of a problem whose buffer objects are new; equal ones may have been planned."""
        begun = time.monotonic()
        if options is not self._valid[0]:
            require_types(options, ("options",))
            require_valid(options)
            text = self._text_of(options)
            if text is not None and not isinstance(options.capacity, Mapping):
                self._valid = options, text
        copy = self._taken(problem)
        if copy is None:  # somebody could change it, or it contains objects of others' classes
            require_types(problem, ())
            problem, same = made_plain(problem), None
            copy = self._taken(problem)
        if copy is None or self._text_of(options) is None:
            return plan(problem, options, begun=begun)
        with time_limit(options.time_limit, begun):
            planned = planned_problem(copy, options.capacity, options.prefer, options.stability)
            facts = planned.facts
            facts.take_over(copy.facts)
            require_sound(planned)
            facts.is_sound = True
            usual, text = self._plain_of(options, planned)
            key = (digest(planned), tuple(map(tuple, planned.constraints.listed)), text)
        known = self._known(key)
        if known is None:
            again = self._again(planned, usual, begun)
            known = again or plan(planned, usual, begun=begun)
            if again is None:
                self._open = _opened(usual, known)
            if known.reproducible or (again is not None and known.stop.is_repeatable):
                self._keep(key, known, ())
            else:
                same = None
        if known.placements:
            self._start_next_from(planned, known)
        self._keep(same, known, problem.buffers)
        return known

    def _start_next_from(self, planned: Problem, known: Plan) -> None:
        """Remember the problem and its plan: the next one may differ but little."""
        facts = planned.facts
        before, rows = facts.neighbour, facts.rows
        assert before is not None
        assert rows is not None
        self._same.remember(planned.buffers, rows.new)
        of_before = before.rules is not None and before.rules[0] is planned.constraints
        rules = before.rules if of_before else (planned.constraints, facts.rules) if facts.rules else None
        self._before = Neighbour(
            planned.buffers, planned.pools, facts.written, facts.figures, rules, facts.columns, facts.of_rules
        )
        self._plan = known

    def _taken(self, problem: Problem) -> Problem | None:
        """Return a copy that knows its neighbour, with that one's buffers in place of equal ones; None unless everything in it is of known types."""
        if not (_is_unchanging(problem.buffers) and _is_unchanging(problem.pools)):
            return None
        before = self._before  # once: another thread may set it meanwhile
        if not _named_alike(before.pools, problem.pools):
            before = NOTHING
        buffers = tuple(problem.buffers)
        rows = rows_of(before, buffers)
        if rows.new:
            buffers = self._same.in_place_of(buffers, rows.new)
            rows = rows_of(before, buffers)
        pools = () if isinstance(problem.pools, Columns) else problem.pools
        if not (are_exact([buffers[i] for i in rows.new]) and are_exact(pools) and self._is_exact_besides(problem)):
            return None
        copy = replace(problem, buffers=buffers)
        copy.facts.neighbour, copy.facts.rows = before, rows
        return copy

    def _is_exact_besides(self, problem: Problem) -> bool:
        """True if everything but buffers and pools is of known types."""
        if type(problem) is not Problem:
            return False
        others = OTHERS(problem)
        if _says_nothing(problem.constraints):
            others = (NO_CONSTRAINTS, *others[1:])
        if not all(map(is_, others, self._others)):
            if not is_exact(replace(problem, buffers=(), pools=())):
                return False
            self._others = others
        return True

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
        """True if most buffers were in the last plan, and a byte costs as much in each memory as there."""
        if [*map(WORTH, problem.pools)] != [*map(WORTH, self._before.pools)]:
            return False
        known = set() if self._plan is None else {place.id for place in self._plan.placements}
        return 2 * sum(buffer.id in known for buffer in problem.buffers) > len(problem.buffers)

    def _key_of(self, problem: Problem, options: Options) -> Key | None:
        """Return a key that only a problem with these buffer objects and options has; None if it has more than buffers and pools."""
        if problem.constraints != NO_CONSTRAINTS or problem.constraints.listed or problem.variants is not None:
            return None
        if not self._is_exact_besides(problem):
            return None
        buffers = problem.buffers if isinstance(problem.buffers, tuple) else (problem.buffers,)
        besides = tuple(problem.pools), problem.terms, problem.peak_price, problem.was
        return self._key(buffers, besides, options)

    def _key(self, buffers: Sequence[object], besides: tuple[Any, ...], options: Options) -> Key | None:
        texts = self._text_besides(besides), self._text_of(options)
        return None if None in texts else (tuple(map(id, buffers)), *texts)

    def _text_besides(self, parts: tuple[Any, ...]) -> str | None:
        """Return the text of pools and what follows them, as it was if they are the same objects; None if pools are not of known types."""
        pools, *others = parts
        flat = (*pools, *others)
        before, text = self._besides
        if len(before) == len(flat) and all(map(is_, before, flat)):
            return text
        if not are_exact(pools):
            return None
        text = repr(parts)
        self._besides = flat, text
        return text

    def _plain_of(self, options: Options, planned: Problem) -> tuple[Options, str]:
        """Return the options without those that the planned problem already contains, and their text."""
        if planned.variants is not None:  # then its objective does not say what is preferred
            return _plain(options, prefer=options.prefer)
        if (options.capacity, options.prefer, options.stability) == (None, None, None):
            return options, repr(options) if options is not self._valid[0] else self._valid[1]
        if options is not self._valid[0]:
            return _plain(options)
        before, plain = self._plain
        if before is not options:
            plain = _plain(options)
            self._plain = options, plain
        return plain

    def _text_of(self, options: Options) -> str | None:
        """Return the text of options; None if they contain what is not of known types."""
        valid, text = self._valid
        if options is valid:
            return text
        return repr(options) if is_exact(options) else None

    def _known(self, key: Key | None) -> Plan | None:
        kept = self._find(key)
        return None if kept is None else kept.plan

    def _find(self, key: Key | None) -> _Kept | None:
        if key is None:
            return None
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
            self.hits += 1
            return kept

    def _keep(self, key: Key | None, made: Plan, inputs: Sequence[Buffer]) -> None:
        """Remember an answer; `inputs` must live as long as the key."""
        if key is None:
            return
        size = bytes_of(made) + bytes_of_key(key) + bytes_of_buffers(inputs)
        if size > self.max_bytes:
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
    inputs: Sequence[Buffer]
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


def _as_tuple(given: Sequence[Any]) -> Sequence[Any]:
    return tuple(given) if type(given) is list else given


def _is_unchanging(given: Sequence[object]) -> bool:
    return type(given) is tuple or isinstance(given, Columns)


def _says_nothing(constraints: Constraints) -> bool:
    return type(constraints) is Constraints and all(map(is_, RULES(constraints), RULES(NO_CONSTRAINTS)))
