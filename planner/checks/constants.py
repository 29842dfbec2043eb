"""Checks of read-only pools: constants have somewhere to go, everything else has too, and data is what a constant holds."""

from __future__ import annotations

from ..errors import Code
from ..facts.constants import CONSTANT, has_read_only_pools, is_constant, open_pools
from ..problem import Problem
from .names import Names
from .report import Report, quoted


def check_constants(problem: Problem, names: Names, report: Report) -> None:
    for i, buffer in enumerate(problem.buffers):
        if buffer.data is None:
            continue
        if not is_constant(buffer):
            text = f"only buffers of the kind {CONSTANT!r} have data, and buffer {quoted(buffer.id)} is none"
            report.add(Code.CONTRADICTION, ("buffers", i, "data"), text)
        elif len(buffer.data) != buffer.size:
            text = f"has {len(buffer.data)} bytes, but buffer {quoted(buffer.id)} has {buffer.size}"
            report.add(Code.CONTRADICTION, ("buffers", i, "data"), text)
    if has_read_only_pools(problem):
        _check_homes(problem, report)
        _check_exclusions(problem, names, report)


def _check_homes(problem: Problem, report: Report) -> None:
    homes = {wanted: tuple(pool.name for pool in problem.pools if pool.read_only is wanted) for wanted in (True, False)}
    for i, buffer in enumerate(problem.buffers):
        if open_pools(buffer, homes):
            continue
        who = f"buffer {quoted(buffer.id)} is {'a' if is_constant(buffer) else 'no'} constant"
        what = "read-only" if is_constant(buffer) else "not read-only"
        where = "none of the pools it may use is" if buffer.pools is not None else "there is no pool that is"
        report.add(Code.CONTRADICTION, ("buffers", i, "pools"), f"{who}, but {where} {what}")


def _check_exclusions(problem: Problem, names: Names, report: Report) -> None:
    for k, (a, b) in enumerate(problem.constraints.exclusions):
        if all(is_constant(problem.buffers[names.buffers[id_]]) for id_ in (a, b)):
            text = f"buffers {quoted(a)} and {quoted(b)} are constants, which all exist at the same time"
            report.add(Code.CONTRADICTION, ("constraints", "exclusions", k), text)
