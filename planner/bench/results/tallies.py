"""Totals of records: for each solver, and for each instance and solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TypeVar

from .common_ground import common_bounds, gap_to, problem_of
from .records import CellStatus, Record

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Tally:
    """Several runs of one solver."""

    solver: str
    runs: int
    statuses: dict[CellStatus, int]
    wrong: int
    mean_gap: float | None
    """For a solver: over comparable problems. For one instance: over runs with a gap."""
    seconds: float
    """The total time for planning."""
    median_seconds_to_proof: float | None
    peak_memory_bytes: int | None
    not_reproducible: int


@dataclass(frozen=True, slots=True)
class InstanceTally:
    """One instance, one solver, all seeds."""

    instance: str
    buffers: int | None
    best: tuple[int, ...]
    """The values of all terms; empty without a plan."""
    worst: tuple[int, ...]
    bound: int | None
    """The bound of the first term."""
    tally: Tally


def per_solver(records: Sequence[Record]) -> list[Tally]:
    bounds = common_bounds(records)
    made = []
    for solver, runs in grouped(records, lambda r: r.solver).items():
        shared = [run for run in runs if problem_of(run) in bounds and run.status is not CellStatus.REFUSED]
        gaps = [gap_to(bounds[problem_of(run)], run.value) for run in shared]
        made.append(replace(tally(solver, runs), mean_gap=fmean(gaps) if gaps else None))
    return made


def per_instance(records: Sequence[Record]) -> list[InstanceTally]:
    """Return totals by name and solver."""
    made = []
    for (instance, _, solver), runs in sorted(grouped(records, lambda r: (r.instance, r.sha256, r.solver)).items()):
        values = [tuple(v for v in run.values if v is not None) for run in runs if run.value is not None]
        bounds = [run.bound for run in runs if run.bound is not None]
        buffers = next((run.buffers for run in runs if run.buffers is not None), None)
        best, worst = min(values, default=()), max(values, default=())
        made.append(InstanceTally(instance, buffers, best, worst, max(bounds, default=None), tally(solver, runs)))
    return made


def tally(solver: str, runs: Sequence[Record]) -> Tally:
    gaps = [run.gap for run in runs if run.gap is not None]
    proofs = [run.seconds_to_proof for run in runs if run.seconds_to_proof is not None]
    statuses = Counter(run.status for run in runs)
    return Tally(
        solver=solver,
        runs=len(runs),
        statuses={status: statuses[status] for status in CellStatus},
        wrong=sum(run.wrong is not None for run in runs),
        mean_gap=fmean(gaps) if gaps else None,
        seconds=sum(run.seconds or 0.0 for run in runs),
        median_seconds_to_proof=median(proofs) if proofs else None,
        peak_memory_bytes=max(
            (run.peak_memory_bytes for run in runs if run.peak_memory_bytes is not None), default=None
        ),
        not_reproducible=sum(run.reproducible is False for run in runs),
    )


def contradictions(records: Iterable[Record]) -> list[str]:
    """Return contradictions: answers with what is known of an instance, and solvers with each other."""
    records = list(records)
    lines = [f"{r.instance}, {r.solver}, seed {r.seed}: {r.wrong}" for r in records if r.wrong is not None]
    for runs in grouped(records, lambda r: (r.digest, str(r.capacity))).values():
        valued = [run for run in runs if run.digest is not None and run.value is not None]
        bounded = [run for run in runs if run.digest is not None and run.bound is not None]
        if valued and bounded:
            best = min(valued, key=lambda r: r.value or 0)
            highest = max(bounded, key=lambda r: r.bound or 0)
            if (highest.bound or 0) > (best.value or 0):
                lines.append(
                    f"{best.instance}: {highest.solver} (seed {highest.seed}) claims a bound of {highest.bound}, "
                    f"{best.solver} (seed {best.seed}) reaches {best.value}"
                )
    return lines


def grouped(records: Iterable[Record], key: Callable[[Record], K]) -> dict[K, list[Record]]:
    """Return groups in the order of their first appearance."""
    groups: dict[K, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups
