"""Replaces tuples by the tensors that they hold, so that later steps need not know tuples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from ...model.deadline import PREPARING, in_time
from ...model.problem import BufferId
from ..columns import tensor_forms
from ..operators import Operator, OperatorKind, Tensor, part_count
from ..program import Function


def leaves(tensor: Tensor) -> Iterator[Tensor]:
    """Return the tensors that a tuple holds, at any depth, or the tensor itself."""
    if tensor.items is None:
        yield tensor
        return
    for i, item in enumerate(tensor.items):
        inner = replace(item, id=f"{tensor.id}.{i}", kind=tensor.kind, pools=tensor.pools, device=tensor.device)
        yield from leaves(inner)


def taken_apart(function: Function) -> tuple[Function, Sequence[int]]:
    """Return the function without tuples, and each operator's original index."""
    if all(form.items is None for form in tensor_forms(function.tensors)):
        return function, range(len(function.operators))  # the usual case: large programs are not copied
    tensors = {tensor.id: tensor for tensor in function.tensors}
    parts = {
        id_: tuple(leaf.id for leaf in leaves(tensor)) for id_, tensor in tensors.items() if tensor.items is not None
    }
    begins = {id_: [0, *accumulate(map(part_count, tensors[id_].items or ()))] for id_ in parts}
    """Where each item of a tuple begins among its parts."""

    def flat(ids: Iterable[BufferId]) -> tuple[BufferId, ...]:
        return tuple(leaf for id_ in ids for leaf in parts.get(id_, (id_,)))

    numbered: list[tuple[int, Operator]] = []
    for i, operator in enumerate(in_time(function.operators, PREPARING, "operator")):
        if operator.kind in (OperatorKind.TUPLE, OperatorKind.ITEM):
            results = flat(operator.outputs)
            if operator.kind is OperatorKind.ITEM:
                (whole,) = operator.inputs
                begin = begins[whole][operator.start]
                sources = parts[whole][begin : begin + len(results)]
            else:
                sources = flat(operator.inputs)
            for source, result in zip(sources, results, strict=True):
                numbered.append((i, Operator(OperatorKind.VIEW, (source,), (result,), name=operator.name)))
        else:
            inputs, outputs = flat(operator.inputs), flat(operator.outputs)
            carried = len(flat(operator.inputs[: operator.carried]))
            numbered.append((i, replace(operator, inputs=inputs, outputs=outputs, carried=carried)))
    apart = replace(
        function,
        tensors=tuple(leaf for tensor in function.tensors for leaf in leaves(tensor)),
        operators=tuple(operator for _, operator in numbered),
        inputs=flat(function.inputs),
        outputs=flat(function.outputs),
    )
    return apart, [i for i, _ in numbered]
