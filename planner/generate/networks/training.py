"""Training graphs: activations wait for their step of the backward pass, gradients of weights for the optimiser.

As for large models, only the input of each segment of layers is kept; the backward pass runs a segment's layers again before it needs them.
With `segment=1` everything is kept instead. (Thousands of tensors that all wait for the end of the forward pass are easy to pack.)
"""

from __future__ import annotations

from dataclasses import dataclass

from ..chance import Chance
from ..request import Request, Sketch
from .tape import Tape

SEGMENT = 20
"""The layers that are run again together, by default."""
TENSORS_PER_LAYER = (11, 16)
"""The most tensors of a layer, without and with running it again."""
LARGEST_HEAD = 1 << 16
MIDDLE = 1 << 18
"""The bytes of a medium activation."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a layer's tensors."""

    before: int
    after: int
    wide: int
    """In the middle of the layer."""
    weights: int
    scratch: int
    gathers: bool
    """True if the gradient of the weights waits for the optimiser."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What the backward step of a layer reads, and its output."""

    source: int
    wide: int
    mask: int
    end: int


def training(request: Request) -> Sketch:
    chance = request.chance()
    segment = request.parameters["segment"]
    count = request.buffers // TENSORS_PER_LAYER[segment > 1]
    shapes = _shapes(count, chance)
    tape = Tape()
    x = tape.step("batch", shapes[0].before if shapes else 64)
    inputs: list[int] = []
    saved: list[Saved] = []
    for start in range(0, count, segment):
        inputs.append(x)
        layers = _forward(tape, x, shapes[start : start + segment])
        x = layers[-1].end
        saved += layers
    gradient = tape.step("loss", shapes[-1].after if shapes else 64, x)
    waiting: list[int] = []
    for place, start in reversed(list(enumerate(range(0, count, segment)))):
        part = shapes[start : start + segment]
        layers = saved[start : start + segment] if segment == 1 else _forward(tape, inputs[place], part)
        for shape, layer in zip(reversed(part), reversed(layers), strict=True):
            gradient = _backward(tape, shape, layer, gradient, waiting)
    for of_weights in waiting[: max(request.buffers - len(tape), 0)]:
        tape.step("update", 64, of_weights)
    tape.chain(chance, request.buffers, LARGEST_HEAD)
    return Sketch(tape.buffers(request.buffers))


def _shapes(count: int, chance: Chance) -> list[Shape]:
    shapes, size = [], MIDDLE * chance.between(8, 24) // 16
    for _ in range(count):
        after = _next_size(size, chance) if chance.one_in(2) else size
        wide = after * chance.between(4, 20) // 8
        scratch = after * chance.between(1, 24) // 16 if chance.one_in(3) else 0
        # What waits for the optimiser is small, as it would dominate otherwise.
        gathers = chance.one_in(8)
        weights = after * chance.between(1, 16) // (256 if gathers else 16)
        shapes.append(Shape(size, after, wide, weights, scratch, gathers))
        size = after
    return shapes


def _next_size(size: int, chance: Chance) -> int:
    """Return a larger or smaller size, pulled back to the middle from either end."""
    if size > MIDDLE << 2:
        return size // chance.between(2, 4)
    if size < MIDDLE >> 2:
        return size * chance.between(2, 4)
    return size * chance.between(9, 30) // 16


def _forward(tape: Tape, x: int, shapes: list[Shape]) -> list[Saved]:
    """Two convolutions around an activation, with the input added if it has the same size."""
    layers = []
    for shape in shapes:
        wide = tape.step("conv", shape.wide, x, scratch=shape.scratch)
        mask = tape.step("mask", shape.wide // 32 + 1, wide)
        active = tape.step("relu", shape.wide, wide, mask)
        end = tape.step("project", shape.after, active)
        if shape.before == shape.after:
            end = tape.step("add", shape.after, end, x)
        layers.append(Saved(x, active, mask, end))
        x = end
    return layers


def _backward(tape: Tape, shape: Shape, layer: Saved, gradient: int, waiting: list[int]) -> int:
    """Return the gradient of the layer's input; that of its weights waits for the end, or is used at once."""
    inside = tape.step("d_relu", shape.wide, gradient, layer.wide, layer.mask)
    of_weights = tape.step("d_weight", shape.weights, inside, layer.source, scratch=shape.scratch)
    if shape.gathers:
        waiting.append(of_weights)
    else:
        tape.step("update", 64, of_weights)
    return tape.step("d_input", shape.before, inside, *([gradient] if shape.before == shape.after else []))
