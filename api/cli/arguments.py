"""Arguments that need more than a type: sizes, seconds, capacities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import typer

from planner.model.errors import BadInput
from planner.planning.options import capacity
from planner.planning.options.capacity import quoted


def parse_size(text: str, option: str) -> int:
    """Return bytes: `1048576`, `1_048_576`, `0x100000`, `1MiB`."""
    with blaming(option):
        return capacity.parse_size(text)


def parse_capacities(texts: Sequence[str]) -> int | Mapping[str, int] | None:
    """Return sizes: `65536` for the only pool, or `sram=64KiB` for each pool by name."""
    with blaming("--capacity"):
        return capacity.parse_capacities(texts)


@contextmanager
def blaming(option: str) -> Iterator[None]:
    """Report errors about a value as errors of its option."""
    try:
        yield
    except BadInput as error:
        raise typer.BadParameter(error.findings[0].message, param_hint=option) from None


def parse_seconds(text: str, option: str) -> float | None:
    """Return a number of seconds, or None for `none`: no limit."""
    if text.lower() == "none":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise typer.BadParameter(
            f"{quoted(text)} is neither a positive number of seconds nor 'none'", param_hint=option
        )
    return seconds
