"""The commands of `memplan` and their options. What they do is imported when they run, so that `--help` is quick."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .bench_app import bench_app
from .many_app import diff, plan_many
from .planner_options import (
    PlannerCommand,
    TakesAll,
    TakesFigures,
    TakesFrontier,
    TakesLimits,
    TakesMany,
    TakesReplacements,
    TakesShapes,
    TakesSharing,
    TakesSweep,
    options,
    said,
)
from .service_app import migrate, serve, worker

app = typer.Typer(
    name="memplan",
    help="Plan memory ahead of time: an address for every buffer, the smallest peak, and a proven lower bound.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]
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
        from planner.model.versions import MEMPLAN

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


@app.command(cls=TakesAll)
def plan(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the plan to this file.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    report: ReportTables = None,
    block_map: Annotated[
        bool, typer.Option("--map", help="Show the memory map in block characters, in a pipe too.")
    ] = False,
    arenas: Annotated[
        Literal["global", "nested"],
        typer.Option(
            help="Of a program (memplan-graph/2): one arena for all of it, or each function in one of its own within its caller's."
        ),
    ] = "global",
    proof: Annotated[
        str | None,
        typer.Option(
            "--proof",
            metavar="FILE",
            help="Write a proof of the bound that `memplan verify --proof` replays; .gz packs it.",
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="What OUT is written as, where its ending does not say it: {plan_formats}; tflm, c, cpp and ld take a prefix, as in c:prefix=net.",
        ),
    ] = None,
    input_format: Format = None,
) -> None:
    """Place all buffers of a problem.

    On a terminal the plan is shown as tables, in a pipe as JSON. With -o a pipe gets nothing unless --json asks.

    Exit codes: 0 there is a plan, 2 bad input, 3 proven infeasible, 4 no plan in time, or no proof that was asked for, 130 interrupted (the best plan
    so far is written).
    """
    from .commands import plan as plan_command

    wanted = options(context)
    if quiet and wanted.verbose:
        raise typer.BadParameter("cannot be combined with --verbose", param_hint="--quiet")
    if report and (as_json or quiet or out == "-"):
        raise typer.BadParameter("cannot be combined with --json, --quiet or -o -", param_hint="--report")
    if proof is not None and proof in ("-", out):
        raise typer.BadParameter("a proof is written to a file of its own", param_hint="--proof")
    if block_map and (as_json or quiet or report or out == "-"):
        raise typer.BadParameter("cannot be combined with --json, --quiet, --report or -o -", param_hint="--map")
    if output_format is not None and out in (None, "-"):
        raise typer.BadParameter("says what the file of -o is written as", param_hint="--as")
    request = plan_command.Request(
        file=file,
        begun=context.obj,
        out=out,
        input_format=input_format,
        as_json=as_json,
        explain=wanted.explain,
        quiet=quiet,
        verbose=wanted.verbose,
        report=report,
        block_map=block_map,
        proof=proof,
        output_format=output_format,
    )
    if arenas == "nested":
        if report or block_map or wanted.explain or proof:
            hint = "cannot be combined with --report, --map, --explain and --proof"
            raise typer.BadParameter(hint, param_hint="--arenas")
        from .commands import nested as nested_command

        raise typer.Exit(nested_command.run(request, wanted))
    raise typer.Exit(plan_command.run(request, wanted))


@app.command(cls=TakesFrontier)
def pareto(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Write a plan for each point, the list and the curve there."
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="So many points at most, spread evenly; by default the whole frontier."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Show the frontier of memory and cost.

    Of a problem with variants: plans of which none is better in one and no worse in the other, each placed, verified, and proven or with its bound.

    Exit codes: as those of plan.
    """
    from .commands import pareto as pareto_command

    request = pareto_command.Request(
        file=file,
        begun=context.obj,
        folder=out,
        points=points,
        as_json=as_json,
        quiet=quiet,
        input_format=input_format,
    )
    raise typer.Exit(pareto_command.run(request, options(context)))


