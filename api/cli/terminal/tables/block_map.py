"""A memory map of block characters: time across, address up, a colour and a name for each buffer, or the need if nothing fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from planner.drawing import MemoryMap, PoolMap, ceiling
from planner.drawing.frame import KEPT, short_name
from planner.drawing.ticks import address_labels, address_ticks, short_bytes, time_ticks

from ..text import grouped
from .block_colours import LETTERS, NEEDED, TOO_MUCH, Cells, Colours, colours_for, legend
from .columns import shortened
from .consoles import plain

GUTTER = 11
TALLEST, LOWEST = 28, 5
BESIDE = 10
"""Lines for other output."""
MOST_POOLS = 12
LEAST_WIDTH = 40


def print_map(drawn: MemoryMap, console: Console) -> None:
    """Print the pools one above the other, in as many lines as fit the terminal."""
    pools = [pool for pool in drawn.pools if pool.boxes or pool.profile] or list(drawn.pools[:1])
    room = min(max(console.height - BESIDE, LOWEST), TALLEST)
    rows = max(room // min(len(pools), MOST_POOLS), LOWEST)
    colours = console.color_system is not None
    for pool in pools[:MOST_POOLS]:
        for line in _lines(drawn, pool, max(console.width, LEAST_WIDTH), rows, colours=colours):
            console.print(line, soft_wrap=True)
    if len(pools) > MOST_POOLS:
        console.print(f"{grouped(len(pools) - MOST_POOLS)} more pools are not shown")
    if any(pool.boxes or pool.profile for pool in pools):
        for line in legend(drawn, max(console.width, LEAST_WIDTH) - GUTTER, are_colours=colours):
            console.print(Text.assemble(" " * GUTTER, line), soft_wrap=True)
    console.print()


def _lines(drawn: MemoryMap, pool: PoolMap, width: int, rows: int, *, colours: bool) -> Iterator[Text]:
    top = ceiling(pool, drawn.buffers)
    marks = {} if pool.size is None or pool.size > top else {pool.size: "end"}
    marks |= {pool.bound: "bound"} if pool.bound else {}
    marks |= {} if pool.peak is None else {pool.peak: "peak" if pool.peak != pool.bound else "peak = bound"}
    right = _labels(top, rows, marks)
    columns = width - GUTTER - max(2, *(3 + len(label) for label in right.values()), 2)
    yield Text.assemble(" " * GUTTER, plain(pool.name, "bold"), f"   {_figures(pool)}")
    cells = _cells(drawn, pool, columns, 2 * rows, top) if pool.boxes else _demand(drawn, pool, columns, 2 * rows, top)
    names = _names(drawn, cells) if pool.boxes else {}
    paint = colours_for(drawn, cells, are_colours=colours)
    ticks = address_ticks(top, max(rows // 3, 2))
    left = _labels(top, rows, dict(zip(ticks, address_labels(ticks), strict=True)))
    for row in range(rows):
        yield Text.assemble(
            f"{left.get(row, ''):>{GUTTER - 2}} │",
            _row(cells[2 * row], cells[2 * row + 1], names.get(row, {}), paint),
            f"│{'◂ ' + right[row] if row in right else ''}",
        )
    yield Text(f"{'':>{GUTTER - 1}}└{'─' * columns}┘")
    yield Text(f"{'':>{GUTTER}}{_times(drawn, columns)}")


def _figures(pool: PoolMap) -> str:
    if pool.peak is None and pool.needed:
        return f"needs {short_bytes(pool.needed)}{'' if pool.size is None else f', has {short_bytes(pool.size)}'}"
    peak = "empty" if pool.peak is None else f"peak {short_bytes(pool.peak)}"
    return peak if pool.size is None else f"{peak} of {short_bytes(pool.size)}"


def _cells(drawn: MemoryMap, pool: PoolMap, columns: int, rows: int, top: int) -> Cells:
    """Return which buffer is visible where: larger ones are painted first, and each is visible somewhere."""
    cells: Cells = np.zeros((rows, columns), dtype=np.int32)
    begin, span = drawn.axis.begin, drawn.axis.right - drawn.axis.begin
    for box in sorted(pool.boxes, key=lambda box: (box.start - box.end) * drawn.buffers[box.buffer].size):
        x = (box.start - begin) * columns // span
        right = -((begin - box.end) * columns // span)
        low = rows - box.low * rows // top
        high = rows + (-(box.low + drawn.buffers[box.buffer].size) * rows // top)
        cells[min(high, low - 1) : low, x : max(right, x + 1)] = box.buffer + 1
    return cells


def _demand(drawn: MemoryMap, pool: PoolMap, columns: int, rows: int, top: int) -> Cells:
    """Return how much is in use or needed at each time, as a hill; what does not fit has another colour."""
    cells: Cells = np.zeros((rows, columns), dtype=np.int32)
    begin, span = drawn.axis.begin, drawn.axis.right - drawn.axis.begin
    for (time, used), (end, _) in pairwise((*pool.profile, (drawn.axis.right, 0))):
        x, right = (time - begin) * columns // span, -((begin - end) * columns // span)
        height = -(-used * rows // top)
        hill = cells[rows - height :, x : max(right, x + 1)]
        hill[hill == 0] = NEEDED
        if pool.size is not None and used > pool.size:
            cells[rows - height : rows - pool.size * rows // top, x : max(right, x + 1)] = TOO_MUCH
    return cells


def _names(drawn: MemoryMap, cells: Cells) -> dict[int, dict[int, str]]:
    """Return names by line and column: each buffer's in the highest whole line of its rectangle, if there is room for enough of it."""
    found: dict[int, tuple[int, int, str]] = {}
    for row in range(len(cells) // 2):
        upper, lower = cells[2 * row], cells[2 * row + 1]
        whole = np.where(upper == lower, upper, 0)
        edges = [0, *(np.flatnonzero(np.diff(whole)) + 1).tolist(), len(whole)]
        for start, end in pairwise(edges):
            number = int(whole[start])
            if number and number not in found and (shown := _name(drawn, number - 1, end - start)):
                found[number] = row, start, shown
    said = Counter(shown for _, _, shown in found.values())
    names: dict[int, dict[int, str]] = {}
    for row, start, shown in found.values():
        if said[shown] == 1 or "…" not in shown:
            names.setdefault(row, {})[start] = shown
    return names


def _name(drawn: MemoryMap, number: int, room: int) -> str:
    """Return as much of a buffer's name as fits; nothing if that hardly says which it is."""
    whole = plain(drawn.label(number)).plain
    if (width := cell_len(whole)) <= room:
        return whole if width else ""
    if room <= KEPT:
        return ""
    shown = (short_name if whole.isascii() else shortened)(whole, room)
    return shown if cell_len(shown.replace("…", "")) >= KEPT else ""


def _row(upper: Cells, lower: Cells, names: dict[int, str], paint: Colours) -> Text:
    line = Text()
    named_until = 0
    for column, (above, below) in enumerate(zip(upper.tolist(), lower.tolist(), strict=True)):
        if column < named_until:
            continue
        if column in names:
            line.append(names[column], f"{LETTERS} on {paint.style(above)}" if paint.are_colours else "")
            named_until = column + cell_len(names[column])
        elif not paint.are_colours:
            line.append(paint.shade(above or below) if above or below else " ")
        elif above == below:
            line.append("█" if above else " ", paint.style(above) if above else "")
        elif above and below:
            line.append("▀", f"{paint.style(above)} on {paint.style(below)}")
        else:
            line.append("▀" if above else "▄", paint.style(above or below))
    return line


def _labels(top: int, rows: int, labels: dict[int, str]) -> dict[int, str]:
    """Return the labels by line; the first of several on one line."""
    found: dict[int, str] = {}
    for address, text in labels.items():
        row = rows - 1 - min(max(address - 1, 0) * rows // top, rows - 1)
        found[row] = f"{found[row]}, {text}" if row in found else text
    return found


def _times(drawn: MemoryMap, columns: int) -> str:
    axis = drawn.axis
    if axis.begin == axis.end:
        return "no lifetimes: a column each" if axis.untimed else ""
    line = [" "] * (columns + GUTTER)
    free = 0
    for time in time_ticks(axis.begin, axis.end, max(columns // 14, 2)):
        at = (time - axis.begin) * columns // (axis.right - axis.begin)
        text = grouped(time)
        if at >= free and at + len(text) <= len(line):
            line[at : at + len(text)] = text
            free = at + len(text) + 1
    return "".join(line).rstrip()
