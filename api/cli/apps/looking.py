"""The commands that look at problems, plans, and memplan itself, with their options. Their implementations are imported when they run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ..planner_options import option_values, options
from . import Baseline, Format, Json, LookLimit, Plan, Problem, ProblemOrModel, ReportTables, Theme


def verify(
    context: typer.Context,
    problem: Problem,
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN",
            help="The plan, sharing, frontier, sweep, plan for all shapes, or nested arenas; - reads the standard input.",
        ),
    ],
    as_json: Json = False,
    proof: Annotated[
        str | None,
        typer.Option(
            "--proof", metavar="FILE", help="Replay this proof of the plan's bound too; - reads the standard input."
        ),
    ] = None,
    baseline: Baseline = None,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Check a plan, or any other answer, in exact integers.

    Checks every rule of its problem, and every claim. Exit code 1 if the plan or its proof is wrong.
    """
    from ..commands.looking import verify as verify_command
    from ..terminal.reading import PlannedFile
    from ..terminal.refusals import given_up_after

    with given_up_after(time_limit, as_json=as_json):
        file = PlannedFile(problem, input_format, baseline, **option_values(context))
        code = verify_command.run(file, plan, proof=proof, as_json=as_json)
    raise typer.Exit(code)


def report(
    context: typer.Context,
    problem: Problem,
    plan: Plan,
    tables: ReportTables = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: a row for each memory, and one for all.")] = False,
    as_json: Json = False,
    baseline: Baseline = None,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Show how a plan uses each memory.

    What it holds, when most is in use, and which buffers would have to shrink for the peak to fall. For a sharing: the users of each object, and how much of it is unused. For a frontier: its points. Tables on a terminal, JSON in a pipe. For a wrong plan there is
    no report, and the exit code is 1.
    """
    from ..commands.looking import report as report_command
    from ..terminal.reading import PlannedFile
    from ..terminal.refusals import given_up_after

    shown = report_command.view(tables, as_json=as_json, as_csv=as_csv)
    with given_up_after(time_limit, as_json=as_json):
        file = PlannedFile(problem, input_format, baseline, **option_values(context))
        code = report_command.run(file, plan, shown, as_json=as_json)
    raise typer.Exit(code)


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
            help="The memory map, the bytes in use over time, or the convergence of best value and bound during planning."
        ),
    ] = "map",
    profile: Annotated[bool, typer.Option("--profile", help="The same as --what profile.")] = False,
    compare: Annotated[
        str | None, typer.Option(metavar="PLAN", help="Another plan of the problem, to draw beside the first.")
    ] = None,
    theme: Theme = "system",
    width: Annotated[int, typer.Option(min=640, max=4800, help="Width of the picture in pixels.")] = 1200,
    baseline: Baseline = None,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Draw a plan.

    Its memory map (time across, address up, one rectangle for each buffer), the bytes in use over time, or how it was found; as SVG, PNG, PDF or as a
    page (HTML) that needs nothing else. Of a frontier, a sweep or a plan for all shapes the curve; of nested arenas one map below the other. A wrong plan is drawn, too, with its faults marked, and the exit code is 1.
    """
    from planner.drawing import Sheet, Theme

    from ..commands.looking import draw as draw_command
    from ..terminal.reading import PlannedFile
    from ..terminal.refusals import given_up_after

    if profile and what == "convergence":
        raise typer.BadParameter("cannot be combined with --what convergence", param_hint="--profile")
    what = "profile" if profile else what
    if what != "map" and compare is not None and not out.lower().endswith(".html"):
        raise typer.BadParameter("--compare is for memory maps, and for .html", param_hint="--what")
    with given_up_after(time_limit, as_json=False):
        file = PlannedFile(problem, input_format, baseline, **option_values(context))
        code = draw_command.run(draw_command.Request(file, plan, out, what, compare, Sheet(width, Theme(theme))))
    raise typer.Exit(code)


def inspect(
    context: typer.Context,
    file: ProblemOrModel,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="PLOT",
            help="Draw the bytes in use over time: an .svg, .png or .pdf file; - writes SVG to the standard output.",
        ),
    ] = None,
    theme: Theme = "system",
    own_plan: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN",
            help="Write the places in the file as a plan (JSON), to compare, draw and report; - writes it to the standard output, and nothing else.",
        ),
    ] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Show the tables, also in a pipe.")] = False,
    as_json: Json = False,
    input_format: Format = None,
) -> None:
    """Show the contents of a file.

    Its operators and tensors, the bytes in use at once in the order of the file, the smallest peak and its bound, and the buffers live when most is in use; if the file has a plan of its own, how much that takes. Tables on a terminal, JSON in a pipe.

    Formats: {formats}.
    """
    from planner.drawing import Sheet, Theme

    from ..commands.looking import inspect as inspect_command

    if plot == own_plan == "-":
        raise typer.BadParameter("only one of PLOT and PLAN can be the standard output", param_hint="--own-plan")
    wanted = inspect_command.Request(file, plot, own_plan, Sheet(theme=Theme(theme)), as_json, tables, input_format)
    raise typer.Exit(inspect_command.run(wanted, options(context)))


def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A plan; - reads the standard input.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another plan.")],
    problem: Annotated[
        str | None, typer.Option(metavar="PROBLEM", help="Their problem, which the picture needs.")
    ] = None,
    problem_before: Annotated[
        str | None, typer.Option(metavar="PROBLEM", help="The problem of BEFORE, if it was another.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PLOT", help="Draw both, one above the other: an .svg, .png or .pdf file.")
    ] = None,
    as_json: Json = False,
    time_limit: LookLimit = None,
    input_format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The problem's format: {formats}; by default recognised."),
    ] = None,
) -> None:
    """Compare two plans.

    Shows which buffers moved, from where to where, how many bytes that is, and how the peaks changed. Exit code 0 if nothing differs, 1 otherwise.
    """
    from ..commands.looking import diff as diff_command
    from ..terminal.refusals import given_up_after

    if (problem is None) != (plot is None):
        raise typer.BadParameter(
            "a picture needs the problem: give --problem and --plot, or neither", param_hint="--plot"
        )
    if problem_before is not None and plot is None:
        raise typer.BadParameter("is for the picture: give --plot as well", param_hint="--problem-before")
    wanted = diff_command.Request(before, after, problem_before or problem, problem, plot, input_format, as_json)
    with given_up_after(time_limit, as_json=as_json):
        code = diff_command.run(wanted)
    raise typer.Exit(code)


def schema() -> None:
    """Print the JSON Schema of problems."""
    from ..commands.looking import about

    about.schema()


def solvers(as_json: Json = False) -> None:
    """List the solvers.

    What each is, what it does not support, and whether it can run here.
    """
    from ..commands.looking import about

    about.solvers(as_json=as_json)


def doctor(as_json: Json = False) -> None:
    """Check the installation.

    Lists what is missing, and what to do. Exit code 1 if a required part is missing.
    """
    from ..commands.looking import about

    raise typer.Exit(about.doctor(as_json=as_json))
