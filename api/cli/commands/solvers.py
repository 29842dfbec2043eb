"""`memplan solvers`: what each solver can take, and whether it can run here."""

from __future__ import annotations

import sys

import planner

from ..terminal.json_output import print_json
from ..terminal.text import is_terminal


def run(*, as_json: bool) -> None:
    """List them."""
    known = planner.solver_list()
    if as_json or not is_terminal(sys.stdout):
        listed = [
            {
                "name": solver.name,
                "features": sorted(str(feature) for feature in solver.features),
                "available": solver.available,
                "reason": solver.reason,
            }
            for solver in known
        ]
        print_json({"solvers": listed})
        return
    from ..terminal.consoles import console_on, plain, word
    from ..terminal.tables import new_table

    table = new_table()
    for heading in ("Solver", "", "Takes", "Why not"):
        table.add_column(heading)
    for solver in known:
        state = word("available" if solver.available else "not available")
        features = ", ".join(sorted(str(feature).replace("_", " ") for feature in solver.features))
        table.add_row(plain(solver.name), state, plain(features), plain(solver.reason or ""))
    console_on().print(table)
