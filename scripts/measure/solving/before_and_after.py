"""Plans the same files with an older version of memplan and with this one, in turn, and prints a Markdown table for each point.

git worktree add --detach ../before COMMIT && ../before/scripts/check      # the older one, with its environment
python -m scripts.measure.solving.before_and_after ../before FILES [POINT]... [--corpus ../shared/corpus/pypto]

Runs are limited by work; the clock ends them after 100 times as long. Gaps are of the first term that is not at its bound, from the better bound of both
versions; seconds are of the processor, with all processes. `--clock` limits by the clock instead, and the seconds are by the clock: on an idle machine only.
This version's plans are all verified. What it plans worse is listed at the end, with its file.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.planning.placing.pipeline import WORK_PER_SECOND
from scripts.measure.arguments import Arguments, seeds
from scripts.measure.service.loading.system import ROOT
from scripts.measure.solving.points import POINTS, Row, files
from scripts.measure.spent import Used, by_command

NOW, BEFORE = ".now.plan", ".before.plan"
FEW = 4
"""Runs that a cell shows one by one."""
CHILD_SUBREAPER = 36
"""Of linux/prctl.h: orphans below this process become its children."""
MANY = 1_000_000
"""Buffers from which on memory is shown."""
SPARE = 100
"""Seconds of the clock for the work of one second."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one version made of a file."""

    status: str
    stop: str
    values: tuple[int, ...]
    bounds: tuple[int, ...]
    used: Used

    def is_worse(self, other: Run) -> bool:
        """Whether the other has a better plan, or the same and a proof that this one lacks."""
        if self.values != other.values:
            return not self.values or (bool(other.values) and self.values > other.values)
        return other.status == "optimal" != self.status


Case = tuple[Run, tuple[int, ...]]
"""A run, and the best known bounds of its terms."""


def planned(checkout: Path, file: Path, row: Row, by_clock: bool) -> Run:
    """Plans the file with the checkout's command."""
    out = file.with_suffix(NOW if checkout == ROOT else BEFORE)
    out.unlink(missing_ok=True)
    limits = ["--time-limit", str(row.seconds if by_clock else SPARE * row.seconds)]
    if not by_clock:
        limits += ["--work-limit", str(WORK_PER_SECOND * row.seconds)]
    used = adopting(
        [_command(checkout), "plan", str(file), *limits, "--workers", str(row.workers), *row.options, "-o", str(out)]
    )
    made: dict[str, Any] = json.loads(out.read_bytes()) if out.exists() else {"status": "none", "stop": "none"}
    terms = made.get("objective", {}).get("terms", ())
    values = tuple(term["value"] for term in terms if term["value"] is not None)
    return Run(made["status"], made["stop"], values, tuple(term["bound"] or 0 for term in terms), used)


def adopting(command: list[str]) -> Used:
    """The resources of the command, and of what it left behind: the processes that fork solvers end after it (Linux)."""
    ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1)
    used = by_command(command)
    with suppress(ChildProcessError):
        while True:
            _, _, more = os.wait4(-1, 0)
            used = replace(used, processor=used.processor + more.ru_utime + more.ru_stime)
    return used


def _command(checkout: Path) -> str:
    """The checkout's own program: with `-m`, the packages of the folder it runs in would come first."""
    return str(checkout / ".venv" / "bin" / "memplan")


def gap(run: Run, bounds: tuple[int, ...]) -> str:
    """Of the first term that is not at its bound; later terms have their number."""
    for number, (value, bound) in enumerate(zip(run.values, bounds, strict=True), 1):
        if value > bound:
            return f"{100 * (value / max(bound, 1) - 1):.3f} %{f' of term {number}' if number > 1 else ''}"
    return "at the bound"


def cell(runs: list[Case], by_clock: bool, memory: bool) -> str:
    """One version's runs of a row."""
    spent = [run.used.wall if by_clock else run.used.processor for run, _ in runs]
    if len(runs) > FEW:
        proven = sum(run.status in ("optimal", "infeasible") for run, _ in runs)
        return f"{proven} of {len(runs)} proven, {sum(spent):.1f} s"
    shown = []
    for (run, bounds), seconds in zip(runs, spent, strict=True):
        worth = gap(run, bounds) if run.status == "feasible" else run.status.replace("optimal", "proven")
        room = f", {run.used.peak_bytes / 1e9:.2f} GB" if memory else ""
        shown.append(f"{worth}, {seconds:.1f} s{room}{', the clock' * (run.stop == 'time_limit')}")
    return "; ".join(shown)


def main() -> None:
    parser = Arguments(__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("folder", type=Path, help="where problems and plans are written")
    parser.add_argument(
        "points", nargs="*", metavar="POINT", help=f"of {', '.join(POINTS)}; all of them if there is none"
    )
    parser.add_seeds(1, 880_001)
    parser.add_argument("--corpus", type=Path, help="kernels to draw anew")
    parser.add_argument("--clock", action="store_true")
    args = parser.parse_args()
    worse = list[str]()
    args.folder.mkdir(exist_ok=True)
    for point in args.points or POINTS:
        print(f"\n{point}\n\n| problem | before | now |\n|---|---|---|")
        for row in POINTS[point]:
            print(f"| {row} | {' | '.join(compared(row, args, worse))} |", flush=True)
    print("\nWorse now:", *worse or ["none"], sep="\n- ")


def compared(row: Row, args: argparse.Namespace, worse: list[str]) -> tuple[str, str]:
    """The cells of a row; adds to the list what is worse now."""
    earlier, later = list[Case](), list[Case]()
    other = args.before.resolve()
    for seed in seeds(args):
        with ProcessPoolExecutor(1) as apart:  # a started process counts the memory of its parent as its own
            made = apart.submit(files, row, seed, args.folder, args.corpus).result()
        for file in map(_as_csv, made) if row.csv else made:
            turn = (other, ROOT) if len(later) % 2 == 0 else (ROOT, other)
            runs = {checkout: planned(checkout, file, row, args.clock) for checkout in turn}
            before, now = runs[other], runs[ROOT]
            bounds = tuple(map(max, before.bounds or now.bounds, now.bounds or before.bounds))
            earlier.append((before, bounds))
            later.append((now, bounds))
            if now.is_worse(before):
                worse.append(f"{file.name}: before {before}, now {now}")
            if now.values and not is_sound(file, row):
                worse.append(f"{file.name}: refused by memplan verify")
    memory = row.buffers >= MANY
    return cell(earlier, args.clock, memory), cell(later, args.clock, memory)


def is_sound(file: Path, row: Row) -> bool:
    """Whether this version's verifier accepts its plan."""
    preset = row.options if "--prefer" in row.options else ()
    command = [_command(ROOT), "verify", str(file), str(file.with_suffix(NOW)), *preset]
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0


def _as_csv(file: Path) -> Path:
    """Converts the file; the column of the pool is left out, which older versions do not know."""
    table = file.with_suffix(".csv")
    subprocess.run([_command(ROOT), "convert", str(file), "-o", str(table)], check=True)
    table.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in table.read_text().splitlines()))
    return table


if __name__ == "__main__":
    main()
