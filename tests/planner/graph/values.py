"""Programs run on values that lie nowhere, for comparison with runs in planned memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import shake_128
from math import prod
from typing import TypeAlias

from planner.graph import Function, Operator, OperatorKind, Program, Tensor, TensorKind
from planner.model.problem import BufferId

K = OperatorKind
Address: TypeAlias = tuple[str, int]
Log: TypeAlias = list[tuple[str, int, tuple[bytes, ...]]]
"""Function, operator and what it read, in the order of the run."""
MOST_TURNS = 3


@dataclass(frozen=True)
class Held:
    """Bytes of memory that hold a tensor."""

    at: Address
    size: int


Value: TypeAlias = "bytes | State | Held | list[Value]"
Place: TypeAlias = "bytes | State | Held | Sequence[Place] | None"
Answer: TypeAlias = Callable[[], int]


@dataclass
class State:
    """A value that is written in place."""

    content: bytes


def computed(what: tuple[bytes, ...], size: int) -> bytes:
    """Return bytes that depend on all of these."""
    return shake_128(b"".join(len(each).to_bytes(4, "big") + each for each in what)).digest(size)


def tensors_of(program: Program, function: Function) -> dict[BufferId, Tensor]:
    """Return what a function sees."""
    return {tensor.id: tensor for tensor in (*program.tensors, *function.tensors)}


def initial(program: Program) -> Iterator[tuple[str | None, Tensor, bytes]]:
    """Yield each constant and each state, by its function (None: of all), with its first content."""
    own = [(function.name, tensor) for function in program.functions for tensor in function.tensors]
    for name, tensor in [*((None, tensor) for tensor in program.tensors), *own]:
        inputs = next((f.inputs for f in program.functions if f.name == name), ())
        if tensor.kind in (TensorKind.MUTABLE, TensorKind.CONSTANT) and (
            tensor.id not in inputs or name in program.entries
        ):
            yield name, tensor, computed((f"{name} {tensor.id}".encode(),), tensor.bytes)


def slice_of(tensor: Tensor, operator: Operator, source: Tensor) -> tuple[int, int]:
    """Return where in the source's bytes a slice along the first dimension begins and ends."""
    row = prod(source.shape[1:]) * source.element_bits // 8
    return operator.start * row, operator.start * row + tensor.bytes


