"""When an operator's result can lie inside its source, or its sources inside its result, so that nothing is moved.

Each rule is a function from an operator, and what is known of its graph, to places (tensor, source, offset), or to the reason why not. The side
conditions are those of ExecuTorch's Cadence back end; that nothing is overwritten while it is needed is checked here besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from ..checks.report import quoted
from ..problem import BufferId, Interval
from .operators import Operator, OperatorKind, TensorKind
from .outcomes import Reason
from .places import Places

Join: TypeAlias = tuple[BufferId, BufferId, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule does not apply."""

    reason: Reason
    message: str


@dataclass(slots=True)
class Facts:
    """What rules look at."""

    places: Places
    live: Mapping[BufferId, Interval]
    last_write: Mapping[BufferId, int]
    """Of each mutable tensor that is written: the last step at which it is."""
    unplanned: frozenset[BufferId]
    """Tensors that are outside by what they are."""
    opt_level: int
    offset_multiple: int
    outside: set[BufferId] = field(default_factory=set)
    """Those, and views of them."""


def view_rule(operator: Operator, step: int, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A view, or a transfer that was waited for, lies where its source lies, in the plan or outside."""
    (source,), (result,) = operator.inputs, operator.outputs
    if result in facts.unplanned:
        return _not_planned(result)
    tensor = facts.places.tensor
    if tensor[result].bits != tensor[source].bits:
        return _refusal(Reason.SIZE_DIFFERS, f"{quoted(result)} and {quoted(source)} are not of the same size")
    if source in facts.outside:
        return ((result, source, 0),)
    return _overwritten((source,), step, facts) or _aligned(((result, source, 0),), facts)


def slice_rule(operator: Operator, step: int, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A contiguous slice, or one index, lies inside its source."""
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
    if offset + facts.places.tensor[result].bytes > tensor.bytes:
        return _refusal(Reason.SIZE_DIFFERS, f"{quoted(result)} would reach beyond {quoted(source)}")
    return _overwritten((source,), step, facts) or _aligned(((result, source, offset),), facts)


def concatenation_rule(operator: Operator, step: int, facts: Facts) -> tuple[Join, ...] | Refusal:
    """What is put together along the outermost dimension lies inside the whole, one behind the other without padding."""
    (result,) = operator.outputs
    tensors = facts.places.tensor
    if result in facts.unplanned:
        return _not_planned(result)
    dim = operator.dim % len(tensors[operator.inputs[0]].shape)
    for source in operator.inputs:
        if len(operator.inputs) > 1 and any(extent != 1 for extent in tensors[source].shape[:dim]):
            return _not_outermost(operator, tensors[source].shape[:dim])
    joins: list[Join] = []
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
        if any(facts.places.together(source, other) for other, _, _ in joins):
            return _refusal(Reason.SOURCE_TWICE, f"{quoted(source)} would have to be in two places")
        joins.append((source, result, bits // 8))
        bits += tensors[source].bits
    if bits != tensors[result].bits:
        return _refusal(Reason.SIZE_DIFFERS, f"the inputs do not add up to the size of {quoted(result)}")
    return _overwritten(operator.inputs, step, facts) or _aligned(joins, facts)


def in_place_rule(operator: Operator, step: int, facts: Facts) -> tuple[Join, ...] | Refusal:
    """A result takes the place of the first input if nobody needs that any more, nor anything that shares its bytes."""
    source, result = operator.inputs[0], operator.outputs[0]
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
    for other in places.meeting(source):
        if facts.live[other][1] > step + 1:
            return _refusal(Reason.STILL_NEEDED, f"{quoted(other)} is needed after the operator")
    if places.together(source, result):
        return _refusal(Reason.ALREADY_PLACED, f"{quoted(result)} and {quoted(source)} have their places already")
    for mine, theirs in places.clashes(result, source, facts.live):
        if mine == result and places.range(theirs) == places.range(source):
            continue  # read and written element by element
        reason = Reason.STILL_NEEDED if theirs in operator.inputs else Reason.ALREADY_PLACED
        return _refusal(reason, f"{quoted(mine)} would share bytes with {quoted(theirs)} while both are needed")
    return _aligned(((result, source, 0),), facts)


Rule: TypeAlias = Callable[[Operator, int, Facts], tuple[Join, ...] | Refusal]

PASSES: tuple[tuple[int, Mapping[OperatorKind, Rule]], ...] = (
    (0, {OperatorKind.VIEW: view_rule, OperatorKind.IDMA_WAIT: view_rule}),
    (2, {OperatorKind.SLICE: slice_rule, OperatorKind.SELECT: slice_rule}),
    (2, {OperatorKind.CONCATENATE: concatenation_rule}),
    (2, {OperatorKind.IN_PLACE: in_place_rule}),
)
"""In this order, each over the whole graph, with the least optimisation level of each: what comes first has the better claim to a place."""


def apply(operator: Operator, step: int, facts: Facts, rule: Rule, least: int) -> tuple[Join, ...] | Refusal:
    """The rule, applied if it can be."""
    if facts.opt_level < least:
        return _refusal(Reason.OPT_LEVEL, f"done from level {least} on, this is level {facts.opt_level}")
    found = rule(operator, step, facts)
    if not isinstance(found, Refusal):
        for tensor, source, offset in found:
            if source in facts.outside:
                facts.outside.add(tensor)
            else:
                facts.places.join(tensor, source, offset)
    return found


def _aligned(joins: Iterable[Join], facts: Facts) -> tuple[Join, ...] | Refusal:
    """The joins, if they leave every tensor at a multiple of its alignment from where its group begins."""
    joins = tuple(joins)
    misplaced = facts.places.misplaced(joins)
    if misplaced is None:
        return joins
    alignment = facts.places.tensor[misplaced].alignment
    return _refusal(Reason.MISALIGNED, f"{quoted(misplaced)} would not be at a multiple of its alignment {alignment}")


def _overwritten(sources: Iterable[BufferId], step: int, facts: Facts) -> Refusal | None:
    for source in sources:
        for other in facts.places.group(source):
            if facts.last_write.get(other, step) > step:
                text = (
                    f"{quoted(other)} is written at step {facts.last_write[other]}, and what shares its bytes with it"
                )
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
