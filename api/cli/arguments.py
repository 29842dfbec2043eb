"""Arguments that need more than a type: sizes, seconds, capacities."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import typer

MULTIPLES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = re.compile(r"(0[xX][0-9a-fA-F_]{1,24}|[0-9][0-9_]{0,24}) ?(KiB|MiB|GiB|TiB|)", re.ASCII)
LARGEST = 1 << 62


def parse_size(text: str, option: str) -> int:
    """Bytes: `1048576`, `1_048_576`, `0x100000`, `1MiB`."""
    match = SIZE.fullmatch(text)
    digits = None if match is None else match[1].replace("_", "")
    if match is None or digits is None or digits.lower() == "0x":
        raise typer.BadParameter(
            f"{quoted(text)} is not a number of bytes, such as 65536, 0x10000 or 64KiB", param_hint=option
        )
    size = int(digits, 16 if digits.lower().startswith("0x") else 10) * MULTIPLES[match[2]]
    if size > LARGEST:
        raise typer.BadParameter(f"{quoted(text)} is more than 2^62 bytes", param_hint=option)
    return size


def parse_capacities(texts: Sequence[str]) -> int | Mapping[str, int] | None:
    """`65536` for the only pool, or `sram=64KiB` for each pool by name."""
    option = "--capacity"
    unnamed = [text for text in texts if "=" not in text]
    if unnamed and len(texts) > 1:
        raise typer.BadParameter(
            "several capacities need their pools' names, as in --capacity sram=64KiB", param_hint=option
        )
    if unnamed:
        return parse_size(unnamed[0], option)
    sizes: dict[str, int] = {}
    for text in texts:
        # Names may contain an equals sign, sizes may not.
        name, _, size = text.rpartition("=")
        if name in sizes:
            raise typer.BadParameter(f"pool {quoted(name)} is given twice", param_hint=option)
        sizes[name] = parse_size(size, option)
    return sizes or None


def parse_seconds(text: str, option: str) -> float | None:
    """A number of seconds, or `none` for no limit."""
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


def quoted(text: str) -> str:
    """What the user typed, cut where it gets long."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
