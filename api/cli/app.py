"""The commands of `memplan` and their options. What they do is imported when they run, so that `--help` is quick."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from .bench_app import bench_app
from .service_app import migrate, serve, worker


class Filled(TyperCommand):
    """A command whose help names what tables hold. They are looked up for help alone, since to import them takes longer than all the rest."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from dataclasses import fields

        from planner.formats.table import names
        from planner.generate import KINDS
        from planner.options.options import Options

        told = {each.name: each.metadata["help"] for each in fields(Options)}
        for param in self.params:
            if help_ := getattr(param, "help", None):
                param.help = help_.format(formats=names(), kinds=", ".join(KINDS), **told)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


app = typer.Typer(
    name="memplan",
    help="Plan memory ahead of time: an address for every buffer, the smallest peak, and a proven lower bound.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Capacity = Annotated[
    list[str] | None,
    typer.Option(metavar="[POOL=]BYTES", help="Replace a pool's size; repeat it for several pools. 64KiB works too."),
]
Prefer = Annotated[
    Literal["size", "balanced", "speed"] | None,
    typer.Option("--prefer", help="{prefer}"),
]
TimeLimit = Annotated[str, typer.Option(metavar="SECONDS", help="{time_limit} 'none': no limit.")]
WorkLimit = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="{work_limit}"),
]
MemoryLimit = Annotated[int | None, typer.Option(metavar="MB", min=1, help="{memory_limit_bytes} In 10^6 bytes.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="{seed}")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="{verbose} On stderr.")]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="The problem; - reads the standard input.")]
Plan = Annotated[str, typer.Argument(metavar="PLAN", help="Its plan; - reads the standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, also on a terminal; errors too.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The input's format: {formats}; by default recognised."),
]


ReportTables = Annotated[
    Literal["full", "cadence"] | None,
    typer.Option("--report", help="Show these tables, in a pipe too: full, or the two that Cadence prints."),
]


def print_version(wanted: bool) -> None:
    if wanted:
        from planner.versions import MEMPLAN

        from .terminal.standard_output import write_out

        write_out(f"memplan {MEMPLAN}\n".encode())
        raise typer.Exit


@app.callback()
def memplan(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command(cls=Filled)
def plan(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the plan to this file.")] = None,
    time_limit: TimeLimit = "10",
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    solver: Annotated[str, typer.Option(metavar="NAME", help="auto, or a name that 'memplan solvers' lists.")] = "auto",
    workers: Annotated[int | None, typer.Option(metavar="N", min=1, help="{workers}")] = None,
    seed: Seed = 0,
    capacity: Capacity = None,
    goal: Annotated[Literal["minimise", "fit"], typer.Option(help="{goal}")] = "minimise",
    prefer: Prefer = None,
    warm: Annotated[
        Literal["none", "bound", "hint", "both"] | None,
        typer.Option(help="{warm}"),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="{explain}")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    report: ReportTables = None,
    input_format: Format = None,
) -> None:
    """Place all buffers of a problem.

    On a terminal the plan is shown as tables, in a pipe as JSON. With -o a pipe gets nothing unless --json asks.

    Exit codes: 0 there is a plan, 2 bad input, 3 proven infeasible, 4 no plan in time, 130 interrupted (the best plan
    so far is written).
    """
    from .arguments import parse_capacities, parse_seconds
    from .commands import plan as plan_command

    if quiet and verbose:
        raise typer.BadParameter("cannot be combined with --verbose", param_hint="--quiet")
    if report and (as_json or quiet or out == "-"):
        raise typer.BadParameter("cannot be combined with --json, --quiet or -o -", param_hint="--report")
    request = plan_command.Request(
        file=file,
        begun=context.obj,
        out=out,
        input_format=input_format,
        as_json=as_json,
        explain=explain,
        quiet=quiet,
        verbose=verbose,
        report=report,
    )
    options = plan_command.options(
        time_limit=parse_seconds(time_limit, "--time-limit"),
        work_limit=work_limit,
        memory_limit_megabytes=memory_limit,
        solver=solver,
        workers=workers,
        seed=seed,
        capacity=parse_capacities(capacity or ()),
        goal=goal,
        prefer=prefer,
        warm=warm,
        explain=explain,
        verbose=verbose,
    )
    raise typer.Exit(plan_command.run(request, options))


@app.command(cls=Filled)
def share(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the sharing to this file.")
    ] = None,
    time_limit: TimeLimit = "10",
    work_limit: WorkLimit = None,
    memory_limit: MemoryLimit = None,
    solver: Annotated[
        str,
        typer.Option(metavar="NAME", help="auto, greedy, largest_first, exir_greedy, relay_tokens or cpsat."),
    ] = "auto",
    seed: Seed = 0,
    capacity: Capacity = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    input_format: Format = None,
) -> None:
    """Let buffers share storage objects, for runtimes that cannot place anything inside a block.

    Minimises the sum of the objects' sizes. On a terminal the objects are shown as a table, in a pipe as JSON.

    Exit codes: as those of plan.
    """
    from .arguments import parse_capacities, parse_seconds
    from .commands import plan as plan_command
    from .commands import share as share_command

    if quiet and verbose:
        raise typer.BadParameter("cannot be combined with --verbose", param_hint="--quiet")
    request = plan_command.Request(
        file=file,
        begun=context.obj,
        out=out,
        input_format=input_format,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
    )
    options = plan_command.options(
        time_limit=parse_seconds(time_limit, "--time-limit"),
        work_limit=work_limit,
        memory_limit_megabytes=memory_limit,
        solver=solver,
        workers=1,
        seed=seed,
        capacity=parse_capacities(capacity or ()),
        verbose=verbose,
    )
    raise typer.Exit(share_command.run(request, options))


@app.command(cls=Filled)
def verify(
    problem: Problem,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan or sharing; - reads the standard input.")],
    capacity: Capacity = None,
    prefer: Prefer = None,
    as_json: Json = False,
    input_format: Format = None,
) -> None:
    """Check a plan or a sharing against its problem, in exact integers. Exit code 1 if anything is wrong with it."""
    from .arguments import parse_capacities
    from .commands import verify as verify_command

    sizes = parse_capacities(capacity or ())
    code = verify_command.run(problem, plan, sizes, prefer=prefer, as_json=as_json, input_format=input_format)
    raise typer.Exit(code)


@app.command(cls=Filled)
def report(
    problem: Problem,
    plan: Plan,
    tables: ReportTables = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: a row for each memory, and one for all.")] = False,
    capacity: Capacity = None,
    prefer: Prefer = None,
    as_json: Json = False,
    input_format: Format = None,
) -> None:
    """Show what a plan does with each memory, when most is in use, and who would have to shrink for the peak to fall.

    Of a sharing: who uses each object, and how much of it is there for nothing. Tables on a terminal, JSON in a pipe. A plan that is wrong gets no
    report, but exit code 1.
    """
    from .arguments import parse_capacities
    from .commands import report as report_command

    sizes = parse_capacities(capacity or ())
    shown = report_command.view(tables, as_json=as_json, as_csv=as_csv)
    code = report_command.run(problem, plan, sizes, shown, prefer=prefer, as_json=as_json, input_format=input_format)
    raise typer.Exit(code)


@app.command(cls=Filled)
def draw(
    problem: Problem,
    plan: Plan,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="An .svg file; - writes to the standard output.")
    ],
    what: Annotated[
        Literal["map", "convergence"],
        typer.Option(help="The memory map, or how best value and bound came closer while the plan was made."),
    ] = "map",
    theme: Annotated[
        Literal["system", "light", "dark"], typer.Option(help="Light, dark, or as the reader's system is.")
    ] = "system",
    width: Annotated[int, typer.Option(min=640, max=4800, help="Of the picture, in pixels.")] = 1200,
    capacity: Capacity = None,
    prefer: Prefer = None,
    input_format: Format = None,
) -> None:
    """Draw a plan as SVG: its memory map (time across, address up, one rectangle for each buffer), or its convergence.

    A plan that is wrong is drawn too, with what is wrong marked, and gets exit code 1.
    """
    from planner.drawing import Sheet, Theme

    from .arguments import parse_capacities
    from .commands import draw as draw_command

    sheet = Sheet(width, Theme(theme))
    sizes = parse_capacities(capacity or ())
    raise typer.Exit(
        draw_command.run(problem, plan, sizes, out, what=what, sheet=sheet, prefer=prefer, input_format=input_format)
    )


