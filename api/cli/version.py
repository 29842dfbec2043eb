"""Which memplan this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

NOT_INSTALLED = "(not installed: run from its source)"


def version() -> str:
    """The installed distribution's version."""
    try:
        return installed_version("memplan")
    except PackageNotFoundError:
        return NOT_INSTALLED
