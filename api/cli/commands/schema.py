"""`memplan schema`: the JSON Schema of problems."""

from __future__ import annotations

from planner.formats import schema

from ..terminal.json_output import print_json


def run() -> None:
    """Print it."""
    print_json(schema())
