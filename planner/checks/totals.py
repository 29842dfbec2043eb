"""Checks that the sums which solvers form stay below 2^62: addresses, costs, accesses."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import lcm
from typing import cast

import numpy as np

from solvers.model.instance import LINEAR_TERMS, Choice, Ints

from ..facts.colocation import MOST_IN_32_BITS
from ..facts.costs import WEIGHS_ACCESS, most_access_cost, weighs_moves
from ..facts.figures import amounts, fixed_ones
from ..facts.sweep import exact_array
from ..model.columns.buffers import NumberColumns, counted_alignments, ids, restricted, total_size
from ..model.columns.buffers import sizes as sizes_of
from ..model.columns.pools import PoolColumns, highest_rank
from ..model.columns.pools import alignments_of as alignments_of_pools
from ..model.columns.rows import FEW
from ..model.columns.varied import VariedColumns
from ..model.errors import Code
from ..model.problem import MAX_ADDRESS, Problem
from .colocations import Groups
from .report import Report

MOST_ALIGNMENTS = 1 << 20
"""The most pairs of a pool's and a buffer's alignment that are examined; beyond, products replace least common multiples."""


def check_totals(problem: Problem, groups: Groups, report: Report) -> None:
    floor = _floor(problem)
    is_variation = problem.facts.neighbour is not None
    together = sum(amounts(problem).size.tolist()) if is_variation else total_size(problem.buffers)
    stacked = together + _extra(problem, groups)
    if stacked + floor >= MAX_ADDRESS:
        text = "sizes, alignments and the extents of colocation groups add up to 2^62 or more; use a larger unit than bytes, or split the problem"
        report.add(Code.TOO_LARGE, ("buffers",), text)
        return
    _check_costs(problem, together, _peaks(problem, floor + stacked, report), report)
    if sum(penalty.cost for penalty in problem.constraints.reuse_penalties) >= MAX_ADDRESS:
        text = "the costs add up to 2^62 or more; scale them down"
        report.add(Code.TOO_LARGE, ("constraints", "reuse_penalties"), text)


def _floor(problem: Problem) -> int:
    """Return the highest end that the problem itself names."""
    buffers = problem.buffers
    if isinstance(buffers, VariedColumns):
        ends = [buffers.end_of_fixed]
    else:
        ends = [
            buffer.fixed.offset + buffer.size
            for _, buffer in (restricted(buffers) if problem.facts.neighbour is None else fixed_ones(problem))
            if buffer.fixed is not None and buffer.fixed.offset is not None
        ]
    if weighs_moves(problem):
        sizes = dict(zip(ids(problem.buffers), sizes_of(problem.buffers), strict=True))
        ends.extend(was.offset + sizes[was.buffer] for was in problem.was)
    return max(ends, default=0)


def _extra(problem: Problem, groups: Groups) -> int:
    """Return what stacking all buffers can take beyond their sizes: the greatest loss by alignment, and gaps within groups."""
    is_variation = problem.facts.neighbour is not None
    counts = Counter(amounts(problem).alignment.tolist()) if is_variation else counted_alignments(problem.buffers)
    padding = _padding({*alignments_of_pools(problem.pools)}, {*counts})
    return sum(count * padding[alignment] for alignment, count in counts.items()) + _heights(problem, groups)


def _padding(of_pools: set[int], of_buffers: set[int]) -> dict[int, int]:
    """Return, by buffer alignment, the most that aligning can cost in any pool."""
    if len(of_pools) * len(of_buffers) > MOST_ALIGNMENTS:
        greatest = max(of_pools)
        return {alignment: greatest * alignment for alignment in of_buffers}
    return {
        alignment: max((lcm(other, alignment) for other in of_pools), default=alignment) for alignment in of_buffers
    }


def _peaks(problem: Problem, most: int, report: Report) -> int:
    """Return the most that the pools' peaks can cost together."""
    pools = problem.pools
    if isinstance(pools, PoolColumns) and most < MAX_ADDRESS // len(pools) and (pools.cost == 1).all():
        return int(np.where(pools.is_limited, np.minimum(pools.size, most), most).sum())
    worst = 0
    for i, pool in enumerate(pools):
        end = most + max((end for _, end in pool.reserved), default=0) if pool.reserved else most
        if pool.size is not None:
            end = min(end, pool.size)
        elif end >= MAX_ADDRESS:
            text = "reserved ranges and sizes add up to 2^62 or more; give the pool a size, or reserve less"
            report.add(Code.TOO_LARGE, ("pools", i, "reserved"), text)
        worst += pool.cost * end
    if worst >= MAX_ADDRESS:
        text = "costs times sizes of the pools add up to 2^62 or more; scale the costs down"
        report.add(Code.TOO_LARGE, ("pools",), text)
    return worst


def _check_costs(problem: Problem, together: int, peaks: int, report: Report) -> None:
    """Check the sums of the terms for this many bytes of buffers and peaks of at most this cost."""
    linear = [LINEAR_TERMS[term] for term in problem.terms if term in LINEAR_TERMS]
    accessed = most_access_cost(problem) if WEIGHS_ACCESS.intersection(problem.terms) else 0
    if accessed >= MAX_ADDRESS:
        text = "what the accesses cost adds up to 2^62 or more (picoseconds, or uses times rank); scale the counts down"
        report.add(Code.TOO_LARGE, ("buffers",), text)
    moved = together if any(adds.moved for adds in linear) else 0
    if any(adds.priced for adds in linear) and accessed + moved + problem.peak_price * peaks >= MAX_ADDRESS:
        text = "times costs and sizes of the pools this adds up to 2^62 or more; scale it down"
        report.add(Code.TOO_LARGE, ("objective", "peak_price"), text)
    spilled = together * highest_rank(problem.pools)
    if any(adds.choice is Choice.RANK and spilled + adds.peaks * peaks >= MAX_ADDRESS for adds in linear):
        text = "sizes times ranks of the pools add up to 2^62 or more; scale the ranks down"
        report.add(Code.TOO_LARGE, ("pools",), text)


def _heights(problem: Problem, groups: Groups) -> int:
    """Return the sum of the groups' heights, from lowest to highest address."""
    if not groups.are_any:
        return 0
    if groups.forest is not None:
        tied, offset, first = groups.forest  # whose lowest members are at 0
        heights = np.maximum.reduceat(_tops(problem, tied, offset), first[:-1])
        return sum(sum(heights[begin : begin + FEW].tolist()) for begin in range(0, len(heights), FEW))
    members = [*chain.from_iterable(groups.members.values())]
    size, shift = sizes_of(problem.buffers), [groups.shift[i] for i in members]
    top = exact_array([above + size[i] for above, i in zip(shift, members, strict=True)])
    begin = np.cumsum([0, *map(len, groups.members.values())])[:-1]
    heights = np.maximum.reduceat(top, begin) - np.minimum.reduceat(exact_array(shift), begin)
    return sum(heights.tolist())


def _tops(problem: Problem, tied: Ints, offset: Ints) -> Ints:
    """Return the ends of these buffers, which are at these offsets, in as few bits as they need."""
    buffers = problem.buffers
    size = buffers.size if isinstance(buffers, NumberColumns) else exact_array(sizes_of(buffers))
    if int(size.max()) + int(offset.max()) >= MOST_IN_32_BITS:
        return exact_array(size)[tied] + offset
    top = cast(Ints, size[tied].astype(np.int32))
    top += offset
    return top
