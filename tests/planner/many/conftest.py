"""A folder of problems, and functions that run `plan_many` over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from planner import (
    Options,
    Problem,
    write_problem,
)
from planner.generate import Request, generate
from planner.many import Entry, Farm, Manifest, collect, plan_many
from tests.running.forked import forking_companions

QUICK = Farm(Options(time_limit=20, workers=1), processes=2)


def run(folder: Path, out: Path, farm: Farm = QUICK) -> list[Entry]:
    out.mkdir(exist_ok=True)
    entries: list[Entry] = []
    assert plan_many(collect([str(folder)], out), out, farm, entries.append)
    return entries


def entries_of(out: Path) -> dict[str, Entry]:
    return Manifest.read(out).entries


def written(folder: Path, name: str, problem: Problem) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_problem(problem))
    return path


@pytest.fixture
def forked_companions() -> Iterator[None]:
    """Fork this process's companions, which is fast; those of a command that is killed start as they do for users."""
    with forking_companions():
        yield


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of eight problems, two of them the same as others."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "problems"
    for seed in range(6):
        written(folder, f"{seed}.json", generate("transformer", Request(20 + seed, seed)))
    written(folder, "again/0.json", replace(generate("transformer", Request(20, 0)), name="by another name"))
    written(folder, "again/1.json", generate("transformer", Request(21, 1)))
    return folder
