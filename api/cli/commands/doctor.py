"""`memplan doctor`: is everything there that planning needs, and what to do if not."""

from __future__ import annotations

import sys

from api import doctor

from ..exit_codes import ExitCode
from ..terminal.json_output import print_json
from ..terminal.text import is_terminal


def run(*, as_json: bool) -> ExitCode:
    """Check, and say what was found."""
    checks = doctor.run()
    well = all(check.ok for check in checks)
    if as_json or not is_terminal(sys.stdout):
        listed = [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy} for c in checks]
        print_json({"ok": well, "checks": listed})
        return ExitCode.OK if well else ExitCode.FINDINGS
    from rich.text import Text

    from ..terminal.consoles import console_on, plain, word
    from ..terminal.tables import new_table

    table = new_table()
    for heading in ("Check", "", "Found"):
        table.add_column(heading)
    for check in checks:
        found = plain(check.detail)
        if check.remedy:
            found = Text.assemble(found, "\n→ ", plain(check.remedy))
        table.add_row(plain(check.name), word("ok" if check.ok else "not ok"), found)
    console_on().print(table)
    return ExitCode.OK if well else ExitCode.FINDINGS
