"""A model by TFLite Micro's rules: what its planner has to place, with the sizes and lifetimes that it counts.

Variables lie in the arena's tail, unless commands of an Ethos-U address them, and constants in the file. Sizes are rounded up to 16 bytes.
Every operator is a step, and so is the entry to each subgraph that an operator runs; the operator's own tensors are needed through all of
these. A subgraph's inputs and outputs are copied, and needed from the subgraph's beginning to its end, or as long as they are used.
"""

from __future__ import annotations

from bisect import bisect_right

from ....checks.report import bad_input, quoted
from ....graph.running.sizes import MANY_USES, TIMES
from ....model.deadline import PREPARING, tick
from ....model.errors import Code
from ....model.problem import Buffer, BufferId, Constraints, Interval, Lifetimes, Pool, Problem
from .given import UNPLANNED, kept, planned_offsets
from .kernels import scratch_bytes
from .model import Model, OperatorRow, SubgraphRow, TensorRow, unique_names
from .program import ALIGNMENT

MOST_STEPS = 1 << 17
"""The most steps of all subgraphs, counted as often as they are run."""
MOST_NESTING = 64
ARENA = "arena"
NEVER = (0, 0)
"""For untouched tensors, which TFLite Micro still gives memory."""
SCRATCH = "scratch"
"""The kind of memory that kernels need while they run."""


def micro_problem(model: Model) -> Problem:
    """Return what TFLite Micro places in the head of its arena: tensors, and what its kernels need while they run, as far as known.

    The places of a plan in the model are hints, and what has to be kept of them is tied together.
    """
    steps = _Steps(model)
    steps.run(0, ())
    planned = {}
    offsets = planned_offsets(model) or ()
    given, back = (frozenset(numbers) for numbers in (model.subgraphs[0].inputs, model.subgraphs[0].outputs))
    for number, id_ in enumerate(tensor_ids(model)):
        s, i = place_of(model, number)
        tensor = model.subgraphs[s].tensors[i]
        if is_placed(model, s, i):
            live = [steps.throughout()] if tensor.is_variable else steps.live.get((s, i), [NEVER])
            kind = "output" if s == 0 and i in back else "input" if s == 0 and i in given else None
            hint = offsets[number] if number < len(offsets) and offsets[number] > UNPLANNED else None
            size = placed_bytes(tensor, s, i)
            planned[number] = Buffer(id_, size, ALIGNMENT, live=_merged(live), kind=kind, hint=hint)
    rules = Constraints(colocations=kept(model, planned))
    buffers = [*planned.values()]
    for (s, i, j), (size, live) in sorted(steps.scratch.items()):
        id_ = f"{steps.name_of(s, i)}.scratch{j}"
        buffers.append(Buffer(id_, _rounded(size), ALIGNMENT, live=_merged(live), kind=SCRATCH))
    return Problem(tuple(buffers), (Pool(ARENA),), rules, lifetimes=Lifetimes.INCLUSIVE, steps=tuple(steps.names))


def is_placed(model: Model, subgraph: int, number: int) -> bool:
    """True if TFLite Micro's planner places the tensor. Handles of resource variables lie where the kernel keeps them."""
    tensor, place = model.subgraphs[subgraph].tensors[number], (subgraph, number)
    is_in_tail = tensor.is_variable and place not in model.addressed
    return not (tensor.is_constant or is_in_tail or place in model.handles) and tensor.elements > 0


def placed_bytes(tensor: TensorRow, subgraph: int, number: int) -> int:
    """Return its bytes in the arena. Raises BadInput for types unknown to TFLite Micro."""
    if tensor.type.micro_bytes is None:
        text = f"TFLite Micro takes no tensors of the type {tensor.type.name}, as {quoted(tensor.name)} is one"
        raise bad_input(Code.UNSUPPORTED, ("subgraphs", subgraph, "tensors", number, "type"), text)
    return _rounded(tensor.elements * tensor.type.micro_bytes)


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def tensor_ids(model: Model) -> list[BufferId]:
    """Return a name for every tensor of the file, in its order, as in plans by use."""
    functions = unique_names((subgraph.name for subgraph in model.subgraphs), "subgraph")
    found: list[BufferId] = []
    for function, subgraph in zip(functions, model.subgraphs, strict=True):
        names = unique_names((tensor.name for tensor in subgraph.tensors), "tensor")
        found += names if len(model.subgraphs) == 1 else [f"{function}/{name}" for name in names]
    return found


