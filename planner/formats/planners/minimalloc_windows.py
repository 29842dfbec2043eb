"""Windows of minimalloc's CSV: bytes of a buffer that are needed within a gap of it, which are buffers of their own in a Problem."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from ...facts.intervals import first_meeting, merged
from ...model.problem import Buffer, BufferId, Colocation, Interval, Problem

Cells: TypeAlias = dict[str, int | str]
"""Cells of a row, by column."""
MOST_EMPTY = 16
"""The most gaps of no length in a row, which keep the numbers of the windows behind them."""


def name_of(buffer: BufferId, number: int) -> str:
    """Return the id of what is needed in the buffer's gap of this number."""
    return f"{buffer}.window{number}"


def without_windows(problem: Problem) -> tuple[Problem, dict[str, Cells]]:
    """Return the problem without the buffers that can be written as windows, and the lifetimes and gaps of the rows that have some, by id."""
    buffers = {buffer.id: buffer for buffer in problem.buffers}
    found: dict[BufferId, dict[int, tuple[Buffer, int]]] = {}
    tied = {each.buffer for each in problem.constraints.colocations}
    lives = {id_: merged(buffers[id_].live or ()) for id_ in {each.base for each in problem.constraints.colocations}}
    for each in problem.constraints.colocations:
        if each.base in tied or buffers[each.base].live is None:
            continue
        number = _number(buffers[each.buffer], buffers[each.base], lives[each.base], each)
        if number is not None:
            found.setdefault(each.base, {})[number] = (buffers[each.buffer], each.offset)
    cells: dict[str, Cells] = {}
    gone: set[BufferId] = set()
    for base, windows in found.items():
        made = _cells(buffers[base], windows)
        if made is not None:
            cells[str(base)] = made
            gone.update(part.id for part, _ in windows.values())
    if not gone:
        return problem, {}
    ties = tuple(each for each in problem.constraints.colocations if each.buffer not in gone)
    kept = tuple(buffer for buffer in problem.buffers if buffer.id not in gone)
    return replace(problem, buffers=kept, constraints=replace(problem.constraints, colocations=ties)), cells


def _number(part: Buffer, base: Buffer, base_live: tuple[Interval, ...], tie: Colocation) -> int | None:
    """Return the number in the part's id; None if it is no window of the base, which has this merged lifetime."""
    begin, _, number = str(part.id).rpartition(".window")
    if begin != str(base.id) or not number.isascii() or not number.isdigit() or number != str(int(number)):
        return None
    live = merged(part.live or ())
    is_plain = part == Buffer(part.id, part.size, live=part.live) and len(live) == 1 and part.size > 0
    fits = tie.offset >= 0 and tie.offset + part.size <= base.size
    return int(number) if is_plain and fits and first_meeting(base_live, *live[0]) is None else None


def _cells(base: Buffer, windows: dict[int, tuple[Buffer, int]]) -> Cells | None:
    """Return the cells of a row with these windows, each at the place of its number; None if there is no room for so many gaps before one."""
    shown = {number: (merged(part.live or ())[0], part.size, offset) for number, (part, offset) in windows.items()}
    live = merged(base.live or ())
    times = [time for span in (*live, *(span for span, _, _ in shown.values())) for time in span]
    lower, upper = min(times), max(times)
    ends = [(lower, lower), *live, (upper, upper)]
    seen = {span for span, _, _ in shown.values()}
    plain = deque((a[1], b[0]) for a, b in pairwise(ends) if a[1] < b[0] and (a[1], b[0]) not in seen)
    if max(shown) > len(shown) + len(plain) + MOST_EMPTY:
        return None
    gaps = []
    for number in range(max(shown) + 1):
        if number in shown:
            (start, end), size, offset = shown[number]
            gaps.append(f"{start}-{end}@{offset}:{offset + size}")
        else:
            start, end = plain.popleft() if plain else (lower, lower)
            gaps.append(f"{start}-{end}")
    gaps += [f"{start}-{end}" for start, end in plain]
    return {"lower": lower, "upper": upper, "gaps": " ".join(gaps)}
