"""memplan's library under memplan's own name: everything that `planner` exports, and `__version__`.

from memplan import Buffer, Pool, Problem, plan
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import planner
    from planner import *  # noqa: F403 - what planner exports is said there alone

    __all__ = ["__version__"]
    __all__ += planner.__all__
    __version__: str

_MODULES = ("bench", "cascades", "compilers", "formats", "generate", "graph", "shapes")


if not TYPE_CHECKING:  # a type checker that sees it would accept any name

    def __getattr__(name: str) -> Any:
        """Names are looked up on first use: `python -m memplan` starts faster without the library."""
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name == "__version__":
            return import_module("planner.model.versions").MEMPLAN
        exported = import_module("planner")
        if name == "__all__":
            return ["__version__", *exported.__all__]
        if name not in exported.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module("planner.checks.arguments").exported(__name__, name, getattr(exported, name))

    def __dir__() -> list[str]:
        return sorted({*globals(), *_MODULES, *__getattr__("__all__")})
