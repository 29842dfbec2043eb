"""The report as Markdown: the conditions, the solvers, the instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..results.common_ground import common_bounds
from ..results.curves import is_proven
from ..results.records import CellStatus, Record
from ..results.tallies import InstanceTally, Tally, contradictions, grouped, per_instance, per_solver
from ..results.worst import Worst, worst
from .figures import megabytes, number, numbers, percent, seconds

SOLVER_HEADINGS = (
    "solver", "runs", *(str(status) for status in CellStatus), "wrong", "mean gap", "planning, all", "median to proof", "peak memory",
)  # fmt: skip
INSTANCE_HEADINGS = ("instance", "buffers", "solver", "proven", "best", "worst", "bound", "mean gap", "median to proof")

ABOUT_FRONTIERS = "Of each frontier: how many points it has, of how many memory and cost are proven least, whether they are proven to be all, and how far the worst is from its bounds."
FRONTIER_HEADINGS = (
    "instance",
    "solver",
    "points",
    "proven",
    "whole",
    "worst gap of memory",
    "worst gap of cost",
    "planning",
)

WORST_HEADINGS = (
    "instance", "buffers", "why", "solver", "seed", "value", "behind the best", "gap", "planning", "best solver",
)  # fmt: skip
ABOUT_WORST = "Gap: to the best bound that any run proved."


def markdown(records: Sequence[Record]) -> str:
    parts = ["# Benchmark", *conditions(records)]
    wrong = contradictions(records)
    if wrong:
        parts += ["## Wrong", *(f"- {cell(text)}" for text in wrong)]
    parts += ["## Solvers", table(SOLVER_HEADINGS, map(solver_row, per_solver(records))), about_gaps(records)]
    furthest = worst(records)
    if furthest:
        parts += ["## The worst", table(WORST_HEADINGS, map(worst_row, furthest)), ABOUT_WORST]
    parts += ["## Instances", table(INSTANCE_HEADINGS, map(instance_row, per_instance(records)))]
    fronts = with_frontiers(records)
    if fronts:
        parts += ["## Frontiers", table(FRONTIER_HEADINGS, map(frontier_row, fronts)), ABOUT_FRONTIERS]
    if any(record.error is not None for record in records):
        parts += ["## Without an answer", "\n".join(f"- {cell(text)}" for text in failures(records))]
    return "\n\n".join(parts) + "\n"


def conditions(records: Sequence[Record]) -> list[str]:
    """Return sentences about how it was measured."""
    versions = sorted({f"{name} {version}" for record in records for name, version in record.versions.items()})
    machines = sorted({", ".join(f"{k} {v}" for k, v in sorted(record.machine.items())) for record in records})
    settings = sorted(
        {
            ", ".join(_setting(k, v) for k, v in record.options.items() if v is not None and k != "grace_seconds")
            for record in records
        }
    )
    counts = f"{len({r.sha256 for r in records})} instances, {len(records)} runs, each in a process of its own."
    lines = [counts, *(f"Settings: {cell(each)}." for each in settings)]
    if versions:
        lines.append(f"Versions: {cell(', '.join(versions))}.")
    return [*lines, *(f"Machine: {cell(each)}." for each in machines if each)]


def about_gaps(records: Sequence[Record]) -> str:
    """Return the basis of the solvers' mean gaps."""
    count = len(common_bounds(records))
    which = "the one problem" if count == 1 else f"the {count} problems"
    return (
        f"Mean gap: to the best bound that any run proved, on {which} that every solver takes; without a plan, 100 %. "
        "What a solver refuses counts as not proven."
    )


def _setting(name: str, value: object) -> str:
    units = {"time_limit": " s", "memory_limit_bytes": " bytes"}
    return f"{name.removesuffix('_bytes').replace('_', ' ')} {value}{units.get(name, '')}"


def solver_row(line: Tally) -> list[str]:
    return [
        line.solver,
        str(line.runs),
        *(str(line.statuses[status] or "") for status in CellStatus),
        str(line.wrong or ""),
        percent(line.mean_gap),
        seconds(line.seconds),
        seconds(line.median_seconds_to_proof),
        megabytes(line.peak_memory_bytes),
    ]


def worst_row(one: Worst) -> list[str]:
    run = one.record
    return [
        run.instance,
        number(run.buffers),
        str(one.why),
        run.solver,
        str(run.seed),
        number(run.value),
        percent(one.behind),
        percent(one.gap),
        seconds(run.seconds),
        one.best.solver,
    ]


def instance_row(row: InstanceTally) -> list[str]:
    proven = sum(count for status, count in row.tally.statuses.items() if status.is_proven)
    return [
        row.instance,
        number(row.buffers),
        row.tally.solver,
        f"{proven} of {row.tally.runs}",
        numbers(row.best),
        numbers(row.worst),
        number(row.bound),
        percent(row.tally.mean_gap),
        seconds(row.tally.median_seconds_to_proof),
    ]


def with_frontiers(records: Sequence[Record]) -> list[Record]:
    """Return the runs that were asked for a frontier and found points of it, by instance."""
    return sorted((r for r in records if r.points), key=lambda r: (r.instance, r.sha256, r.solver, r.seed))


def frontier_row(record: Record) -> list[str]:
    memory = [_over(worth, bound) for _, _, worth, bound in record.points]
    costs = [_over(cost, bound) for cost, bound, _, _ in record.points]
    proven = sum(map(is_proven, record.points))
    return [
        record.instance if record.seed == 0 else f"{record.instance}, seed {record.seed}",
        record.solver,
        str(len(record.points)),
        str(proven),
        "yes" if record.status is CellStatus.OPTIMAL else "no",
        percent(_worst(memory)),
        percent(_worst(costs)),
        seconds(record.seconds),
    ]


def _over(found: int, bound: int | None) -> float | None:
    """Return by which share the bound is exceeded; None if undefined."""
    if found == bound:
        return 0.0
    return (found - bound) / abs(bound) if bound else None


def _worst(gaps: Sequence[float | None]) -> float | None:
    """Return the worst gap; None if some run has no bound."""
    known = [gap for gap in gaps if gap is not None]
    return max(known) if known and len(known) == len(gaps) else None


def failures(records: Sequence[Record]) -> list[str]:
    """Return what went wrong, once for all runs of a solver."""
    lines = []
    failed = [record for record in records if record.error is not None]
    for (solver, status, error), runs in grouped(failed, lambda r: (r.solver, r.status, r.error)).items():
        first = f"{runs[0].instance}, seed {runs[0].seed}"
        where = first if len(runs) == 1 else f"{len(runs)} runs, {first} the first of them"
        lines.append(f"{solver}, {where}: {status}: {error}")
    return lines


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def cell(text: str) -> str:
    """Return a name for a table cell, in which it cannot break the page's format."""
    return "".join(
        c if c.isprintable() else " " for c in text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    )
