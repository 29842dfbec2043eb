"""An evaluator of ONNX models that reads every planned tensor from its place in one arena, and writes it there.

    python -m tests.planner.formats.models.onnx.in_memory model.onnx [--dim NAME=SIZE]...

runs a model on random numbers without an arena and in it, with and without sharing in place, and says whether the outputs are the same bits. Whole
numbers are 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from planner import Options, plan, verify
from planner.formats.documents import Source
from planner.formats.models.onnx.read import ALIGNMENT, ARENA, read_program
from planner.graph import Function, Operator, OperatorKind, program_problem
from planner.model.problem import BufferId, Pool

NARROW = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
"""The bits of elements that are packed, by their NumPy types' names."""


class Place(NamedTuple):
    """Bytes of the arena."""

    offset: int
    size: int


class Form(NamedTuple):
    """What the bytes of a tensor stand for."""

    dtype: Any
    shape: tuple[int, ...]
    order: tuple[int, ...]
    """The dimensions as NumPy had them, the slowest first: its sums are rounded by that order."""


class Arena:
    """The memory of a planned model."""

    def __init__(self, data: bytes, dims: Sequence[str] = (), *, in_place: bool = False) -> None:
        program = read_program(Source(data), dims, in_place=in_place).program
        made = program_problem(program, (Pool(ARENA, alignment=ALIGNMENT),))
        found = plan(made.problem, Options(time_limit=None, work_limit=100_000, workers=1))
        assert found.status.has_plan
        assert verify(made.problem, found) == ()
        assert found.peak is not None
        self.bytes = bytearray(random.Random(0).randbytes(found.peak))
        sizes = {buffer.id: buffer.size for buffer in made.problem.buffers}
        self.places = {each.id: Place(each.offset, sizes[each.id]) for each in found.placements}
        self.homes = made.homes
        self.functions = {function.name: function for function in program.functions}
        self.spoils = not in_place
        """True: a result's place is overwritten before the operator reads."""
        self.read = self.written = 0
        """How many tensors were."""

    def place(self, function: str, name: str) -> Place | None:
        """Return where the function's tensor of this name is; None if it is not planned."""
        home: BufferId | None = self.homes.get((function, name))
        return None if home is None else self.places.get(home)

    def spoil(self, place: Place) -> None:
        self.bytes[place.offset : place.offset + place.size] = b"\xa5" * place.size

    def write(self, place: Place, value: Any) -> Form:
        """Write the array's bytes."""
        content = packed(value)
        assert len(content) <= place.size, "the plan has too little room"
        self.bytes[place.offset : place.offset + len(content)] = content
        self.written += 1
        return form_of(value)

    def value(self, place: Place, form: Form) -> Any:
        """Return a copy of the array."""
        self.read += 1
        found = unpacked(bytes(self.bytes[place.offset : place.offset + place.size]), form)
        return np.array(found.transpose(form.order), order="C").transpose(np.argsort(form.order))


def form_of(value: Any) -> Form:
    """Return what the array's bytes will stand for."""
    return Form(value.dtype, value.shape, tuple(sorted(range(value.ndim), key=lambda axis: -value.strides[axis])))


def packed(value: Any) -> bytes:
    """Return the array's bytes, with narrow elements packed."""
    bits = NARROW.get(value.dtype.name)
    if bits is None:
        return bytes(value.tobytes())
    parts = np.unpackbits(np.ascontiguousarray(value).view(np.uint8).reshape(-1, 1), axis=1, bitorder="little")
    return np.packbits(parts[:, :bits].ravel(), bitorder="little").tobytes()


def unpacked(content: bytes, form: Form) -> Any:
    """Return the array of which these are the bytes."""
    count, bits = prod(form.shape), NARROW.get(form.dtype.name)
    if bits is None:
        return np.frombuffer(content, form.dtype, count).reshape(form.shape).copy()
    parts = np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")[: count * bits].reshape(count, bits)
    if form.dtype.name.startswith("int"):  # the sign fills the byte
        parts = np.hstack([parts, np.repeat(parts[:, -1:], 8 - bits, axis=1)])
    return np.packbits(parts, axis=1, bitorder="little").view(form.dtype).reshape(form.shape)