class Values:
    """Runs a program on values, without any memory."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions = {function.name: function for function in program.functions}
        self.lasting: dict[tuple[str | None, BufferId], bytes | State] = {
            (name, tensor.id): State(content) if tensor.kind is TensorKind.MUTABLE else content
            for name, tensor, content in initial(program)
        }
        self.log: Log = []

    def state(self) -> list[bytes]:
        """Return what lasts from run to run."""
        return [flat(each)[0] for each in self.lasting.values()]

    def enter(self, name: str, given: Sequence[bytes], answer: Answer) -> list[Value]:
        """Run an entry with these inputs, and return its outputs."""
        function = self.functions[name]
        values = [self.lasting.get((name, id_), each) for id_, each in zip(function.inputs, given, strict=True)]
        return [read(each) for each in self.run(function, values, answer)]

    def run(self, function: Function, given: Sequence[Value], answer: Answer) -> list[Value]:
        tensors = tensors_of(self.program, function)
        values: dict[BufferId, Value] = {}
        for (owner, id_), content in self.lasting.items():
            if owner in (None, function.name):
                values[id_] = content
        values.update(zip(function.inputs, given, strict=True))

        def put(id_: BufferId, value: Value) -> None:
            kept = values.get(id_)
            if isinstance(kept, State):
                assert isinstance(value, bytes)
                kept.content = value
            else:
                values[id_] = value

        for i, operator in enumerate(function.operators):
            inputs = [values[id_] for id_ in operator.inputs]
            sizes = [tensors[id_].bytes for id_ in operator.outputs]
            match operator.kind:
                case K.CALL:
                    results = self.run(self.functions[operator.functions[0]], inputs, answer)
                case K.BRANCH:
                    self.log.append((function.name, i, flat(inputs[0])))
                    arm = operator.functions[answer() % len(operator.functions)]
                    results = self.run(self.functions[arm], inputs[1:], answer)
                case K.LOOP:
                    results = self.loop(operator, inputs, [tensors[id_].shape for id_ in operator.outputs], answer)
                case K.TUPLE:
                    results = [[read(each) for each in inputs]]
                case K.ITEM:
                    (whole,) = inputs
                    assert isinstance(whole, list)
                    results = [whole[operator.start]]
                case K.VIEW | K.COPY:
                    results = [read(inputs[0])]
                case K.SLICE:
                    begin, end = slice_of(tensors[operator.outputs[0]], operator, tensors[operator.inputs[0]])
                    results = [flat(inputs[0])[0][begin:end]]
                case K.CONCATENATE:
                    results = [b"".join(flat(inputs))]
                case K.IN_PLACE:
                    width = tensors[operator.outputs[0]].element_bits // 8
                    parts = flat(inputs)
                    self.log.append((function.name, i, parts))
                    results = [b"".join(element(parts, at, width) for at in range(0, sizes[0], width))]
                case _:
                    self.log.append((function.name, i, flat(inputs)))
                    results = [computed((*flat(inputs), bytes([k])), size) for k, size in enumerate(sizes)]
            for id_, value in zip(operator.outputs, results, strict=True):
                put(id_, value)
        return [read(values[id_]) for id_ in function.outputs]

    def loop(
        self, operator: Operator, inputs: list[Value], shapes: list[tuple[int, ...]], answer: Answer
    ) -> list[Value]:
        carried, body = operator.carried, self.functions[operator.functions[0]]
        now = [read(each) for each in inputs[:carried]]
        wholes = inputs[carried : carried + operator.scanned]
        same = inputs[carried + operator.scanned :]
        stacks: list[list[bytes]] = [[] for _ in shapes[carried:]]
        tensors = tensors_of(self.program, body)
        lengths = [tensors[id_].bytes for id_ in body.inputs[carried : carried + operator.scanned]]
        for turn in range(turns(operator, shapes[carried:], wholes, lengths, answer)):
            if operator.condition is not None and not self.asked(operator.condition, [*now, *same], answer):
                break
            parts = [
                flat(whole)[0][turn * size : (turn + 1) * size] for whole, size in zip(wholes, lengths, strict=True)
            ]
            made = self.run(body, [*now, *parts, *same], answer)
            now = made[:carried]
            for stack, part in zip(stacks, made[carried:], strict=True):
                stack.extend(flat(part))
        return [*now, *(b"".join(stack) for stack in stacks)]

    def asked(self, name: str, given: list[Value], answer: Answer) -> bool:
        self.log.append((name, -1, flat(self.run(self.functions[name], given, answer)[0])))
        return bool(answer() % 4)


def turns(
    operator: Operator,
    stacked: Sequence[tuple[int, ...]],
    wholes: Sequence[Value],
    lengths: Sequence[int],
    answer: Answer,
) -> int:
    """Return how often a loop runs, at most."""
    if stacked:
        return stacked[0][0]
    if wholes:
        whole = wholes[0]
        size = whole.size if isinstance(whole, Held) else len(flat(whole)[0])
        return size // lengths[0]
    return MOST_TURNS if operator.condition is not None else answer() % (MOST_TURNS + 1)


def read(value: Value) -> Value:
    """Return the value as it is now."""
    if isinstance(value, list):
        return [read(each) for each in value]
    return value.content if isinstance(value, State) else value


def flat(value: Value) -> tuple[bytes, ...]:
    """Return the contents of a value, or of all parts of a tuple."""
    if isinstance(value, list):
        return tuple(part for each in value for part in flat(each))
    assert not isinstance(value, Held)
    return (value.content,) if isinstance(value, State) else (value,)


def element(parts: Sequence[bytes], at: int, width: int) -> bytes:
    """Return an element that is computed from the same one of all parts as long as the first, and from all others wholly."""
    size = len(parts[0])
    return computed(tuple(part[at : at + width] if len(part) == size else part for part in parts), width)
