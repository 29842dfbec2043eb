"""Checks that a network is sound: names, order, and shapes that follow from each other."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from math import prod
from typing import TypeAlias

from ...checks.report import Place, Report, bad_input, quoted
from ...checks.values import are_integers
from ...model.errors import Code
from ...model.problem import BufferId
from .operators import WITH_KERNEL, Kind, Network, Operator, Padding, Tensor
from .stripes.cutting import LONGEST, Cutting
from .windows import pads_of, reaches_of, strides_of

Fault: TypeAlias = tuple[Place, Code, str]
"""Where in an operator something is wrong, the kind of fault, and what it is."""

MOST_AXES = 8
MOST_ELEMENTS = 1 << 36
"""The most elements of a tensor, and the limit of all kernel parameters: results computed from them fit into 63 bits."""

MOST_OPERATORS = 4_000
MOST_READS = 40_000
"""The most inputs of all operators together."""
LONGEST_ID = 200
"""The longest id of a tensor or operator, from which names of buffers are made."""
MOST_INPUTS = 256
"""The most inputs of one operator."""
MOST_IN_BLOCK = 4096
"""The most elements that the hardware works on at once."""


def require_sound_network(network: Network) -> None:
    """Raise BadInput unless the network is sound."""
    report = Report()
    if not 1 <= len(network.operators) <= MOST_OPERATORS:
        code = Code.TOO_LARGE if network.operators else Code.INVALID_VALUE
        raise bad_input(code, ("operators",), f"there must be 1 to {MOST_OPERATORS} operators")
    if sum(len(operator.inputs) for operator in network.operators) > MOST_READS:
        raise bad_input(Code.TOO_LARGE, ("operators",), f"operators have more than {MOST_READS} inputs together")
    tensors: dict[BufferId, Tensor] = {}
    for t, tensor in enumerate(network.tensors):
        if tensor.id in tensors:
            report.add(Code.DUPLICATE_ID, ("tensors", t, "id"), f"there are two tensors {quoted(tensor.id)}")
        if len(str(tensor.id)) > LONGEST_ID:
            report.add(Code.OUT_OF_RANGE, ("tensors", t, "id"), f"must have {LONGEST_ID} characters at most")
        tensors[tensor.id] = tensor
        _check_size(tensor, ("tensors", t, "shape"), report)
    if not 1 <= network.channels_multiple <= MOST_IN_BLOCK:
        report.add(Code.OUT_OF_RANGE, ("channels_multiple",), f"must be from 1 to {MOST_IN_BLOCK}")
    _check_names(network, tensors, report)
    report.raise_if_any()
    for i, operator in enumerate(network.operators):
        inputs = [tensors[each] for each in operator.inputs]
        for place, code, text in _faults(operator, inputs, tensors[operator.output]):
            report.add(code, ("operators", i, *place), text)
    report.raise_if_any()


def require_sound_cutting(cutting: Cutting, network: Network, field: str = "stripes") -> None:
    """Raise BadInput unless the limits of cutting are sound."""
    report = Report()
    most = max(len(tensor.shape) for tensor in network.tensors)
    for j, axis in enumerate(cutting.axes or ()):
        if not -most <= axis < most:
            text = f"must be from {-most} to {most - 1}, since no tensor has more than {most} axes, not {axis}"
            report.add(Code.OUT_OF_RANGE, (field, "axes", j), text)
    if not 1 <= cutting.most_axes <= MOST_AXES:
        report.add(Code.OUT_OF_RANGE, (field, "most_axes"), f"must be from 1 to {MOST_AXES}")
    if len(cutting.blocks) > MOST_AXES or min(cutting.blocks, default=1) < 1 or prod(cutting.blocks) > MOST_IN_BLOCK:
        text = f"must be numbers from 1 on, {MOST_AXES} at most, whose product is {MOST_IN_BLOCK} at most"
        report.add(Code.OUT_OF_RANGE, (field, "blocks"), text)
    if not 1 <= cutting.longest <= LONGEST:
        report.add(Code.OUT_OF_RANGE, (field, "longest"), f"must be from 1 to {LONGEST}")
    report.raise_if_any()


def _check_size(tensor: Tensor, place: Place, report: Report) -> None:
    if not are_integers(tensor.shape) or not are_integers((tensor.element_bits,)):
        report.add(Code.WRONG_TYPE, place, "dimensions and bits must be integers")
    elif not 1 <= len(tensor.shape) <= MOST_AXES:
        report.add(Code.INVALID_VALUE, place, f"must have 1 to {MOST_AXES} axes")
    elif min(tensor.shape) < 1:
        report.add(Code.OUT_OF_RANGE, place, "is empty: each axis must have an element at least")
    elif prod(tensor.shape) * tensor.element_bits > MOST_ELEMENTS:
        report.add(Code.TOO_LARGE, place, "has more than 2^36 bits")


def _check_names(network: Network, tensors: dict[BufferId, Tensor], report: Report) -> None:
    made: set[BufferId] = set()
    produced = {operator.output for operator in network.operators}
    names: set[str] = set()
    for i, operator in enumerate(network.operators):
        place: Place = ("operators", i)
        if not isinstance(operator.kind, Kind):
            report.add(Code.WRONG_TYPE, (*place, "kind"), f"must be a Kind, not {quoted(operator.kind)}")
        if operator.name is not None:
            if not 1 <= len(operator.name) <= LONGEST_ID:
                report.add(Code.OUT_OF_RANGE, (*place, "name"), f"must have 1 to {LONGEST_ID} characters")
            if operator.name in names:
                report.add(Code.DUPLICATE_ID, (*place, "name"), f"there are two operators {quoted(operator.name)}")
            names.add(operator.name)
        if len(operator.inputs) > MOST_INPUTS:
            report.add(Code.TOO_LARGE, (*place, "inputs"), f"must be {MOST_INPUTS} at most")
        _check_order(operator, tensors, made, produced, place, report)
        made.add(operator.output)


def _check_order(
    operator: Operator,
    tensors: Container[BufferId],
    made: Container[BufferId],
    produced: Container[BufferId],
    place: Place,
    report: Report,
) -> None:
    """Report inputs that no operator before makes, though one behind does, and an output that one before makes."""
    for k, each in enumerate(operator.inputs):
        if each not in tensors:
            report.add(Code.UNKNOWN_BUFFER, (*place, "inputs", k), f"there is no tensor {quoted(each)}")
        elif each in produced and each not in made:
            text = f"{quoted(each)} is read before it is made; operators stand in the order in which they run"
            report.add(Code.CONTRADICTION, (*place, "inputs", k), text)
    if operator.output not in tensors:
        report.add(Code.UNKNOWN_BUFFER, (*place, "output"), f"there is no tensor {quoted(operator.output)}")
    elif operator.output in made:
        text = f"{quoted(operator.output)} is made by an operator before"
        report.add(Code.CONTRADICTION, (*place, "output"), text)


def _faults(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> list[Fault]:
    """Return what is wrong with an operator. Where something is wrong, what relies on it is not looked at."""
    faults = [*_input_faults(operator, inputs, output)]
    if faults:
        return faults
    if not 0 <= operator.constants <= MOST_ELEMENTS:
        faults.append((("constants",), Code.OUT_OF_RANGE, "must be from 0 to 2^36 bytes"))
    of_kernel = _kernel_faults(operator, inputs[0]) if operator.kind in WITH_KERNEL else _kernel_of_none(operator)
    return faults + ([*of_kernel] or [*_axis_faults(operator, output)] or [*_shape_faults(operator, inputs, output)])


def _input_faults(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> Iterator[Fault]:
    match operator.kind:
        case Kind.ELEMENTWISE | Kind.CONCATENATE:
            most, says = MOST_INPUTS, "an input at least"
        case Kind.MATRIX_PRODUCT:
            most, says = 2, "one or two inputs"
        case _:
            most, says = 1, "one input"
    if not 1 <= len(inputs) <= most:
        yield ("inputs",), Code.INVALID_VALUE, f"a {operator.kind.value} has {says}, not {len(inputs)}"
        return
    for k, each in enumerate(inputs):
        if len(each.shape) != len(output.shape):
            text = f"{quoted(each.id)} has {len(each.shape)} axes, and {quoted(output.id)} has {len(output.shape)}"
            yield ("inputs", k), Code.CONTRADICTION, text
            return


def _kernel_of_none(operator: Operator) -> Iterator[Fault]:
    """Yield a field that only operators with a kernel have."""
    for field in ("kernel", "stride", "dilation"):
        if getattr(operator, field):
            yield (field,), Code.UNKNOWN_FIELD, f"a {operator.kind.value} has no {field}"
            return
    if operator.padding is not Padding.VALID:
        yield ("padding",), Code.UNKNOWN_FIELD, f"a {operator.kind.value} has no padding"


def _axis_faults(operator: Operator, output: Tensor) -> Iterator[Fault]:
    axes = len(output.shape)
    if operator.kind is Kind.MATRIX_PRODUCT and axes < 2:
        yield ("output",), Code.CONTRADICTION, "a matrix has two axes at least"
    if operator.kind is Kind.CONCATENATE and not -axes <= operator.dim < axes:
        yield ("dim",), Code.OUT_OF_RANGE, f"there are {axes} axes"


def _kernel_faults(operator: Operator, given: Tensor) -> Iterator[Fault]:
    axes = len(operator.kernel)
    if not 1 <= axes < len(given.shape):
        text = f"{quoted(given.id)} has {len(given.shape)} axes, of which the last are channels: a kernel has 1 to {len(given.shape) - 1}"
        yield ("kernel",), Code.INVALID_VALUE, text
        return
    for field in ("kernel", "stride", "dilation"):
        value: tuple[int, ...] | None = getattr(operator, field)
        if value is None:
            continue
        if not are_integers(value):
            yield (field,), Code.WRONG_TYPE, "must be integers"
        elif len(value) != axes:
            yield (field,), Code.INVALID_VALUE, f"has {len(value)} numbers, and the kernel has {axes} axes"
        elif not all(1 <= each <= MOST_ELEMENTS for each in value):
            yield (field,), Code.OUT_OF_RANGE, "must be from 1 to 2^36"
    if not isinstance(operator.padding, Padding):
        if len(operator.padding) != axes:
            yield ("padding",), Code.INVALID_VALUE, f"has {len(operator.padding)} pairs, and the kernel has {axes} axes"
        elif not all(0 <= each <= MOST_ELEMENTS for pair in operator.padding for each in pair):
            yield ("padding",), Code.OUT_OF_RANGE, "must be from 0 to 2^36"


def _shape_faults(operator: Operator, inputs: Sequence[Tensor], output: Tensor) -> Iterator[Fault]:
    """Yield where the output's shape is not what the operator makes of its inputs."""
    match operator.kind:
        case Kind.ELEMENTWISE:
            for k, each in enumerate(inputs):
                if any(a not in (1, b) for a, b in zip(each.shape, output.shape, strict=True)):
                    text = f"{quoted(each.id)} is {list(each.shape)}, and {quoted(output.id)} is {list(output.shape)}"
                    yield ("inputs", k), Code.CONTRADICTION, text
            made = tuple(max(each) for each in zip(*(given.shape for given in inputs), strict=True))
        case Kind.CONCATENATE:
            along = operator.dim % len(output.shape)
            for k, each in enumerate(inputs):
                if _without(each.shape, along) != _without(output.shape, along):
                    text = f"{quoted(each.id)} is {list(each.shape)}, and {quoted(output.id)} is {list(output.shape)}"
                    yield ("inputs", k), Code.CONTRADICTION, text
            total = sum(given.shape[along] for given in inputs)
            made = (*output.shape[:along], total, *output.shape[along + 1 :])
        case Kind.MATRIX_PRODUCT:
            rows = inputs[0].shape[:-1]
            made = (*rows, output.shape[-1])
            if len(inputs) > 1:
                other = inputs[1].shape
                if (*other[:-2], other[-2]) != (*rows[:-1], inputs[0].shape[-1]):
                    text = f"{quoted(inputs[1].id)} is {list(other)}, and {quoted(inputs[0].id)} is {list(inputs[0].shape)}"
                    yield ("inputs", 1), Code.CONTRADICTION, text
                    return
                made = (*rows, other[-1])
        case _:
            given = inputs[0].shape
            spatial = given[-1 - len(operator.kernel) : -1]
            padded = [n + sum(pad) for n, pad in zip(spatial, pads_of(operator, given), strict=True)]
            for k, (extent, reach) in enumerate(zip(padded, reaches_of(operator), strict=True)):
                if reach > extent:
                    text = (
                        f"reaches over {reach} elements, and there are {extent} with the padding: the output is empty"
                    )
                    yield ("kernel", k), Code.CONTRADICTION, text
                    return
            steps = zip(padded, reaches_of(operator), strides_of(operator), strict=True)
            windows = ((extent - reach) // stride + 1 for extent, reach, stride in steps)
            made = (*given[: -1 - len(spatial)], *windows, _channels(operator, given[-1], output.shape[-1]))
    if made != output.shape:
        text = f"a {operator.kind.value} of these makes {list(made)}, and {quoted(output.id)} is {list(output.shape)}"
        yield ("output",), Code.CONTRADICTION, text


def _channels(operator: Operator, given: int, stated: int) -> int:
    """Return how many channels the output has: what is stated where the operator may make as many."""
    if operator.kind is Kind.CONVOLUTION or (operator.kind is Kind.DEPTHWISE and stated % given == 0):
        return stated
    return given


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])
