"""A program rewritten in terms of memory: one name for every tensor's memory, and every function a list of steps, runs, forks and cycles.

A function run from only one place is inlined: its inputs and outputs are the tensors that are passed. If it is run from several places, its
inputs and outputs lie elsewhere each time, so they have no place of their own; what is passed is needed while they are. All other tensors of
a function have one place, whoever runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from ...checks.report import Place, Report, quoted
from ...model.deadline import PREPARING, in_time, tick
from ...model.errors import Code
from ...model.problem import BufferId
from ..columns import OperatorColumns, ids_of, names_of, operands_of, operator_forms, tensor_forms
from ..operators import Operator, OperatorKind, Tensor, TensorKind, functions_of
from ..program import Function, Program
from .homes import Name
from .nodes import Cycle, Fork, Handed, Listing, Node, Nodes, Run, Step
from .tuples import taken_apart


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
            self.functions[function.name], self.numbers[function.name] = taken_apart(function)
        self.places = Counter(
            name
            for each in self.functions.values()
            for form in operator_forms(each.operators)
            for name in functions_of(form)
        )
        self.is_single = len(program.functions) == 1
        self._entries = frozenset(program.entries)
        self._interfaces: dict[str, _Interface] = {}
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

    def _new_name(self, name: str) -> str:
        """Return a name that nothing has yet: 'a/b' may be tensor 'b' of function 'a', and a tensor 'a/b' that all functions see."""
        while name in self.memory.tensors:
            name += "'"
        return name

    def _settle(self, name: Name, home: BufferId, tensor: Tensor, report: Report) -> None:
        """Put the tensor there, together with everything that shares its memory."""
        self.memory.homes[name] = home
        if home in self.memory.tensors:
            self.join(home, name, tensor, report)
        else:
            self._put(home, tensor)

    def _put(self, home: BufferId, tensor: Tensor) -> None:
        pools = self._pools(tensor)
        self.memory.tensors[home] = tensor if tensor.pools == pools else replace(tensor, pools=pools)

    def join(self, home: BufferId, name: Name, tensor: Tensor, report: Report) -> None:
        """Require that what lies at home may be where the tensor may be."""
        there = self.memory.tensors[home]
        pools, others = there.pools, self._pools(tensor)
        if pools is None:
            pools = others
        elif others is not None:
            pools = tuple(pool for pool in pools if pool in others)
            if not pools:
                text = f"{quoted(home)} and {quoted(name[1])} are one tensor, and no pool may hold both"
                report.add(Code.CONTRADICTION, self._place(name), text)
        self.memory.tensors[home] = replace(there, alignment=lcm(there.alignment, tensor.alignment), pools=pools)

    def _place(self, name: Name) -> Place:
        """Return where the tensor is in the program."""
        for f, function in enumerate(self.program.functions):
            for i, id_ in enumerate(ids_of(function.tensors) if function.name == name[0] else ()):
                if id_ == name[1]:
                    return ("functions", f, "tensors", i)
        return ("functions",)

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
        operators, renamed = function.operators, OperatorColumns()
        nodes = self.nodes[name] = Nodes(operators if self.is_single else renamed)
        is_entry = name in self._entries
        elsewhere = set() if is_entry else {*function.inputs, *self._interface(name).owned}
        given_back = set(function.outputs) if is_entry else set()
        ids = in_time(ids_of(function.tensors), PREPARING, "tensor")
        for id_, form in zip(ids, tensor_forms(function.tensors), strict=True):
            if self.is_single or (name, id_) not in self.memory.homes:
                own, is_output = id_ if self.is_single else self._new_name(f"{name}/{id_}"), id_ in given_back
                lowered = form if form.is_output == is_output else replace(form, is_output=is_output)
                if self.is_single:
                    self._put(own, lowered)
                else:
                    self._settle((name, id_), own, lowered, report)
                if id_ in elsewhere:
                    self.memory.elsewhere.add(own)
        if self.is_single:
            self.memory.homes.keep(name, ids_of(function.tensors), self.memory.tensors.number)
        numbers = self.numbers[name]
        kinds = in_time(operator_forms(operators), PREPARING, "operator")
        each = zip(kinds, operands_of(operators), names_of(operators), strict=True)
        for i, (kind, operands, label) in enumerate(each):
            if kind.kind is not OperatorKind.COMPUTE or kind.workspaces:
                nodes.others[i] = self._node(name, Step(nodes.operators, i, name, numbers[i]), operators[i], report)
            if not self.is_single:
                inputs, outputs = ([self.name(name, id_) for id_ in ids] for ids in operands)
                renamed.add(kind, inputs, outputs, label)

    def _interface(self, name: str) -> _Interface:
        """Return what a function is handed and gives back; found once, however often it is run."""
        if name not in self._interfaces:
            function = self.functions[name]
            wanted = {*function.inputs, *function.outputs}
            each = zip(ids_of(function.tensors), tensor_forms(function.tensors), strict=True)
            forms = {id_: form for id_, form in each if id_ in wanted}
            owned = (id_ for id_ in function.outputs if id_ in forms and forms[id_].kind is TensorKind.INTERMEDIATE)
            self._interfaces[name] = _Interface(forms, dict.fromkeys(owned))
        return self._interfaces[name]

    def _step(self, function: str, index: int, operator: Operator, part: str | None = None) -> Step:
        return self._listed(Step((operator,), 0, function, index, part))

    def _listed(self, step: Step) -> Step:
        self.memory.steps.append(step)
        return step

    def _copy(self, function: str, index: int, source: BufferId, result: BufferId, part: str) -> Step:
        return self._step(function, index, Operator(OperatorKind.COPY, (source,), (result,)), part)

    def _node(self, name: str, step: Step, operator: Operator, report: Report) -> Node:
        """Return what the function's operator does: as this step, unless it runs functions."""
        index = step.index
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
        self._listed(step)
        made: list[BufferId] = []
        for j, workspace in enumerate(operator.workspaces):
            id_ = self._made(name, index, operator, f"workspace{j}")
            tensor = Tensor(id_, (workspace.size,), 8, alignment=workspace.alignment, pools=workspace.pools)
            self.memory.tensors[id_] = tensor
            made.append(id_)
        step.workspaces = tuple(made)
        return step

    def _made(self, function: str, index: int, operator: Operator, what: str) -> BufferId:
        """Return a name for memory without a name in the program."""
        name = f"{operator.name or f'{operator.kind.value}{index}'}.{what}"
        return self._new_name(name if self.is_single else f"{function}/{name}")

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
        tick(PREPARING)
        function, tensors = self.functions[name], self._interface(name).forms
        written, copied = self._split(name, _passed(function.outputs, outputs, in_parts[1]))
        lent: list[_Passed] = []
        for passed in (*_passed(function.inputs, inputs, in_parts[0]), *written):
            if self.places[name] > 1 or passed.in_part:
                lent.append(passed)
                self.join(passed.home, (name, passed.id), tensors[passed.id], report)
            elif (name, passed.id) not in self.memory.homes:
                self._settle((name, passed.id), passed.home, tensors[passed.id], report)
        read_only = tuple(self._passed_for_reading(function, tensors, inputs))
        self._lower(name, report)
        handed = ((self.name(name, passed.id), Handed(passed.home, passed.in_part)) for passed in lent)
        given_back = tuple(self._given_back(caller, index, name, copied))
        return Run(name, tuple(handed), given_back, read_only, caller, index)

    def _split(self, name: str, outputs: Sequence[_Passed]) -> tuple[list[_Passed], list[_Passed]]:
        """Return the outputs that the function writes where they are wanted, and those to be copied there."""
        owned = set(self._interface(name).owned)
        written: list[_Passed] = []
        copied: list[_Passed] = []
        for passed in outputs:
            (written if passed.id in owned else copied).append(passed)
            owned.discard(passed.id)
        return written, copied

    def _passed_for_reading(
        self, function: Function, tensors: Mapping[BufferId, Tensor], inputs: Sequence[BufferId]
    ) -> Iterator[BufferId]:
        for id_, home in zip(function.inputs, inputs, strict=True):
            if tensors[id_].kind is TensorKind.INPUT and self.memory.tensors[home].kind is TensorKind.MUTABLE:
                yield home

    def _given_back(self, caller: str, index: int, name: str, outputs: Sequence[_Passed]) -> Iterator[Step]:
        """List the steps that copy a function's outputs to where they are wanted."""
        for id_, home, in_part in outputs:
            source = self.name(name, id_)
            if in_part:
                filled = Operator(OperatorKind.COMPUTE, (source, home), (home,))
                yield self._step(caller, index, filled, "give back")
            elif source != home:
                yield self._copy(caller, index, source, home, "give back")

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
            truth = self._truth(name, index, operator, operator.condition)
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

    def _truth(self, name: str, index: int, operator: Operator, condition: str) -> BufferId:
        """Return memory for what a loop's condition says."""
        truth = self._made(name, index, operator, "condition")
        own, of_truth = self._interface(condition).forms, self.functions[condition].outputs[0]
        sample = own[of_truth] if of_truth in own else self.shared[of_truth]
        self.memory.tensors[truth] = Tensor(truth, sample.shape, sample.element_bits)
        return truth


class _Interface(NamedTuple):
    """What a function is handed and gives back."""

    forms: Mapping[BufferId, Tensor]
    """Of its own inputs and outputs."""
    owned: Mapping[BufferId, None]
    """The outputs that it writes itself, directly to their destinations, in order."""


class _Passed(NamedTuple):
    """An input or output of a function, and what is passed for it."""

    id: BufferId
    home: BufferId
    in_part: bool


def _passed(ids: Sequence[BufferId], homes: Sequence[BufferId], in_part: frozenset[int]) -> list[_Passed]:
    return [_Passed(id_, home, j in in_part) for j, (id_, home) in enumerate(zip(ids, homes, strict=True))]
