"""The commands as typed: names, arguments, options, help. This module has the options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="The problem; - reads the standard input.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="The problem; - reads the standard input.")]
ProblemOrModel = Annotated[
    str, typer.Argument(metavar="FILE", help="A problem or a model; - reads the standard input.")
]
Plan = Annotated[str, typer.Argument(metavar="PLAN", help="Its plan; - reads the standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, also on a terminal; errors too.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The input's format: {formats}; by default recognised."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE", help="Work on a Dask cluster: tcp://HOST:PORT of its scheduler, or its scheduler file."
    ),
]
Theme = Annotated[
    Literal["system", "light", "dark"],
    typer.Option(help="Light, dark, or as the reader's system is (.png and .pdf are then light)."),
]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", metavar="OLD", help="The older plan, if the plan was made with --stability."),
]
LookLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit", metavar="SECONDS", min=0, help="Give up after this time, reading included; by default never."
    ),
]
ReportTables = Annotated[
    Literal["full", "cadence"] | None,
    typer.Option("--report", help="Show these tables, also in a pipe: full, or the two that Cadence prints."),
]
