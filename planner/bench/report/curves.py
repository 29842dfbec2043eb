"""The charts' points: profiles, gaps over time, times, growth."""

from __future__ import annotations

from collections.abc import Sequence

from ..results.common_ground import WORST_GAP, common_bounds, gap_to, problem_of
from ..results.records import CellStatus, Record
from ..results.tallies import grouped
from .charts import Series
from .figures import megabytes, number, seconds

QUICKEST = 1e-4
"""In seconds; shorter times count as this, since noise would decide ratios."""
LEAST_GAP = 1e-4
"""Smaller gaps are drawn here, since a logarithm has no zero."""
SOLVED = (CellStatus.OPTIMAL, CellStatus.FEASIBLE, CellStatus.INFEASIBLE, CellStatus.UNKNOWN)


def proven_over_time(records: Sequence[Record]) -> list[Series]:
    """Return the share of runs proven by each time."""
    made = []
    for solver, runs in grouped(records, lambda r: r.solver).items():
        times = sorted(max(r.seconds_to_proof, QUICKEST) for r in runs if r.seconds_to_proof is not None)
        made.append(Series(solver, [(QUICKEST, 0.0), *((at, (i + 1) / len(runs)) for i, at in enumerate(times))]))
    return made


def performance_profile(records: Sequence[Record]) -> list[Series]:
    """Return the share of runs that a solver proves within each multiple of the quickest solver's time (Dolan and Moré)."""
    ratios: dict[str, list[float]] = {record.solver: [] for record in records}
    counts = dict.fromkeys(ratios, 0)
    for runs in grouped(records, lambda r: (r.instance, r.sha256, r.seed)).values():
        for run in runs:
            counts[run.solver] += 1
        times = {r.solver: max(r.seconds_to_proof, QUICKEST) for r in runs if r.seconds_to_proof is not None}
        for solver, time in times.items():
            ratios[solver].append(time / min(times.values()))
    return [
        Series(solver, [(1.0, 0.0), *((ratio, (i + 1) / counts[solver]) for i, ratio in enumerate(sorted(found)))])
        for solver, found in ratios.items()
    ]


def gap_over_time(records: Sequence[Record]) -> list[Series]:
    """Return the mean gap of each solver's comparable runs over time."""
    bounds = common_bounds(records)
    made = []
    for solver, runs in grouped(records, lambda r: r.solver).items():
        steps: list[tuple[float, float]] = []
        counted = 0
        for run in runs:
            bound = bounds.get(problem_of(run))
            if bound is None or run.status is CellStatus.REFUSED:
                continue
            counted += 1
            gap = WORST_GAP
            for at, value, _ in run.trace:
                if (new := gap_to(bound, value)) < gap:
                    steps.append((max(at, QUICKEST), new - gap))
                    gap = new
        total, points = WORST_GAP * counted, [(QUICKEST, WORST_GAP)] if counted else []
        for at, change in sorted(steps):
            total += change
            points.append((at, max(total / counted, LEAST_GAP)))
        made.append(Series(solver, points))  # even without points: a solver has the same colour in all charts
    return made


def times_per_instance(records: Sequence[Record], rows: Sequence[str]) -> list[Series]:
    """Return the seconds to the proof, a dot for each run."""
    places = {name: place for place, name in enumerate(rows)}
    made = []
    for solver, runs in grouped(records, lambda r: r.solver).items():
        points, notes = [], []
        for run in runs:
            if run.seconds_to_proof is not None and run.instance in places:
                points.append((max(run.seconds_to_proof, QUICKEST), float(places[run.instance])))
                notes.append(f"{run.instance}, {solver}, seed {run.seed}: {seconds(run.seconds_to_proof)}")
        made.append(Series(solver, points, notes))
    return made


def growth(records: Sequence[Record], *, memory: bool) -> list[Series]:
    """Return the seconds of planning, or bytes, by the number of buffers."""
    made = []
    for solver, runs in grouped(records, lambda r: r.solver).items():
        points, notes = [], []
        for run in runs:
            figure = run.peak_memory_bytes if memory else run.seconds
            if run.status in SOLVED and run.buffers and figure:
                points.append((float(run.buffers), float(figure) if memory else max(float(figure), QUICKEST)))
                shown = megabytes(run.peak_memory_bytes) if memory else seconds(run.seconds)
                notes.append(f"{run.instance}, {number(run.buffers)} buffers, {solver}: {shown}")
        made.append(Series(solver, points, notes))
    return made
