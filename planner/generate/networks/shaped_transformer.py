"""A transformer whose sizes depend on the number of tokens: reading a prompt (prefill), or one token after the other (decode)."""

from __future__ import annotations

from ...checks.report import Report
from ...checks.values import check_number
from ...model.problem import Buffer, Lifetimes, Pool, Problem
from ...planning.options.options import bad_option
from ...planning.shapes import ShapedProblem, shaped
from ..request import Request, Sketch

BYTES = 2
"""The bytes of a number."""
ALIKE = 3
"""So many layers in a row are alike."""
MOST_TOKENS = 1 << 20
MOST_LAYERS = 100_000


def shaped_transformer(
    layers: int = 2, width: int = 256, heads: int = 4, longest: int = 2048, *, decode: bool = False
) -> ShapedProblem:
    """Return the problem. `n` is the number of known tokens; every layer's keys and values of all tokens are kept to the end. Raises BadInput."""
    report = Report()
    check_number(report, ("layers",), layers, high=MOST_LAYERS)
    for name, value in (("width", width), ("heads", heads)):
        check_number(report, (name,), value)
    check_number(report, ("longest",), longest, 1)
    report.raise_if_any()
    tape = _Tape()
    rows = "" if decode else "*n"
    stream = tape.step("embed", f"{width * BYTES}{rows}")
    kept: list[int] = []
    for layer in range(layers):
        stream = _layer(tape, f"{layer}.", stream, kept, (width, heads, 4), rows)
    tape.step("logits", f"{max(width * 16, 1024)}", stream, *kept)
    name = f"{'decode' if decode else 'prefill'} layers={layers} width={width} heads={heads} n=1..{longest}"
    problem = Problem(tape.buffers(), (Pool("arena", alignment=16),), name=name, lifetimes=Lifetimes.HALF_OPEN)
    return shaped(problem, {"n": (1, longest)}, dict(tape.sizes))


def prefill(request: Request) -> Sketch:
    """Return a transformer that reads a prompt of `n` tokens, 1 to `longest`, cut off after the requested number of buffers."""
    return _requested(request, "*n")


def decode(request: Request) -> Sketch:
    """Return a transformer that makes one more token after `n`."""
    return _requested(request, "")


def _requested(request: Request, rows: str) -> Sketch:
    """Return layers until there are as many buffers as requested; every few layers have queries for each key, or feed-forward layers, of their own."""
    chance = request.chance()
    longest = request.parameters["longest"]
    if longest > MOST_TOKENS:
        raise bad_option("set", f"longest={longest} is out of range: from 1 to {MOST_TOKENS}")
    width = chance.pick((256, 384, 512, 768, 1024))
    tape = _Tape()
    stream = tape.step("embed", f"{width * BYTES}{rows}")
    kept: list[int] = []
    layer = 0
    while len(tape.sizes) < request.buffers:
        if layer % ALIKE == 0:
            heads, wide = width // chance.pick((32, 64, 128)), chance.pick((2, 3, 4))
        stream = _layer(tape, f"{layer}.", stream, kept, (width, heads, wide), rows)
        layer += 1
    tape.read(*kept)
    buffers = tape.buffers(request.buffers)
    return Sketch(buffers, symbols={"n": (1, longest)}, sizes=dict(list(tape.sizes.items())[: request.buffers]))


def _layer(tape: _Tape, at: str, stream: int, kept: list[int], shape: tuple[int, int, int], rows: str) -> int:
    """Add a layer of this width, with so many heads, and so many times as wide in between; `kept` are all layers' keys and values."""
    width, heads, wide = shape
    row, between = f"{width * BYTES}{rows}", f"{wide * width * BYTES}{rows}"
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
    up = tape.step(f"{at}up", between, second)
    gate = tape.step(f"{at}gelu", between, up)
    down = tape.step(f"{at}down", row, gate)
    return tape.step(f"{at}out", row, after, down)


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

    def buffers(self, count: int | None = None) -> tuple[Buffer, ...]:
        """Return all, or the first `count`; then the program ends after the last of them."""
        names = list(self.sizes)[:count]
        spans = zip(names, self._births[:count], self._last[:count], strict=True)
        return tuple(Buffer(name, 0, live=((birth, min(last + 1, len(names))),)) for name, birth, last in spans)
