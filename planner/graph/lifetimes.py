"""From which step to which each tensor is needed, by who writes and who reads it."""

from __future__ import annotations

from ..problem import BufferId, Interval
from .operators import Graph, OperatorKind, TensorKind

_TRANSFERS = (OperatorKind.IDMA_LOAD, OperatorKind.IDMA_STORE)


def lifetimes(graph: Graph) -> dict[BufferId, Interval]:
    """Each tensor's half-open range of steps. An operator needs its inputs and its outputs while it runs.

    Inputs and constants are there from the first step on, outputs until the caller has them, which is the step after the last, and mutable
    tensors throughout. A transfer needs both its sides until somebody has waited for it; if nobody does, to the end.
    """
    last = len(graph.operators)
    first_use: dict[BufferId, int] = {}
    last_use: dict[BufferId, int] = {}
    begun: dict[BufferId, tuple[BufferId, ...]] = {}
    """The result of each transfer that is under way, and of views of it: what the transfer needs."""
    for step, operator in enumerate(graph.operators):
        for name in (*operator.inputs, *operator.outputs):
            first_use.setdefault(name, step)
            last_use[name] = step
        if operator.kind in _TRANSFERS:
            begun[operator.outputs[0]] = (*operator.inputs, *operator.outputs)
        elif operator.kind is OperatorKind.VIEW and operator.inputs[0] in begun:
            begun[operator.outputs[0]] = begun[operator.inputs[0]]
        elif operator.kind is OperatorKind.IDMA_WAIT and operator.inputs[0] in begun:
            done = begun[operator.inputs[0]]
            begun = {result: needed for result, needed in begun.items() if needed != done}
            last_use.update(dict.fromkeys(done, step))
    for needed in begun.values():
        last_use.update(dict.fromkeys(needed, last))
    live: dict[BufferId, Interval] = {}
    for tensor in graph.tensors:
        start = first_use.get(tensor.id, 0) if tensor.kind is TensorKind.INTERMEDIATE else 0
        end = last if tensor.is_output or tensor.kind is TensorKind.MUTABLE else last_use.get(tensor.id, 0)
        live[tensor.id] = (start, end + 1)
    return live
