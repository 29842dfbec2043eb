"""`memplan solvers`, `schema` and `doctor`: the list of solvers, the format of problems, and the state of the installation."""

from __future__ import annotations

import planner
from planner.formats import schema as problem_schema
from solvers.model.solver import Feature

from ...exit_codes import ExitCode
from ...terminal.standard_output import print_json, prints_json
from . import doctor as api_doctor


def schema() -> None:
    """Print the JSON Schema of problems."""
    print_json(problem_schema())


def solvers(*, as_json: bool) -> None:
    """List the solvers: what each is, what it does not support, and why it cannot run here."""
    known = planner.solver_list()
    if prints_json(as_json=as_json):
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
    from ...terminal.tables.columns import new_table
    from ...terminal.tables.consoles import console_on, plain

    table = new_table()
    for heading in ("Solver", "What it is", "Does not take"):
        table.add_column(heading)
    for solver in known:
        lacking = frozenset(Feature) - solver.features
        features = ", ".join(sorted(feature.words for feature in lacking))
        summary = solver.summary if solver.reason is None else f"{solver.summary}; not available: {solver.reason}"
        table.add_row(plain(solver.name), plain(summary), plain(features))
    console_on().print(
        "A solver finds addresses for buffers. 'auto' sets several to work; --solver NAME takes one alone.\n"
    )
    console_on().print(table)


def doctor(*, as_json: bool) -> ExitCode:
    """Check the installation and report."""
    checks = api_doctor.run()
    well = all(check.ok for check in checks)
    if prints_json(as_json=as_json):
        listed = [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy} for c in checks]
        print_json({"ok": well, "checks": listed})
        return ExitCode.OK if well else ExitCode.FINDINGS
    from rich.text import Text

    from ...terminal.tables.columns import new_table
    from ...terminal.tables.consoles import console_on, plain, word

    table = new_table()
    for heading in ("Check", "", "Found"):
        table.add_column(heading)
    for check in checks:
        found = plain(check.detail)
        if check.remedy:
            found = Text.assemble(found, "\n→ ", plain(check.remedy))
        state = plain("-") if check.is_absent else word("ok" if check.ok else "not ok")
        table.add_row(plain(check.name), state, found)
    console_on().print(table)
    return ExitCode.OK if well else ExitCode.FINDINGS
