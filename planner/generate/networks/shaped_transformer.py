"""A transformer whose sizes depend on the number of tokens: reading a prompt (prefill), or one token after the other (decode)."""

from __future__ import annotations

from ...model.problem import Buffer, Lifetimes, Pool, Problem
from ...planning.shapes import ShapedProblem, shaped

BYTES = 2
"""The bytes of a number."""


def shaped_transformer(
    layers: int = 2, width: int = 256, heads: int = 4, longest: int = 2048, *, decode: bool = False
) -> ShapedProblem:
    """Return the problem. `n` is the number of known tokens; every layer's keys and values of all tokens are kept to the end."""
    tape = _Tape()
    rows = "" if decode else "*n"
    row = f"{width * BYTES}{rows}"
    stream = tape.step("embed", row)
    kept: list[int] = []
    for layer in range(layers):
        at = f"{layer}."
        cache = tape.step(f"{at}cache", f"{2 * width * BYTES}*n")
        kept.append(cache)
        norm = tape.step(f"{at}norm", row, stream)
        query, key, value = (tape.step(f"{at}{name}", row, norm) for name in ("query", "key", "value"))
        tape.read(cache, key, value)
        scores = tape.step(f"{at}scores", f"{heads * BYTES}*n{rows}", query, cache)
        weights = tape.step(f"{at}softmax", f"{heads * BYTES}*n{rows}", scores)
        context = tape.step(f"{at}context", row, weights, cache)
        after = tape.step(f"{at}attended", row, stream, context)
        second = tape.step(f"{at}norm2", row, after)
        up = tape.step(f"{at}up", f"{4 * width * BYTES}{rows}", second)
        gate = tape.step(f"{at}gelu", f"{4 * width * BYTES}{rows}", up)
        down = tape.step(f"{at}down", row, gate)
        stream = tape.step(f"{at}out", row, after, down)
    tape.step("logits", f"{max(width * 16, 1024)}", stream, *kept)
    name = f"{'decode' if decode else 'prefill'} layers={layers} width={width} heads={heads} n=1..{longest}"
    problem = Problem(tape.buffers(), (Pool("arena", alignment=16),), name=name, lifetimes=Lifetimes.HALF_OPEN)
    return shaped(problem, {"n": (1, longest)}, dict(tape.sizes))


class _Tape:
    """Steps in the order in which they run."""

    def __init__(self) -> None:
        self.sizes: dict[int | str, str] = {}
        self._births: list[int] = []
        self._last: list[int] = []

    def step(self, name: str, size: str, *inputs: int) -> int:
        """Add a step that reads tensors and makes one."""
        self.read(*inputs)
        self.sizes[name] = size
        self._births.append(len(self._births))
        self._last.append(len(self._births) - 1)
        return len(self._births) - 1

    def read(self, *inputs: int) -> None:
        """Let the next step read these too."""
        for tensor in inputs:
            self._last[tensor] = max(self._last[tensor], len(self._births))

    def buffers(self) -> tuple[Buffer, ...]:
        spans = zip(self.sizes, self._births, self._last, strict=True)
        return tuple(Buffer(name, 0, live=((birth, last + 1),)) for name, birth, last in spans)
