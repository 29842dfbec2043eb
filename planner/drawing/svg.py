"""Memory maps as self-contained SVG pictures: the same bytes for the same problem and plan."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..checks.report import printable
from .frame import LEFT, STANDARD, Frame, Sheet, cut, letters_wide, line, number, text, without_overlaps
from .in_use import FAINT_AND_STRONG, OF_MAPS, in_use, is_beside, is_dense, live_words, strip, strip_height
from .memory_map import MemoryMap, PoolMap, ceiling
from .names import names
from .rectangles import NOTHING_MOVED, Chosen, Moved, bad_buffers, boxes, chosen, least_area
from .style import NO_KIND, explained
from .ticks import address_labels, address_ticks, exact_bytes, grouped, short_bytes, time_ticks

HEAD, LEAST_FIELD, GAP, FOOT = 64, 150, 52, 30
LONGEST_REASON = 600
MOST_POOLS = 100
"""The most pools above each other."""


def svg(drawn: MemoryMap, sheet: Sheet = STANDARD, beside: Sequence[MemoryMap] = ()) -> bytes:
    """Return the pools one above the other, on one time axis. `beside`: other plans of the problem to compare with; pools and scales are then the same."""
    together = [{pool.name: pool for pool in each.pools} for each in (drawn, *beside)]
    filled = [
        pool
        for pool in drawn.pools
        if any(each[pool.name].boxes or each[pool.name].profile for each in together if pool.name in each)
    ] or list(drawn.pools[:1])
    drawn_ones = {pool.name for pool in filled}
    empty = [pool.name for pool in drawn.pools if pool.name not in drawn_ones and drawn.why_empty is None]
    used = filled[:MOST_POOLS]
    least, together_ones = least_area(drawn), 0
    height = max(sheet.width * 13 / 30 / max(len(used), 1), LEAST_FIELD)
    parts = list(_why_empty(drawn.why_empty or "", sheet))
    above: float = HEAD + GAP / 2 + len(parts) * 18
    for pool in used:
        top = max(ceiling(each[pool.name], drawn.buffers) for each in together if pool.name in each)
        right = max(each.axis.right for each in (drawn, *beside))
        above += strip_height(drawn, pool, sheet)
        frame = Frame(sheet, above, height, drawn.axis.begin, right, top)
        those = chosen(drawn, pool, frame, least)
        together_ones += len(those.together)
        parts += field(drawn, pool, those, frame)
        above = frame.below + GAP
    notes = _notes(drawn, sheet, empty, together_ones)
    if len(filled) > len(used):
        notes.append(
            (f"{grouped(len(filled) - len(used))} more pools have something in them, and are not drawn.", "soft")
        )
    entries, rows = legend(drawn, sheet, above + 4, are_counted=bool(together_ones))
    bottom = above + rows * 20 + len(notes) * 18 + FOOT - 10
    parts += entries
    parts += [text(LEFT, above + rows * 20 + 8 + i * 18, note, kind) for i, (note, kind) in enumerate(notes)]
    return sheet.picture(drawn.problem or "Memory map", _figures(drawn), parts, bottom)


def nested_maps(
    name: str | None, arenas: Sequence[tuple[str, MemoryMap]], peak: int | None, sheet: Sheet = STANDARD
) -> bytes:
    """Return the arenas of a program planned function by function, one below the other, the innermost first, each with its own axes."""
    above: float = HEAD + GAP / 2
    parts: list[str] = []
    together_ones = 0
    arenas, whole = _alike(arenas)
    fields = [
        (function, drawn, pool) for function, drawn in arenas for pool in drawn.pools if pool.boxes or pool.profile
    ]
    for function, drawn, pool in fields[:MOST_POOLS]:
        above += strip_height(drawn, pool, sheet)
        frame = Frame(sheet, above, LEAST_FIELD, drawn.axis.begin, drawn.axis.right, ceiling(pool, drawn.buffers))
        those = chosen(drawn, pool, frame, least_area(drawn))
        together_ones += len(those.together)
        parts += field(drawn, pool, those, frame, f"{function}:   ")
        above = frame.below + GAP
    notes: list[tuple[str, str]] = []
    if whole is not None and fields:
        entries, rows = legend(whole, sheet, above + 4, are_counted=bool(together_ones))
        parts += entries
        above += rows * 20
        notes = [(f"{name}: {note}", kind) for name, drawn in arenas for note, kind in _notes(drawn, sheet, [], 0)]
        notes += _notes(whole, sheet, [], together_ones)
    if len(fields) > MOST_POOLS:
        notes.append((f"{grouped(len(fields) - MOST_POOLS)} more have something in them, and are not drawn.", "soft"))
    parts += [text(LEFT, above + 8 + i * 18, note, kind) for i, (note, kind) in enumerate(notes)]
    above += len(notes) * 18 + FOOT - 10
    together = "not all could be planned" if peak is None else f"together {exact_bytes(peak)}"
    count = f"{grouped(len(arenas))} arena{'' if len(arenas) == 1 else 's'}"
    return sheet.picture(name or "Nested arenas", f"{count}, one for each function  ·  {together}", parts, above)


def _alike(arenas: Sequence[tuple[str, MemoryMap]]) -> tuple[list[tuple[str, MemoryMap]], MemoryMap | None]:
    """Return the maps with the same kinds, so that each has one colour in all of them, and one map of all, which the legend is of."""
    kinds = {kind: n for n, kind in enumerate(dict.fromkeys(kind for _, drawn in arenas for kind in drawn.kinds))}
    alike = [
        (name, replace(drawn, kinds=tuple(kinds), kind=tuple(kinds[drawn.kinds[kind]] for kind in drawn.kind)))
        for name, drawn in arenas
    ]
    if not alike:
        return alike, None
    maps = [drawn for _, drawn in alike]
    planned = next((drawn for drawn in maps if drawn.why_empty is None), maps[0])
    whole = replace(
        planned,
        pools=tuple(pool for drawn in maps for pool in drawn.pools),
        kind=tuple(kind for drawn in maps for kind in drawn.kind),
        wrong=(),
    )
    return alike, whole


def field(
    drawn: MemoryMap, pool: PoolMap, those: Chosen, frame: Frame, name: str = "", moved: Moved = NOTHING_MOVED
) -> Iterator[str]:
    """Return one pool: heading, axes, rectangles and lines. Moved buffers have an outline."""
    beside = strip_height(drawn, pool, frame.sheet)
    yield from heading(pool, replace(frame, above=frame.above - beside), name)
    yield from grid(drawn, pool, frame)
    yield from boxes(drawn, those, frame, moved)
    yield from strip(drawn, pool, frame) if beside else in_use(drawn, pool, frame)
    yield from limits(pool, frame)
    yield from names(drawn, those, frame, (pool.bound, pool.size))


def _figures(drawn: MemoryMap) -> str:
    peak = "no plan" if drawn.peak is None else f"peak {exact_bytes(drawn.peak)}"
    above = f"at most {drawn.gap:.2%} above the" if drawn.gap else ""
    least = f"{above} smallest possible" if drawn.in_bytes else f"{drawn.minimised} {above} least possible"
    gap = f"  ·  {least}" if above else ""
    bound = f"  ·  bound {exact_bytes(drawn.bound)}" if drawn.bound else ""
    count = f"{grouped(len(drawn.buffers))} buffer{'' if len(drawn.buffers) == 1 else 's'}"
    solver = "" if drawn.solver is None else f"  ·  {drawn.solver}"
    return f"{drawn.verdict}  ·  {peak}{bound}{gap}  ·  {count}{solver}"


def heading(pool: PoolMap, frame: Frame, name: str = "") -> Iterator[str]:
    """Return the line above the field: the pool's name (after `name`, if given) and figures."""
    size = "unlimited" if pool.size is None else short_bytes(pool.size)
    if pool.peak is not None:
        size = f"peak {exact_bytes(pool.peak)} {' · ' if pool.size is None else 'of'} {size}"
    elif needed := pool.needed:
        size = f"needs {exact_bytes(needed)}{'' if pool.size is None else f', has {size}'}"
    bound = f"  ·  bound {exact_bytes(pool.bound)}" if pool.bound else ""
    base = "" if pool.base is None else f"  ·  from {pool.base:#x}"
    figures = f"{size}{bound}{base}"
    name = cut(f"{name}{pool.name}", min(420, frame.sheet.inside - 6.6 * letters_wide(figures)), 7)
    yield text(LEFT, frame.above - 8, name, "pool ink")
    yield text(frame.sheet.right, frame.above - 8, figures, "soft right")