@dataclass
class Frame:
    """A graph while it runs."""

    function: Function
    around: Frame | None
    held: dict[str, Any]
    """Values that are not planned."""
    forms: dict[str, Form] = field(default_factory=dict)
    """Of those that are."""


class InMemory(ReferenceEvaluator):
    """Runs a model node by node. Graphs of If, Loop and Scan run in the same arena; their operators hand over what is carried."""

    arena: Arena | None = None
    """None: without one, as in functions of the model's own."""
    function = "main"
    around: Frame | None = None
    run_by: Operator | None = None
    """The operator of which this is the graph."""
    turn = 0

    def run(self, output_names: Any, feed_inputs: Any, attributes: Any = None, *more: Any, **others: Any) -> Any:
        arena = self.arena
        if arena is None or attributes:
            return super().run(output_names, feed_inputs, attributes, *more, **others)
        frame = Frame(arena.functions[self.function], self.around, {"": None, **self.rt_inits_})
        for name in filter(feed_inputs.__contains__, self.input_names):  # the others are initializers
            self.put(frame, name, feed_inputs[name])
        for node in self.rt_nodes_:
            self.step(frame, node)
        back = [self.get(frame, name) for name in output_names or self.output_names]
        self.stack(frame, back)
        self.turn += 1
        return back

    def step(self, frame: Frame, node: Any) -> None:
        arena, context = self.arena, {}
        assert arena is not None
        own = [graph for graph in vars(node).values() if isinstance(graph, InMemory)] if node.need_context() else []
        operator = self.operator(frame, node) if own else None
        if own:
            context = dict.fromkeys(self.names(frame))
            for name in context:
                context[name] = self.get(frame, name)
        if operator is not None:
            for graph in own:
                graph.arena, graph.function, graph.around = arena, function_of(operator, node, graph), frame
                graph.run_by, graph.turn = operator, 0
        elif arena.spoils:
            for name in node.output:
                place = arena.place(frame.function.name, name)
                if place is not None and name not in frame.forms:
                    arena.spoil(place)
        inputs = [self.get(frame, name) for name in node.input]
        results = node.run(*inputs, context=context) if node.need_context() else node.run(*inputs)
        stacked = (
            () if operator is None or operator.kind is not OperatorKind.LOOP else operator.outputs[operator.carried :]
        )
        for name, value in zip(node.output, results, strict=False):
            place = arena.place(frame.function.name, name)
            if place is not None and name in stacked and own[0].turn:  # its parts have been written turn by turn
                frame.forms[name] = form_of(value)
            elif name:
                self.put(frame, name, value)

    def operator(self, frame: Frame, node: Any) -> Operator | None:
        """Return the program's operator that runs the node's graphs; None if they were not kept."""
        kinds = (OperatorKind.CALL, OperatorKind.BRANCH, OperatorKind.LOOP)
        names = set(node.output)
        found = [each for each in frame.function.operators if each.kind in kinds and names.intersection(each.outputs)]
        return found[0] if found else None

    def names(self, frame: Frame | None) -> list[str]:
        """Return what a graph within this one can see."""
        return [] if frame is None else [*self.names(frame.around), *frame.held, *frame.forms]

    def get(self, frame: Frame | None, name: str) -> Any:
        """Return a value, read from its place if it has one."""
        assert self.arena is not None
        while frame is not None:
            if name in frame.forms:
                place = self.arena.place(frame.function.name, name) or self.part(frame, name)
                assert place is not None
                return self.arena.value(place, frame.forms[name])
            if name in frame.held:
                return frame.held[name]
            frame = frame.around
        raise AssertionError(f"{name} has no value")

    def put(self, frame: Frame, name: str, value: Any) -> None:
        """Write a value to its place if it has one, otherwise keep it."""
        assert self.arena is not None
        place = self.arena.place(frame.function.name, name)
        is_array = (
            isinstance(value, (np.ndarray, np.generic)) and value.dtype != object and value.dtype.kind not in "US"
        )
        if place is not None and is_array:
            frame.forms[name] = self.arena.write(place, value)
        elif is_array and self.part(frame, name) is not None:  # of what is scanned: it is there
            frame.forms[name] = form_of(value)
        else:
            frame.held[name] = value

    def part(self, frame: Frame, name: str) -> Place | None:
        """Return where this turn's part of what is scanned is."""
        loop, around = self.run_by, frame.around
        if loop is None or loop.kind is not OperatorKind.LOOP or around is None or name not in frame.function.inputs:
            return None
        at = frame.function.inputs.index(name)
        if not loop.carried <= at < loop.carried + loop.scanned:
            return None
        return self.of_turn(around, frame.function, loop.inputs[at], name)

    def of_turn(self, around: Frame, function: Function, whole: str | int, name: str) -> Place | None:
        assert self.arena is not None
        place = self.arena.place(around.function.name, str(whole))
        size = next(tensor.bytes for tensor in function.tensors if tensor.id == name)
        return None if place is None else Place(place.offset + self.turn * size, size)

    def stack(self, frame: Frame, back: list[Any]) -> None:
        """Write this turn's parts of what a loop joins."""
        loop = self.run_by
        if loop is None or loop.kind is not OperatorKind.LOOP or frame.around is None or self.arena is None:
            return
        names = frame.function.outputs[loop.carried :]
        for j, (name, whole) in enumerate(zip(names, loop.outputs[loop.carried :], strict=True)):
            place = self.of_turn(frame.around, frame.function, whole, str(name))
            if place is not None:
                self.arena.write(place, back[j - len(names)])


