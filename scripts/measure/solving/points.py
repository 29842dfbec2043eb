"""The problems on which an older version and this one are compared: rows for each point, made with any seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from planner import Buffer, Pool, Problem
from planner.formats import write_problem
from planner.generate import KINDS, Request, generate
from scripts.measure.solving.dense import family, problem_of
from scripts.measure.solving.greedy import synthetic
from scripts.measure.solving.milp import random_cases
from scripts.measure.solving.redrawn import redrawn

LIVE = 40
"""Buffers live at a time where `lives` are drawn."""


@dataclass(frozen=True, slots=True)
class Row:
    """Problems of one kind, and how they are planned."""

    kind: str
    buffers: int
    seconds: int = 10
    """Their work, for each problem."""
    options: tuple[str, ...] = ()
    """In pairs: a name and its value."""
    workers: int = 1
    csv: bool = False

    def __str__(self) -> str:
        buffers = f"{self.buffers:_}".replace("_", " ") if self.buffers else ""
        workers = f"{self.workers} workers" if self.workers > 1 else ""
        return ", ".join(filter(None, (f"`{self.kind}`", buffers, *self.options[1::2], workers, "CSV" * self.csv)))


PRESETS = ("speed", "size", "balanced")
PIECES = ("dropped5", "sizes", "times", "wheels_whole", "wheels_dropped3")
POINTS: dict[str, list[Row]] = {
    "memories": [Row(kind, n, 10, ("--prefer", p)) for n, kind, p in product((300, 1000), ("pools", "hot", "memories"), PRESETS)],
    "many": [Row(kind, 10_000, 30, ("--prefer", "speed")) for kind in ("pools", "hot", "memories")],
    "kernels": [Row("kernels", 0, 5)],
    "dense": [
        *(Row(kind, n) for kind, n in product(("whole", "dropped3"), (1500, 3000, 8000))),
        Row("whole", 20_000, 20),
    ],
    "families": [
        *(Row(kind, n) for kind, n in product(PIECES, (1000, 3000))),
        *(Row(f"tall_{kind}", n) for kind, n in product(("whole", "dropped1", "dropped3", "sizes"), (300, 500))),
    ],
    "limits": [Row(kind, n) for kind, n in (("packing", 1500), ("packing", 2500), ("pools", 2000), ("hot", 2000))],
    "cores": [Row(kind, n, 5, workers=w) for (kind, n), w in product((("packing", 400), ("packing", 3000)), (1, 2))],
    "large": [
        *(Row("random", 1_000_000, 30, csv=csv) for csv in (False, True)),
        *(Row(f"lives_{lives}", 1_000_000, 30, ("--solver", "greedy")) for lives in ("uniform", "pareto")),
    ],
    "networks": [
        *(Row("training", n, 1) for n in (2000, 7000)),
        *(Row("pangu", n, 1) for n in (18_692, 62_185)),
    ],
    "program": [Row(f"rows_{part}", 40, 10, ("--solver", solver)) for part, solver in product((2, 1), ("cbc", "highs"))],
}  # fmt: skip


def files(row: Row, seed: int, folder: Path, corpus: Path | None) -> list[Path]:
    """Writes the problems of a row with this seed."""
    made = []
    for number, problem in enumerate(problems(row, seed, corpus)):
        name = "-".join(map(str, (row.kind, row.buffers, *row.options[1::2], seed, number)))
        made.append(folder / f"{name}.json")
        made[-1].write_bytes(write_problem(problem))
    return made


def problems(row: Row, seed: int, corpus: Path | None) -> Iterator[Problem]:
    """The problems of a row with this seed: one, but for kernels."""
    how, _, what = row.kind.partition("_")
    if row.kind in KINDS:
        yield generate(row.kind, Request(row.buffers, seed))
    elif row.kind == "kernels":
        yield from (problem for _, problem in redrawn(corpus, seed)) if corpus else ()
    elif how == "lives":
        yield synthetic(row.buffers, LIVE, what, seed)
    elif how == "rows":
        instance, _ = next(random_cases(row.buffers, int(what), 100 * seed))
        columns = instance.rect_start, instance.rect_end, instance.block_high
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield Problem(tuple(Buffer(i, z, live=((s, e),)) for i, (s, e, z) in enumerate(rows)), (Pool("memory"),))
    else:
        yield problem_of(family(row.kind, row.buffers, seed))
