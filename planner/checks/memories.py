"""Checks of memories: speeds are in range, and given for all pools or none if times are compared; constants and other buffers have a pool to go to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..facts.constants import CONSTANT, OpenPools, has_read_only_pools, is_constant
from ..facts.costs import WEIGHS_ACCESS
from ..facts.figures import amounts, said
from ..model.columns.buffers import NumberColumns
from ..model.columns.pools import PoolColumns
from ..model.errors import Code
from ..model.problem import Buffer, Problem
from .names import Names
from .report import Report, quoted
from .values import check_number

LEAST = {
    "clock_frequency_hz": 1,
    "read_bandwidth_bytes_per_cycle": 1,
    "write_bandwidth_bytes_per_cycle": 1,
    "read_latency_cycles": 0,
    "write_latency_cycles": 0,
    "target_burst_bytes": 1,
}
"""The fields of a speed, and the least value of each."""


def check_speeds(problem: Problem, report: Report) -> None:
    if isinstance(problem.pools, PoolColumns):
        return  # these have none
    known = [i for i, pool in enumerate(problem.pools) if pool.speed is not None]
    for i in known:
        for name, least in LEAST.items():
            check_number(report, ("pools", i, name), getattr(problem.pools[i].speed, name), least)
    if 0 < len(known) < len(problem.pools) and WEIGHS_ACCESS.intersection(problem.terms):
        missing = next(i for i, pool in enumerate(problem.pools) if pool.speed is None)
        text = (
            f"the speed of pool {quoted(problem.pools[missing].name)} is not known, but that of {quoted(problem.pools[known[0]].name)} is: "
            "the cost of access needs all of them, or none, and then goes by rank"
        )
        report.add(Code.MISSING_FIELD, ("pools", missing, "clock_frequency_hz"), text)


def check_constants(problem: Problem, names: Names, report: Report) -> None:
    """Check that only constants have data of their size, and that constants and all other buffers have pools to go to."""
    for i, buffer, data in _with_data(problem):
        if not is_constant(buffer):
            text = f"only buffers of the kind {CONSTANT!r} have data; buffer {quoted(buffer.id)} is of another kind"
            report.add(Code.CONTRADICTION, ("buffers", i, "data"), text)
        elif len(data) != buffer.size:
            text = f"has {len(data)} bytes, but buffer {quoted(buffer.id)} has {buffer.size}"
            report.add(Code.CONTRADICTION, ("buffers", i, "data"), text)
    if has_read_only_pools(problem):
        _check_homes(problem, report)
        _check_exclusions(problem, names, report)


def _with_data(problem: Problem) -> Iterator[tuple[int, Buffer, bytes]]:
    """Yield the numbers and buffers of those whose contents are given, with these."""
    buffers = problem.buffers
    if isinstance(buffers, NumberColumns):
        return
    some: Sequence[int] = range(len(buffers))
    if problem.facts.neighbour is not None:
        some = () if amounts(problem).is_free else said(problem)[:, 3].nonzero()[0].tolist()
    for i in some:
        if (data := buffers[i].data) is not None:
            yield i, buffers[i], data


def _check_homes(problem: Problem, report: Report) -> None:
    homes = OpenPools(problem)
    for i, buffer in enumerate(problem.buffers):
        if homes.of(buffer):
            continue
        if is_constant(buffer):
            why = "none of the pools it may use is" if buffer.pools is not None else "there is no pool that is"
            text = f"buffer {quoted(buffer.id)} is a constant, but {why} read-only"
        else:
            why = "all pools that it may use" if buffer.pools is not None else "all pools"
            text = f"buffer {quoted(buffer.id)} is no constant, but {why} are read-only"
        report.add(Code.CONTRADICTION, ("buffers", i, "pools"), text)


def _check_exclusions(problem: Problem, names: Names, report: Report) -> None:
    for k, (a, b) in enumerate(problem.constraints.exclusions):
        if all(is_constant(problem.buffers[names.buffers[id_]]) for id_ in (a, b)):
            text = f"buffers {quoted(a)} and {quoted(b)} are constants, which all exist at the same time"
            report.add(Code.CONTRADICTION, ("constraints", "exclusions", k), text)
