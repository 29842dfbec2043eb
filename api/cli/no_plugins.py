"""pydantic without its plugins: those that happen to be installed have no business in a command, and looking for them takes time."""

from __future__ import annotations

import os
import sys
from types import ModuleType

LOADER = "pydantic.plugin._loader"


def load_no_plugins() -> None:
    """Call it before pydantic is used.

    Told by its variable, pydantic still imports what it would find plugins with, and that imports e-mail, sockets and archives: a tenth of
    what a small plan takes. Were the loader called otherwise in another version, the variable alone would do.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    loader = ModuleType(LOADER)
    vars(loader)["get_plugins"] = tuple  # which there are: none
    sys.modules.setdefault(LOADER, loader)
