"""The commands that make files of problems and plans, with their options. Their implementations are imported when they run."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ..planner_options import option_values, options
from . import Baseline, Format, Json, Plan, Problem, ProblemOrModel


def convert(
    file: ProblemOrModel,
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
    from ..commands.files import convert as convert_command

    convert_command.run(file, out, to, input_format=input_format)


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
    input_format: Format = None,
) -> None:
    """Write a plan as firmware takes it.

    Headers, a linker script, a model with its offsets, as `memplan plan -o` does. A plan that is wrong is not written, and gets exit code 1.
    """
    from ..commands.files import write as write_command

    code = write_command.run(
        problem, plan, out, output_format, input_format=input_format, baseline=baseline, **option_values(context)
    )
    raise typer.Exit(code)


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
        typer.Option("--as", help="The model's format, where OUT's ending does not say it."),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Leave out the rows that follow from others and only help solvers.")
    ] = False,
    input_format: Format = None,
) -> None:
    """Write a problem's integer program.

    Or its model for CP-SAT. For other solvers, or to look at.
    """
    from ..commands.files import export as export_command

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

    from ..commands.files import generate as generate_command

    parameters = generate_command.parameters(set_ or ())
    generate_command.run(kind, Request(buffers, seed, alignment, parameters), out)
