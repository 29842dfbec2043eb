"""The arenas of a program planned function by function, one below the other in one picture: the innermost first, each with what it runs as a workspace in it."""

from __future__ import annotations

from collections.abc import Sequence

from .frame import LEFT, STANDARD, Frame, Sheet, text
from .memory_map import MemoryMap, ceiling
from .rectangles import chosen
from .svg import MOST_POOLS, field
from .ticks import exact_bytes, grouped

HEAD, FIELD, GAP, FOOT = 64, 150, 52, 20


def nested_maps(
    name: str | None, arenas: Sequence[tuple[str, MemoryMap]], peak: int | None, sheet: Sheet = STANDARD
) -> bytes:
    """The maps, by the functions whose they are. Each has its own times and addresses."""
    above: float = HEAD + GAP / 2
    parts: list[str] = []
    fields = [
        (function, drawn, pool, those)
        for function, drawn in arenas
        for pool, those in zip(drawn.pools, chosen(drawn), strict=True)
        if pool.boxes or pool.profile
    ]
    for function, drawn, pool, those in fields[:MOST_POOLS]:
        frame = Frame(sheet, above, FIELD, drawn.axis.begin, drawn.axis.right, ceiling(pool, drawn.buffers))
        parts += field(drawn, pool, those, frame, f"{function}:   ")
        above = frame.below + GAP
    if len(fields) > MOST_POOLS:
        said = f"{grouped(len(fields) - MOST_POOLS)} more have something in them, and are not drawn."
        parts.append(text(LEFT, above, said, "soft"))
        above += FOOT
    together = "not all could be planned" if peak is None else f"together {exact_bytes(peak)}"
    count = f"{grouped(len(arenas))} arena{'' if len(arenas) == 1 else 's'}"
    return sheet.picture(name or "Nested arenas", f"{count}, one for each function  ·  {together}", parts, above)
