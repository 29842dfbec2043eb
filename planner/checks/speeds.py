"""Checks of the pools' speeds: numbers in range, and known of all pools or of none where times are compared."""

from __future__ import annotations

from ..errors import Code
from ..facts.access import WEIGHS_ACCESS
from ..problem import Problem
from .limits import MAX_ADDRESS
from .report import Place, Report, quoted

LEAST = {
    "clock_frequency_hz": 1,
    "read_bandwidth_bytes_per_cycle": 1,
    "write_bandwidth_bytes_per_cycle": 1,
    "read_latency_cycles": 0,
    "write_latency_cycles": 0,
    "target_burst_bytes": 1,
}
"""The fields of a speed, and the least that each may be."""


def check_speeds(problem: Problem, report: Report) -> None:
    known = [i for i, pool in enumerate(problem.pools) if pool.speed is not None]
    for i in known:
        for name, least in LEAST.items():
            value = getattr(problem.pools[i].speed, name)
            place: Place = ("pools", i, name)
            if type(value) is not int:
                report.add(Code.WRONG_TYPE, place, f"must be an integer, not {type(value).__name__}")
            elif not least <= value <= MAX_ADDRESS:
                report.add(Code.OUT_OF_RANGE, place, f"must be from {least} to {MAX_ADDRESS}, not {quoted(value)}")
    if 0 < len(known) < len(problem.pools) and WEIGHS_ACCESS.intersection(problem.terms):
        missing = next(i for i, pool in enumerate(problem.pools) if pool.speed is None)
        text = (
            f"the speed of pool {quoted(problem.pools[missing].name)} is not known, but that of {quoted(problem.pools[known[0]].name)} is: "
            "the cost of access needs all of them, or none, and then goes by rank"
        )
        report.add(Code.MISSING_FIELD, ("pools", missing, "clock_frequency_hz"), text)
