"""One call for compilers: pools and buffers in, (tensor, pool, offset) out.

This is the interface `PlanMemory(pools, function)` that the TVM forum's thread on a global memory planner asks for. In place of the function it
takes a list of buffers with sizes and lifetimes or conflicts, from any intermediate representation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeGuard

from ...checks.declared.types import kind_of
from ...checks.pairs import from_lists
from ...checks.report import Report
from ...facts.figures import common_ends
from ...model.errors import Code, Finding, NoPlan
from ...model.plan import Plan, PlanStatus
from ...model.problem import Buffer, BufferId, Constraints, Interval, Pool, Problem
from ..options.options import Options
from ..placing.solving import plan
from .replanning.exact import are_exact
from .replanning.same_buffers import values_of, values_of_all


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


EVERYTHING = attrgetter(*BufferInfo.__dataclass_fields__)
RELATIONS = attrgetter("name_hint", "conflicts")


class TensorPlacement(NamedTuple):
    """Where one tensor lies."""

    tensor_id: BufferId
    pool_name: str
    pool_offset: int


PLACE = attrgetter("id", "pool", "offset")
AS_TENSOR: Callable[[Iterable[Any]], TensorPlacement] = partial(tuple.__new__, TensorPlacement)
"""Makes one of its three values, in half the time of a call."""


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
    return [*map(AS_TENSOR, map(PLACE, answer.placements))]


def problem_of(
    pools: Iterable[Pool | tuple[str, int | None]],
    buffers: Iterable[Buffer | BufferInfo],
    memory: InfoMemory | None = None,
) -> Problem:
    """Return the Problem with these pools and buffers. Raises BadInput for unknown tensor names."""
    given = tuple(buffers)
    if _are_buffers(given):
        return Problem(given, _pools(pools))
    if memory is not None:
        made, constraints = memory.read(given)
    else:
        made, constraints = tuple(b if isinstance(b, Buffer) else _buffer(b) for b in given), _constraints(given)
    return Problem(made, _pools(pools), constraints)


def _are_buffers(given: tuple[Buffer | BufferInfo, ...]) -> TypeGuard[tuple[Buffer, ...]]:
    return all(issubclass(kind, Buffer) for kind in {*map(type, given)})


class InfoMemory:
    """What the last call's tensors became: those that are given again, or others with the same values, are not read again."""

    def __init__(self) -> None:
        self._last = _Given((), [], Constraints(), can_change=False)

    def read(self, given: tuple[Buffer | BufferInfo, ...]) -> tuple[tuple[Buffer, ...], Constraints]:
        """Return the buffers, and the conflicts of those that are no Buffers. Raises BadInput for unknown tensor names.

        Raises TypeError if a tensor contains what is of another type than declared.
        """
        last = self._last
        first, alike = (0, 0) if last.can_change else common_ends(given, last.given)
        some, end = given[first : len(given) - alike], len(last.given) - alike
        before, were = last.given[first:end], last.read[first:end]
        same = {id(each): was for each, was in zip(before, were, strict=True) if was.values}
        equal = {was.values: was for was in same.values()}
        known = [*map(same.get, map(id, some))]
        if not any(known) and {*map(type, some)} == {BufferInfo}:
            known = [*map(equal.get, values_of_all(some, EVERYTHING))]
        read = [was or _read(each, equal) for was, each in zip(known, some, strict=True)]
        constraints = last.constraints if _conflict_alike(some, read, before, were) else _constraints(given)
        can_change = not all(map(VALUES, read))
        if can_change:
            _require_types([each for each, was in zip(some, read, strict=True) if not was.values])
        read = [*last.read[:first], *read, *last.read[end:]]
        self._last = _Given(given, read, constraints, can_change)
        return (*map(BUFFER, read),), constraints


class _Given(NamedTuple):
    """What a call was given, and what it became."""

    given: tuple[Buffer | BufferInfo, ...]
    read: list[_Read]
    constraints: Constraints
    can_change: bool
    """True if somebody could change a tensor."""


class _Read(NamedTuple):
    """What a tensor became."""

    values: bytes
    """All values of the tensor; none if some are not of known types, or if it is a Buffer."""
    buffer: Buffer


VALUES, BUFFER = attrgetter("values"), attrgetter("buffer")


def _read(given: Buffer | BufferInfo, equal: Mapping[bytes, _Read]) -> _Read:
    if isinstance(given, Buffer):
        return _Read(b"", given)
    values = values_of(given, EVERYTHING) if type(given) is BufferInfo else b""
    return equal.get(values) or _Read(values if are_exact((given,)) else b"", _buffer(given))


def _conflict_alike(
    given: Sequence[Buffer | BufferInfo],
    read: Sequence[_Read],
    before: Sequence[Buffer | BufferInfo],
    were: Sequence[_Read],
) -> bool:
    """True if the tensors have the names and conflicts of those before, in their order."""
    return len(read) == len(were) and all(
        now is was or (now.values and was.values and values_of(one, RELATIONS) == values_of(other, RELATIONS))
        for now, was, one, other in zip(read, were, given, before, strict=True)
    )


def _constraints(given: Sequence[Buffer | BufferInfo]) -> Constraints:
    report = Report()
    lists = [(b.id, ()) if isinstance(b, Buffer) else (b.name_hint, b.conflicts) for b in given]
    constraints = from_lists(lists, report)
    report.raise_if_any()
    return constraints


def _require_types(given: Sequence[Buffer | BufferInfo]) -> None:
    tensors = [each for each in given if not isinstance(each, Buffer)]
    if not kind_of(BufferInfo).holds(tensors, set()):
        raise TypeError("a tensor contains what is of another type than declared")


def _pools(given: Iterable[Pool | tuple[str, int | None]]) -> tuple[Pool, ...]:
    return tuple(p if isinstance(p, Pool) else _pool(*p, rank) for rank, p in enumerate(given))


def _pool(name: str, size: int | None, rank: int) -> Pool:
    return Pool(name, size, rank=rank)


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
