"""Recurrent networks, unrolled in both directions: long chains of small tensors, and inputs and states that wait for the backward pass.

Sequences of different lengths are computed together, so that fewer remain at later positions, as in packed batches.
"""

from __future__ import annotations

from ..chance import Chance
from ..request import Request, Sketch
from .tape import Tape

TENSORS_PER_STEP = 14
LARGEST_HEAD = 1 << 14
STEPS_AT_MOST = 60
"""Longer programs are several batches in sequence."""
NUMBER = 4
"""The bytes of a number."""


def recurrent(request: Request) -> Sketch:
    chance = request.chance()
    tape = Tape()
    while (left := (request.buffers - len(tape)) // TENSORS_PER_STEP) > 0:
        _batch(tape, min(left, chance.between(STEPS_AT_MOST // 4, STEPS_AT_MOST)), chance)
    tape.chain(chance, request.buffers, LARGEST_HEAD)
    return Sketch(tape.buffers(request.buffers))


def _batch(tape: Tape, steps: int, chance: Chance) -> None:
    """Add a batch: every position is read from the left and from the right; then a head sees both states."""
    most = chance.between(4, 12)
    rows = sorted((chance.between(1, most) for _ in range(steps)), reverse=True)
    width, token = 16 * chance.between(2, 8), 16 * chance.between(2, 12)
    inputs = [tape.step("token", NUMBER * token * row) for row in rows]
    there = _direction(tape, inputs, rows, width)
    back = _direction(tape, inputs[::-1], rows[::-1], width)[::-1]
    classes = chance.between(8, 200)
    for left, right, row in zip(there, back, rows, strict=True):
        joined = tape.step("concat", NUMBER * 2 * width * row, left, right)
        tape.step("logits", NUMBER * classes * row, joined)


def _direction(tape: Tape, inputs: list[int], rows: list[int], width: int) -> list[int]:
    """Return the hidden states, in the order of the inputs."""
    states: list[int] = []
    cell: int | None = None
    for x, row in zip(inputs, rows, strict=True):
        size = NUMBER * width * row
        projected = tape.step("gates", 4 * size, x, *states[-1:])
        gates = tape.step("sigmoid", 4 * size, projected)
        cell = tape.step("cell", size, gates, *([] if cell is None else [cell]))
        squashed = tape.step("tanh", size, cell)
        states.append(tape.step("hidden", size, gates, squashed))
    return states
