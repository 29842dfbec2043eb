"""Checks each pool by itself: its name, its numbers, its reserved ranges."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.columns.pools import PoolColumns, texts_of
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, MAX_TEXT, Pool, Problem
from .names import Names, are_different
from .report import Place, Report, quoted
from .values import check_name, check_number, check_ranges, is_whole


def check_pools(problem: Problem, names: Names, report: Report) -> None:
    if not problem.pools:
        report.add(Code.INVALID_VALUE, ("pools",), "must name at least one pool")
    some = problem.pools
    if are_different(texts_of(some)) and are_plain_pools(some):
        return
    for i, pool in enumerate(some):
        if check_name(report, ("pools", i, "name"), pool.name, "a pool") and names.pools[pool.name] != i:
            text = f"pool {i} has the same name {quoted(pool.name)} as pool {names.pools[pool.name]}"
            report.add(Code.DUPLICATE_ID, ("pools", i, "name"), text)
        _pool_numbers(report, ("pools", i), pool)


def are_plain_pools(pools: Sequence[Pool]) -> bool:
    """True in the usual case, found quickly: all pools have only names, sizes, alignments, costs and ranks, and these are in range."""
    if not isinstance(pools, PoolColumns):
        return all(map(_is_plain_pool, pools))
    columns = (pools.size, pools.alignment, pools.cost, pools.rank)
    lengths = [*map(len, pools.texts)]
    return (
        0 < min(lengths) <= max(lengths) <= MAX_TEXT
        and all(map(is_whole, pools.texts))
        and int(pools.alignment.min()) >= 1
        and all(0 <= int(column.min()) <= int(column.max()) <= MAX_ADDRESS for column in columns)
    )


def _is_plain_pool(pool: Pool) -> bool:
    """True in the usual case, found quickly: only a name, a size, an alignment, a cost and a rank."""
    return (
        type(pool.name) is str
        and 0 < len(pool.name) <= MAX_TEXT
        and is_whole(pool.name)
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
        check_number(report, (*place, "size"), pool.size)
    aligned = check_number(report, (*place, "alignment"), pool.alignment, 1)
    if (
        pool.base is not None
        and check_number(report, (*place, "base"), pool.base)
        and aligned
        and pool.base % pool.alignment
    ):
        text = f"the base {pool.base} is not a multiple of the pool's alignment {pool.alignment}"
        report.add(Code.CONTRADICTION, (*place, "base"), text)
    check_ranges(report, (*place, "reserved"), pool.reserved, 0, MAX_ADDRESS)
    check_number(report, (*place, "cost"), pool.cost)
    check_number(report, (*place, "rank"), pool.rank)
    if type(pool.read_only) is not bool:
        report.add(
            Code.WRONG_TYPE, (*place, "read_only"), f"must be true or false, not {type(pool.read_only).__name__}"
        )