def grid(drawn: MemoryMap, pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the field, its reserved ranges, and its axes."""
    yield (
        f'<rect class="field" x="{LEFT}" y="{number(frame.above)}" width="{frame.sheet.inside}" height="{number(frame.height)}"/>'
    )
    for start, end in pool.reserved:
        if start < frame.top:
            high, low = frame.y(min(end, frame.top)), frame.y(start)
            yield (
                f'<rect class="reserved" x="{LEFT}" y="{number(high)}" width="{frame.sheet.inside}" height="{number(low - high)}">'
                f"<title>reserved: {start} to {end}</title></rect>"
            )
    addresses = address_ticks(frame.top, max(int(frame.height / 50), 2))
    for address, label in zip(addresses, address_labels(addresses), strict=True):
        at = frame.y(address)
        yield line(LEFT, at, frame.sheet.right, at, "grid")
        yield text(LEFT - 8, at + 4, label if address else "0", "soft right")
    axis = drawn.axis
    if axis.begin < axis.end:
        times = time_ticks(axis.begin, axis.end, max(frame.sheet.width // 100, 2))
        spacing = frame.x(times[1]) - frame.x(times[0]) if len(times) > 1 else frame.sheet.inside
        marks = [(_middle(frame, time, label), label) for time, label in zip(times, map(grouped, times), strict=True)]
        labelled = {label for _, label in without_overlaps(marks)}
        for time in times:
            at = frame.x(time)
            yield line(at, frame.above, at, frame.below, "grid")
            label = grouped(time)
            if label not in labelled:
                continue
            room = min(spacing / 2 - 4, at, frame.sheet.width - at) + spacing / 2 - 6
            if time in drawn.steps:
                label = f"{label} {cut(drawn.steps[time], room - 6.6 * (len(label) + 1), 6.6, is_name=True)}".rstrip()
            yield text(_middle(frame, time, label), frame.below + 16, label, "soft mid")
    if axis.untimed and any(drawn.buffers[box.buffer].live is None for box in pool.boxes):
        label = "without lifetimes: a column each"
        yield text(frame.sheet.right, frame.below + (16 if axis.begin == axis.end else 30), label, "soft right")


def _middle(frame: Frame, time: int, label: str) -> float:
    """Return where the middle of a time's label is: at the time, or so that all of it is within the picture."""
    half = len(label) * 3.3
    return min(max(frame.x(time), half + 4), frame.sheet.width - 4 - half)


def limits(pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return the bound, and the pool's end."""
    if pool.bound:
        at = frame.y(pool.bound)
        yield f'<path class="bound" d="M{LEFT} {number(at)}H{frame.sheet.right}"><title>bound: {exact_bytes(pool.bound)}</title></path>'
    if pool.size is not None and pool.size <= frame.top:
        at = frame.y(pool.size)
        yield f'<path class="end" d="M{LEFT} {number(at)}H{frame.sheet.right}"><title>the pool ends here</title></path>'


def _why_empty(reason: str, sheet: Sheet) -> Iterator[str]:
    """Return the lines between the figures and the first pool that tell why it is empty."""
    whole = reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1]}…"
    for i, each in enumerate(textwrap.wrap(printable(whole), max(int(sheet.inside / 7), 20))):
        yield text(LEFT, HEAD + 6 + 18 * i, each, "wrong")


