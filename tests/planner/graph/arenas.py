"""An interpreter for programs whose functions have arenas of their own, one inside the other.

It knows the program and where each arena's plan puts things. What every operator reads is noted, as by `Values`: both read the same only if nothing
was overwritten too early.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from planner.graph import Function, NestedPlan, Operator, OperatorKind, Program, Tensor, TensorKind
from planner.model.problem import BufferId
from tests.planner.graph.values import (
    Address,
    Answer,
    Held,
    Log,
    Place,
    Value,
    computed,
    element,
    flat,
    initial,
    slice_of,
    tensors_of,
    turns,
)

K = OperatorKind


@dataclass
class Frame:
    """A function while it runs."""

    function: Function
    tensors: dict[BufferId, Tensor]
    base: dict[str, int]
    """Where its arena begins in each pool."""
    places: dict[BufferId, Address]


@dataclass
class Step:
    """An operator that makes something new, while it runs."""

    frame: Frame
    index: int
    name: str
    operator: Operator
    inputs: list[Value]
    results: list[Value]
    answer: Answer


class Arenas:
    """Runs a program in memory that has exactly the bytes of its nested plan."""

    def __init__(self, program: Program, nested: NestedPlan, chance: random.Random) -> None:
        self.program, self.chance = program, chance
        self.functions = {function.name: function for function in program.functions}
        self.plans = {
            arena.function: {place.id: (place.pool, place.offset) for place in arena.plan.placements}
            for arena in nested.arenas
        }
        assert nested.peaks is not None
        self.memory = {name: bytearray(chance.randbytes(size)) for name, size in nested.peaks}
        self.lasting: dict[tuple[str | None, BufferId], Held] = {}
        self.log: Log = []
        for name, tensor, content in initial(program):
            own = str(tensor.id) if name is None or len(self.functions) == 1 else f"{name}/{tensor.id}"
            at = self.plans.get("state", {}).get(own) if tensor.kind is TensorKind.MUTABLE else None
            self.lasting[name, tensor.id] = held = Held(at or self.outside(tensor.bytes), tensor.bytes)
            self.write(held, content)

    def outside(self, size: int) -> Address:
        """Return an address in new memory that no plan has."""
        name = f"outside {len(self.memory)}"
        self.memory[name] = bytearray(size)
        return name, 0

    def read(self, value: Value) -> Value:
        if isinstance(value, list):
            return [self.read(each) for each in value]
        assert isinstance(value, Held)
        (pool, at), size = value.at, value.size
        assert 0 <= at <= at + size <= len(self.memory[pool]), "beyond the arena"
        return bytes(self.memory[pool][at : at + size])

    def flat(self, value: Value) -> tuple[bytes, ...]:
        return flat(self.read(value))

    def write(self, value: Value, content: bytes) -> None:
        assert isinstance(value, Held)
        (pool, at), size = value.at, value.size
        assert len(content) == size
        assert 0 <= at <= at + size <= len(self.memory[pool]), "beyond the arena"
        self.memory[pool][at : at + size] = content

    def copy(self, source: Value, result: Value) -> None:
        if isinstance(source, list):
            assert isinstance(result, list)
            for one, other in zip(source, result, strict=True):
                self.copy(one, other)
        else:
            (content,) = self.flat(source)
            self.write(result, content)

    def state(self) -> list[bytes]:
        """Return what lasts from run to run."""
        return [self.flat(each)[0] for each in self.lasting.values()]

    def enter(self, name: str, given: Sequence[bytes], answer: Answer) -> list[Value]:
        """Run an entry with these inputs, after all bytes but lasting ones are lost, and return its outputs."""
        lasting = [(held, self.flat(held)[0]) for held in self.lasting.values()]
        for area in self.memory.values():
            area[:] = self.chance.randbytes(len(area))
        for held, kept in lasting:
            self.write(held, kept)
        function = self.functions[name]
        frame = Frame(function, tensors_of(self.program, function), {}, self.plans[name])
        values: list[Value] = []
        for id_, content in zip(function.inputs, given, strict=True):
            if (name, id_) in self.lasting:
                values.append(self.lasting[name, id_])
            else:
                place = self.where(frame, frame.tensors[id_], str(id_))
                values.append(found(place or Held(self.outside(len(content)), len(content))))
                self.write(values[-1], content)
        return [self.read(each) for each in self.run(frame, values, None, answer)]

    def where(self, frame: Frame, tensor: Tensor, id_: str) -> Place:
        """Return where the plan puts a tensor, or each part of a tuple; None for what it does not place."""
        if tensor.items is not None:
            return [self.where(frame, item, f"{id_}.{i}") for i, item in enumerate(tensor.items)]
        if id_ not in frame.places:
            return None
        pool, offset = frame.places[id_]
        at = frame.base.get(pool, 0) + offset
        assert at % tensor.alignment == 0, "not aligned"
        return Held((pool, at), tensor.bytes)

    def made(self, frame: Frame, like: Tensor, name: str) -> Value:
        """Return where the plan puts something that has no name in the program."""
        while name in frame.tensors:
            name += "'"
        return found(self.where(frame, like, name))

    def call(
        self, frame: Frame, name: str, step: str, given: Sequence[Value], wanted: Sequence[Value], answer: Answer
    ) -> None:
        """Run a function whose arena is a workspace of this step of its caller."""
        spaces = [place for id_, place in frame.places.items() if str(id_).startswith(f"{step}.workspace")]
        base = {pool: frame.base.get(pool, 0) + offset for pool, offset in spaces}
        function = self.functions[name]
        inner = Frame(function, tensors_of(self.program, function), base, self.plans[name])
        self.run(inner, given, wanted, answer)

    def run(self, frame: Frame, given: Sequence[Value], wanted: Sequence[Value] | None, answer: Answer) -> list[Value]:
        """Run the function of this frame; its outputs are to be at `wanted`, if given. Return where they are."""
        function, tensors = frame.function, frame.tensors
        values = {id_: held for (owner, id_), held in self.lasting.items() if owner in (None, function.name)}
        here: dict[BufferId, Value] = {**values, **dict(zip(function.inputs, given, strict=True))}
        straight: dict[BufferId, Value] = {}
        own = {tensor.id for tensor in function.tensors}
        for id_, there in zip(function.outputs, wanted or (), strict=wanted is not None):
            if id_ in own and tensors[id_].kind is TensorKind.INTERMEDIATE:
                straight.setdefault(id_, there)
        for i, operator in enumerate(function.operators):
            inputs = [here[id_] for id_ in operator.inputs]
            places: list[Place] = [
                here.get(id_) or straight.get(id_) or self.where(frame, tensors[id_], str(id_))
                for id_ in operator.outputs
            ]
            if operator.kind in (K.TUPLE, K.ITEM, K.VIEW, K.COPY, K.SLICE):
                results = [self.alias(self.source(frame, operator, inputs), places[0])]
            else:
                results = [found(place) for place in places]
                name = operator.name or f"{operator.kind.value}{i}"
                self.step(Step(frame, i, name, operator, inputs, results, answer))
            here.update(zip(operator.outputs, results, strict=True))
        done: set[BufferId] = set()
        for id_, there in zip(function.outputs, wanted or (), strict=wanted is not None):
            if id_ in done or id_ not in straight:
                self.copy(here[id_], there)
            done.add(id_)
        return [here[id_] for id_ in function.outputs]

    def source(self, frame: Frame, operator: Operator, inputs: list[Value]) -> Value:
        """Return what a view, copy, slice, tuple or item is of."""
        if operator.kind is K.TUPLE:
            return inputs
        (source,) = inputs
        if operator.kind is K.ITEM:
            assert isinstance(source, list)
            return source[operator.start]
        if operator.kind is K.SLICE:
            assert isinstance(source, Held)
            tensors = frame.tensors
            begin, end = slice_of(tensors[operator.outputs[0]], operator, tensors[operator.inputs[0]])
            return Held((source.at[0], source.at[1] + begin), end - begin)
        return source

    def alias(self, source: Value, place: Place) -> Value:
        """Copy the source to its place, unless it lies there; what has no place lies where its source lies."""
        if isinstance(source, list):
            places: Sequence[Place] = place if isinstance(place, list) else [None] * len(source)
            return [self.alias(one, other) for one, other in zip(source, places, strict=True)]
        assert not isinstance(place, list)
        if place is None or place == source:
            return source
        self.copy(source, found(place))
        return found(place)

    def step(self, step: Step) -> None:
        frame, operator, inputs, results = step.frame, step.operator, step.inputs, step.results
        match operator.kind:
            case K.CALL:
                self.call(frame, operator.functions[0], step.name, inputs, results, step.answer)
            case K.BRANCH:
                self.note(step, self.flat(inputs[0]))
                arm = operator.functions[step.answer() % len(operator.functions)]
                self.call(frame, arm, step.name, inputs[1:], results, step.answer)
            case K.LOOP:
                self.loop(step)
            case K.CONCATENATE:
                (whole,) = results
                assert isinstance(whole, Held)
                begin = 0
                for each in inputs:
                    (content,) = self.flat(each)
                    self.write(Held((whole.at[0], whole.at[1] + begin), len(content)), content)
                    begin += len(content)
            case K.IN_PLACE:
                (result,) = results
                assert isinstance(result, Held)
                width = frame.tensors[operator.outputs[0]].element_bits // 8
                self.note(step, self.flat(inputs))
                for at in range(0, result.size, width):
                    content = element(self.flat(inputs), at, width)
                    self.write(Held((result.at[0], result.at[1] + at), width), content)
            case _:
                self.compute(step)

    def note(self, step: Step, read: tuple[bytes, ...]) -> None:
        """Note what a step has read."""
        self.log.append((step.frame.function.name, step.index, read))

    def compute(self, step: Step) -> None:
        """Compute the results, with workspaces in use from the first byte that is read to the last that is written."""
        frame, operator = step.frame, step.operator
        spaces = [
            Held((pool, frame.base.get(pool, 0) + offset), operator.workspaces[j].size)
            for j in range(len(operator.workspaces))
            for pool, offset in (frame.places[f"{step.name}.workspace{j}"],)
        ]
        for id_, result in zip(operator.outputs, step.results, strict=True):
            if frame.tensors[id_].kind is TensorKind.INTERMEDIATE:
                self.spoil(result)
        self.spoil(list(spaces))
        parts = self.flat(step.inputs)
        self.note(step, parts)
        for k, result in enumerate(step.results):
            assert isinstance(result, Held)
            self.write(result, computed((*parts, bytes([k])), result.size))
        self.spoil(list(spaces))

    def spoil(self, value: Value) -> None:
        """Write anything into these bytes."""
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, list):
                self.spoil(each)
            elif isinstance(each, Held):
                self.write(each, self.chance.randbytes(each.size))

    def loop(self, step: Step) -> None:
        frame, operator, inputs, results = step.frame, step.operator, step.inputs, step.results
        body, carried = self.functions[operator.functions[0]], operator.carried
        tensors = tensors_of(self.program, body)
        now, stacks = results[:carried], results[carried:]
        wholes, same = (
            inputs[carried : carried + operator.scanned],
            inputs[carried + operator.scanned :],
        )
        for source, result in zip(inputs[:carried], now, strict=True):
            self.copy(source, result)
        names = operator.outputs
        following = [
            self.made(frame, frame.tensors[id_], f"{step.name}.next{j}") for j, id_ in enumerate(names[:carried])
        ]
        lengths = [tensors[id_].bytes for id_ in body.inputs[carried : carried + operator.scanned]]
        shapes = [frame.tensors[id_].shape for id_ in names[carried:]]
        ask = operator.condition
        for turn in range(turns(operator, shapes, wholes, lengths, step.answer)):
            if ask is not None and not self.asked(step, ask, [*now, *same]):
                break
            parts = [part_of(whole, turn, size) for whole, size in zip(wholes, lengths, strict=True)]
            made = [
                part_of(stack, turn, tensors[id_].bytes)
                for stack, id_ in zip(stacks, body.outputs[carried:], strict=True)
            ]
            self.call(frame, body.name, f"{step.name}.turn", [*now, *parts, *same], [*following, *made], step.answer)
            for source, result in zip(following, now, strict=True):
                self.copy(source, result)

    def asked(self, step: Step, name: str, given: list[Value]) -> bool:
        condition = self.functions[name]
        like = tensors_of(self.program, condition)[condition.outputs[0]]
        truth = self.made(step.frame, like, f"{step.name}.condition")
        self.call(step.frame, name, f"{step.name}.condition", given, [truth], step.answer)
        self.log.append((name, -1, self.flat(truth)))
        return bool(step.answer() % 4)


def part_of(whole: Value, turn: int, size: int) -> Value:
    """Return where a turn's part of a whole is."""
    assert isinstance(whole, Held)
    return Held((whole.at[0], whole.at[1] + turn * size), size)


def found(place: Place) -> Value:
    """Return the place, which must be known."""
    if isinstance(place, list):
        return [found(each) for each in place]
    assert isinstance(place, Held), "a result without a place"
    return place
