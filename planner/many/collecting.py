"""Which problems to plan: files, folders, and patterns such as `kernels/**/*.json`."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..formats import FORMATS
from ..model.errors import BadInput, Code, Finding
from .manifest import FILE_NAME, plan_name

ENDINGS = frozenset(ending for row in FORMATS.values() for ending in row.endings)


@dataclass(frozen=True, slots=True)
class ProblemFile:
    """A file to plan, and its name in the manifest."""

    name: str
    """Its path relative to the current folder, with /; absolute if it lies elsewhere."""
    path: Path
    is_named: bool
    """False: it was found in a folder, and may not be a problem."""


def collect(patterns: Iterable[str], leave_out: Path) -> list[ProblemFile]:
    """Return the files in order, each once. Of the folder `leave_out`, where their plans will be, only those that are named and no plans of a run.

    Raises BadInput for a pattern without matches, and for clashing names.
    """
    found: dict[Path, ProblemFile] = {}
    out = leave_out.resolve()
    for pattern in patterns:
        there = list(_paths(pattern))
        if not there and not Path(pattern).is_dir():
            raise BadInput(
                Finding(
                    Code.UNREADABLE,
                    "",
                    f"{pattern}: there is no such file or folder, and no file that matches the pattern",
                )
            )
        for path, is_named in there:
            real = path.resolve()
            if not real.is_relative_to(out) or (is_named and not _is_of_a_run(real)):
                found.setdefault(real, ProblemFile(_name(real), path, is_named))
    _require_names(found)
    return list(found.values())


def _is_of_a_run(path: Path) -> bool:
    """True if the file is called as what a run writes."""
    return path.name == FILE_NAME or path.name.endswith(plan_name(""))


def _require_names(found: Mapping[Path, ProblemFile]) -> None:
    """Raise BadInput if two files would have the same name (one below the current folder, one below the root), or plans could not be beside each other."""
    called: dict[str, Path] = {}
    for real, file in found.items():
        if other := called.get(file.name):
            message = f"{other} and {real} would both be called {file.name}; plan them from another folder"
            raise BadInput(Finding(Code.DUPLICATE_ID, "", message))
        called[file.name] = real
    files = {plan_name(name): f"the plan of {real}" for name, real in called.items()} | {FILE_NAME: "the manifest"}
    for name, real in called.items():
        for folder in map(str, PurePosixPath(name).parents):
            if folder in files:
                message = f"{real}: its plan's folder would be called {folder}, as {files[folder]} is; plan it from another folder"
                raise BadInput(Finding(Code.DUPLICATE_ID, "", message))


def _paths(pattern: str) -> Iterator[tuple[Path, bool]]:
    path = Path(pattern)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.suffix.lower() in ENDINGS and file.is_file():
                yield file, False
    elif path.exists():
        yield path, True
    else:
        for name in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - a Path would not take an absolute pattern
            if Path(name).is_file():
                yield Path(name), True


def _name(path: Path) -> str:
    here = Path.cwd().resolve()
    if path.is_relative_to(here):
        return str(PurePosixPath(path.relative_to(here)))
    return str(PurePosixPath(*path.parts[1:]))
