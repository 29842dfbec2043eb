"""`memplan bench` and its options. Its implementation is imported when it runs."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup

from ..planner_options import Command, TakesLimits, option_values
from . import Cluster, Json

DEFAULT = "run"


class DefaultCommand(TyperGroup):
    """A group of commands with a default: arguments that are neither a command nor a request for help go to `run`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


bench_app = typer.Typer(
    name="bench",
    cls=DefaultCommand,
    rich_markup_mode=None,
    help="Measure solvers on instances.\n\n'memplan bench PATH...' is 'memplan bench run PATH...'.",
)


@bench_app.command("run", cls=TakesLimits)
def bench_run(
    context: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Problems, folders of them, or suites such as @smoke.")
    ],
    solvers: Annotated[str, typer.Option(metavar="NAMES", help="Solvers, with commas between them.")] = "auto",
    seeds: Annotated[str, typer.Option(metavar="SEEDS", help="Seeds, such as 0-4 or 0,7.")] = "0",
    capacity: Annotated[
        str, typer.Option(metavar="from-name|BYTES|none", help="Size of the pool; from-name: as in A.1048576.csv.")
    ] = "none",
    workers_per_solve: Annotated[int, typer.Option(metavar="N", min=1, help="Workers of each run.")] = 1,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, max=256, help="Runs side by side; times are most exact with 1.")
    ] = 1,
    cluster: Cluster = None,
    grace: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Time beyond its limit before a run is killed.")
    ] = 30.0,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder of results and reports.")] = "bench",
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat runs that crashed, were killed or were refused.")
    ] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")] = False,
) -> None:
    """Run every instance with every solver and seed.

    Each run has its own process. Runs that DIR already holds are not repeated. Exit code 1 if an answer cannot be true.
    """
    from planner.bench import Settings

    from ..bench_arguments import parse_capacity, parse_seeds, parse_solvers
    from ..commands import bench as bench_command

    request = bench_command.Request(
        paths, parse_solvers(solvers), parse_seeds(seeds), jobs, out, cluster, retry=retry, as_json=as_json, quiet=quiet
    )
    settings = Settings(
        workers=workers_per_solve, capacity=parse_capacity(capacity), grace_seconds=grace, **option_values(context)
    )
    raise typer.Exit(bench_command.measure(request, settings))


@bench_app.command("compare", cls=Command)
def bench_compare(
    before: Annotated[str, typer.Argument(metavar="DIR1", help="Results to compare with.")],
    after: Annotated[str, typer.Argument(metavar="DIR2", help="Newer results.")],
    threshold: Annotated[
        float, typer.Option(metavar="PERCENT", min=0, help="The slowdown from which a run counts as worse.")
    ] = 5.0,
    as_json: Json = False,
) -> None:
    """Compare two measurements run by run.

    Exit code 1 if the second is worse.
    """
    from ..commands import bench as bench_command

    raise typer.Exit(bench_command.compare_folders(before, after, threshold / 100, as_json=as_json))
