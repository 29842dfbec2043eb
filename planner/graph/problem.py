"""From a graph to a Problem: lifetimes, what lies inside what, and what is planned at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, lcm

from ..checks.report import bad_input
from ..errors import Code, echo
from ..problem import Buffer, BufferId, Colocation, Constraints, Fixed, Lifetimes, Pool, Problem
from .check import require_sound_graph
from .lifetimes import lifetimes
from .operators import Graph, OperatorKind, Tensor, TensorKind
from .outcomes import Applied, GraphProblem, Reason, Refused
from .places import Places
from .rules import PASSES, Facts, Refusal, apply

_PINNING = (OperatorKind.IDMA_LOAD, OperatorKind.IDMA_STORE)


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """What a compiler decides."""

    plan_inputs: bool = True
    """False: the caller provides the graph's inputs."""
    plan_outputs: bool = True
    """False: the caller provides the graph's outputs."""
    opt_level: int = 2
    """From 2 on slices, concatenations and in-place operators share memory, so that pairs may overlap in lifetime and storage."""
    offset_multiple: int = 8
    """What kernels ask of the place of a slice or of a part, unless the graph gives it back."""
    fastest: str | None = None
    """The pool of transfers; None: the one of least rank."""


def graph_problem(graph: Graph, pools: Sequence[Pool], options: GraphOptions | None = None) -> GraphProblem:
    """The problem of placing the graph's tensors, and what became of each operator. Raises BadInput for a graph that is wrong in itself."""
    options = options or GraphOptions()
    require_sound_graph(graph)
    fastest = _fastest(pools, options)
    facts = _facts(graph, options)
    outcomes: dict[int, Applied | Refused] = {}
    for least, rules in PASSES:
        for step, operator in enumerate(graph.operators):
            if operator.kind in rules:
                found = apply(operator, step, facts, rules[operator.kind], least)
                if isinstance(found, Refusal):
                    outcomes[step] = Refused(step, found.reason, found.message)
                else:
                    outcomes[step] = Applied(step, found)
    pinned = []
    for step, operator in enumerate(graph.operators):
        if operator.kind in _PINNING:
            result = operator.outputs[0]
            if result in facts.outside:
                outcomes[step] = Refused(step, Reason.RESULT_NOT_PLANNED, f"{echo(result)} is not in the plan")
            else:
                pinned.append(result)
    made = _problem(graph, pools, facts, dict.fromkeys(pinned, fastest))
    ordered = [outcomes[step] for step in sorted(outcomes)]
    return GraphProblem(
        made,
        tuple(outcome for outcome in ordered if isinstance(outcome, Applied)),
        tuple(outcome for outcome in ordered if isinstance(outcome, Refused)),
        tuple(pinned),
        tuple(tensor.id for tensor in graph.tensors if tensor.id in facts.outside),
    )


def _fastest(pools: Sequence[Pool], options: GraphOptions) -> str:
    if not pools:
        raise bad_input(Code.INVALID_VALUE, ("pools",), "must name at least one pool")
    if options.fastest is None:
        return min(pools, key=lambda pool: pool.rank).name
    if options.fastest not in {pool.name for pool in pools}:
        raise bad_input(Code.INVALID_OPTION, ("options", "fastest"), f"there is no pool {echo(options.fastest)}")
    return options.fastest


def _facts(graph: Graph, options: GraphOptions) -> Facts:
    if options.offset_multiple < 1:
        raise bad_input(Code.INVALID_OPTION, ("options", "offset_multiple"), "must be 1 or more")
    unplanned = frozenset(tensor.id for tensor in graph.tensors if not _is_planned(tensor, options))
    last_write = {name: step for step, operator in enumerate(graph.operators) for name in operator.outputs}
    mutable = {tensor.id for tensor in graph.tensors if tensor.kind is TensorKind.MUTABLE}
    return Facts(
        places=Places(graph),
        live=lifetimes(graph),
        last_write={name: step for name, step in last_write.items() if name in mutable},
        unplanned=unplanned,
        opt_level=options.opt_level,
        offset_multiple=options.offset_multiple,
        outside=set(unplanned),
    )


def _is_planned(tensor: Tensor, options: GraphOptions) -> bool:
    if tensor.kind is TensorKind.MUTABLE:
        return True
    if tensor.kind is TensorKind.CONSTANT or (tensor.kind is TensorKind.INPUT and not options.plan_inputs):
        return False
    return options.plan_outputs or not tensor.is_output


def _problem(graph: Graph, pools: Sequence[Pool], facts: Facts, pinned: dict[BufferId, str]) -> Problem:
    colocations = facts.places.colocations()
    eased, raised = _eased(pools, colocations)
    inside = {colocation.buffer for colocation in colocations}
    buffers = tuple(
        Buffer(
            tensor.id,
            tensor.bytes,
            tensor.alignment if tensor.id in inside else lcm(tensor.alignment, raised),
            live=(facts.live[tensor.id],),
            fixed=Fixed(pinned[tensor.id]) if tensor.id in pinned else None,
            kind="output" if tensor.is_output else tensor.kind.value,
        )
        for tensor in graph.tensors
        if tensor.id not in facts.outside
    )
    constraints = Constraints(colocations=colocations)
    return Problem(buffers, eased, constraints, name=graph.name, lifetimes=Lifetimes.HALF_OPEN)


def _eased(pools: Sequence[Pool], colocations: Sequence[Colocation]) -> tuple[tuple[Pool, ...], int]:
    """The pools with alignments that hold inside tensors too, and the alignment that all other tensors get in return.

    A pool's alignment is meant for what is allocated there, not for a slice at offset 8 of it.
    """
    inner = gcd(*(colocation.offset for colocation in colocations))
    eased = tuple(replace(pool, alignment=gcd(pool.alignment, inner)) for pool in pools)
    raised = [pool.alignment for pool, easy in zip(pools, eased, strict=True) if pool.alignment != easy.alignment]
    return eased, lcm(*raised)
