"""A machine that runs programs in the memory that their plan gives them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from planner.graph import (
    Function,
    GraphProblem,
    Operator,
    OperatorKind,
    Program,
    Tensor,
    TensorKind,
)
from planner.model.problem import BufferId

K = OperatorKind


Location: TypeAlias = tuple[str, int]
Cells: TypeAlias = list[tuple[Location, tuple[int, int]]]
"""Bytes by place: a token for the element, and the number of the byte in it."""


@dataclass
class Slot:
    """A tensor while a function runs: its right value and its location."""

    value: np.ndarray
    width: int
    """Bytes of an element."""
    at: Location
    home: BufferId | None = None
    shown: tuple[BufferId | None, ...] = ()
    """The homes of what a view shows, if it is one."""


Value: TypeAlias = "Slot | list[Value]"


class Machine:
    """Runs a program in the memory of its plan, and compares what is read with each tensor's right value.

    A tensor that the plan does not place has a place of its own.
    """

    def __init__(
        self, program: Program, found: GraphProblem, places: dict[BufferId, Location], chance: random.Random
    ) -> None:
        self.functions = {function.name: function for function in program.functions}
        self.program = program
        self.places = places
        self.homes = found.homes
        self.outside = set(found.outside)
        self.seen_through = {result for each in found.applied for result, _, _ in each.places if result in self.outside}
        """Views of tensors that the plan does not place."""
        self.applied = {(each.function, each.operator) for each in found.applied if each.part is None}
        self.chance = chance
        self.bytes: dict[Location, tuple[int, int]] = {}
        self.tokens = iter(range(10**9))
        self.shared: dict[BufferId, Value] = {}
        self.state: dict[tuple[str, BufferId], Slot] = {}
        self.spaces = iter(range(10**9))
        for tensor in program.tensors:
            self.shared[tensor.id] = slot = self.slot(tensor, self.home(None, tensor.id))
            self.write(slot)

    # Memory

    def home(self, function: str | None, id_: BufferId) -> Location:
        """Return the tensor's location in the plan, or a new place of its own."""
        home = self.homes[function, id_]
        return self.places[home] if home in self.places else (f"outside {next(self.spaces)}", 0)

    def slot(self, tensor: Tensor, at: Location, value: np.ndarray | None = None) -> Slot:
        if value is None:
            count = int(np.prod(tensor.shape))
            value = np.array([next(self.tokens) for _ in range(count)], dtype=np.int64).reshape(tensor.shape)
        return Slot(value, tensor.element_bits // 8, at)

    def cells(self, slot: Slot) -> Cells:
        space, at = slot.at
        return [
            ((space, at + i * slot.width + byte), (token, byte))
            for i, token in enumerate(slot.value.ravel().tolist())
            for byte in range(slot.width)
        ]

    def put(self, cells: Cells, owner: object) -> None:
        """Write bytes that belong to a tensor or a workspace."""
        self.bytes.update(cells)

    def write(self, slot: Slot) -> None:
        self.put(self.cells(slot), slot.home)

    def check(self, value: Value, what: object) -> None:
        if isinstance(value, list):
            for part in value:
                self.check(part, what)
        else:
            assert all(self.bytes.get(at) == content for at, content in self.cells(value)), f"{what} is not what it was"

    def move(self, source: Slot, result: Slot) -> None:
        """Copy the source's elements to the result's location, unless they lie there already."""
        result.value = source.value.reshape(result.value.shape)
        if source.at != result.at:
            self.check(source, "a copy's source")
            self.write(result)

    # Functions

    def run_entry(self, name: str) -> None:
        """Run an entry function with new inputs, after all bytes but state are lost; check its outputs."""
        function = self.functions[name]
        state = [slot for slot in (*self.shared.values(), *self.state.values()) if isinstance(slot, Slot)]
        kept = {at for slot in state for at, _ in self.cells(slot)}
        self.bytes = {at: content for at, content in self.bytes.items() if at in kept}
        tensors = {tensor.id: tensor for tensor in function.tensors}
        given: list[Value] = []
        for id_ in function.inputs:
            if tensors[id_].kind is TensorKind.MUTABLE:
                given.append(self.static(function, tensors[id_]))
            else:
                slot = self.slot(tensors[id_], self.home(name, id_))
                self.write(slot)
                given.append(slot)
        values = self.run(function, given, None)
        for id_ in function.outputs:
            self.check(values[id_], id_)

    def static(self, function: Function, tensor: Tensor) -> Slot:
        """Return the slot of a function's own state, made at its first use."""
        key = (function.name, tensor.id)
        if key not in self.state:
            self.state[key] = self.slot(tensor, self.home(*key))
            self.write(self.state[key])
        return self.state[key]

    def run(self, function: Function, given: list[Value], wanted: list[Value] | None) -> dict[BufferId, Value]:
        """Run the function and return its tensors; `wanted` are the slots in which its outputs must be, if given."""
        values: dict[BufferId, Value] = dict(self.shared)
        values.update(zip(function.inputs, given, strict=True))
        tensors = {tensor.id: tensor for tensor in function.tensors}
        straight: dict[BufferId, Value] = {}
        if wanted is not None:
            for id_, there in zip(function.outputs, wanted, strict=True):
                if id_ in tensors and tensors[id_].kind is TensorKind.INTERMEDIATE:
                    straight.setdefault(id_, there)
        for tensor in function.tensors:
            if tensor.id in values:
                self.assert_home(function.name, tensor, values[tensor.id])
            elif tensor.id in straight:
                values[tensor.id] = straight[tensor.id]
                self.assert_home(function.name, tensor, values[tensor.id])
            elif tensor.kind is TensorKind.MUTABLE:
                values[tensor.id] = self.static(function, tensor)
            else:
                values[tensor.id] = self.new(function.name, tensor, str(tensor.id))
                if tensor.kind is TensorKind.CONSTANT:
                    constant = values[tensor.id]
                    assert isinstance(constant, Slot)
                    self.write(constant)
        for index, operator in enumerate(function.operators):
            self.step(function, index, operator, values)
        if wanted is not None:
            used: set[BufferId] = set()
            for id_, there in zip(function.outputs, wanted, strict=True):
                if id_ not in straight or id_ in used:
                    self.give(values[id_], there)
                used.add(id_)
        return values

    def new(self, function: str, tensor: Tensor, id_: str) -> Value:
        if tensor.items is not None:
            return [self.new(function, item, f"{id_}.{i}") for i, item in enumerate(tensor.items)]
        name = tensor.id if (function, tensor.id) in self.homes else id_
        slot = self.slot(tensor, self.home(function, name))
        slot.home = self.homes[function, name]
        return slot

    def assert_home(self, function: str, tensor: Tensor, value: Value, id_: str = "") -> None:
        """Require that the plan, if it places the tensor, does so where the tensor was handed over."""
        id_ = id_ or str(tensor.id)
        if isinstance(value, list):
            assert tensor.items is not None
            for i, (item, part) in enumerate(zip(tensor.items, value, strict=True)):
                self.assert_home(function, item, part, f"{id_}.{i}")
            return
        home = self.homes[function, tensor.id if (function, tensor.id) in self.homes else id_]
        assert home not in self.places or self.places[home] == value.at

    def give(self, source: Value, result: Value) -> None:
        if isinstance(source, list):
            assert isinstance(result, list)
            for mine, theirs in zip(source, result, strict=True):
                self.give(mine, theirs)
        else:
            assert isinstance(result, Slot)
            self.move(source, result)

    # Operators

    def step(self, function: Function, index: int, operator: Operator, values: dict[BufferId, Value]) -> None:
        inputs = [values[id_] for id_ in operator.inputs]
        outputs = [values[id_] for id_ in operator.outputs]
        if operator.kind is K.CALL:
            self.run(self.functions[operator.functions[0]], inputs, outputs)
        elif operator.kind is K.BRANCH:
            self.check(inputs[0], operator.inputs[0])
            self.run(self.functions[self.chance.choice(operator.functions)], inputs[1:], outputs)
        elif operator.kind is K.LOOP:
            self.loop(function, index, operator, inputs, outputs)
        elif operator.kind is K.TUPLE:
            (whole,) = outputs
            assert isinstance(whole, list)
            for mine, theirs in zip(inputs, whole, strict=True):
                self.look(mine, theirs)
        elif operator.kind is K.ITEM:
            (whole,) = inputs
            assert isinstance(whole, list)
            self.look(whole[operator.start], outputs[0])
        else:
            self.compute(function, index, operator, inputs, outputs)

    def look(self, source: Value, result: Value) -> None:
        """Make the result a view of the source; a view that the plan does not place lies where its source lies."""
        if isinstance(source, list):
            assert isinstance(result, list)
            for mine, theirs in zip(source, result, strict=True):
                self.look(mine, theirs)
            return
        assert isinstance(result, Slot)
        self.check(source, "a view's source")
        if result.home in self.seen_through:
            result.at = source.at
        if result.at == source.at:
            result.shown = (*source.shown, source.home)
        self.move(source, result)

    def compute(
        self, function: Function, index: int, operator: Operator, inputs: list[Value], outputs: list[Value]
    ) -> None:
        (result,) = outputs
        assert isinstance(result, Slot)
        sources = [each for each in inputs if isinstance(each, Slot)]
        for id_, each in zip(operator.inputs, inputs, strict=True):
            self.check(each, id_)
        is_applied = (function.name, index) in self.applied
        if operator.kind is K.COMPUTE:
            for j, workspace in enumerate(operator.workspaces):
                name = self.made(function, index, operator, f"workspace{j}")
                space, at = self.places[name]
                self.put([((space, at + i), (-1, i)) for i in range(workspace.size)], name)
            for each in sources:
                self.check(each, "an input beside a workspace")
            result.value = np.array([next(self.tokens) for _ in range(result.value.size)]).reshape(result.value.shape)
            self.write(result)
        elif operator.kind is K.IN_PLACE:
            before = [self.cells(each) for each in sources]
            result.value = np.array([next(self.tokens) for _ in range(result.value.size)]).reshape(result.value.shape)
            after = self.cells(result)
            for at in range(0, len(after), result.width):
                for cells in before:
                    read = cells[at : at + result.width] if len(cells) == len(after) else cells
                    assert all(self.bytes.get(place) == content for place, content in read), (
                        "overwritten before it was read"
                    )
                self.put(after[at : at + result.width], result.home)
            assert not is_applied or result.at in [each.at for each in sources[: operator.over]]
        elif operator.kind is K.VIEW:
            self.look(sources[0], result)
            assert not is_applied or sources[0].at == result.at
        elif operator.kind is K.COPY:
            self.move(sources[0], result)
            assert not is_applied or sources[0].at == result.at
        elif operator.kind is K.SLICE:
            source = sources[0]
            skipped = operator.start * source.width * int(np.prod(source.value.shape[1:]))
            part = Slot(
                source.value[operator.start : operator.start + result.value.shape[0]],
                source.width,
                (source.at[0], source.at[1] + skipped),
            )
            self.move(part, result)
            assert not is_applied or part.at == result.at
        else:
            assert operator.kind is K.CONCATENATE
            result.value = np.concatenate([each.value for each in sources])
            at = result.at[1]
            for each in sources:
                self.move(each, Slot(each.value, each.width, (result.at[0], at)))
                assert not is_applied or each.at == (result.at[0], at)
                at += each.value.size * each.width

    def made(self, function: Function, index: int, operator: Operator, what: str) -> str:
        own = operator.name or f"{operator.kind.value}{index}"
        return f"{own}.{what}" if len(self.functions) == 1 else f"{function.name}/{own}.{what}"

    def loop(
        self, function: Function, index: int, operator: Operator, inputs: list[Value], outputs: list[Value]
    ) -> None:
        body, carried, scanned = self.functions[operator.functions[0]], operator.carried, operator.scanned
        own = {tensor.id: tensor for tensor in body.tensors}
        for source, result in zip(inputs[:carried], outputs[:carried], strict=True):
            self.give(source, result)
        wholes = [each for each in inputs[carried : carried + scanned] if isinstance(each, Slot)]
        stacks = [each for each in outputs[carried:] if isinstance(each, Slot)]
        for stack in stacks:
            stack.value = np.full(stack.value.shape, -2, dtype=np.int64)
        lengths = {len(each.value) for each in (*wholes, *stacks)}
        turns = lengths.pop() if lengths else self.chance.randrange(4)
        leaf = 0
        next_: list[Value] = []
        for j in range(carried):
            here, leaf = self.next_place(function, index, operator, outputs[j], leaf)
            next_.append(outputs[j] if body.outputs[j] == body.inputs[j] else here)
        for turn in range(turns):
            if operator.condition is not None:
                self.ask(function, index, operator, [*outputs[:carried], *inputs[carried:]])
            parts = [self.part(whole, turn) for whole in wholes]
            made = [self.part(stack, turn) for stack in stacks]
            given = [*outputs[:carried], *parts, *inputs[carried + scanned :]]
            self.run(body, self.lent(body, own, given), [*next_, *made])
            for stack, each in zip(stacks, made, strict=True):
                stack.value[turn] = each.value
            for j in range(carried):
                if next_[j] is not outputs[j]:
                    self.check(next_[j], "what is carried over")
            for j in range(carried):
                if next_[j] is not outputs[j]:
                    self.give(next_[j], outputs[j])
        if operator.condition is not None:
            self.ask(function, index, operator, [*outputs[:carried], *inputs[carried:]])

    def lent(self, body: Function, own: dict[BufferId, Tensor], given: list[Value]) -> list[Value]:
        """Return a body's arguments, with new slots for those it only reads, as the given slots may change."""
        return [
            Slot(each.value, each.width, each.at, each.home)
            if isinstance(each, Slot) and own[id_].kind is TensorKind.INPUT
            else each
            for id_, each in zip(body.inputs, given, strict=True)
        ]

    def part(self, whole: Slot, turn: int) -> Slot:
        size = int(np.prod(whole.value.shape[1:])) * whole.width
        return Slot(whole.value[turn].copy(), whole.width, (whole.at[0], whole.at[1] + turn * size))

    def next_place(
        self, function: Function, index: int, operator: Operator, like: Value, leaf: int
    ) -> tuple[Value, int]:
        """Return slots for a value that the next turn receives; each part of a tuple is numbered, from `leaf` on."""
        if isinstance(like, list):
            parts = []
            for part in like:
                made, leaf = self.next_place(function, index, operator, part, leaf)
                parts.append(made)
            return parts, leaf
        home = self.made(function, index, operator, f"next{leaf}")
        return Slot(like.value, like.width, self.places.get(home, ("nowhere yet", 0)), home), leaf + 1

    def ask(self, function: Function, index: int, operator: Operator, given: list[Value]) -> None:
        assert operator.condition is not None
        condition = self.functions[operator.condition]
        tensors = {tensor.id: tensor for tensor in (*condition.tensors, *self.program.tensors)}
        at = self.places[self.made(function, index, operator, "condition")]
        truth = self.slot(tensors[condition.outputs[0]], at)
        self.run(condition, given, [truth])
        self.check(truth, "a condition")
