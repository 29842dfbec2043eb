"""`memplan plan-many` and `memplan diff`, with their options. What they do is imported when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from .planner_options import options


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
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE", help="Plan on a Dask cluster: tcp://HOST:PORT of its scheduler, or its scheduler file."
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="An earlier run: problems that are in it keep their plans, others start from them."
        ),
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Plan all, whatever DIR holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, also on a terminal; errors too.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")] = False,
    input_format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Of all files: {formats}; by default recognised.")
    ] = None,
) -> None:
    """Plan many files.

    Each plan is written beside a manifest (manifest.jsonl: a line of JSON for each file). What is planned already is not planned again, and equal problems are planned once.

    Exit codes: 0 every file has a plan, 1 some have none, 2 bad input, 130 interrupted (the same command goes on).
    """
    from planner.many import Farm
    from planner.model.versions import cores

    from .commands import plan_many as plan_many_command

    request = plan_many_command.Request(patterns, out, baseline, as_json, quiet)
    farm = Farm(options(context, workers=1), processes or cores(), cluster, input_format, anew=anew)
    raise typer.Exit(plan_many_command.run(request, farm))


def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A plan; - reads the standard input.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another.")],
    problem: Annotated[
        str | None, typer.Option(metavar="PROBLEM", help="Their problem, which the picture needs.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PLOT", help="Draw both, one above the other: an .svg, .png or .pdf file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, also on a terminal; errors too.")] = False,
    input_format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The problem's format: {formats}; by default recognised."),
    ] = None,
) -> None:
    """Say what one plan has otherwise than another.

    Which buffers moved, from where to where, how many bytes that is, and what became of the peaks. Exit code 0 if all is where it was, 1 if not.
    """
    from .commands import diff as diff_command

    if (problem is None) != (plot is None):
        raise typer.BadParameter(
            "a picture needs the problem: give --problem and --plot, or neither", param_hint="--plot"
        )
    raise typer.Exit(diff_command.run(diff_command.Request(before, after, problem, plot, input_format, as_json)))
