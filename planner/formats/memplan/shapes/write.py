"""A ShapedProblem as memplan/1 with `symbols`."""

from __future__ import annotations

import json

from ....planning.shapes import ShapedProblem
from ....planning.shapes.expression import Kind
from ...json.lines import document
from ..write import write_memplan


def write_shaped(problem: ShapedProblem) -> bytes:
    """The problem as JSON; reading it gives the same one."""
    fields = json.loads(write_memplan(problem.largest))
    least = problem.least or (None,) * len(problem.sizes)
    for buffer, size, low in zip(fields["buffers"], problem.sizes, least, strict=True):
        if low is not None:
            del buffer["size"]
            buffer["size_range"] = [str(low), str(size)]
        elif size.kind is not Kind.NUMBER:
            buffer["size"] = str(size)
    symbols = {name: list(span) for name, span in problem.symbols.items()}
    return document({"format": fields.pop("format"), "symbols": symbols, **fields}, listed=("buffers", "pools"))