def place_of(model: Model, number: int) -> tuple[int, int]:
    """Return the subgraph of a tensor numbered through all, and its number there."""
    s = bisect_right(model.first_tensors, number) - 1
    return s, number - model.first_tensors[s]


class _Steps:
    """Goes through the model step by step, and records what each step needs."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._now = 0
        self._uses = 0
        parts: list[SubgraphRow | OperatorRow] = [*model.subgraphs]
        parts += (operator for subgraph in model.subgraphs for operator in subgraph.operators)
        written = sum(len(part.inputs) + len(part.outputs) for part in parts)
        self._most_uses = max(MANY_USES, TIMES * written)
        self._function = unique_names((subgraph.name for subgraph in model.subgraphs), "subgraph")
        self._names: dict[int, list[str]] = {}
        """Of the operators of each subgraph that has run."""
        self.live: dict[tuple[int, int], list[Interval]] = {}
        """By subgraph and tensor: half-open, one for each run of the subgraph."""
        self.names: list[tuple[int, str]] = []
        self.scratch: dict[tuple[int, int, int], tuple[int, list[Interval]]] = {}
        """By subgraph, operator and piece: its bytes, and when it is needed."""

    def run(self, s: int, within: tuple[int, ...]) -> None:
        """Run the subgraph now, within the others."""
        if s in within or len(within) >= MOST_NESTING:
            text = f"runs itself, or nests deeper than {MOST_NESTING}"
            raise bad_input(Code.CONTRADICTION, ("subgraphs", s), text)
        subgraph, start = self._model.subgraphs[s], self._now
        span: dict[int, Interval] = {}

        def need(numbers: tuple[int, ...], since: int) -> None:
            self._use(s, len(numbers))
            for i in numbers:
                if i >= 0:
                    span[i] = (span[i][0] if i in span else since, self._now + 1)

        need(subgraph.inputs, start)
        names = self._names.get(s) or self._names.setdefault(
            s, [self.name_of(s, i) for i in range(len(subgraph.operators))]
        )
        for i, operator in enumerate(subgraph.operators):
            self._step(s)
            begun = self._now
            self.names.append((begun, names[i]))
            for each in operator.subgraphs:
                self._step(s)
                self.run(each, (*within, s))
            need(operator.outputs, begun)
            need(operator.inputs, start)  # what is not written by now was there before
            for j, size in enumerate(scratch_bytes(subgraph, operator)):
                if size:
                    self.scratch.setdefault((s, i, j), (size, []))[1].append((begun, self._now + 1))
        need(subgraph.outputs, start)
        for i, interval in span.items():
            self.live.setdefault((s, i), []).append(interval)

    def throughout(self) -> Interval:
        """Return the time of all steps."""
        return 0, self._now + 1

    def _use(self, s: int, count: int) -> None:
        """Count tensors that are used, as often as their subgraph runs. Raises BadInput if there are too many."""
        tick(PREPARING)
        self._uses += count
        if self._uses > self._most_uses:
            text = f"a run uses tensors more than {self._most_uses} times, those of a subgraph as often as it is run"
            raise bad_input(Code.TOO_LARGE, ("subgraphs", s, "operators"), text)

    def name_of(self, s: int, i: int) -> str:
        """Return the operator's name."""
        operator = self._model.subgraphs[s].operators[i]
        name = f"{operator.custom or operator.code}.{i}"
        return name if len(self._model.subgraphs) == 1 else f"{self._function[s]}/{name}"

    def _step(self, s: int) -> None:
        self._now += 1
        if self._now > MOST_STEPS:
            text = f"a run comes by more than {MOST_STEPS} operators"
            raise bad_input(Code.TOO_LARGE, ("subgraphs", s, "operators"), text)


def _merged(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Return them in order, with touching ones joined."""
    found: list[Interval] = []
    for start, end in intervals:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)