def function_of(operator: Operator, node: Any, graph: InMemory) -> str:
    """Return the name of the function that the graph has become; a branch may have lost the arm that never runs."""
    last = len(operator.functions) - 1
    return operator.functions[last if graph is getattr(node, "else_branch", None) else 0]


def outcomes(model: onnx.ModelProto, given: dict[str, Any], arena: Arena) -> tuple[Any, Any]:
    """Return the model's outputs without an arena, and in it."""
    bare = ReferenceEvaluator(model).run(None, given)
    evaluator = InMemory(model)
    evaluator.arena = arena
    return bare, evaluator.run(None, given)


def same(one: Any, other: Any) -> bool:
    """Return whether both are the same bits."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None:
        return one is other
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool((one == other).all()) if one.dtype.kind in "OUS" else packed(one) == packed(other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE")
    options = parser.parse_args()
    data = options.model.read_bytes()
    model = onnx.load_from_string(data)
    for in_place in (False, True):
        arena = Arena(data, options.dim, in_place=in_place)
        bare, found = outcomes(model, drawn(model, arena), arena)
        verdict = "the same bits" if same(bare, found) else "DIFFERENT"
        how = " in place" if in_place else ""
        sys.stdout.write(f"{options.model.name}{how}: {arena.written} tensors written: {verdict}\n")


def drawn(model: onnx.ModelProto, arena: Arena) -> dict[str, Any]:
    """Return inputs of the shapes that are planned."""
    chance = np.random.default_rng(1)
    shapes = {str(tensor.id): tensor.shape for tensor in arena.functions["main"].tensors}
    constants = {each.name for each in model.graph.initializer}
    given: dict[str, Any] = {}
    for each in model.graph.input:
        if each.name not in constants:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
            shape = shapes.get(each.name, ())
            given[each.name] = chance.random(shape).astype(dtype) if dtype.kind in "fc" else np.ones(shape, dtype)
    return given


if __name__ == "__main__":
    main()