@app.command(cls=TakesSharing)
def share(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the sharing to this file.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Let buffers share storage objects.

    For runtimes that cannot place anything inside a block. Minimises the sum of the objects' sizes. On a terminal the objects are shown as a table, in a pipe as JSON.

    Its solvers: auto, {sharers}. Exit codes: as those of plan.
    """
    from .commands import plan as plan_command
    from .commands import share as share_command

    wanted = options(context, workers=1)
    if quiet and wanted.verbose:
        raise typer.BadParameter("cannot be combined with --verbose", param_hint="--quiet")
    request = plan_command.Request(
        file=file,
        begun=context.obj,
        out=out,
        input_format=input_format,
        as_json=as_json,
        quiet=quiet,
        verbose=wanted.verbose,
    )
    raise typer.Exit(share_command.run(request, wanted))


@app.command(cls=TakesSweep)
def sweep(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    capacity: Annotated[
        list[str],
        typer.Option(
            metavar="[POOL=]SIZES",
            help="A range (sram=64KiB..512KiB) or a list (sram=64k,96k,128k) of a pool's sizes. Repeat it for several pools: all combinations are tried.",
        ),
    ],
    step: Annotated[str, typer.Option(metavar="BYTES", help="From one size of a range to the next.")] = "16KiB",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the figures to this file.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PLOT", help="Draw the curves: an .svg, .png or .pdf file.")
    ] = None,
    theme: Annotated[
        Literal["system", "light", "dark"], typer.Option(help="Light, dark, or as the reader's system is.")
    ] = "system",
    plans: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write each configuration's plan to a file of its own there.")
    ] = None,
    processes: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Plans that are made side by side.")] = 2,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Try many sizes of memory.

    What each buys, and the smallest that there is room in, proven. A plan for less memory is one for more, and a proof for more holds for less: most configurations need no solving. The time limit is for all of it.

    Exit codes: 0 something fits, 2 bad input, 3 proven that nothing does, 4 neither in time, 130 interrupted.
    """
    from .arguments import parse_size
    from .commands import sweep as sweep_command

    request = sweep_command.Request(
        file=file,
        capacities=capacity,
        step=parse_size(step, "--step"),
        out=out,
        plot=plot,
        theme=theme,
        plans=plans,
        processes=processes,
        input_format=input_format,
        as_json=as_json,
        quiet=quiet,
    )
    raise typer.Exit(sweep_command.run(request, options(context)))


@app.command(cls=TakesShapes)
def shapes(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")],
    mode: Annotated[
        Literal["expressions", "buckets", "maximum"],
        typer.Option(
            help="Offsets that depend on the shape, one set of offsets for the shapes of --at, or room for the largest sizes."
        ),
    ] = "expressions",
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHAPE",
            help="A shape, such as n=128,m=4. Repeat it for several; by default some from the whole range.",
        ),
    ] = None,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the plan to this file.")] = None,
    c: Annotated[
        str | None,
        typer.Option("--c", metavar="C", help="Write C functions that work out the offsets; - to the standard output."),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="NAME", help="What the names of the C functions begin with.")
    ] = "memplan",
    plot: Annotated[
        str | None, typer.Option(metavar="PLOT", help="Draw what each shape takes: an .svg, .png or .pdf file.")
    ] = None,
    theme: Annotated[
        Literal["system", "light", "dark"], typer.Option(help="Light, dark, or as the reader's system is.")
    ] = "system",
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Plan sizes that depend on symbols.

    One plan for every shape. Nothing overlaps in any of them, which is proven, not tried; each listed shape is compared with the best plan for it alone. The time limit is for all of it.

    Exit codes: as those of plan.
    """
    from .commands import shapes as shapes_command

    request = shapes_command.Request(
        file=file,
        mode=mode,
        at=at or (),
        out=out,
        c=c,
        prefix=prefix,
        plot=plot,
        theme=theme,
        as_json=as_json,
        quiet=quiet,
        input_format=input_format,
    )
    raise typer.Exit(shapes_command.run(request, options(context)))


@app.command(cls=TakesReplacements)
def verify(
    context: typer.Context,
    problem: Problem,
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="The plan or sharing; - reads the standard input.")],
    as_json: Json = False,
    proof: Annotated[
        str | None,
        typer.Option(
            "--proof", metavar="FILE", help="Replay this proof of the plan's bound too; - reads the standard input."
        ),
    ] = None,
    input_format: Format = None,
) -> None:
    """Check a plan or a sharing in exact integers.

    Against its problem: every rule, and every claim. Exit code 1 if anything is wrong with it, or with its proof.
    """
    from .commands import verify as verify_command

    code = verify_command.run(problem, plan, **said(context), proof=proof, as_json=as_json, input_format=input_format)
    raise typer.Exit(code)


@app.command(cls=TakesReplacements)
def report(
    context: typer.Context,
    problem: Problem,
    plan: Plan,
    tables: ReportTables = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: a row for each memory, and one for all.")] = False,
    as_json: Json = False,
    input_format: Format = None,
) -> None:
    """Show how a plan uses each memory.

    What it holds, when most is in use, and who would have to shrink for the peak to fall. Of a sharing: who uses each object, and how much of it is there for nothing. Tables on a terminal, JSON in a pipe. A plan that is wrong gets no
    report, but exit code 1.
    """
    from .commands import report as report_command

    shown = report_command.view(tables, as_json=as_json, as_csv=as_csv)
    code = report_command.run(problem, plan, shown, **said(context), as_json=as_json, input_format=input_format)
    raise typer.Exit(code)


@app.command(cls=TakesReplacements)
def draw(
    context: typer.Context,
    problem: Problem,
    plan: Plan,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="An .svg, .png or .pdf file, or .html: a page to zoom and search in; - writes SVG to the standard output.",
        ),
    ],
    what: Annotated[
        Literal["map", "profile", "convergence"],
        typer.Option(
            help="The memory map, the bytes in use over time, or how best value and bound came closer while the plan was made."
        ),
    ] = "map",
    profile: Annotated[bool, typer.Option("--profile", help="The same as --what profile.")] = False,
    compare: Annotated[
        str | None, typer.Option(metavar="PLAN", help="Another plan of the problem, to draw beside the first.")
    ] = None,
    theme: Annotated[
        Literal["system", "light", "dark"],
        typer.Option(help="Light, dark, or as the reader's system is, which .png and .pdf do not know."),
    ] = "system",
    width: Annotated[int, typer.Option(min=640, max=4800, help="Of the picture, in pixels.")] = 1200,
    input_format: Format = None,
) -> None:
    """Draw a plan.

    Its memory map (time across, address up, one rectangle for each buffer), the bytes in use over time, or how it was found; as SVG, PNG, PDF or as a
    page (HTML) that needs nothing else. A plan that is wrong is drawn too, with what is wrong marked, and gets exit code 1.
    """
    from planner.drawing import Sheet, Theme

    from .commands import draw as draw_command

    if profile and what == "convergence":
        raise typer.BadParameter("cannot be combined with --what convergence", param_hint="--profile")
    what = "profile" if profile else what
    if what != "map" and (compare is not None or out.lower().endswith(".html")):
        raise typer.BadParameter("--compare and .html are for memory maps", param_hint="--what")
    wanted = draw_command.Request(problem, plan, out, what, compare, Sheet(width, Theme(theme)), input_format)
    raise typer.Exit(draw_command.run(wanted, **said(context)))


@app.command(cls=TakesFigures)
def inspect(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A problem or a model; - reads the standard input.")],
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="PLOT",
            help="Draw the bytes in use over time: an .svg, .png or .pdf file; - writes SVG to the standard output.",
        ),
    ] = None,
    theme: Annotated[
        Literal["system", "light", "dark"],
        typer.Option(help="Light, dark, or as the reader's system is, which .png and .pdf do not know."),
    ] = "system",
    tables: Annotated[bool, typer.Option("--tables", help="Show the tables, in a pipe too.")] = False,
    as_json: Json = False,
    input_format: Format = None,
) -> None:
    """Show what is in a file.

    Its operators and tensors, what is in use at once in the order of the file, the smallest peak and its bound, and what stands there when most is in use. Tables on a terminal, JSON in a pipe.

    Formats: {formats}.
    """
    from planner.drawing import Sheet, Theme

    from .commands import inspect as inspect_command

    wanted = inspect_command.Request(file, plot, Sheet(theme=Theme(theme)), as_json, tables, input_format)
    raise typer.Exit(inspect_command.run(wanted, options(context)))


@app.command(cls=PlannerCommand)
def convert(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A problem or a model; - reads the standard input.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="OUT", help="A file; - writes to the standard output.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAME", help="What to write: {written}; by default what OUT's ending says, or memplan."
        ),
    ] = None,
    input_format: Format = None,
) -> None:
    """Write a problem in another format.

    From any format that is read, to any that is written. What the other format cannot say is refused.
    """
    from .commands import convert as convert_command

    convert_command.run(file, out, to, input_format=input_format)


@app.command(cls=TakesReplacements)
def write(
    context: typer.Context,
    problem: Problem,
    plan: Plan,
    out: Annotated[str, typer.Option("--out", "-o", metavar="OUT", help="A file; - writes to the standard output.")],
    output_format: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="NAME", help="What OUT is written as, where its ending does not say it: {plan_formats}."
        ),
    ] = None,
    input_format: Format = None,
) -> None:
    """Write a plan as firmware takes it.

    Headers, a linker script, a model with its offsets, as `memplan plan -o` does. A plan that is wrong is not written, and gets exit code 1.
    """
    from .commands import write as write_command

    code = write_command.run(problem, plan, out, output_format, input_format=input_format, **said(context))
    raise typer.Exit(code)


@app.command(cls=TakesLimits)
def check_run(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A .tflite file; - reads the standard input.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the model with its plan to this file.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say how large the arena has to be; nothing is run.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Plan a model and run it.

    TFLite Micro's interpreter runs the model with its own plan and with memplan's: all that comes out must be the same bit for bit, and the arena's head as large as planned.

    Exit codes: 0 as planned, 1 it is not, 2 bad input or no interpreter, 4 the interpreter does not take the model, or there is no plan.
    """
    from .commands import check_run as check_run_command

    code = check_run_command.run(model, options(context), out=out, estimate=estimate, as_json=as_json)
    raise typer.Exit(code)


