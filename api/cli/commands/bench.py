"""`memplan bench` and `memplan bench compare`: measure, report, and tell what got better or worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from planner.bench import CellStatus, Comparison, Record, Results, Settings, collect, compare, grid, run, write_reports
from planner.bench.results.tallies import contradictions, per_solver
from planner.bench.running.grid import Cell
from planner.bench.running.process import CellProcesses
from planner.bench.running.runner import Running, missing
from planner.model.errors import BadInput, Code, Finding
from solvers.model.errors import UnknownSolver
from solvers.model.registry import AUTO, entry_of

from ..exit_codes import ExitCode
from ..terminal.interrupt import Interrupt
from ..terminal.output_file import make_folder, reason, unwritable
from ..terminal.progress.bench import Progress
from ..terminal.refusals import refusing
from ..terminal.standard_output import print_json, prints_json
from ..terminal.tables.bench import comparison_fields, print_comparison, print_tallies, tally_fields
from ..terminal.text import say, visible

INSTANCES = "instances"
"""The folder for problems of suites, within the output folder."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure, and where to write."""

    paths: Sequence[str]
    solvers: Sequence[str]
    seeds: Sequence[int]
    jobs: int
    out: str
    cluster: str | None = None
    """A Dask cluster to run on."""
    retry: bool = False
    as_json: bool = False
    quiet: bool = False


def measure(request: Request, settings: Settings) -> ExitCode:
    """Run what is missing and write the reports. Exit code 1 if an answer cannot be true."""
    folder = Path(request.out)
    with refusing(None, as_json=request.as_json):
        if request.cluster is None:
            require_solvers(request.solvers)
        make_folder(str(folder))
        files, passed_over = collect(request.paths, folder / INSTANCES)
        if not request.quiet:
            for name in passed_over:
                say(f"{visible(name)}: holds no problem, passed over")
        if not files:
            raise BadInput(Finding(Code.INVALID_OPTION, "", "none of the named files holds a problem"))
        cells = grid(files, request.solvers, request.seeds, settings)
        results = Results.read(folder)
        if request.retry:
            again = [r.key for r in results.records if r.status.has_failed or r.status is CellStatus.REFUSED]
            results.forget(again)
        left = missing(cells, results)
        with (
            where_to_run(request) as (jobs, start),
            Interrupt() as interrupt,
            Progress(len(left), jobs, quiet=request.quiet) as progress,
        ):
            try:
                done = run(left, results, start, jobs=jobs, on_record=progress, stopped=interrupt.requested)
            except OSError as error:
                raise unwritable(f"cannot write to {folder}: {reason(error)}") from error
            finally:
                results.close()
        try:
            write_reports(results, files)
        except OSError as error:
            raise unwritable(f"cannot write to {folder}: {reason(error)}") from error
        deliver(request, results, len(left) - len(missing(cells, results)))
        if not done:
            say(f"interrupted; the same command goes on from {visible(str(folder))}")
            return ExitCode.INTERRUPTED
        return ExitCode.FINDINGS if contradictions(results.records) else ExitCode.OK


@contextmanager
def where_to_run(request: Request) -> Iterator[tuple[int, Callable[[Cell], Running]]]:
    """Return how many runs are side by side, and what starts one: processes of this machine, or a cluster. Raises BadInput."""
    if request.cluster is None:
        with closing(CellProcesses()) as processes:
            yield request.jobs, processes.start
        return
    from planner.bench.running.on_cluster import OnCluster

    cluster = OnCluster(request.cluster)
    try:
        yield cluster.jobs, cluster.start
    finally:
        cluster.close()


def require_solvers(wanted: Sequence[str]) -> None:
    """Raise BadInput for a name that is no solver's. A cluster may have others."""
    for name in wanted:
        try:
            if name != AUTO:
                entry_of(name)
        except UnknownSolver as error:
            raise BadInput(Finding(Code.UNKNOWN_SOLVER, "/options/solvers", str(error))) from None


def deliver(request: Request, results: Results, ran: int) -> None:
    """Print the totals over all solvers; the rest is in the reports."""
    tallies, wrong = per_solver(results.records), contradictions(results.records)
    if prints_json(as_json=request.as_json):
        solvers = [tally_fields(line) for line in tallies]
        print_json(
            {"folder": request.out, "ran": ran, "runs": len(results.records), "solvers": solvers, "wrong": wrong}
        )
    elif not request.quiet:
        print_tallies(tallies, wrong, request.out)


def compare_folders(before: str, after: str, threshold: float, *, as_json: bool) -> ExitCode:
    """Compare; exit code 1 if the second measurement is worse."""
    with refusing(None, as_json=as_json):
        found = compare(records_in(before), records_in(after), threshold)
    if prints_json(as_json=as_json):
        print_json(comparison_fields(found))
    else:
        print_comparison(found)
    return verdict(found)


def verdict(found: Comparison) -> ExitCode:
    return ExitCode.FINDINGS if found.is_regression else ExitCode.OK


def records_in(folder: str) -> Sequence[Record]:
    records = Results.read(Path(folder)).records
    if not records:
        raise BadInput(Finding(Code.INVALID_OPTION, "", f"{folder} holds no results"))
    return records
