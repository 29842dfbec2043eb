"""`memplan worker`: carries out the jobs of services that share a store, until it is told to stop."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from ...settings import FILE_VARIABLE, WrongSettings, read_settings
from ..exit_codes import ExitCode
from ..terminal.text import say, visible


def run(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Work. Options that were not given come from MEMPLAN_* variables, the settings file, and defaults."""
    from ...worker_service import work

    if settings_file is not None:
        os.environ[FILE_VARIABLE] = settings_file  # so that worker processes and messages speak of the same file
    try:
        settings = read_settings(**{name: value for name, value in given.items() if value is not None})
        asyncio.run(work(settings, _ready))
    except WrongSettings as error:
        say(f"error: {visible(str(error))} [invalid_option]")
        return ExitCode.BAD_INPUT
    return ExitCode.OK


def _ready(jobs: int, metrics_port: int | None) -> None:
    figures = "" if metrics_port is None else f"; metrics on port {metrics_port}"
    say(f"memplan worker is ready for {jobs} job{'s' if jobs > 1 else ''} at a time{figures}")
