"""The report as Markdown: what was measured and how, solver by solver, instance by instance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .figures import megabytes, number, percent, seconds
from .records import CellStatus, Record
from .tallies import InstanceTally, Tally, contradictions, per_instance, per_solver

SOLVER_HEADINGS = (
    "solver", "runs", *(str(status) for status in CellStatus), "wrong", "mean gap", "planning, all", "median to proof", "peak memory",
)  # fmt: skip
INSTANCE_HEADINGS = ("instance", "buffers", "solver", "proven", "best", "worst", "bound", "mean gap", "median to proof")


def markdown(records: Sequence[Record]) -> str:
    parts = ["# Benchmark", *conditions(records)]
    wrong = contradictions(records)
    if wrong:
        parts += ["## Wrong", *(f"- {cell(text)}" for text in wrong)]
    parts += ["## Solvers", table(SOLVER_HEADINGS, map(solver_row, per_solver(records)))]
    parts += ["## Instances", table(INSTANCE_HEADINGS, map(instance_row, per_instance(records)))]
    failed = [record for record in records if record.error is not None]
    if failed:
        parts += ["## Without an answer", "\n".join(f"- {cell(failure(record))}" for record in failed)]
    return "\n\n".join(parts) + "\n"


def conditions(records: Sequence[Record]) -> list[str]:
    """Sentences about how it was measured."""
    versions = sorted({f"{name} {version}" for record in records for name, version in record.versions.items()})
    machines = sorted({", ".join(f"{k} {v}" for k, v in sorted(record.machine.items())) for record in records})
    settings = sorted(
        {
            ", ".join(
                f"{k.replace('_', ' ')} {v}"
                for k, v in record.options.items()
                if v is not None and k != "grace_seconds"
            )
            for record in records
        }
    )
    counts = f"{len({r.sha256 for r in records})} instances, {len(records)} runs, each in a process of its own."
    lines = [counts, *(f"Settings: {cell(each)}." for each in settings)]
    if versions:
        lines.append(f"Versions: {cell(', '.join(versions))}.")
    return [*lines, *(f"Machine: {cell(each)}." for each in machines if each)]


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


def instance_row(row: InstanceTally) -> list[str]:
    proven = sum(count for status, count in row.tally.statuses.items() if status.is_proven)
    return [
        row.instance,
        number(row.buffers),
        row.tally.solver,
        f"{proven} of {row.tally.runs}",
        number(row.best),
        number(row.worst),
        number(row.bound),
        percent(row.tally.mean_gap),
        seconds(row.tally.median_seconds_to_proof),
    ]


def failure(record: Record) -> str:
    return f"{record.instance}, {record.solver}, seed {record.seed}: {record.status}: {record.error}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def cell(text: str) -> str:
    """Names are free text, and must not become part of the page's form."""
    return "".join(
        c if c.isprintable() else " " for c in text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    )
