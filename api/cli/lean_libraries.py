"""Libraries without what they prepare for others: no command needs it, and together it takes longer than a small plan."""

from __future__ import annotations

import os
import sys
from types import ModuleType

LOADER = "pydantic.plugin._loader"


def load_libraries_lean() -> None:
    """Call it before numpy and pydantic are imported."""
    # Nothing here multiplies matrices: numpy's threads for that would only spin, for a tenth of a second from its import on.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Plugins of pydantic's that happen to be installed have no business in a command. Told so by its variable it still imports what it would
    # find them with, and that imports e-mail, sockets and archives. Were the loader called otherwise in another version, the variable would do.
    if "PYDANTIC_DISABLE_PLUGINS" not in os.environ:
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        loader = ModuleType(LOADER)
        vars(loader)["get_plugins"] = tuple  # which there are: none
        sys.modules.setdefault(LOADER, loader)
