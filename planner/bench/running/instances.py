"""The problems to measure: files, all problems in a folder, or a suite of made-up ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...formats import FORMATS, read_problem, write_problem
from ...generate import generate
from ...model.errors import BadInput, Code, Finding, PlannerError
from .suites import SUITES

ENDINGS = tuple(dict.fromkeys(ending for row in FORMATS.values() for ending in row.endings))
READ_BEFOREHAND = 1 << 20
"""Smaller files of a folder are read to see whether they hold a problem; larger ones are no manifests."""


@dataclass(frozen=True, slots=True)
class File:
    """An instance: a file, and its name in the results."""

    name: str
    """The folder's and the file's name, so that results from different machines can be compared."""
    path: Path
    sha256: str


def collect(paths: Iterable[str], made: Path) -> tuple[list[File], list[str]]:
    """Return the instances in order, each once; and the files of folders that hold no problem.

    `@NAME` is a suite, whose problems are written into the folder `made`. Raises BadInput for what cannot be read.
    """
    files: dict[tuple[str, str], File] = {}
    passed_over: list[str] = []
    for text in paths:
        for path in _paths(text, made, passed_over):
            try:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                raise _unreadable(str(path), error) from error
            name = f"{path.resolve().parent.name}/{path.name}"
            files.setdefault((name, digest), File(name, path, digest))
    return list(files.values()), passed_over


def _paths(text: str, made: Path, passed_over: list[str]) -> Iterator[Path]:
    if text.startswith("@"):
        yield from _suite(text[1:], made)
        return
    path = Path(text)
    if not path.is_dir():
        yield path
        return
    for file in sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()):
        if holds_problem(file):
            yield file
        else:
            passed_over.append(str(file))


def holds_problem(file: Path) -> bool:
    """True if the file is a problem, False if it is a manifest, a schema or a table beside problems."""
    try:
        if file.stat().st_size < READ_BEFOREHAND:
            read_problem(file.read_bytes(), name=file.name)
    except PlannerError:
        return False
    except OSError as error:
        raise _unreadable(str(file), error) from error
    return True


def _suite(name: str, made: Path) -> Iterator[Path]:
    if name not in SUITES:
        known = ", ".join(f"@{suite}" for suite in SUITES)
        raise BadInput(Finding(Code.INVALID_OPTION, "", f"there is no suite @{name}; known are {known}"))
    folder = made / name
    folder.mkdir(parents=True, exist_ok=True)
    for kind, request in SUITES[name]:
        aligned = "" if request.alignment == 1 else f"-a{request.alignment}"
        path = folder / f"{kind}-n{request.buffers}-s{request.seed}{aligned}.json"
        # written anew every time, so that a changed generator shows in the results
        path.write_bytes(write_problem(generate(kind, request)))
        yield path


def _unreadable(path: str, error: OSError) -> BadInput:
    return BadInput(Finding(Code.UNREADABLE, "", f"{path}: cannot be read: {(error.strerror or str(error)).lower()}"))
