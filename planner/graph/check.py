"""Checks of a graph: names, order of writing and reading, shapes, and what each kind of operator needs."""

from __future__ import annotations

from math import prod

from ..checks.limits import MAX_ADDRESS
from ..checks.report import Place, Report, quoted
from ..errors import Code
from ..problem import BufferId
from .operators import Graph, Operator, OperatorKind, Tensor, TensorKind

_ARITIES = {
    OperatorKind.VIEW: (1, 1),
    OperatorKind.SLICE: (1, 1),
    OperatorKind.SELECT: (1, 1),
    OperatorKind.CONCATENATE: (None, 1),
    OperatorKind.IN_PLACE: (None, 1),
    OperatorKind.IDMA_LOAD: (1, 1),
    OperatorKind.IDMA_STORE: (1, 1),
    OperatorKind.IDMA_WAIT: (1, 1),
}
"""How many inputs and outputs; None: at least one."""

MAX_BITS = 4096
"""Of an element: wider than any vector type."""


def require_sound_graph(graph: Graph) -> None:
    """Raises BadInput if anything is wrong with the graph."""
    report = Report()
    tensors = _tensors(graph, report)
    for i, operator in enumerate(graph.operators):
        _names(operator, ("operators", i), tensors, report)
    report.raise_if_any()
    _order(graph, tensors, report)
    for i, operator in enumerate(graph.operators):
        _arity(operator, ("operators", i), report)
    report.raise_if_any()
    for i, operator in enumerate(graph.operators):
        _parameters(operator, ("operators", i), tensors, report)
    report.raise_if_any()


def _tensors(graph: Graph, report: Report) -> dict[BufferId, Tensor]:
    found: dict[BufferId, Tensor] = {}
    for i, tensor in enumerate(graph.tensors):
        place: Place = ("tensors", i)
        if (type(tensor.id) is not int and type(tensor.id) is not str) or tensor.id == "":
            report.add(Code.WRONG_TYPE, (*place, "id"), "an id must be an integer or a string that is not empty")
        elif tensor.id in found:
            report.add(Code.DUPLICATE_ID, (*place, "id"), f"there is another tensor {quoted(tensor.id)}")
        found[tensor.id] = tensor
        if min(tensor.shape, default=0) < 0:
            report.add(Code.OUT_OF_RANGE, (*place, "shape"), "no dimension may be below 0")
        elif prod(tensor.shape) * max(tensor.element_bits, 1) > MAX_ADDRESS:
            report.add(Code.TOO_LARGE, (*place, "shape"), "the tensor has more than 2^62 bits")
        if not 1 <= tensor.element_bits <= MAX_BITS:
            text = f"must be from 1 to {MAX_BITS}, not {quoted(tensor.element_bits)}"
            report.add(Code.OUT_OF_RANGE, (*place, "element_bits"), text)
        if not 1 <= tensor.alignment <= MAX_ADDRESS:
            text = f"must be from 1 to 2^62, not {quoted(tensor.alignment)}"
            report.add(Code.OUT_OF_RANGE, (*place, "alignment"), text)
    return found


def _names(operator: Operator, place: Place, tensors: dict[BufferId, Tensor], report: Report) -> None:
    for field, names in (("inputs", operator.inputs), ("outputs", operator.outputs)):
        for j, name in enumerate(names):
            if name not in tensors:
                report.add(Code.UNKNOWN_BUFFER, (*place, field, j), f"there is no tensor {quoted(name)}")


def _order(graph: Graph, tensors: dict[BufferId, Tensor], report: Report) -> None:
    """Everything is written once, before it is read; but for mutable tensors, which are there from the beginning."""
    given = {t.id for t in graph.tensors if t.kind is not TensorKind.INTERMEDIATE}
    written = set(given)
    for i, operator in enumerate(graph.operators):
        for j, name in enumerate(operator.inputs):
            if name not in written:
                text = f"tensor {quoted(name)} is read before anything writes it"
                report.add(Code.CONTRADICTION, ("operators", i, "inputs", j), text)
        for j, name in enumerate(operator.outputs):
            kind = tensors[name].kind
            if name in written and kind is not TensorKind.MUTABLE:
                what = "written twice" if kind is TensorKind.INTERMEDIATE else f"{kind.value}, and must not be written"
                text = f"tensor {quoted(name)} is {what}"
                report.add(Code.CONTRADICTION, ("operators", i, "outputs", j), text)
            written.add(name)
    for i, tensor in enumerate(graph.tensors):
        if tensor.id not in written:
            report.add(Code.CONTRADICTION, ("tensors", i), f"nothing writes tensor {quoted(tensor.id)}")


def _arity(operator: Operator, place: Place, report: Report) -> None:
    wanted = _ARITIES.get(operator.kind, (None, None))
    if operator.kind is OperatorKind.COMPUTE:
        return
    for field, names, count in zip(("inputs", "outputs"), (operator.inputs, operator.outputs), wanted, strict=True):
        if len(names) != count if count is not None else not names:
            text = f"{operator.kind.value} takes {'at least one' if count is None else 'exactly one'}, not {len(names)}"
            report.add(Code.INVALID_VALUE, (*place, field), text)


def _parameters(operator: Operator, place: Place, tensors: dict[BufferId, Tensor], report: Report) -> None:
    if operator.kind not in (OperatorKind.SLICE, OperatorKind.SELECT, OperatorKind.CONCATENATE):
        return
    shape = tensors[operator.inputs[0]].shape
    if not -len(shape) <= operator.dim < len(shape):
        text = f"there is no dimension {operator.dim}: the first input has {len(shape)}"
        report.add(Code.OUT_OF_RANGE, (*place, "dim"), text)
        return
    if operator.kind is OperatorKind.CONCATENATE:
        for j, name in enumerate(operator.inputs):
            if len(tensors[name].shape) != len(shape):
                text = f"has {len(tensors[name].shape)} dimensions, the first input {len(shape)}"
                report.add(Code.INVALID_VALUE, (*place, "inputs", j), text)
        return
    # An empty slice may begin at the very end.
    most = shape[operator.dim] - (operator.kind is OperatorKind.SELECT)
    if not -shape[operator.dim] <= operator.start <= most:
        text = f"dimension {operator.dim} has {shape[operator.dim]} indices, there is none {operator.start}"
        report.add(Code.OUT_OF_RANGE, (*place, "start"), text)
    if operator.step < 1:
        report.add(Code.OUT_OF_RANGE, (*place, "step"), f"must be 1 or more, not {operator.step}")
