"""Two plans in one picture: each pool twice, one field above the other on the same scales, with what moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .frame import LEFT, STANDARD, Frame, Sheet, cut, text
from .in_use import strip_height
from .memory_map import MemoryMap, PoolMap, ceiling
from .rectangles import chosen, least_area, marks
from .svg import MOST_POOLS, drawn_together, field, legend
from .ticks import exact_bytes, grouped

HEAD, LEAST_FIELD, GAP = 82, 130, 52
NAMES = ("A", "B")


def compared(first: MemoryMap, second: MemoryMap, sheet: Sheet = STANDARD) -> bytes:
    """Return the maps of two plans, A and B."""
    both = (first, second)
    elsewhere = _moved(first, second)
    moved = [_numbers(each, elsewhere) for each in both]
    are_all_marked = True
    least, together = [least_area(drawn) for drawn in both], 0
    names = list(dict.fromkeys(pool.name for drawn in both for pool in drawn.pools if _has_something(pool)))
    shown = names[: MOST_POOLS // 2] or [first.pools[0].name]
    begin = min(drawn.axis.begin for drawn in both)
    right = max(drawn.axis.right for drawn in both)
    height = max(sheet.width * 13 / 30 / len(shown) / 2, LEAST_FIELD)
    above: float = HEAD + GAP / 2
    parts = [text(LEFT, 68, cut(f"B  {_figures(second)}", sheet.inside, 6.8), "soft")]
    for name in shown:
        there = [(i, drawn, pool) for i, drawn in enumerate(both) for pool in drawn.pools if pool.name == name]
        top = max(ceiling(pool, drawn.buffers) for _, drawn, pool in there)
        for i, drawn, pool in there:
            above += strip_height(drawn, pool, sheet)
            frame = Frame(sheet, above, height, begin, right, top)
            those = chosen(drawn, pool, frame, least[i])
            together += len(those.together)
            marked = marks(drawn, pool, frame, moved[i])
            are_all_marked &= marked.filled == marked.outlined
            parts += field(drawn, pool, those, frame, f"{NAMES[i]}: ", marked)
            above = frame.below + GAP
    alone = _places(first).keys() ^ _places(second).keys()
    changes = [("moved", f"lies elsewhere in the other{', or is not there' if alone else ''}")] if elsewhere else []
    if first.wrong or second.wrong:
        changes.append(("bad", "named in what is wrong"))
    entries, rows = legend(first, sheet, above + 4, *changes, are_counted=bool(together))
    notes = list(_summary(first, second))
    if not are_all_marked:
        notes.append("So much does that only what has room for an outline is marked.")
    if together:
        notes.append(drawn_together(together))
    if len(names) > len(shown):
        notes.append(f"{grouped(len(names) - len(shown))} more pools have something in them, and are not drawn.")
    below = above + rows * 20 + 8
    parts += [*entries, *(text(LEFT, below + 18 * i, note, "soft") for i, note in enumerate(notes))]
    bottom = below + 18 * len(notes) + 18
    return sheet.picture(first.problem or "Two plans", f"A  {_figures(first)}", parts, bottom, compared=True)


def _figures(drawn: MemoryMap) -> str:
    peak = "no plan" if drawn.peak is None else f"peak {exact_bytes(drawn.peak)}"
    solver = "" if drawn.solver is None else f"  ·  {drawn.solver}"
    bound = f"  ·  bound {exact_bytes(drawn.bound)}" if drawn.bound else ""
    cost = "" if drawn.in_bytes or drawn.value is None else f"  ·  {drawn.minimised} {grouped(drawn.value)}"
    return f"{drawn.verdict}{cost}  ·  {peak}{bound}{solver}"


def _summary(first: MemoryMap, second: MemoryMap) -> Iterator[str]:
    """Describe how the second differs, in a line or two."""
    common = _places(first).keys() & _places(second).keys()
    count = len(_moved(first, second) & common)
    moved = f"{grouped(count)} of {grouped(len(common))} buffers lie elsewhere in B"
    are_right = not first.wrong and not second.wrong
    if are_right and not first.in_bytes and first.value is not None and second.value is not None:
        yield _change(first.minimised, first.value, second.value, grouped)
    if first.peak is None or second.peak is None or not are_right:
        yield moved
    else:
        yield f"{_change('peak', first.peak, second.peak, exact_bytes)}; {moved}"


def _change(name: str, first: int, second: int, shown: Callable[[int], str]) -> str:
    """Describe how B's figure differs."""
    change = second - first
    share = f" ({change / first:+.2%})" if first and change else ""
    if not change:
        return f"both have the same {name}"
    return f"the {name} of B is {shown(abs(change))} {'higher' if change > 0 else 'lower'}{share}"


Places = dict[int | str, tuple[str, int]]


def _places(drawn: MemoryMap) -> Places:
    """Return pool and offset of each buffer with bytes."""
    return {drawn.buffers[box.buffer].id: (pool.name, box.low) for pool in drawn.pools for box in pool.boxes}


def _moved(first: MemoryMap, second: MemoryMap) -> set[int | str]:
    """Return the buffers at different places, or in only one of the plans."""
    a, b = _places(first), _places(second)
    return {id_ for id_ in a.keys() | b.keys() if a.get(id_) != b.get(id_)}


def _numbers(drawn: MemoryMap, ids: set[int | str]) -> set[int]:
    return {number for number, buffer in enumerate(drawn.buffers) if buffer.id in ids}


def _has_something(pool: PoolMap) -> bool:
    return bool(pool.boxes or pool.profile)
