"""The bytes in use over time, with the names of the busiest steps, and the buffers live then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..facts.intervals import covers
from ..model.errors import BadInput, Code, Finding
from ..model.plan import Plan
from ..model.problem import Buffer, Problem
from .frame import LEFT, STANDARD, Frame, Sheet, cut, text
from .in_use import FAINT_AND_STRONG, hills, in_use, is_dense, live_words
from .memory_map import MemoryMap, PoolMap, memory_map
from .svg import grid, heading, limits
from .ticks import grouped, short_bytes

HEAD, HEIGHT, GAP = 64, 260, 70
AIR = 5
"""Space above the highest value for names: one part in this many."""
MOST_POOLS = 24
MOST_NAMES = 40
"""The most peaks with a name."""
BETWEEN_NAMES = 120
"""In pixels."""
LABEL = 28
"""The height of a name with its bytes, in pixels."""
MOST_BUFFERS = 12
FILLS = 'class="between"', 'class="dot" fill-opacity="0.5"'


@dataclass(frozen=True, slots=True)
class High:
    """An interval with more bytes in use than before and after."""

    start: int
    end: int
    used: int


def profile(problem: Problem, plan: Plan, sheet: Sheet = STANDARD) -> bytes:
    """Return the picture. Raises BadInput if there are bytes, and no lifetime tells when any are in use."""
    drawn = memory_map(problem, plan)
    begin, end = drawn.axis.begin, max(drawn.axis.end, drawn.axis.begin + 1)
    shown = [pool for pool in drawn.pools if pool.profile]
    if not shown and any(buffer.size and buffer.live is None for buffer in drawn.buffers):
        message = (
            "no buffer with bytes has a lifetime, so it is not known what is in use when; give buffers theirs (live)"
        )
        raise BadInput(Finding(Code.LIFETIMES_MISSING, "/buffers", message))
    shown = shown or [replace(pool, profile=((begin, 0), (end, 0))) for pool in drawn.pools]
    parts: list[str] = []
    above: float = HEAD + 26
    for pool in shown[:MOST_POOLS]:
        frame = Frame(sheet, above, HEIGHT, begin, end, _top(pool))
        parts += heading(pool, frame)
        parts += grid(drawn, pool, frame)
        if drawn.why_empty is None or is_dense(pool, sheet):
            parts += hills(pool, frame, FILLS)
        if not is_dense(pool, sheet):
            parts += in_use(drawn, pool, frame)
        parts += limits(pool, frame)
        parts += _names(drawn, pool, frame)
        parts.append(text(LEFT, frame.below + 36, _peak(plan, drawn, pool, sheet), "soft"))
        above = frame.below + GAP
    if len(shown) > MOST_POOLS:
        parts.append(text(LEFT, above - 10, f"{grouped(len(shown) - MOST_POOLS)} more pools are not drawn.", "soft"))
        above += 20
    dense = any(is_dense(pool, sheet) for pool in shown)
    figures = (
        f"{live_words(drawn)} over time  ·  {grouped(len(drawn.buffers))} buffers"
        f"{f'  ·  {FAINT_AND_STRONG}' if dense else ''}"
    )
    return sheet.picture(drawn.problem or "Bytes over time", figures, parts, above - 10, run=True)


def _top(pool: PoolMap) -> int:
    most = max(*(used for _, used in pool.profile), pool.bound, 1)
    if pool.size is not None and most <= pool.size <= 2 * most:
        most = pool.size
    return most + max(most // AIR, 1)


def _highs(steps: Sequence[tuple[int, int]]) -> list[High]:
    """Return the local maxima, the highest first."""
    found = []
    flat = [step for i, step in enumerate(steps) if i == 0 or step[1] != steps[i - 1][1]]
    for i, (time, used) in enumerate(flat):
        before = flat[i - 1][1] if i else 0
        after, end = (flat[i + 1][1], flat[i + 1][0]) if i + 1 < len(flat) else (0, time)
        if used > before and used > after:
            found.append(High(time, end, used))
    return sorted(found, key=lambda high: (-high.used, high.start))


def _names(drawn: MemoryMap, pool: PoolMap, frame: Frame) -> Iterator[str]:
    """Return labels for the highest ones, as many as fit beside each other, not across the bound or the pool's end."""
    across = sorted((frame.y(at) for at in (pool.bound, pool.size) if at), reverse=True)
    taken: dict[float, High] = {}
    for high in _highs(pool.profile):
        at = (frame.x(high.start) + frame.x(high.end)) / 2
        at = min(max(at, LEFT + BETWEEN_NAMES / 2), frame.sheet.right - BETWEEN_NAMES / 2)
        if len(taken) < MOST_NAMES and all(abs(at - other) >= BETWEEN_NAMES for other in taken):
            taken[at] = high
    for at, high in taken.items():
        y = frame.y(high.used)
        for line_at in across:
            if y - LABEL < line_at < y:
                y = line_at
        nearest = min((abs(at - other) for other in taken if other != at), default=frame.sheet.inside)
        room = min(nearest, 2 * (at - LEFT), 2 * (frame.sheet.right - at)) - 6
        yield text(at, y - 18, cut(_step(drawn, high), room, 6.4, is_name=True), "name ink over mid")
        yield text(at, y - 6, short_bytes(high.used), "name soft over mid")


def _step(drawn: MemoryMap, high: High) -> str:
    """Return the name of the interval's first step, or the time at which it begins."""
    named = next((drawn.steps[time] for time in sorted(drawn.steps) if high.start <= time < high.end), None)
    return f"at {grouped(high.start)}" if named is None else named


def _peak(plan: Plan, drawn: MemoryMap, pool: PoolMap, sheet: Sheet) -> str:
    """Return a line with the peak's step and the buffers live then, the largest first."""
    if not pool.needed:
        return "Nothing is in use at any time."
    high = _highs(pool.profile)[0]
    live = sorted(_live(plan, drawn, pool, high.start), key=lambda i: _largest_first(drawn.buffers[i]))
    names = [f"{drawn.label(i)} {short_bytes(drawn.buffers[i].size)}" for i in live[:MOST_BUFFERS]]
    more = f" and {grouped(len(live) - MOST_BUFFERS)} more" if len(live) > MOST_BUFFERS else ""
    return cut(f"{_step(drawn, high)}: {', '.join(names)}{more}", sheet.inside)


def _live(plan: Plan, drawn: MemoryMap, pool: PoolMap, time: int) -> list[int]:
    """Return the numbers of the buffers in this pool at this time."""
    there = {place.id for place in plan.placements if place.pool == pool.name}
    numbers = (
        (i for i, buffer in enumerate(drawn.buffers) if buffer.id in there) if pool.buffers is None else pool.buffers
    )
    return [i for i in numbers if covers(drawn.buffers[i].live, time)]


def _largest_first(buffer: Buffer) -> tuple[int, str]:
    return -buffer.size, str(buffer.id)
