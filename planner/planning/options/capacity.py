"""Replacements for a problem's pool sizes and objective, and how sizes are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...checks.values import are_integers
from ...model.deadline import PREPARING, in_time
from ...model.errors import echo
from ...model.plan import Plan
from ...model.problem import Problem
from .options import GREATEST, Preference, Stability, as_choice, bad_option
from .preference import preferring
from .stability import with_stability


def with_capacity(problem: Problem, capacity: int | Mapping[str, int] | None) -> Problem:
    """Return the problem with other pool sizes."""
    if capacity is None:
        return problem
    if isinstance(capacity, int):
        if len(problem.pools) != 1:
            raise bad_option("capacity", f"the problem has {len(problem.pools)} pools: say which one, as NAME=BYTES")
        capacity = {problem.pools[0].name: capacity}
    if not isinstance(capacity, Mapping):
        raise bad_option("capacity", f"must be an integer, or one for each pool by its name, not {echo(capacity)}")
    pools = [*in_time(problem.pools, PREPARING)]
    place = {pool.name: p for p, pool in enumerate(pools)}
    unknown = [name for name in capacity if name not in place]
    if unknown:
        raise bad_option("capacity", f"the problem has no pool {echo(unknown[0])}")
    if not are_integers([*capacity.values()]) or min(capacity.values(), default=0) < 0:
        raise bad_option("capacity", "a capacity is an integer, and not negative")
    for name, size in capacity.items():
        pools[place[name]] = replace(pools[place[name]], size=size)
    return replace(problem, pools=tuple(pools))


def planned_problem(
    problem: Problem,
    capacity: int | Mapping[str, int] | None,
    prefer: Preference | str | None,
    stability: Stability | str | None = None,
    old: Plan | None = None,
) -> Problem:
    """Return the problem that is planned with these options; `old` is the plan to which stability refers. Raises BadInput."""
    preferred = preferring(with_capacity(problem, capacity), as_choice("prefer", prefer))
    return with_stability(preferred, stability, old)


MULTIPLES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
SIZE = re.compile(r"(0[xX][0-9a-fA-F_]{1,24}|[0-9][0-9_]{0,24}) ?((?:[KMGT]iB)|[kKmMgGtT]|)", re.ASCII)
"""Plain letters are powers of 1024, as in linkers; `kB` is refused because it is ambiguous."""


def parse_size(text: str) -> int:
    """Return bytes: `1048576`, `1_048_576`, `0x100000`, `1MiB`, `1M`. Raises BadInput."""
    match = SIZE.fullmatch(text)
    digits = None if match is None else match[1].replace("_", "")
    if match is None or digits is None or digits.lower() == "0x":
        raise bad_option("capacity", f"{quoted(text)} is not a number of bytes, such as 65536, 0x10000 or 64KiB")
    size = int(digits, 16 if digits.lower().startswith("0x") else 10) * MULTIPLES[match[2][:1].lower()]
    if size > GREATEST:
        raise bad_option("capacity", f"{quoted(text)} is more than 2^62 bytes")
    return size


def parse_capacities(texts: Sequence[str]) -> int | dict[str, int] | None:
    """Return the sizes in `65536` (the only pool) or `sram=64KiB` (each pool by name). Raises BadInput."""
    unnamed = [text for text in texts if "=" not in text]
    if unnamed and len(texts) > 1:
        raise bad_option("capacity", "several capacities need their pools' names, as in sram=64KiB")
    if unnamed:
        return parse_size(unnamed[0])
    sizes: dict[str, int] = {}
    for text in texts:
        # names may contain an equals sign, sizes may not
        name, _, size = text.rpartition("=")
        if name in sizes:
            raise bad_option("capacity", f"pool {quoted(name)} is given twice")
        sizes[name] = parse_size(size)
    return sizes or None


def quoted(text: str) -> str:
    """Return what was typed, cut if it is long."""
    return repr(text if len(text) <= 60 else text[:59] + "…")
