"""`memplan solvers`: what each solver can take, and whether it can run here."""

from __future__ import annotations

import sys

import planner
from solvers.model.solver import Feature

from ..terminal.json_output import print_json
from ..terminal.text import is_terminal


def run(*, as_json: bool) -> None:
    """List them."""
    known = planner.solver_list()
    if as_json or not is_terminal(sys.stdout):
        listed = [
            {
                "name": solver.name,
                "kind": solver.kind,
                "summary": solver.summary,
                "features": sorted(str(feature) for feature in solver.features),
                "available": solver.available,
                "reason": solver.reason,
            }
            for solver in known
        ]
        print_json({"solvers": listed})
        return
    from ..terminal.consoles import console_on, plain
    from ..terminal.tables import new_table

    table = new_table()
    for heading in ("Solver", "What it is", "Does not take"):
        table.add_column(heading)
    for solver in known:
        lacking = frozenset(Feature) - solver.features
        features = ", ".join(sorted(str(feature).replace("_", " ") for feature in lacking))
        said = solver.summary if solver.reason is None else f"{solver.summary}; not available: {solver.reason}"
        table.add_row(plain(solver.name), plain(said), plain(features))
    console_on().print(table)