@app.command()
def schema() -> None:
    """Print the JSON Schema of problems."""
    from .commands import about

    about.schema()


@app.command(cls=PlannerCommand)
def export_model(
    problem: Problem,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="OUT", help="A .lp, .mps or .pbtxt (CP-SAT) file; - writes to the standard output."
        ),
    ],
    model_format: Annotated[
        Literal["lp", "mps", "cpsat"] | None,
        typer.Option("--as", help="The model's format, where OUT's ending does not say it."),
    ] = None,
    input_format: Format = None,
) -> None:
    """Write a problem's integer program.

    Or its model for CP-SAT. For other solvers, or to look at.
    """
    from .commands import export as export_command

    export_command.run(problem, out, model_format, input_format=input_format)


@app.command()
def solvers(as_json: Json = False) -> None:
    """List the solvers.

    What each is, what it does not take, and whether it can run here.
    """
    from .commands import about

    about.solvers(as_json=as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check the installation.

    And say how to mend it. Exit code 1 if something that is needed is missing.
    """
    from .commands import about

    raise typer.Exit(about.doctor(as_json=as_json))


@app.command(cls=PlannerCommand)
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
    """Make up a problem from a seed.

    The same one on every machine. Its name says how it was made, and the smallest peak there is (optimum=) or a bound of it (bound=).
    """
    from planner.generate import Request

    from .commands import generate as generate_command

    parameters = generate_command.parameters(set_ or ())
    generate_command.run(kind, Request(buffers, seed, alignment, parameters), out)


app.command("plan-many", cls=TakesMany)(plan_many)
app.command(cls=PlannerCommand)(diff)
for command in (serve, worker, migrate):
    app.command()(command)
app.add_typer(bench_app)
