"""A program rewritten in terms of memory: one name for every tensor's memory, and every function a list of steps, runs, forks and cycles.

A function run from only one place is inlined: its inputs and outputs are the tensors that are passed. If it is run from several places, its
inputs and outputs lie elsewhere each time, so they have no place of their own; what is passed is needed while they are. All other tensors of
a function have one place, whoever runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import NamedTuple, TypeAlias

from ...checks.report import Report, quoted
from ...model.deadline import PREPARING, in_time
from ...model.errors import Code
from ...model.problem import BufferId
from ..operators import Operator, OperatorKind, Tensor, TensorKind, functions_of
from ..program import Function, Program
from .tuples import taken_apart

Name: TypeAlias = tuple[str | None, BufferId]
"""A tensor by its function; None: visible to every function."""


class Homes(Mapping[Name, BufferId]):
    """The name of each tensor's memory, without storing a pair for each; large programs have very many."""

    def __init__(self) -> None:
        self._of: dict[str | None, dict[BufferId, BufferId]] = {}

    def __getitem__(self, name: Name) -> BufferId:
        return self._of[name[0]][name[1]]

    def __setitem__(self, name: Name, home: BufferId) -> None:
        self._of.setdefault(name[0], {})[name[1]] = home

    def __iter__(self) -> Iterator[Name]:
        return ((function, id_) for function, homes in self._of.items() for id_ in homes)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))


@dataclass(slots=True)
class Step:
    """An operator over memory, and when it runs."""

    operator: Operator
    function: str
    index: int
    """The index of its operator in the function."""
    part: str | None = None
    """For calls, branches and loops: what this step does for them."""
    workspaces: tuple[BufferId, ...] = ()
    ticks: Sequence[int] = ()
    """In order. Computing steps have none, as nobody needs them."""


class Handed(NamedTuple):
    """What an input or output stands for while its function runs."""

    to: BufferId
    in_parts: bool
    """Only a part of it at a time."""


class Run(NamedTuple):
    """One place from which a function is run."""

    function: str
    handed: tuple[tuple[BufferId, Handed], ...]
    """Passed to its inputs and outputs that have no place of their own."""
    given_back: tuple[Step, ...]
    """Copies when it ends, of outputs that are not its own."""
    read_only: tuple[BufferId, ...]
    """State that is passed for reading."""
    caller: str
    at: int
    """The index of the caller's operator."""


class Fork(NamedTuple):
    """A branch."""

    test: Step
    arms: tuple[Run, ...]


class Cycle(NamedTuple):
    """A loop."""

    enter: tuple[Step, ...]
    question: Run | None
    test: Step | None
    turn: Run
    again: tuple[Step, ...]
    """Steps that pass a turn's results to the next."""


Node: TypeAlias = Operator | Step | Run | Fork | Cycle
"""An operator by itself only computes: nobody asks when it runs, and large programs consist of such."""


@dataclass(slots=True)
class Listing:
    """A program in terms of memory."""

    functions: dict[str, Function] = field(default_factory=dict)
    """Without tuples."""
    nodes: dict[str, list[Node]] = field(default_factory=dict)
    """For each function in use."""
    steps: list[Step] = field(default_factory=list)
    """All steps but operators that only compute."""
    tensors: dict[BufferId, Tensor] = field(default_factory=dict)
    """All memory, by its name."""
    elsewhere: set[BufferId] = field(default_factory=set)
    """Inputs and outputs of functions that are run from several places."""
    homes: Homes = field(default_factory=Homes)
    """The name of each tensor's memory."""


def listing_of(program: Program) -> Listing:
    """Rewrite the sound program. Raises BadInput if one tensor would have to be in two pools."""
    return _Lowering(program).listing()


