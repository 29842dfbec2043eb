"""ExecuTorch's memory planning: an algorithm for its pass, so that the exported .pte has our places.

Tensors come as `executorch.exir.tensor.TensorSpec`, with lifetimes and sizes; the answer has the fields of its `MemoryAlgoResult`. ExecuTorch
is imported only to make its pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

from solvers.model.instance import Term

from ..checks.report import bad_input
from ..model.errors import Code
from ..model.plan import Plan
from ..model.problem import DEFAULT_TERMS, Buffer, Fixed, Lifetimes, Pool, Problem
from ..planning.interfaces.tvm_interface import placements_of
from ..planning.options.options import Options
from ..planning.placing.solving import plan

FIRST = 1
"""The memory of tensors that were not put elsewhere; 0 is for constants."""
ALIGNMENT = 16
"""ExecuTorch's alignment of tensors."""


@dataclass(slots=True)
class Place:
    """One tensor's place, with the fields of ExecuTorch's SpecAllocResult."""

    mem_id: int
    mem_offset: int
    mem_obj_id: int | None = None
    """The tensors sharing storage objects: there are none."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The answer, with the fields of ExecuTorch's MemoryAlgoResult."""

    spec_dict: dict[Any, Place]
    bufsizes: list[int]
    """The bytes of each memory, by its number."""


class ExecuTorchAlgorithm:
    """Called by ExecuTorch for every graph: `MemoryPlanningAlgorithmSuite([ExecuTorchAlgorithm()])`."""

    __name__ = "memplan"
    """The suite identifies its algorithms by their names."""

    def __init__(self, banks: Mapping[int, Pool] | None = None, options: Options | None = None) -> None:
        """`banks` gives the memory of each number, the best one first; without it everything is in memory 1, which is as large as needed.

        Tensors that a pass put into a memory stay in it; a number without a bank is an unlimited memory.
        """
        if not isinstance(banks, Mapping | None):
            raise bad_input(
                Code.WRONG_TYPE, ("banks",), f"must be memories by their numbers, not a {type(banks).__name__}"
            )
        self.banks = dict(banks or {})
        for number, bank in self.banks.items():
            if type(number) is not int or not isinstance(bank, Pool):
                text = 'must be a Pool under the memory\'s number, as in {1: Pool("sram", 262144)}'
                raise bad_input(Code.WRONG_TYPE, ("banks", str(number)), text)
            if number < FIRST:
                raise bad_input(Code.OUT_OF_RANGE, ("banks", str(number)), "memories that are planned begin at 1")
        self.options = options
        self.planned: list[tuple[Problem, Plan]] = []
        """What was planned so far, a problem for each graph, in the order of the calls."""

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any,
        graph_signature: Any = None,
        extra_padding: int = 0,
    ) -> Placed:
        """Return places for the tensors. Raises NoPlan if they do not fit into the banks."""
        given = list(specs)
        for spec in given:
            spec.realign(alignment)
        pools = self._pools(alignment, given, graph_module, extra_padding)
        made = _problem(given, graph_module, pools, list(self.banks) or [FIRST])
        answer = plan(made, self.options)
        at = {place.tensor_id: place for place in placements_of(answer)}
        self.planned.append((made, answer))
        numbers = {pool.name: number for number, pool in pools.items()}
        found: dict[Any, Place] = {}
        for number, spec in enumerate(given):
            if _base(spec) is None:
                place = at[number]
                found[spec] = Place(numbers[place.pool_name], place.pool_offset)
        for spec in given:
            if _base(spec) is not None:
                found[spec] = _inside(spec, found)
        sizes = [0] * (max(pools) + 1)
        used = {place.mem_id for place in found.values()}
        for use in answer.pools:
            number = numbers[use.name]
            sizes[number] = (use.peak or 0) + (extra_padding if number in used else 0)
        return Placed(found, sizes)

    def _pools(self, alignment: int, specs: list[Any], graph_module: Any, padding: int) -> dict[int, Pool]:
        """Return the memories by number. Padding after the last tensor has to fit into a bank as well."""
        ids = {spec.mem_id for spec in specs if spec.mem_id is not None}
        ids |= {number for _, sizes in _submodules(graph_module) for number, size in enumerate(sizes) if size}
        if not self.banks:
            ids.add(FIRST)
        elif {getattr(getattr(spec, "device", None), "name", "CPU") for spec in specs} - {"CPU"}:
            text = "banks are the processor's, and there are tensors of other devices"
            raise bad_input(Code.UNSUPPORTED, ("banks",), text)
        pools: dict[int, Pool] = {}
        for rank, number in enumerate([*self.banks, *sorted(ids - self.banks.keys())]):
            bank = self.banks.get(number, Pool(f"memory {number}"))
            size = None if bank.size is None else max(bank.size - padding, 0)
            pools[number] = replace(bank, size=size, alignment=lcm(bank.alignment, alignment), rank=rank)
        return pools


