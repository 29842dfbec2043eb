"""The versions that made a plan: the same problem, options and versions give the same plan."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from solvers.model.registry import libraries_of

MEMPLAN = "0.1.0"
"""The distribution's version; pyproject.toml takes it from here. Asking for the installed version takes longer than a small plan."""


@cache
def _installed(distribution: str) -> str | None:
    """The installed version, read from the folder that says so where there is one: `importlib.metadata` takes 18 ms to import."""
    name = distribution.replace("-", "_")
    with suppress(OSError):
        for folder in filter(Path.is_dir, map(Path, sys.path)):
            for found in folder.glob(f"{name}-*.dist-info/METADATA"):
                for line in found.read_text(encoding="utf-8", errors="replace").splitlines():
                    if line.startswith("Version: "):
                        return line.removeprefix("Version: ").strip()
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def versions(took_part: Iterable[str]) -> dict[str, str]:
    """Return memplan's version and those of the solvers' libraries, without importing them."""
    libraries = dict.fromkeys(library.distribution for name in took_part for library in libraries_of(name))
    found = {"memplan": MEMPLAN, **{name: _installed(name) for name in libraries}}
    return {name: number for name, number in found.items() if number is not None}


def machine() -> dict[str, str | int]:
    """Return a description of this machine."""
    return {**_system(), "cores": cores()}


@cache
def _system() -> dict[str, str]:
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
