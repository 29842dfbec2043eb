"""`memplan migrate`: brings the tables of a shared store up to date, before services and workers of a new version start."""

from __future__ import annotations

import os
from typing import Any

from ...settings import FILE_VARIABLE, WrongSettings, read_settings
from ...store import StoreUnavailable
from ...store.opening import open_store, why
from ..exit_codes import ExitCode
from ..terminal.text import say, visible


def run(settings_file: str | None, given: dict[str, Any]) -> ExitCode:
    """Open the store once; that is when its tables are brought up to date."""
    if settings_file is not None:
        os.environ[FILE_VARIABLE] = settings_file
    try:
        settings = read_settings(**{name: value for name, value in given.items() if value is not None})
        if settings.store_url is None:
            raise WrongSettings(
                "store_url: which store? A service with a store of its own sees to that itself when it starts"
            )
        try:
            open_store(settings.store_url).close()
        except StoreUnavailable as error:
            raise WrongSettings(f"store_url: {why(error)}") from None
    except WrongSettings as error:
        say(f"error: {visible(str(error))} [invalid_option]")
        return ExitCode.BAD_INPUT
    say("the store's tables are up to date")
    return ExitCode.OK
