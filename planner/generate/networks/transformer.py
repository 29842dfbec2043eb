"""Transformers: attention with its quadratic scores, residual streams, wide feed-forward layers, here and there a mixture of experts."""

from __future__ import annotations

from ..chance import Chance
from ..request import Request, Sketch
from .tape import Tape

BYTES = 2
"""The bytes of a number."""
EXPERTS_ONE_IN = 3


def transformer(request: Request) -> Sketch:
    chance = request.chance()
    width = chance.pick((256, 384, 512, 768, 1024))
    tokens = 16 * chance.between(4, 40)
    tape = Tape()
    stream = tape.step("embed", tokens * width * BYTES)
    while len(tape) < request.buffers:
        after = _attention(tape, stream, tokens, width)
        experts = chance.between(2, 6) if chance.one_in(EXPERTS_ONE_IN) else 1
        stream = _feed_forward(tape, after, tokens, width, experts, chance)
    return Sketch(tape.buffers(request.buffers))


def _attention(tape: Tape, stream: int, tokens: int, width: int) -> int:
    size, scores = tokens * width * BYTES, width // 64 * tokens * tokens * BYTES
    norm = tape.step("norm", size, stream)
    query, key, value = (tape.step(name, size, norm) for name in ("query", "key", "value"))
    turned = tape.step("key_turned", size, key)
    products = tape.step("scores", scores, query, turned)
    weights = tape.step("softmax", scores, products, scratch=tokens * BYTES * 2)
    context = tape.step("context", size, weights, value)
    out = tape.step("project", size, context)
    return tape.step("add", size, stream, out)


def _feed_forward(tape: Tape, stream: int, tokens: int, width: int, experts: int, chance: Chance) -> int:
    """Add one wide layer, or several experts, each of which takes some of the tokens."""
    size = tokens * width * BYTES
    norm = tape.step("norm", size, stream)
    left, parts = tokens, []
    for expert in range(experts):
        taken = left if expert == experts - 1 else chance.between(1, max(left - experts, 1))
        left = max(left - taken, 1)
        part = norm if experts == 1 else tape.step("route", taken * width * BYTES, norm)
        up = tape.step("up", 4 * taken * width * BYTES, part)
        gate = tape.step("gelu", 4 * taken * width * BYTES, up)
        parts.append(tape.step("down", taken * width * BYTES, gate))
    joined = parts[0] if experts == 1 else tape.step("combine", size, *parts)
    return tape.step("add", size, stream, joined)
