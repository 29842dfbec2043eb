"""Arguments of `memplan bench`: lists of solvers, ranges of seeds, the source of the capacity."""

from __future__ import annotations

import re

import typer

from planner.bench.running.grid import FROM_NAME
from planner.planning.options.capacity import quoted

from .arguments import parse_size

SEEDS = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", re.ASCII)
MOST_SEEDS = 10_000


def parse_solvers(text: str) -> tuple[str, ...]:
    """Return the solvers in `auto,search`, each once."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise typer.BadParameter("no solver is named", param_hint="--solvers")
    return names


def parse_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds in `0-4`, `7` or `0-2,10`, each once, in the order given."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = SEEDS.fullmatch(part.strip())
        first, last = (0, -1) if match is None else (int(match[1]), int(match[2] or match[1]))
        if last < first:
            raise typer.BadParameter(f"{quoted(text)} is no list of seeds, such as 0-4 or 0,7", param_hint="--seeds")
        if last - first + len(seeds) >= MOST_SEEDS:
            raise typer.BadParameter(f"more than {MOST_SEEDS} seeds", param_hint="--seeds")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    return tuple(seeds)


def parse_capacity(text: str) -> int | str | None:
    """Return bytes, `from-name`, or None for `none`."""
    if text == FROM_NAME:
        return FROM_NAME
    return None if text == "none" else parse_size(text, "--capacity")
