"""Checks each buffer by itself: its id, its numbers, its lifetimes, and the pools that it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from ..model.columns.buffers import NO_HINT, BufferColumns, NumberColumns
from ..model.columns.texts import Texts
from ..model.columns.varied import RARE, VariedColumns
from ..model.deadline import CHECKING, in_time
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, MAX_TEXT, MAX_TIME, Buffer, BufferId, Problem
from .names import Names, are_different
from .report import Place, Report, quoted
from .values import check_allowed_pools, check_number, check_ranges, check_text, is_whole

ALL_THE_TIME = ((-MAX_TIME, MAX_TIME),)
"""The lifetime of a buffer without one: the longest that is allowed."""


def check_buffers(problem: Problem, names: Names, report: Report) -> None:
    buffers = problem.buffers
    if isinstance(buffers, BufferColumns):
        are_sound = are_in_range(buffers)
    else:
        are_sound = isinstance(buffers, VariedColumns) and _are_varied_in_range(buffers, names)
    if are_sound and isinstance(buffers, NumberColumns) and are_different(buffers.ids):
        names.different = buffers.ids
        return
    for i, buffer in _not_checked_before(problem, names.buffers):
        _buffer_id(report, ("buffers", i, "id"), i, buffer.id, names.buffers)
        for field, label in (("kind", buffer.kind), ("device", buffer.device), ("dtype", buffer.dtype)):
            if label is not None:
                check_text(report, ("buffers", i, field), label)
        if not _is_plain(buffer):
            _buffer_numbers(report, ("buffers", i), buffer, names)


def _not_checked_before(problem: Problem, index: dict[BufferId, int]) -> Iterable[tuple[int, Buffer]]:
    """Return the buffers, numbered, that were not checked in a similar problem; the others are put into the index.

    If two buffers have the same id, all are returned.
    """
    everything = enumerate(in_time(problem.buffers, CHECKING, "buffer"))
    rows = problem.facts.rows
    new = range(len(problem.buffers)) if rows is None else rows.new
    if len(new) >= len(problem.buffers):
        return everything
    ids = [buffer.id for buffer in problem.buffers]
    if any(type(ids[i]) not in (int, str) for i in new):
        return everything
    index.update(zip(ids, range(len(ids)), strict=True))
    if len(index) < len(ids):
        index.clear()
        return everything
    for i in new:
        del index[ids[i]]
    return [(i, problem.buffers[i]) for i in new]


def _buffer_id(report: Report, place: Place, number: int, id_: BufferId, index: dict[BufferId, int]) -> None:
    """Put a sound id into the index; report any other."""
    if (type(id_) is not int and type(id_) is not str) or id_ == "":
        report.add(Code.WRONG_TYPE, place, "an id must be an integer or a string that is not empty")
    elif id_ in index:
        text = f"buffer {number} has the same id {quoted(id_)} as buffer {index[id_]}"
        report.add(Code.DUPLICATE_ID, place, text)
    else:
        index[id_] = number
        if type(id_) is int:
            check_number(report, place, id_, -MAX_ADDRESS)
        elif type(id_) is str:
            check_text(report, place, id_)


def are_in_range(columns: BufferColumns) -> bool:
    """True if all numbers are in range, and all ids have an allowed type and length."""
    if not len(columns):
        return True
    if columns.kinds is not None and not all(_is_short(kind or "") for kind in {*columns.kinds}):
        return False
    return _are_numbers_in_range(columns) and _are_ids(columns.ids)


def _are_varied_in_range(columns: VariedColumns, names: Names) -> bool:
    """True if the same holds, and the pools that buffers name exist."""
    for saying in columns.used:
        listed = () if saying.pools is None else saying.pools
        if not all(_is_short(text or "") for text in (saying.kind, saying.device, saying.dtype)):
            return False
        if saying.pools == () or len({*listed}) < len(listed) or not all(name in names.pools for name in listed):
            return False
        if saying.home is not None and saying.home not in names.pools:
            return False
    for name, column in columns.rare.items():
        if column.min(initial=0) < RARE[name] or column.max(initial=0) > MAX_ADDRESS:
            return False
    times = columns.further
    if times.min(initial=0) < -MAX_TIME or times.max(initial=0) > MAX_TIME or (times[1::2] < times[::2]).any():
        return False
    return _are_numbers_in_range(columns) and _are_ids(columns.ids)


def _are_numbers_in_range(columns: BufferColumns | VariedColumns) -> bool:
    if columns.size.min() < 0 or columns.alignment.min() < 1 or (columns.end < columns.start).any():
        return False
    if max(columns.size.max(), columns.alignment.max()) > MAX_ADDRESS:
        return False
    if columns.start.min() < -MAX_TIME or columns.end.max() > MAX_TIME:
        return False
    return columns.hints is None or bool(NO_HINT <= columns.hints.min() <= columns.hints.max() <= MAX_ADDRESS)


def _are_ids(ids: Sequence[BufferId]) -> bool:
    """True if all have an allowed type and length."""
    if isinstance(ids, range):
        return True
    kinds = {str} if isinstance(ids, Texts) else {*map(type, ids)}
    if not kinds <= {int, str}:
        return False
    numbers = (id_ for id_ in ids if type(id_) is int) if int in kinds else ()
    texts = [id_ for id_ in ids if type(id_) is str] if int in kinds else cast(Sequence[str], ids)
    lengths = {*map(len, texts)}
    return (
        all(-MAX_ADDRESS <= number <= MAX_ADDRESS for number in numbers)
        and all(0 < length <= MAX_TEXT for length in lengths)
        and (_are_ascii(texts) or all(map(is_whole, texts)))
    )


def _are_ascii(texts: Sequence[str]) -> bool:
    return texts.whole.isascii() if isinstance(texts, Texts) else all(map(str.isascii, texts))


def _is_short(text: str) -> bool:
    """True if it is not too long, and can be written."""
    return len(text) <= MAX_TEXT and is_whole(text)


def _is_plain(buffer: Buffer) -> bool:
    """True in the usual case, found quickly: only a size, an alignment, and one interval or none."""
    live = ALL_THE_TIME if buffer.live is None else buffer.live
    if len(live) != 1 or buffer.pools is not None or buffer.fixed is not None:
        return False
    start, end = live[0]
    return (
        type(buffer.size) is type(buffer.alignment) is type(start) is type(end) is int
        and 0 <= buffer.size <= MAX_ADDRESS
        and 1 <= buffer.alignment <= MAX_ADDRESS
        and -MAX_TIME <= start <= end <= MAX_TIME
        and buffer.hint is None
        and buffer.max_offset is None
        and type(buffer.accesses) is int
        and 0 <= buffer.accesses <= MAX_ADDRESS
        and type(buffer.reads) is type(buffer.writes) is int
        and 0 <= buffer.reads <= MAX_ADDRESS
        and 0 <= buffer.writes <= MAX_ADDRESS
        and buffer.data is None
    )


def _buffer_numbers(report: Report, place: Place, buffer: Buffer, names: Names) -> None:
    check_number(report, (*place, "size"), buffer.size)
    check_number(report, (*place, "alignment"), buffer.alignment, 1)
    for field in ("accesses", "reads", "writes"):
        check_number(report, (*place, field), getattr(buffer, field))
    if buffer.data is not None and not isinstance(buffer.data, bytes):
        report.add(Code.WRONG_TYPE, (*place, "data"), f"must be bytes, not {type(buffer.data).__name__}")
    for field in ("hint", "max_offset"):
        value = getattr(buffer, field)
        if value is not None:
            check_number(report, (*place, field), value)
    if buffer.live is not None:
        check_ranges(report, (*place, "live"), buffer.live, -MAX_TIME, MAX_TIME)
    if buffer.pools is not None:
        check_allowed_pools(report, (*place, "pools"), buffer.pools, names.pools)
    if buffer.fixed is not None:
        if buffer.fixed.pool not in names.pools:
            text = f"there is no pool {quoted(buffer.fixed.pool)}"
            report.add(Code.UNKNOWN_POOL, (*place, "fixed", "pool"), text)
        if buffer.fixed.offset is not None:
            check_number(report, (*place, "fixed", "offset"), buffer.fixed.offset)
