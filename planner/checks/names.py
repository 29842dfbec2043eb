"""The first step of the checks: numbers are in range, names are unique, and everything named exists."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from operator import le

import numpy as np

from solvers.model.instance import Term

from ..model.columns import BufferColumns
from ..model.deadline import CHECKING, in_time, look, tick
from ..model.errors import Code
from ..model.pool_columns import PoolColumns, names_of
from ..model.problem import (
    MAX_ADDRESS,
    MAX_TEXT,
    MAX_TIME,
    NO_CONSTRAINTS,
    Buffer,
    BufferId,
    Interval,
    Pool,
    Problem,
    has_one_peak,
)
from .report import Place, Report, quoted

ALL_THE_TIME = ((-MAX_TIME, MAX_TIME),)
"""The lifetime of a buffer without one: the longest that is allowed."""


class Names:
    """The position of each buffer and pool in its list."""

    def __init__(self, problem: Problem) -> None:
        self.buffers: dict[BufferId, int] = {}
        self.pools: dict[str, int] = {}
        for i, name in enumerate(names_of(problem.pools)):
            self.pools.setdefault(name, i)


def check_names(problem: Problem, names: Names, report: Report) -> None:
    """Check numbers and names, and fill in `names` on the way."""
    if isinstance(problem.name, str) and len(problem.name) > MAX_TEXT:
        _too_long(report, ("name",), problem.name)
    for i, (time, name) in enumerate(problem.steps):
        _number(report, ("steps", i, "time"), time, -MAX_TIME, MAX_TIME)
        if len(name) > MAX_TEXT:
            _too_long(report, ("steps", i, "name"), name)
    _pools(problem, names, report)
    look(CHECKING)
    _buffers(problem, names, report)
    look(CHECKING)
    _terms(problem, report)
    for place, id_ in () if _are_all_known(problem, names) else _mentions(problem):
        tick(CHECKING)
        if id_ not in names.buffers or isinstance(id_, bool):
            report.add(Code.UNKNOWN_BUFFER, place, f"there is no buffer {quoted(id_)}{_other_type(id_, names)}")
    constraints = problem.constraints
    _numbers(report, ("constraints", "colocations"), "offset", [each.offset for each in constraints.colocations])
    _numbers(report, ("constraints", "reuse_penalties"), "cost", [each.cost for each in constraints.reuse_penalties])
    _was(problem, names, report)


def _was(problem: Problem, names: Names, report: Report) -> None:
    seen: set[BufferId] = set()
    for i, was in enumerate(in_time(problem.was, CHECKING)):
        place: Place = ("objective", "was", i)
        if was.buffer in seen:
            text = f"buffer {quoted(was.buffer)} has two old places"
            report.add(Code.DUPLICATE_ID, (*place, "buffer"), text)
        seen.add(was.buffer)
        if was.pool not in names.pools:
            report.add(Code.UNKNOWN_POOL, (*place, "pool"), f"there is no pool {quoted(was.pool)}")
    _numbers(report, ("objective", "was"), "offset", [was.offset for was in problem.was])


def _other_type(id_: object, names: Names) -> str:
    """Return a hint if the same id exists with the other type, as 1 and "1" are easily confused."""
    if isinstance(id_, str):
        twin = int(id_) if id_.isascii() and id_.isdigit() and len(id_) < 20 else None
    else:
        twin = None
        if str(id_) in names.buffers:
            return f", but there is one with the string {quoted(str(id_))} as id"
    return f", but there is one with the number {twin} as id" if twin is not None and twin in names.buffers else ""


def _mentions(problem: Problem) -> Iterator[tuple[Place, BufferId]]:
    """Yield every place in the constraints and the objective that names a buffer."""
    constraints = problem.constraints
    for kind, pairs in (("conflicts", constraints.conflicts), ("exclusions", constraints.exclusions)):
        for i, (a, b) in enumerate(pairs):
            yield ("constraints", kind, i, 0), a
            yield ("constraints", kind, i, 1), b
    for i, colocation in enumerate(constraints.colocations):
        yield ("constraints", "colocations", i, "buffer"), colocation.buffer
        yield ("constraints", "colocations", i, "base"), colocation.base
    for kind, sets in (("same_pool", constraints.same_pool), ("different_pool", constraints.different_pool)):
        for i, members in enumerate(sets):
            for j, id_ in enumerate(members):
                yield ("constraints", kind, i, j), id_
    for i, penalty in enumerate(constraints.reuse_penalties):
        yield ("constraints", "reuse_penalties", i, "first"), penalty.first
        yield ("constraints", "reuse_penalties", i, "second"), penalty.second
    for i, was in enumerate(problem.was):
        yield ("objective", "was", i, "buffer"), was.buffer


def _are_all_known(problem: Problem, names: Names) -> bool:
    """True if everything named in constraints and objective exists; faster than finding what does not."""
    constraints, known = problem.constraints, names.buffers.keys()
    if constraints == NO_CONSTRAINTS and not problem.was:
        return True
    lists: Iterator[Iterable[BufferId]] = chain(
        *(getattr(constraints, kind) for kind in ("conflicts", "exclusions", "same_pool", "different_pool")),
        ((each.buffer for each in constraints.colocations), (each.base for each in constraints.colocations)),
        ((each.first for each in constraints.reuse_penalties), (each.second for each in constraints.reuse_penalties)),
        ((was.buffer for was in problem.was),),
    )
    named = [*chain.from_iterable(lists)]
    return {*map(type, named)} <= {int, str} and known >= {*named}


def _numbers(report: Report, place: Place, field: str, values: Sequence[object]) -> None:
    """Check the numbers of one field."""
    if {*map(type, values)} == {int} and min(values) >= 0 and max(values) <= MAX_ADDRESS:  # type: ignore[type-var,operator]
        return
    for i, value in enumerate(values):
        _number(report, (*place, i, field), value)


def _number(report: Report, place: Place, value: object, low: int = 0, high: int = MAX_ADDRESS) -> bool:
    if type(value) is not int:
        report.add(Code.WRONG_TYPE, place, f"must be an integer, not {type(value).__name__}")
    elif not low <= value <= high:
        report.add(Code.OUT_OF_RANGE, place, f"must be from {low} to {high}, not {quoted(value)}")
    else:
        return True
    return False


def are_integers(values: object) -> bool:
    """True for a sequence of integers, and nothing else (True and 4.0 are none)."""
    return isinstance(values, Sequence) and all(type(value) is int for value in values)


def _too_long(report: Report, place: Place, text: str) -> None:
    report.add(Code.TOO_LARGE, place, f"must have {MAX_TEXT} characters at most, not {len(text)}")


def check_name(report: Report, place: Place, name: object, what: str) -> None:
    """Check that a name is a string, not empty, and not too long."""
    if not isinstance(name, str) or not name:
        report.add(Code.INVALID_VALUE, place, f"{what} needs a name: a string that is not empty")
    elif len(name) > MAX_TEXT:
        _too_long(report, place, name)


def check_ranges(report: Report, place: Place, ranges: tuple[Interval, ...], low: int, high: int) -> None:
    if len(ranges) > 1 and _are_sound_ranges(ranges, low, high):
        return
    for j, (start, end) in enumerate(ranges):
        fine = _number(report, (*place, j, 0), start, low, high) and _number(report, (*place, j, 1), end, low, high)
        if fine and end < start:
            report.add(Code.INTERVAL_REVERSED, (*place, j), f"the end {end} comes before the start {start}")


def _are_sound_ranges(ranges: tuple[Interval, ...], low: int, high: int) -> bool:
    """True if all ranges are sound; checking all together is faster."""
    ends = [*chain.from_iterable(ranges)]
    if {*map(type, ends)} != {int} or min(ends) < low or max(ends) > high:
        return False
    return all(map(le, ends[::2], ends[1::2]))


def _pools(problem: Problem, names: Names, report: Report) -> None:
    if not problem.pools:
        report.add(Code.INVALID_VALUE, ("pools",), "must name at least one pool")
    some = problem.pools
    if len(names.pools) == len(some) and are_plain_pools(some):
        return
    for i, pool in enumerate(some):
        if not isinstance(pool.name, str) or not pool.name:
            report.add(Code.INVALID_VALUE, ("pools", i, "name"), "a pool needs a name: a string that is not empty")
        elif len(pool.name) > MAX_TEXT:
            _too_long(report, ("pools", i, "name"), pool.name)
        elif names.pools[pool.name] != i:
            text = f"pool {i} has the same name {quoted(pool.name)} as pool {names.pools[pool.name]}"
            report.add(Code.DUPLICATE_ID, ("pools", i, "name"), text)
        _pool_numbers(report, ("pools", i), pool)


def are_plain_pools(pools: Sequence[Pool]) -> bool:
    """True in the usual case, found quickly: all pools have only names, sizes, alignments, costs and ranks, and these are in range."""
    if not isinstance(pools, PoolColumns):
        return all(map(_is_plain_pool, pools))
    columns = (pools.size, pools.alignment, pools.cost, pools.rank)
    lengths = [*map(len, pools.names)]
    return (
        0 < min(lengths) <= max(lengths) <= MAX_TEXT
        and int(pools.alignment.min()) >= 1
        and all(0 <= int(column.min()) <= int(column.max()) <= MAX_ADDRESS for column in columns)
    )


def _is_plain_pool(pool: Pool) -> bool:
    """True in the usual case, found quickly: only a name, a size, an alignment, a cost and a rank."""
    return (
        type(pool.name) is str
        and 0 < len(pool.name) <= MAX_TEXT
        and type(pool.alignment) is type(pool.cost) is type(pool.rank) is int
        and (pool.size is None or (type(pool.size) is int and 0 <= pool.size <= MAX_ADDRESS))
        and 1 <= pool.alignment <= MAX_ADDRESS
        and 0 <= pool.cost <= MAX_ADDRESS
        and 0 <= pool.rank <= MAX_ADDRESS
        and pool.base is None
        and pool.reserved == ()
        and type(pool.read_only) is bool
    )


def _pool_numbers(report: Report, place: Place, pool: Pool) -> None:
    if pool.size is not None:
        _number(report, (*place, "size"), pool.size)
    aligned = _number(report, (*place, "alignment"), pool.alignment, 1)
    if (
        pool.base is not None
        and _number(report, (*place, "base"), pool.base)
        and aligned
        and pool.base % pool.alignment
    ):
        text = f"the base {pool.base} is not a multiple of the pool's alignment {pool.alignment}"
        report.add(Code.CONTRADICTION, (*place, "base"), text)
    check_ranges(report, (*place, "reserved"), pool.reserved, 0, MAX_ADDRESS)
    _number(report, (*place, "cost"), pool.cost)
    _number(report, (*place, "rank"), pool.rank)
    if type(pool.read_only) is not bool:
        report.add(
            Code.WRONG_TYPE, (*place, "read_only"), f"must be true or false, not {type(pool.read_only).__name__}"
        )


def _buffers(problem: Problem, names: Names, report: Report) -> None:
    buffers = problem.buffers
    if isinstance(buffers, BufferColumns) and are_in_range(buffers) and _are_different(buffers.ids):
        if not has_one_peak(problem):  # otherwise nothing names them
            names.buffers.update(zip(buffers.ids, range(len(buffers)), strict=True))
        return
    for i, buffer in _not_checked_before(problem, names.buffers):
        _buffer_id(report, ("buffers", i, "id"), i, buffer.id, names.buffers)
        for field, label in (("kind", buffer.kind), ("device", buffer.device), ("dtype", buffer.dtype)):
            if label is not None and len(label) > MAX_TEXT:
                _too_long(report, ("buffers", i, field), label)
        if not _is_plain(buffer):
            _buffer_numbers(report, ("buffers", i), buffer, names)


def _not_checked_before(problem: Problem, index: dict[BufferId, int]) -> Iterable[tuple[int, Buffer]]:
    """Return the buffers, numbered, that were not checked in a similar problem; the others are put into the index.

    If two buffers have the same id, all are returned.
    """
    everything = enumerate(in_time(problem.buffers, CHECKING, "buffer"))
    new = [i for i, row in enumerate(problem.facts.rows) if row is None]
    if not problem.facts.rows or len(new) >= len(problem.buffers):
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
            _number(report, place, id_, -MAX_ADDRESS)
        elif type(id_) is str and len(id_) > MAX_TEXT:
            _too_long(report, place, id_)


def _are_different(ids: Sequence[BufferId]) -> bool:
    """True if no id appears twice. Comparing hashes takes less memory than a set of the ids; if all hashes differ, so do the ids."""
    if isinstance(ids, range):
        return True
    hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
    hashes.sort()
    return bool((hashes[1:] != hashes[:-1]).all()) or len(set(ids)) == len(ids)


def are_in_range(columns: BufferColumns) -> bool:
    """True if all numbers are in range, and all ids have an allowed type and length."""
    if not len(columns):
        return True
    if columns.size.min() < 0 or columns.alignment.min() < 1 or (columns.end < columns.start).any():
        return False
    if max(columns.size.max(), columns.alignment.max()) > MAX_ADDRESS:
        return False
    if columns.start.min() < -MAX_TIME or columns.end.max() > MAX_TIME:
        return False
    ids = columns.ids
    if isinstance(ids, range):
        return True
    kinds = {*map(type, ids)}
    numbers = [id_ for id_ in ids if type(id_) is int] if int in kinds else [0]
    texts = [id_ for id_ in ids if type(id_) is str] if str in kinds else ["-"]
    return (
        kinds <= {int, str}
        and -MAX_ADDRESS <= min(numbers) <= max(numbers) <= MAX_ADDRESS
        and 0 < min(map(len, texts)) <= max(map(len, texts)) <= MAX_TEXT
    )


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
    _number(report, (*place, "size"), buffer.size)
    _number(report, (*place, "alignment"), buffer.alignment, 1)
    for field in ("accesses", "reads", "writes"):
        _number(report, (*place, field), getattr(buffer, field))
    if buffer.data is not None and not isinstance(buffer.data, bytes):
        report.add(Code.WRONG_TYPE, (*place, "data"), f"must be bytes, not {type(buffer.data).__name__}")
    for field in ("hint", "max_offset"):
        value = getattr(buffer, field)
        if value is not None:
            _number(report, (*place, field), value)
    if buffer.live is not None:
        check_ranges(report, (*place, "live"), buffer.live, -MAX_TIME, MAX_TIME)
    if buffer.pools is not None:
        check_allowed_pools(report, (*place, "pools"), buffer.pools, names.pools)
    if buffer.fixed is not None:
        if buffer.fixed.pool not in names.pools:
            text = f"there is no pool {quoted(buffer.fixed.pool)}"
            report.add(Code.UNKNOWN_POOL, (*place, "fixed", "pool"), text)
        if buffer.fixed.offset is not None:
            _number(report, (*place, "fixed", "offset"), buffer.fixed.offset)


def check_allowed_pools(report: Report, place: Place, pools: Sequence[str], known: Container[str]) -> None:
    """Check the names of the pools in which something may be."""
    if not pools:
        report.add(Code.INVALID_VALUE, place, "must name at least one pool; leave it out to allow all")
    seen = {*pools}
    if len(seen) == len(pools) and all(map(known.__contains__, seen)):
        return
    seen.clear()
    for j, name in enumerate(pools):
        if name not in known:
            report.add(Code.UNKNOWN_POOL, (*place, j), f"there is no pool {quoted(name)}")
        elif name in seen:
            report.add(Code.INVALID_VALUE, (*place, j), f"pool {quoted(name)} is named twice")
        seen.add(name)


def _terms(problem: Problem, report: Report) -> None:
    place: Place = ("objective", "terms")
    if not problem.terms:
        report.add(Code.INVALID_VALUE, place, "must name at least one term; leave it out to minimise the sum of peaks")
    seen: set[Term] = set()
    for i, term in enumerate(problem.terms):
        if term in seen:
            report.add(Code.INVALID_VALUE, (*place, i), f"term {quoted(str(term))} is named twice")
        seen.add(term)
    _number(report, ("objective", "peak_price"), problem.peak_price)
