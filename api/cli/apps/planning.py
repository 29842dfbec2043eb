"""The commands that plan, with their options. Their implementations are imported when they run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ..planner_options import options
from . import Cluster, File, Format, Json, Quiet, ReportTables, Theme


def plan(
    context: typer.Context,
    file: File,
    out: Annotated[str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the plan to this file.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    report: ReportTables = None,
    block_map: Annotated[
        bool, typer.Option("--map", help="Show the memory map in block characters, also in a pipe.")
    ] = False,
    arenas: Annotated[
        Literal["global", "nested"],
        typer.Option(
            help="For a program (memplan-graph JSON, or a model): one arena for everything, or an arena for each function within its caller's."
        ),
    ] = "global",
    proof: Annotated[
        str | None,
        typer.Option(
            "--proof",
            metavar="FILE",
            help="Write a proof of the bound, which `memplan verify --proof` replays; compressed if the name ends in .gz.",
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="NAME",
            help="The format of OUT, if its ending does not say it: {plan_formats}; tflm, c, cpp and ld take a prefix, as in c:prefix=net.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="OLD",
            help="An older plan to start from, or with --stability to stay close to.",
        ),
    ] = None,
    input_format: Format = None,
) -> None:
    """Place all buffers of a problem.

    On a terminal the plan is shown as tables, in a pipe as JSON. With -o nothing is written to a pipe, unless --json is given.

    Exit codes: 0 there is a plan, 2 bad input, 3 proven infeasible, 4 no plan in time, or no proof that was asked for, 130 interrupted (the best plan
    so far is written).
    """
    from ..commands.planning import plan as plan_command

    wanted = options(context)
    if quiet and wanted.verbose:
        raise typer.BadParameter("cannot be combined with --verbose", param_hint="--quiet")
    if report and (as_json or quiet or out == "-"):
        raise typer.BadParameter("cannot be combined with --json, --quiet or -o -", param_hint="--report")
    if proof is not None and proof in ("-", out):
        raise typer.BadParameter("a proof is written to a file of its own", param_hint="--proof")
    if block_map and (as_json or quiet or report or out == "-"):
        raise typer.BadParameter("cannot be combined with --json, --quiet, --report or -o -", param_hint="--map")
    if output_format is not None and out is None:
        raise typer.BadParameter("says how the file of -o is written, and there is none", param_hint="--as")
    if output_format is not None and out == "-" and as_json:
        raise typer.BadParameter("with -o - cannot be combined with --json", param_hint="--as")
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
        baseline=baseline,
    )
    if arenas == "nested":
        if report or block_map or wanted.explain or proof or baseline or output_format:
            hint = "cannot be combined with --report, --map, --explain, --proof, --baseline and --as"
            raise typer.BadParameter(hint, param_hint="--arenas")
        from ..commands.planning import nested as nested_command

        raise typer.Exit(nested_command.run(request, wanted))
    raise typer.Exit(plan_command.run(request, wanted))


def pareto(
    context: typer.Context,
    file: File,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Write a plan for each point, the list and the curve there; a pipe then gets nothing, unless --json is given.",
        ),
    ] = None,
    points: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="At most N points, spread evenly; by default the whole frontier."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Show the frontier of memory and cost.

    For a problem with variants: the plans that no other plan beats, each placed and verified, and proven optimal or with a bound.

    Exit codes: those of plan.
    """
    from ..commands.planning import pareto as pareto_command

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


def share(
    context: typer.Context,
    file: File,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the sharing to this file.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Let buffers share storage objects.

    For runtimes that cannot place anything inside a block. Minimises the sum of the objects' sizes. On a terminal the objects are shown as a table, in a pipe as JSON.

    Its solvers: auto, {sharers}. Exit codes: those of plan.
    """
    from ..commands.planning import plan as plan_command

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
    raise typer.Exit(plan_command.share(request, wanted))


def sweep(
    context: typer.Context,
    file: File,
    capacity: Annotated[
        list[str],
        typer.Option(
            metavar="[POOL=]SIZES",
            help="A range (sram=64KiB..512KiB) or a list (sram=64k,96k,128k) of a pool's sizes. Repeat it for several pools: all combinations are tried.",
        ),
    ],
    step: Annotated[str, typer.Option(metavar="BYTES", help="The step between the sizes of a range.")] = "16KiB",
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the figures to this file.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PLOT", help="Draw the curves: an .svg, .png or .pdf file.")
    ] = None,
    theme: Theme = "system",
    plans: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write each configuration's plan to a file of its own there.")
    ] = None,
    processes: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="The number of plans made side by side.")
    ] = 2,
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Try many sizes of memory.

    Shows the best result for each size, and the smallest sufficient size, with proofs. A plan for less memory holds for more, too, and a proof for more holds for less, so most configurations need no solving. The time limit covers everything.

    Exit codes: 0 something fits, 2 bad input, 3 proven that nothing fits, 4 neither in time, 130 interrupted.
    """
    from ..arguments import parse_size
    from ..commands.planning import sweep as sweep_command

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


def shapes(
    context: typer.Context,
    file: File,
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
        typer.Option(
            "--c", metavar="C", help="Write C functions that compute the offsets; - writes to the standard output."
        ),
    ] = None,
    prefix: Annotated[
        str, typer.Option(metavar="NAME", help="The beginning of the names of the C functions.")
    ] = "memplan",
    plot: Annotated[
        str | None,
        typer.Option(metavar="PLOT", help="Draw the memory that each shape takes: an .svg, .png or .pdf file."),
    ] = None,
    theme: Theme = "system",
    as_json: Json = False,
    quiet: Quiet = False,
    input_format: Format = None,
) -> None:
    """Plan sizes that depend on symbols.

    One plan for every shape, with a proof that nothing overlaps in any of them. Each listed shape is compared with the best plan for it alone. The time limit covers everything.

    Exit codes: those of plan.
    """
    from ..commands.planning import shapes as shapes_command

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


def plan_many(
    context: typer.Context,
    patterns: Annotated[
        list[str],
        typer.Argument(metavar="PATTERN...", help="Problems of any format, folders of them, or patterns in quotes."),
    ],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder of the plans and their manifest.")],
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=256, help="Plans made side by side; by default one per core.")
    ] = None,
    cluster: Cluster = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="The folder of an earlier run: problems in it keep their plans, changed files start from their old ones.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The service's store of answers, to look into before planning and to add to: sqlite:///FILE, postgresql://...",
        ),
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Plan everything again, whatever DIR holds.")] = False,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    input_format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The format of all files: {formats}; by default recognised."),
    ] = None,
) -> None:
    """Plan many files.

    Each plan is written beside a manifest (manifest.jsonl: a line of JSON for each file). Files that have a plan are not planned again, and equal problems are planned once.

    Exit codes: 0 every file has a plan, 1 some have none, 2 bad input, 130 interrupted (the same command continues).
    """
    from planner.many import Farm
    from planner.model.versions import cores

    from ..commands.planning import plan_many as plan_many_command

    request = plan_many_command.Request(patterns, out, baseline, store, as_json, quiet)
    farm = Farm(options(context, workers=1), processes or cores(), cluster, input_format, anew=anew)
    raise typer.Exit(plan_many_command.run(request, farm))
