"""Whole programs: functions of operators that call each other, branch and loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ..model.problem import BufferId
from .columns import ids_of, tensor_forms, without_outputs
from .operators import Graph, Operator, Tensor, TensorKind


@dataclass(frozen=True, slots=True)
class Function:
    """A graph that can be run from several places: inputs and outputs are used where they lie, not copied.

    An input is a tensor of the kind `input`, which is only read, or `mutable`, which is also written.
    """

    name: str
    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: tuple[BufferId, ...] = ()
    outputs: tuple[BufferId, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Functions, and those among them that are run from outside, one at a time."""

    functions: tuple[Function, ...]
    entries: tuple[str, ...]
    tensors: tuple[Tensor, ...] = ()
    """Constants and mutable tensors visible to every function."""
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The pools that each device reaches, in order of preference."""
    name: str | None = None


def program_of(graph: Graph) -> Program:
    """Return the graph as a program of one function."""
    tensors = [*zip(ids_of(graph.tensors), tensor_forms(graph.tensors), strict=True)]
    given = tuple(id_ for id_, form in tensors if form.kind is TensorKind.INPUT)
    back = tuple(id_ for id_, form in tensors if form.is_output)
    plain = without_outputs(graph.tensors)
    return Program((Function("main", plain, graph.operators, given, back),), ("main",), name=graph.name)
