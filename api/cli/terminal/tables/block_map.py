"""A memory map of block characters: time across, address up, a colour and a name for each buffer, or the need if nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.text import Text

from planner.drawing import MemoryMap, PoolMap, ceiling
from planner.drawing.frame import short_name
from planner.drawing.ticks import address_labels, address_ticks, short_bytes, time_ticks

from ..text import grouped
from .columns import shortened
from .consoles import plain

COLOURS = (74, 215, 108, 176, 186, 80, 140, 180, 174, 109, 147, 150)
"""Of 256: light enough for dark letters, dark enough for a light page."""
LETTERS = "color(16)"
SHADES = "█▓▒░"
"""Used without colours."""
GUTTER = 11
TALLEST, LOWEST = 28, 5
BESIDE = 10
"""Lines for other output."""
MOST_POOLS = 12
LEAST_WIDTH = 40
NAMED_FROM = 4
"""The least number of characters for a name."""

Cells = npt.NDArray[np.int32]
"""A buffer's number plus one in each cell; 0 if there is none. The first row is the highest."""


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
    ticks = address_ticks(top, max(rows // 3, 2))
    left = _labels(top, rows, dict(zip(ticks, address_labels(ticks), strict=True)))
    for row in range(rows):
        yield Text.assemble(
            f"{left.get(row, ''):>{GUTTER - 2}} │",
            _row(cells[2 * row], cells[2 * row + 1], names.get(row, {}), colours=colours),
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
    ends = [time for time, _ in pool.profile[1:]] + [drawn.axis.right]
    for (time, used), end in zip(pool.profile, ends, strict=True):
        x, right = (time - begin) * columns // span, -((begin - end) * columns // span)
        height = -(-used * rows // top)
        hill = cells[rows - height :, x : max(right, x + 1)]
        hill[hill == 0] = 1
        if pool.size is not None and used > pool.size:
            cells[rows - height : rows - pool.size * rows // top, x : max(right, x + 1)] = 2
    return cells


def _names(drawn: MemoryMap, cells: Cells) -> dict[int, dict[int, str]]:
    """Return letters by line and column: each buffer's name in the highest whole line of its rectangle, if there is room."""
    found: dict[int, dict[int, str]] = {}
    named: set[int] = set()
    for row in range(len(cells) // 2):
        upper, lower = cells[2 * row], cells[2 * row + 1]
        whole = np.where(upper == lower, upper, 0)
        edges = [0, *(np.flatnonzero(np.diff(whole)) + 1).tolist(), len(whole)]
        for start, end in pairwise(edges):
            number = int(whole[start])
            if not number or number in named or end - start < NAMED_FROM:
                continue
            shown = plain(drawn.label(number - 1)).plain
            if len(shown) > end - start or not shown.isascii():
                shown = (short_name if shown.isascii() else shortened)(shown, end - start)
            found.setdefault(row, {}).update({start + i: letter for i, letter in enumerate(shown)})
            named.add(number)
    return found


def _row(upper: npt.NDArray[np.int32], lower: npt.NDArray[np.int32], letters: dict[int, str], *, colours: bool) -> Text:
    line = Text()
    for column, (above, below) in enumerate(zip(upper.tolist(), lower.tolist(), strict=True)):
        if column in letters:
            line.append(letters[column], f"{LETTERS} on {_colour(above)}" if colours else "")
        elif not colours:
            line.append(_shade(above or below) if above or below else " ")
        elif above == below:
            line.append("█" if above else " ", _colour(above) if above else "")
        elif above and below:
            line.append("▀", f"{_colour(above)} on {_colour(below)}")
        else:
            line.append("▀" if above else "▄", _colour(above or below))
    return line


def _colour(number: int) -> str:
    return f"color({COLOURS[(number - 1) % len(COLOURS)]})"


def _shade(number: int) -> str:
    return SHADES[(number - 1) % len(SHADES)]


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
        return "no lifetimes: a column each"
    line = [" "] * (columns + GUTTER)
    free = 0
    for time in time_ticks(axis.begin, axis.end, max(columns // 14, 2)):
        at = (time - axis.begin) * columns // (axis.right - axis.begin)
        text = grouped(time)
        if at >= free and at + len(text) <= len(line):
            line[at : at + len(text)] = text
            free = at + len(text) + 1
    return "".join(line).rstrip()
