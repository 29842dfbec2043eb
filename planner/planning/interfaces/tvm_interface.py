"""One call for compilers: pools and buffers in, (tensor, pool, offset) out.

This is the interface `PlanMemory(pools, function)` that the TVM forum's thread on a global memory planner asks for. In place of the function it
takes a list of buffers with sizes and lifetimes or conflicts, from any intermediate representation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import NamedTuple

from ...checks.pairs import from_lists
from ...checks.report import Report
from ...model.errors import Code, Finding, NoPlan
from ...model.plan import Plan, PlanStatus
from ...model.problem import Buffer, BufferId, Constraints, Interval, Pool, Problem
from ..options.options import Options
from ..placing.solving import plan


@dataclass(frozen=True, slots=True)
class BufferInfo:
    """A tensor as a compiler sees it, with the field names of TVM's USMP: a size, and its lifetimes or conflicts."""

    name_hint: BufferId
    size_bytes: int
    pool_candidates: tuple[str, ...] | None = None
    """In order of preference; None: every pool. Tensors of different devices name different pools."""
    alignment: int = 1
    conflicts: tuple[BufferId, ...] = ()
    """Tensors that must not share addresses with this one; naming on one side is enough."""
    live: tuple[Interval, ...] | None = None
    """Half-open ranges of steps; None: only conflicts count."""
    kind: str | None = None
    reads: int = 0
    """How often the whole tensor is read; counts if the pools have speeds."""
    writes: int = 0


class TensorPlacement(NamedTuple):
    """Where one tensor lies."""

    tensor_id: BufferId
    pool_name: str
    pool_offset: int


def plan_memory(
    pools: Iterable[Pool | tuple[str, int | None]],
    buffers: Iterable[Buffer | BufferInfo],
    options: Options | None = None,
) -> list[TensorPlacement]:
    """Return an address for every buffer, in the order of the buffers.

    A pool is a Pool, or a name and a size in bytes (None: unlimited), in order of preference. Raises NoPlan, which carries the Plan with its
    reasons, if the buffers do not fit or no plan was found in time; BadInput and CannotSolve as `plan` does.
    """
    return placements_of(plan(problem_of(pools, buffers), options))


def placements_of(answer: Plan) -> list[TensorPlacement]:
    """Return the addresses of a plan. Raises NoPlan if it has none."""
    if answer.status in (PlanStatus.INFEASIBLE, PlanStatus.UNKNOWN):
        raise NoPlan(_why(answer), answer)
    return [TensorPlacement(place.id, place.pool, place.offset) for place in answer.placements]


def problem_of(
    pools: Iterable[Pool | tuple[str, int | None]],
    buffers: Iterable[Buffer | BufferInfo],
    memory: InfoMemory | None = None,
) -> Problem:
    """Return the Problem with these pools and buffers. Raises BadInput for unknown tensor names."""
    given = tuple(buffers)
    known = [buffer for buffer in given if isinstance(buffer, Buffer)]
    if len(known) == len(given):
        return Problem(tuple(known), _pools(pools))
    if memory is not None:
        made, constraints = memory.read(given)
    else:
        made, constraints = tuple(map(_as_buffer, given)), _constraints(given)
    return Problem(made, _pools(pools), constraints)


class InfoMemory:
    """What the last call's tensors became: those that are given again, as the same objects, are not read again."""

    def __init__(self) -> None:
        self._last: tuple[tuple[Buffer | BufferInfo, ...], tuple[Buffer, ...], Constraints] | None = None
        """What was given, none of which anybody can change, and what it became."""

    def read(self, given: tuple[Buffer | BufferInfo, ...]) -> tuple[tuple[Buffer, ...], Constraints]:
        """Return the buffers, and the conflicts of those that are no Buffers. Raises BadInput for unknown tensor names."""
        before, was, constraints = self._last or ((), (), None)
        if len(before) == len(given):
            other = [i for i, is_same in enumerate(map(is_, given, before)) if not is_same]
            as_buffers = [*was]
            for i in other:
                as_buffers[i] = _as_buffer(given[i])
            if not all(_conflict_alike(given[i], before[i]) for i in other):
                constraints = None
        else:
            known = dict(zip(map(id, before), was, strict=True))
            other = [i for i, each in enumerate(given) if id(each) not in known]
            as_buffers = [known.get(id(each)) or _as_buffer(each) for each in given]
            constraints = None
        made = tuple(as_buffers)
        constraints = constraints or _constraints(given)
        self._last = (given, made, constraints) if all(_cannot_change(given[i]) for i in other) else None
        return made, constraints


def _conflict_alike(one: Buffer | BufferInfo, other: Buffer | BufferInfo) -> bool:
    """True if both have one name and one list of conflicts."""
    if not (isinstance(one, BufferInfo) and isinstance(other, BufferInfo)):
        return False
    return one.name_hint is other.name_hint and one.conflicts is other.conflicts


def _constraints(given: Sequence[Buffer | BufferInfo]) -> Constraints:
    report = Report()
    lists = [(b.id, ()) if isinstance(b, Buffer) else (b.name_hint, b.conflicts) for b in given]
    constraints = from_lists(lists, report)
    report.raise_if_any()
    return constraints


def _cannot_change(given: Buffer | BufferInfo) -> bool:
    try:
        hash(given)
    except TypeError:  # it contains a list
        return False
    return True


def _as_buffer(given: Buffer | BufferInfo) -> Buffer:
    return given if isinstance(given, Buffer) else _buffer(given)


def _pools(given: Iterable[Pool | tuple[str, int | None]]) -> tuple[Pool, ...]:
    return tuple(p if isinstance(p, Pool) else Pool(p[0], p[1], rank=rank) for rank, p in enumerate(given))


def _buffer(info: BufferInfo) -> Buffer:
    return Buffer(
        info.name_hint,
        info.size_bytes,
        info.alignment,
        live=None if info.live is None else tuple(info.live),
        pools=None if info.pool_candidates is None else tuple(info.pool_candidates),
        kind=info.kind,
        reads=info.reads,
        writes=info.writes,
    )


def _why(answer: Plan) -> Finding:
    if answer.status is PlanStatus.INFEASIBLE:
        shortage = answer.shortage
        text = "proven: no plan fits within the capacities" if shortage is None else shortage.message
        return Finding(Code.INFEASIBLE, "", text)
    reason = answer.stop.value.replace("_", " ")
    return Finding(Code.NO_PLAN_FOUND, "", f"neither a plan nor a proof that there is none was found ({reason})")