def legend(
    drawn: MemoryMap, sheet: Sheet, above: float, *more: tuple[str, str], are_counted: bool = False
) -> tuple[list[str], int]:
    """Return the legend of lines and kinds, and its number of rows. Kinds are counted where some may be too small to be seen."""
    pools = [pool for pool in drawn.pools if pool.profile] or drawn.pools
    live = []
    if not all(is_beside(drawn, pool, sheet) or is_dense(pool, sheet) for pool in pools):
        live.append(("live", live_words(drawn)))
    if any(is_dense(pool, sheet) for pool in pools):
        live.append(("ink", f"{live_words(drawn)} ({FAINT_AND_STRONG})"))
    elif any(is_beside(drawn, pool, sheet) for pool in pools):
        live.append(("ink", live_words(drawn)))
    bound = [("bound", "proven bound")] if any(pool.bound for pool in drawn.pools) else []
    entries = [*live, *bound, *more]
    if any(pool.size is not None for pool in drawn.pools):
        entries.append(("end", "end of the pool" if drawn.why_empty is None else "all there is"))
    has_kinds = len(drawn.kinds) > 1 or drawn.kinds[:1] not in ((), (None,))
    if has_kinds and any(pool.boxes for pool in drawn.pools):
        counts = Counter(drawn.kind)
        named, rest = explained(drawn.kinds)
        for i, colour in named:
            kind, count = drawn.kinds[i], f" ({grouped(counts[i])})" if are_counted else ""
            entries.append((f"k{colour}", f"{'no kind' if kind is None else cut(kind, 160)}{count}"))
        if rest:
            entries.append((f"k{NO_KIND}", f"{grouped(rest)} more kinds"))
    x, row, parts = float(LEFT), 0, []
    for mark, name in entries:
        width = 34 + 6.6 * len(name)
        if x + width > sheet.right:
            x, row = LEFT, row + 1
        at = above + row * 20
        if mark == "ink" or mark.startswith("k"):
            fill = OF_MAPS[1] if mark == "ink" else f'class="{mark}"'
            parts.append(f'<rect {fill} x="{number(x)}" y="{number(at - 9)}" width="14" height="10" rx="2"/>')
        else:
            parts.append(line(x, at - 4, x + 16, at - 4, mark))
        parts.append(text(x + 21, at, name, "soft name"))
        x += width
    return parts, row + 1


def drawn_together(count: int) -> str:
    """Return the note on rectangles that are not drawn one by one."""
    return f"The {grouped(count)} smallest rectangles are drawn together, without names: the more of a pixel they cover, the stronger its colour."


def _notes(drawn: MemoryMap, sheet: Sheet, empty: list[str], together: int) -> list[tuple[str, str]]:
    notes = []
    if drawn.wrong:
        marked = len(bad_buffers(drawn))
        count = f"{len(drawn.wrong)} thing{' is' if len(drawn.wrong) == 1 else 's are'} wrong with this plan"
        notes.append(
            (
                f"{count} ({marked} buffers marked); the first: {cut(drawn.wrong[0].message, sheet.inside - 396)}",
                "wrong",
            )
        )
    if together:
        notes.append((drawn_together(together), "soft"))
    if empty:
        notes.append((cut(f"Nothing is placed in: {', '.join(empty[:20])}", sheet.inside), "soft"))
    return notes
