"""When an operator's result can lie inside its source, or its sources inside its result, so that nothing is moved.

Each rule is a function from an operator and its graph's facts to places (tensor, source, offset), or to the reason for refusing. The side
conditions are those of ExecuTorch's Cadence back end; a further check makes sure that nothing is overwritten while needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from ...checks.report import quoted
from ...model.deadline import PREPARING, tick
from ...model.problem import BufferId
from ..operators import Operator, OperatorKind, TensorKind
from ..outcomes import Reason
from ..running.events import Writes
from ..running.liveness import Life
from ..running.nodes import Step
from .places import THERE_FIRST, Places

Join: TypeAlias = tuple[BufferId, BufferId, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a rule does not apply."""

    reason: Reason
    message: str


@dataclass(slots=True)
class Facts:
    """What rules may consult."""

    places: Places
    lives: Mapping[BufferId, Life]
    writes: Writes
    """An applied step writes nothing."""
    rewritten: Set[BufferId]
    """Tensors that several steps write."""
    unplanned: frozenset[BufferId]
    """Tensors outside the plan by their kind."""
    opt_level: int
    offset_multiple: int
    outside: set[BufferId] = field(default_factory=set)
    """These, and views of them."""


def view_rule(step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A view, or an awaited transfer, lies at its source, inside the plan or outside."""
    operator = step.operator
    (source,), (result,) = operator.inputs, operator.outputs
    if result in facts.unplanned:
        return _not_planned(result)
    tensor = facts.places.tensor
    if tensor[result].bits != tensor[source].bits:
        return _refusal(Reason.SIZE_DIFFERS, f"{quoted(result)} and {quoted(source)} are not of the same size")
    if source in facts.outside:
        if result in facts.rewritten or tensor[result].kind is not TensorKind.INTERMEDIATE:
            return _source_outside(source)  # it also has another value
        return _overwritten(((result, source, 0),), step, facts) or ((result, source, 0),)
    return _kept(((result, source, 0),), step, facts)


def slice_rule(step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A contiguous slice, or one index, lies inside its source."""
    operator = step.operator
    (source,), (result,) = operator.inputs, operator.outputs
    if result in facts.unplanned:
        return _not_planned(result)
    if source in facts.outside:
        return _source_outside(source)
    tensor = facts.places.tensor[source]
    dim = operator.dim % len(tensor.shape)
    if any(extent > 1 for extent in tensor.shape[:dim]):
        return _not_outermost(operator, tensor.shape[:dim])
    if operator.kind is OperatorKind.SLICE and operator.step != 1:
        return _refusal(Reason.STEP, f"a step of {operator.step} leaves gaps")
    start = operator.start + (tensor.shape[dim] if operator.start < 0 else 0)
    bits = start * prod(tensor.shape[:dim] + tensor.shape[dim + 1 :]) * tensor.element_bits
    if bits % 8:
        return _refusal(Reason.PARTIAL_BYTES, f"{quoted(result)} would begin within a byte")
    offset = bits // 8
    given_back = facts.places.tensor[result].is_output
    if offset % facts.offset_multiple and not given_back:
        return _odd_offset(result, offset, facts)
    return _kept(((result, source, offset),), step, facts)


def concatenation_rule(step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """The inputs lie in the result one behind the other without padding, if joined along the outermost dimension."""
    operator = step.operator
    (result,) = operator.outputs
    tensors = facts.places.tensor
    if result in facts.unplanned:
        return _not_planned(result)
    dim = operator.dim % len(tensors[operator.inputs[0]].shape)
    for source in operator.inputs:
        if len(operator.inputs) > 1 and any(extent != 1 for extent in tensors[source].shape[:dim]):
            return _not_outermost(operator, tensors[source].shape[:dim])
    joins: list[Join] = []
    seen: set[int] = set()
    """The groups of the inputs so far, by identity."""
    bits = 0
    for source in operator.inputs:
        if source in facts.outside:
            return _source_outside(source)
        if not facts.places.fills_its_group(source):
            return _refusal(Reason.ALREADY_PLACED, f"{quoted(source)} lies inside another tensor already")
        if bits % 8:
            return _refusal(Reason.PARTIAL_BYTES, f"{quoted(source)} would begin within a byte")
        free = tensors[result].is_output or tensors[source].kind in (TensorKind.INPUT, TensorKind.MUTABLE)
        if bits // 8 % facts.offset_multiple and not free:
            return _odd_offset(source, bits // 8, facts)
        group = id(facts.places.group_of(source))
        if group in seen:
            return _refusal(Reason.SOURCE_TWICE, f"{quoted(source)} would have to be in two places")
        seen.add(group)
        joins.append((source, result, bits // 8))
        bits += tensors[source].bits
    if bits != tensors[result].bits:
        return _refusal(Reason.SIZE_DIFFERS, f"the inputs do not add up to the size of {quoted(result)}")
    return _kept(joins, step, facts)


def in_place_rule(step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A result replaces the first input that allows it, of those over which it may lie; otherwise the first says why not."""
    tried = (_over(source, step, facts) for source in step.operator.inputs[: step.operator.over])
    first = next(tried)
    if not isinstance(first, Refusal):
        return first
    return next((found for found in tried if not isinstance(found, Refusal)), first)


def _over(source: BufferId, step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A result replaces an input if neither it nor anything that shares its bytes is needed any more."""
    operator = step.operator
    (result,) = operator.outputs
    if source == result:
        return ()
    if result in facts.unplanned:
        return _not_planned(result)
    if source in facts.outside:
        return _source_outside(source)
    places = facts.places
    old, new = places.tensor[source], places.tensor[result]
    if (old.bits, old.element_bits) != (new.bits, new.element_bits):
        return _refusal(Reason.SIZE_DIFFERS, f"{quoted(result)} and {quoted(source)} are not alike element by element")
    read_anyhow = {*operator.inputs[operator.over :]}.difference(operator.inputs[: operator.over])
    for other in places.meeting(source, step.ticks):
        if other in read_anyhow:
            text = f"{quoted(other)} shares bytes with {quoted(source)}, and the result may not lie over it"
            return _refusal(Reason.STILL_NEEDED, text)
        if any(facts.lives[other].is_needed_after(tick) for tick in step.ticks):
            return _refusal(Reason.STILL_NEEDED, f"{quoted(other)} is needed after the operator")
    if places.together(source, result):
        return _refusal(Reason.ALREADY_PLACED, f"{quoted(result)} and {quoted(source)} have their places already")
    # Read and written element by element: only these two may meet while the operator runs.
    for mine, theirs in places.clashes(result, source, step.ticks):
        reason = Reason.STILL_NEEDED if theirs in operator.inputs else Reason.ALREADY_PLACED
        return _refusal(reason, f"{quoted(mine)} would share bytes with {quoted(theirs)} while both are needed")
    return _aligned(((result, source, 0),), facts)


def copy_rule(step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A copy lies at its source if that makes no difference."""
    operator = step.operator
    (source,), (result,) = operator.inputs, operator.outputs
    if facts.places.together(source, result):
        if facts.places.range(source) == facts.places.range(result):
            return ()
        return _refusal(Reason.ALREADY_PLACED, f"{quoted(result)} and {quoted(source)} have their places already")
    if source in facts.outside:
        return _source_outside(source)
    return view_rule(step, facts)


Rule: TypeAlias = Callable[[Step, Facts], tuple[Join, ...] | Refusal]

PASSES: tuple[tuple[int, Mapping[OperatorKind, Rule]], ...] = (
    (0, {OperatorKind.VIEW: view_rule, OperatorKind.IDMA_WAIT: view_rule}),
    (2, {OperatorKind.SLICE: slice_rule, OperatorKind.SELECT: slice_rule}),
    (2, {OperatorKind.CONCATENATE: concatenation_rule}),
    (2, {OperatorKind.IN_PLACE: in_place_rule}),
    (2, {OperatorKind.COPY: copy_rule}),
)
"""Each pass runs over the whole graph from its optimisation level on; earlier passes have the better claim to a place."""


def apply(step: Step, facts: Facts, rule: Rule, least: int) -> tuple[Join, ...] | Refusal:
    """Apply the rule if possible."""
    if facts.opt_level < least:
        return _refusal(Reason.OPT_LEVEL, f"done from level {least} on, this is level {facts.opt_level}")
    found = rule(step, facts)
    if not isinstance(found, Refusal):
        if step.kind is not OperatorKind.IN_PLACE:
            for result in step.operator.outputs:
                facts.writes[result] = _without(facts.writes[result], step.ticks)
                if not is_ever_written(result, facts):
                    facts.places.forget_written(result)
        for tensor, source, offset in found:
            if source in facts.outside:
                facts.outside.add(tensor)
            facts.places.join(tensor, source, offset, is_aligned=source not in facts.outside)
    return found


def _without(ticks: tuple[int, ...], others: Sequence[int]) -> tuple[int, ...]:
    """Return the ticks that are not among the others."""
    left = set(others)
    return tuple(tick for tick in ticks if tick not in left)


def _aligned(joins: Iterable[Join], facts: Facts) -> tuple[Join, ...] | Refusal:
    """Return the joins, if they keep every tensor aligned within its group, and some pool may hold each group."""
    joins = tuple(joins)
    misplaced = facts.places.misplaced(joins)
    if misplaced is None:
        apart = facts.places.without_common_pool(joins)
        if apart is None:
            return joins
        return _refusal(Reason.NO_COMMON_POOL, f"no pool may hold {quoted(apart)} and what it would lie in")
    alignment = facts.places.tensor[misplaced].alignment
    return _refusal(Reason.MISALIGNED, f"{quoted(misplaced)} would not be at a multiple of its alignment {alignment}")


def _kept(joins: Iterable[Join], step: Step, facts: Facts) -> tuple[Join, ...] | Refusal:
    """Return the joins, if nothing that would share bytes is overwritten, and every tensor stays aligned and in an allowed pool."""
    joins = tuple(joins)
    return _overwritten(joins, step, facts) or _aligned(joins, facts)


def is_ever_written(id_: BufferId, facts: Facts) -> bool:
    """True if the tensor is ever written."""
    return facts.places.tensor[id_].kind in THERE_FIRST or bool(facts.writes[id_])


def _overwritten(joins: Iterable[Join], step: Step, facts: Facts) -> Refusal | None:
    """Return why data would be lost: one of two that would share bytes is written by another step while the other is needed."""
    places, made = facts.places, frozenset(step.operator.outputs)

    def ticks(id_: BufferId) -> tuple[int, ...]:
        return _without(facts.writes[id_], step.ticks) if id_ in made else facts.writes[id_]

    for tensor, source, offset in joins:
        if places.together(tensor, source):
            if places.offset(tensor, source) == offset:
                continue
            text = f"{quoted(tensor)} and {quoted(source)} have their places already"
            return _refusal(Reason.ALREADY_PLACED, text)
        for mine, theirs in places.given_together(tensor, source, offset):
            text = f"{quoted(mine)} and {quoted(theirs)} are both there from the beginning"
            return _refusal(Reason.OVERWRITTEN, text)
        for written, kept in places.written_while_needed(tensor, source, offset, ticks):
            tick(PREPARING, len(facts.writes[written]) + 1)
            at = min(filter(facts.lives[kept].is_needed_at, ticks(written)), default=None)
            if at is not None:
                text = f"{quoted(written)} is written at step {at}, while {quoted(kept)} is needed"
                return _refusal(Reason.OVERWRITTEN, text)
    return None


def _refusal(reason: Reason, message: str) -> Refusal:
    return Refusal(reason, message)


def _not_planned(result: BufferId) -> Refusal:
    return Refusal(Reason.RESULT_NOT_PLANNED, f"the caller provides {quoted(result)}")


def _source_outside(source: BufferId) -> Refusal:
    return Refusal(Reason.SOURCE_NOT_PLANNED, f"{quoted(source)} is not in the plan")


def _not_outermost(operator: Operator, before: tuple[int, ...]) -> Refusal:
    shown = ", ".join(map(str, before))
    return Refusal(Reason.NOT_OUTERMOST, f"dimension {operator.dim} is not the outermost: before it are {shown}")


def _odd_offset(tensor: BufferId, offset: int, facts: Facts) -> Refusal:
    text = f"{quoted(tensor)} would be at {offset}, no multiple of {facts.offset_multiple}"
    return Refusal(Reason.MISALIGNED, text)
