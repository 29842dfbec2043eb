"""The commands that tell of memplan itself, with their options. What they do is imported when they run."""

from __future__ import annotations

import typer

from .parameters import Json


def schema() -> None:
    """Print the JSON Schema of problems."""
    from ..commands import about

    about.schema()


def solvers(as_json: Json = False) -> None:
    """List the solvers.

    What each is, what it does not take, and whether it can run here.
    """
    from ..commands import about

    about.solvers(as_json=as_json)


def doctor(as_json: Json = False) -> None:
    """Check the installation.

    And say how to mend it. Exit code 1 if something that is needed is missing.
    """
    from ..commands import about

    raise typer.Exit(about.doctor(as_json=as_json))