class _Lowering:
    """Names all memory, and lists each function's nodes."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memory = Listing()
        self.shared = {tensor.id: tensor for tensor in program.tensors}
        self.functions = self.memory.functions
        self.numbers: dict[str, Sequence[int]] = {}
        """The original index of each of a function's operators."""
        for function in program.functions:
            self.functions[function.name], self.numbers[function.name] = taken_apart(function, self.shared)
        self.places = Counter(
            name for each in self.functions.values() for operator in each.operators for name in functions_of(operator)
        )
        self.is_single = len(program.functions) == 1
        self.nodes = self.memory.nodes

    def listing(self) -> Listing:
        report = Report()
        for tensor in self.program.tensors:
            self._settle((None, tensor.id), tensor.id, tensor, report)
        for entry in self.program.entries:
            self._lower(entry, report)
        report.raise_if_any()
        return self.memory

    # Names

    def name(self, function: str, id_: BufferId) -> BufferId:
        """Return the name of the memory of the function's tensor."""
        return self.memory.homes[(None, id_) if id_ in self.shared else (function, id_)]

    def _own_name(self, function: str, id_: BufferId) -> BufferId:
        return id_ if self.is_single else f"{function}/{id_}"

    def _settle(self, name: Name, home: BufferId, tensor: Tensor, report: Report) -> None:
        """Put the tensor there, together with everything that shares its memory."""
        listing = self.memory
        listing.homes[name] = home
        there = listing.tensors.get(home)
        if there is None:
            pools = self._pools(tensor)
            is_same = tensor.id == home and tensor.pools == pools
            listing.tensors[home] = tensor if is_same else replace(tensor, id=home, pools=pools)
            return
        self.join(home, tensor, report)

    def join(self, home: BufferId, tensor: Tensor, report: Report) -> None:
        """Require that what lies at home may be where the tensor may be."""
        there = self.memory.tensors[home]
        pools, others = there.pools, self._pools(tensor)
        if pools is None:
            pools = others
        elif others is not None:
            pools = tuple(pool for pool in pools if pool in others)
            if not pools:
                text = f"{quoted(home)} and {quoted(tensor.id)} are one tensor, and no pool may hold both"
                report.add(Code.CONTRADICTION, ("functions",), text)
        self.memory.tensors[home] = replace(there, alignment=lcm(there.alignment, tensor.alignment), pools=pools)

    def _pools(self, tensor: Tensor) -> tuple[str, ...] | None:
        if tensor.pools is not None or tensor.device is None:
            return tensor.pools
        return self.program.devices.get(tensor.device)

    # Functions

    def _lower(self, name: str, report: Report) -> None:
        """Rewrite the function and all that it runs. If it has one caller, this has settled where its inputs and outputs lie."""
        if name in self.nodes:
            return
        function = self.functions[name]
        self.nodes[name] = []
        is_entry = name in self.program.entries
        elsewhere = set() if is_entry else {*function.inputs, *self._owned(function)}
        given_back = set(function.outputs) if is_entry else set()
        for tensor in in_time(function.tensors, PREPARING, "tensor"):
            if (name, tensor.id) not in self.memory.homes:
                own, is_output = self._own_name(name, tensor.id), tensor.id in given_back
                lowered = tensor if tensor.is_output == is_output else replace(tensor, is_output=is_output)
                self._settle((name, tensor.id), own, lowered, report)
                if tensor.id in elsewhere:
                    self.memory.elsewhere.add(own)
        numbers = self.numbers[name]
        for i, operator in enumerate(in_time(function.operators, PREPARING, "operator")):
            self.nodes[name].append(self._node(name, numbers[i], operator, report))

    def _owned(self, function: Function) -> tuple[BufferId, ...]:
        """Return the outputs that the function writes itself, directly to their destinations."""
        tensors = {tensor.id: tensor for tensor in function.tensors}
        return tuple(
            dict.fromkeys(
                id_ for id_ in function.outputs if id_ in tensors and tensors[id_].kind is TensorKind.INTERMEDIATE
            )
        )

    def _step(self, function: str, index: int, operator: Operator, part: str | None = None) -> Step:
        made = Step(operator, function, index, part)
        self.memory.steps.append(made)
        return made

    def _copy(self, function: str, index: int, source: BufferId, result: BufferId, part: str) -> Step:
        return self._step(function, index, Operator(OperatorKind.COPY, (source,), (result,)), part)

    def _node(self, name: str, index: int, operator: Operator, report: Report) -> Node:
        inputs = tuple(self.name(name, id_) for id_ in operator.inputs)
        outputs = tuple(self.name(name, id_) for id_ in operator.outputs)
        if operator.kind is OperatorKind.CALL:
            return self._run(name, index, operator.functions[0], inputs, outputs, report)
        if operator.kind is OperatorKind.BRANCH:
            test = self._step(name, index, Operator(OperatorKind.COMPUTE, inputs[:1], ()), "test")
            arms = tuple(self._run(name, index, arm, inputs[1:], outputs, report) for arm in operator.functions)
            return Fork(test, arms)
        if operator.kind is OperatorKind.LOOP:
            return self._loop(name, index, operator, inputs, outputs, report)
        if inputs != operator.inputs or outputs != operator.outputs:
            operator = replace(operator, inputs=inputs, outputs=outputs)
        if operator.kind is OperatorKind.COMPUTE and not operator.workspaces:
            return operator
        step = self._step(name, index, operator)
        for j, workspace in enumerate(operator.workspaces):
            id_ = self._made(name, index, operator, f"workspace{j}")
            tensor = Tensor(id_, (workspace.size,), 8, alignment=workspace.alignment, pools=workspace.pools)
            self.memory.tensors[id_] = tensor
            step.workspaces = (*step.workspaces, id_)
        return step

    def _made(self, function: str, index: int, operator: Operator, what: str) -> BufferId:
        """Return a name for memory without a name in the program."""
        name = f"{self._own_name(function, operator.name or f'{operator.kind.value}{index}')}.{what}"
        taken = self.memory.tensors
        while name in taken:
            name += "'"
        return name

    def _run(
        self,
        caller: str,
        index: int,
        name: str,
        inputs: Sequence[BufferId],
        outputs: Sequence[BufferId],
        report: Report,
        in_parts: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset()),
    ) -> Run:
        """Run a function with these inputs for these outputs; some of either are passed in parts."""
        function = self.functions[name]
        tensors = {tensor.id: tensor for tensor in function.tensors}
        is_only_place = self.places[name] == 1
        handed: list[tuple[BufferId, Handed]] = []

        def hand(id_: BufferId, home: BufferId, part: bool) -> None:
            if is_only_place and not part:
                if (name, id_) not in self.memory.homes:
                    self._settle((name, id_), home, tensors[id_], report)
                return
            handed.append((self._own_name(name, id_), Handed(home, part)))
            self.join(home, tensors[id_], report)

        for j, (id_, home) in enumerate(zip(function.inputs, inputs, strict=True)):
            hand(id_, home, j in in_parts[0])
        owned, copies = set(self._owned(function)), []
        for j, (id_, home) in enumerate(zip(function.outputs, outputs, strict=True)):
            if id_ in owned:
                owned.remove(id_)
                hand(id_, home, j in in_parts[1])
            else:
                copies.append((id_, home, j in in_parts[1]))
        read_only = tuple(
            home
            for id_, home in zip(function.inputs, inputs, strict=True)
            if tensors[id_].kind is TensorKind.INPUT and self.memory.tensors[home].kind is TensorKind.MUTABLE
        )
        self._lower(name, report)
        given_back = []
        for id_, home, in_part in copies:
            source = self.name(name, id_)
            if in_part:
                filled = Operator(OperatorKind.COMPUTE, (source, home), (home,))
                given_back.append(self._step(caller, index, filled, "give back"))
            elif source != home:
                given_back.append(self._copy(caller, index, source, home, "give back"))
        return Run(name, tuple(handed), tuple(given_back), read_only, caller, index)

    def _loop(
        self,
        name: str,
        index: int,
        operator: Operator,
        inputs: tuple[BufferId, ...],
        outputs: tuple[BufferId, ...],
        report: Report,
    ) -> Cycle:
        body = self.functions[operator.functions[0]]
        carried, same = operator.carried, operator.carried + operator.scanned
        enter = [self._copy(name, index, inputs[j], outputs[j], "enter") for j in range(carried)]
        if outputs[carried:]:
            enter.append(self._step(name, index, Operator(OperatorKind.COMPUTE, (), outputs[carried:]), "enter"))
        question = test = None
        if operator.condition is not None:
            truth = self._made(name, index, operator, "condition")
            condition = self.functions[operator.condition]
            sample = next(
                tensor for tensor in (*condition.tensors, *self.program.tensors) if tensor.id == condition.outputs[0]
            )
            self.memory.tensors[truth] = Tensor(truth, sample.shape, sample.element_bits)
            kept = (*outputs[:carried], *inputs[same:])
            question = self._run(name, index, operator.condition, kept, (truth,), report)
            test = self._step(name, index, Operator(OperatorKind.COMPUTE, (truth,), ()), "test")
        made: list[BufferId] = []
        again: list[Step] = []
        for j, home in enumerate(outputs[:carried]):
            if body.outputs[j] == body.inputs[j]:
                made.append(home)  # it stays unchanged
                continue
            id_ = self._made(name, index, operator, f"next{j}")
            self.memory.tensors[id_] = replace(self.memory.tensors[home], id=id_, is_output=False)
            made.append(id_)
            again.append(self._copy(name, index, id_, home, "again"))
        parts = (frozenset(range(carried, same)), frozenset(range(carried, len(outputs))))
        given = (*outputs[:carried], *inputs[carried:])
        turn = self._run(name, index, body.name, given, (*made, *outputs[carried:]), report, parts)
        return Cycle(tuple(enter), question, test, turn, tuple(again))
