"""What an ONNX operator does with memory: it computes elsewhere or, if requested, shares memory with its input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate

from ....graph.operators import Operator, OperatorKind, in_place
from .function import Value, Written
from .rules.layout import is_cut_by_data, slice_of
from .rules.site import Site
from .rules.table import IN_PLACE, VIEWS


def operators_of(
    site: Site, inputs: list[Value | None], outputs: list[Value], into: Written, *, share: bool
) -> Iterator[Operator]:
    """Return the node's steps, usually one."""
    read = into.used(inputs)
    made = into.used(outputs)
    name = site.node.name or site.node.outputs[0] or site.node.operator
    first = inputs[0] if inputs else None
    source = None if first is None or first.is_constant else into.use(first)
    shared = list(_in_place(site, source, made, read, first, outputs)) if share else []
    if not shared:
        yield Operator(OperatorKind.COMPUTE, read, made, name=name)
        return
    rest = tuple(id_ for id_ in dict.fromkeys(read) if all(id_ not in each.inputs for each in shared))
    if rest:  # sizes and positions are read too, so they are needed until here
        yield Operator(OperatorKind.COMPUTE, rest, (), name=name)
    for each in shared:
        yield replace(each, name=name)


def _in_place(
    site: Site,
    source: str | None,
    made: tuple[str, ...],
    read: tuple[str, ...],
    first: Value | None,
    outputs: list[Value],
) -> Iterator[Operator]:
    """Yield the operators; none if the result needs its own memory. `source`: the first input, unless it is a constant."""
    node = site.node
    if node.domain or first is None or _is_training(site):
        return
    if node.operator in IN_PLACE and len(made) == 1:
        alike = [id_ for id_ in read if _form(outputs[0], id_) == _form(outputs[0], made[0])]
        if alike:
            yield in_place(alike, read, made)
    elif source is None:
        return
    elif node.operator in VIEWS and len(made) == 1:
        yield Operator(OperatorKind.VIEW, (source,), made)
    elif node.operator == "Concat" and len(read) == len(node.inputs):
        yield Operator(OperatorKind.CONCATENATE, read, made, site.axis(len(first.type.shape), 1))
    elif node.operator == "Split" and len(made) == len(node.outputs):
        axis = site.axis(len(first.type.shape), 0)
        shapes = [_form(outputs[0], id_)[0] for id_ in (source, *made)]
        are_alike = len({(len(shape), shape[:axis], shape[axis + 1 :]) for shape in shapes}) == 1
        if not are_alike or sum(shape[axis] for shape in shapes[1:]) > shapes[0][axis]:
            return  # the file says shapes that do not fit each other
        for id_, start in zip(made, accumulate((shape[axis] for shape in shapes[1:-1]), initial=0), strict=True):
            yield Operator(OperatorKind.SLICE, (source,), (id_,), axis, start)
    elif node.operator == "Slice" and not is_cut_by_data(site):
        cuts, _ = slice_of(site)
        real = [cut for cut in cuts if cut[2] != first.type.shape[cut[0]] or cut[3] < 0]
        if len(real) == 1 and real[0][3] == 1 and isinstance(real[0][1], int):
            yield Operator(OperatorKind.SLICE, (source,), made, real[0][0], real[0][1])


def _is_training(site: Site) -> bool:
    """True of a Dropout that may drop, and of a BatchNormalization that looks at all before it writes."""
    node = site.node
    if node.operator == "BatchNormalization":
        return bool(site.number("training_mode", 0))
    if node.operator != "Dropout":
        return False
    if site.opset < 7:
        return not site.number("is_test", 0)
    mode = site.values[2] if site.has(2) else None
    return site.has(2) and (mode is None or bool(mode.any()))


def _form(of: Value, id_: str) -> tuple[tuple[int, ...], int]:
    tensor = of.owner.tensors[id_]
    return tensor.shape, tensor.element_bits