def executorch_pass(
    banks: Mapping[int, Pool] | None = None,
    options: Options | None = None,
    *,
    alignment: int = ALIGNMENT,
    **others: Any,
) -> Any:
    """Return ExecuTorch's MemoryPlanningPass with memplan as its only algorithm; `others` are passed to it. Needs ExecuTorch."""
    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.passes import MemoryPlanningPass

    suite = MemoryPlanningAlgorithmSuite(algo_list=[ExecuTorchAlgorithm(banks, options)])
    return MemoryPlanningPass(memory_planning_algo=suite, alignment=alignment, **others)


def _problem(specs: list[Any], graph_module: Any, pools: dict[int, Pool], banks: list[int]) -> Problem:
    """Return the Problem of the tensors that lie in no other one; ids are their numbers. Those without a memory may only be in the banks."""
    uses = _uses(specs, graph_module)
    lives = _lives(specs)
    free = tuple(pools[number].name for number in banks)
    buffers = []
    for number, spec in enumerate(specs):
        if _base(spec) is None:
            first, last = lives[spec]
            homes = free if spec.mem_id is None else (pools[spec.mem_id].name,)
            size = spec.allocated_memory
            buffers.append(Buffer(number, size, live=((first, last + 1),), pools=homes, accesses=uses[spec]))
    for number, (span, sizes) in enumerate(_submodules(graph_module)):
        for memory, size in enumerate(sizes):
            if size:
                id_ = f"branch or loop {number}, {pools[memory].name}"
                buffers.append(Buffer(id_, size, live=(span,), fixed=Fixed(pools[memory].name, 0)))
    terms = (Term.ACCESS_COST, Term.SUM_OF_PEAKS) if len(free) > 1 else DEFAULT_TERMS
    return Problem(tuple(buffers), tuple(pools.values()), terms=terms, lifetimes=Lifetimes.HALF_OPEN)


def _base(spec: Any) -> Any:
    """Return the tensor in which it lies; None if it has its own place."""
    return getattr(spec, "storage_base", None)


def _lives(specs: list[Any]) -> dict[Any, tuple[int, int]]:
    """Return when each tensor is needed that lies in no other one, by itself or as what lies in it."""
    lives: dict[Any, tuple[int, int]] = {spec: tuple(spec.lifetime) for spec in specs if _base(spec) is None}
    for spec in specs:
        root, _ = _root(spec)
        if root is not spec and root in lives:
            first, last = spec.lifetime
            lives[root] = (min(lives[root][0], first), max(lives[root][1], last))
    return lives


def _root(spec: Any) -> tuple[Any, int]:
    """Return the tensor with a place of its own in which this one lies, and where in it. Raises BadInput if it cannot lie there."""
    offset = 0
    seen = set()
    while (base := _base(spec)) is not None:
        if spec in seen:
            raise bad_input(Code.CYCLIC_COLOCATION, ("specs",), "tensors lie in each other in a circle")
        seen.add(spec)
        begin, size = spec.storage_base_offset, spec.allocated_memory
        if begin < 0 or begin % spec.alignment or begin + size > base.allocated_memory:
            text = f"a tensor of {size} bytes, aligned to {spec.alignment}, cannot lie at {begin} in one of {base.allocated_memory}"
            raise bad_input(Code.CONTRADICTION, ("specs",), text)
        offset += begin
        spec = base
    return spec, offset


def _inside(spec: Any, found: dict[Any, Place]) -> Place:
    """Return the place of a tensor that lies in another."""
    root, offset = _root(spec)
    if root not in found:
        raise bad_input(Code.UNKNOWN_BUFFER, ("specs",), "a tensor lies in another that has no place")
    return replace(found[root], mem_offset=found[root].mem_offset + offset)


def _submodules(graph_module: Any) -> Iterator[tuple[tuple[int, int], list[int]]]:
    """Return, for each branch and loop, how much of each memory its own tensors take, from 0 on, and when.

    Its results may still lie there, so it takes that until their last use.
    """
    if not getattr(graph_module, "input_mem_buffer_sizes", None):
        return
    for step, node in enumerate(graph_module.graph.nodes):
        sizes: list[int] = []
        for each in node.all_input_nodes:
            if each.op == "get_attr":
                inner = getattr(graph_module, each.target, None)
                own = getattr(inner, "meta", {}).get("non_const_buffer_sizes", [])
                both = max(len(sizes), len(own))
                sizes = [max(s[n] if n < len(s) else 0 for s in (sizes, own)) for n in range(both)]
        if any(sizes):
            ends = [spec.lifetime[1] for spec in _specs(node) if spec.lifetime[1] is not None]
            yield (step, max(ends, default=step) + 1), sizes


def _uses(specs: list[Any], graph_module: Any) -> Counter[Any]:
    """Return how many nodes take each tensor as an input, in any shape."""
    planned = set(specs)
    of: dict[Any, list[Any]] = {}
    uses: Counter[Any] = Counter()
    for node in graph_module.graph.nodes:
        inputs = node.all_input_nodes
        own = [spec for spec in _specs(node) if spec in planned]
        of[node] = own or (of[inputs[0]] if inputs else [])
        for each in inputs:
            uses.update(of[each])
    return uses


def _specs(node: Any) -> Iterator[Any]:
    """Return the node's output tensors."""
    spec = node.meta.get("spec")
    for each in spec if isinstance(spec, list | tuple) else (spec,):
        if hasattr(each, "lifetime"):
            yield each
