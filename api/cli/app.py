"""The table of commands. Their implementations are imported when they run, so that `--help` is fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .apps import files, looking, planning, service
from .apps.bench import bench_app
from .planner_options import (
    Command,
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
)

COMMANDS: dict[str, tuple[Callable[..., None], type[PlannerCommand] | None]] = {
    "plan": (planning.plan, TakesAll),
    "plan-many": (planning.plan_many, TakesMany),
    "pareto": (planning.pareto, TakesFrontier),
    "share": (planning.share, TakesSharing),
    "sweep": (planning.sweep, TakesSweep),
    "shapes": (planning.shapes, TakesShapes),
    "verify": (looking.verify, TakesReplacements),
    "report": (looking.report, TakesReplacements),
    "draw": (looking.draw, TakesReplacements),
    "diff": (looking.diff, PlannerCommand),
    "inspect": (looking.inspect, TakesFigures),
    "convert": (files.convert, PlannerCommand),
    "write": (files.write, TakesReplacements),
    "check-run": (files.check_run, TakesLimits),
    "schema": (looking.schema, None),
    "export-model": (files.export_model, PlannerCommand),
    "solvers": (looking.solvers, None),
    "doctor": (looking.doctor, None),
    "generate": (files.generate, PlannerCommand),
    "serve": (service.serve, None),
    "worker": (service.worker, None),
    "migrate": (service.migrate, None),
}
"""In the order of the help: the function of each, and the planner's options that it takes (None: its help names no table)."""

app = typer.Typer(
    name="memplan",
    help="Plan memory ahead of time: an address for every buffer, the smallest peak, and a proven lower bound.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


for name, (command, class_) in COMMANDS.items():
    app.command(name, cls=class_ or Command)(command)
app.add_typer(bench_app)
