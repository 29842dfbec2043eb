"""The commands that make files of problems and plans, with their options. Their implementations are imported when they run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ..planner_options import option_values, options
from . import Baseline, Format, Json, LookLimit, Plan, Problem, ProblemOrModel


def convert(
    file: ProblemOrModel,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="A file; - writes to the standard output, as does --to without OUT.",
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAME", help="The format of OUT: {written}; by default the one of its ending, or memplan."
        ),
    ] = None,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Write a problem, or a program, in another format.

    From any format that is read, to any that is written. What the other format cannot express is refused. Models are written as programs with --to graph, or into a file ending in .graph.json.
    """
    from ..commands.files import convert as convert_command
    from ..terminal.refusals import given_up_after

    if out is None and to is None:
        raise typer.BadParameter(
            "say where to write, or with --to what to write to the standard output", param_hint="--out"
        )
    with given_up_after(time_limit, as_json=False):
        convert_command.run(file, "-" if out is None else out, to, input_format=input_format)


def write(
    context: typer.Context,
    problem: Problem,
    plan: Plan,
    out: Annotated[str, typer.Option("--out", "-o", metavar="OUT", help="A file; - writes to the standard output.")],
    output_format: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="The format of OUT, if its ending does not say it: {plan_formats}."),
    ] = None,
    baseline: Baseline = None,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Write a plan for firmware, or any answer as a table.

    A plan as a header, a linker script, or a model with its offsets, like `memplan plan -o`; other answers as CSV. A wrong plan is not written, and the exit code is 1.
    """
    from ..commands.files import write as write_command
    from ..terminal.reading import PlannedFile
    from ..terminal.refusals import given_up_after

    with given_up_after(time_limit, as_json=False):
        file = PlannedFile(problem, input_format, baseline, **option_values(context))
        code = write_command.run(file, plan, out, output_format)
    raise typer.Exit(code)


def check_run(
    context: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A .tflite file; - reads the standard input.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Write the model with its plan to this file.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only estimate the size of the arena; nothing is run.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Plan a model and run it.

    TFLite Micro's interpreter runs the model with its own plan and with memplan's: all outputs must be equal bit for bit, and the arena's head as large as planned.

    Exit codes: 0 as planned, 1 not as planned, 2 bad input or no interpreter, 4 the interpreter refuses the model, or there is no plan.
    """
    from ..commands.files import check_run as check_run_command

    code = check_run_command.run(model, options(context), out=out, estimate=estimate, as_json=as_json)
    raise typer.Exit(code)


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
        typer.Option("--as", help="The model's format; by default the one of OUT's ending."),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Leave out what only helps solvers: redundant rows and a limit on peaks.")
    ] = False,
    time_limit: LookLimit = None,
    input_format: Format = None,
) -> None:
    """Write a problem as an integer program.

    Or as a model for CP-SAT; for other solvers, or for reading.
    """
    from ..commands.files import export as export_command
    from ..terminal.refusals import given_up_after

    with given_up_after(time_limit, as_json=False):
        export_command.run(problem, out, model_format, plain=plain, input_format=input_format)


def _known_kind(kind: str) -> str:
    """Check the kind before reporting other missing options, which depend on it."""
    from ..commands.files import generate as generate_command

    return generate_command.known(kind)


def generate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="{kinds}.",
            callback=_known_kind,
        ),
    ],
    buffers: Annotated[int, typer.Option("--buffers", "-n", metavar="N", min=0, help="How many buffers.")],
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Each seed gives another problem of this kind and size.")
    ] = 0,
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

    It is the same on every machine. Its name tells how it was made, and the smallest possible peak (optimum=) or a bound on it (bound=).
    """
    from planner.generate import Request

    from ..commands.files import generate as generate_command

    parameters = generate_command.parameters(set_ or ())
    generate_command.run(kind, Request(buffers, seed, alignment, parameters), out)
