"""What calls commands within a test's own process; typer's own builds all of them anew for each call, which takes longer than most calls do."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from typer import testing
from typer.testing import CliRunner, Result

if not TYPE_CHECKING:
    testing._get_command = functools.cache(testing._get_command)

__all__ = ["CliRunner", "Result"]