@app.command()
def schema() -> None:
    """Print the JSON Schema of problems."""
    from .commands import about

    about.schema()


@app.command(cls=Filled)
def export_model(
    problem: Problem,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="A .lp or .mps file; - writes to the standard output.")
    ],
    model_format: Annotated[
        Literal["lp", "mps"] | None,
        typer.Option("--as", help="The model's format, where OUT's ending does not say it."),
    ] = None,
    input_format: Format = None,
) -> None:
    """Write the integer program of a problem, for other solvers or to look at."""
    from .commands import export as export_command

    export_command.run(problem, out, model_format, input_format=input_format)


@app.command()
def solvers(as_json: Json = False) -> None:
    """List the solvers: what each can take, and whether it can run here."""
    from .commands import about

    about.solvers(as_json=as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check the installation, and say how to mend it. Exit code 1 if something that is needed is missing."""
    from .commands import about

    raise typer.Exit(about.doctor(as_json=as_json))


@app.command(cls=Filled)
def generate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="{kinds}.",
        ),
    ],
    buffers: Annotated[int, typer.Option("--buffers", "-n", metavar="N", min=0, help="How many buffers.")],
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Which of all problems of this kind and size.")] = 0,
    alignment: Annotated[int, typer.Option(metavar="BYTES", min=1, help="Alignment of every address.")] = 1,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="A parameter of the kind: live, height, conflicts."),
    ] = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="A file; - writes to the standard output.")
    ] = "-",
) -> None:
    """Make up a problem, the same one for the same seed on every machine.

    Its name says how it was made, and the smallest peak there is (optimum=) or a bound of it (bound=).
    """
    from planner.generate import Request

    from .commands import generate as generate_command

    parameters = generate_command.parameters(set_ or ())
    generate_command.run(kind, Request(buffers, seed, alignment, parameters), out)


for command in (serve, worker, migrate):
    app.command()(command)
app.add_typer(bench_app)
