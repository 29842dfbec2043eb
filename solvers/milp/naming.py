"""Readable names for the program's variables, in characters that every model file allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 48


@dataclass(frozen=True, slots=True)
class Names:
    """What blocks and pools are called; unique among themselves."""

    blocks: tuple[str, ...]
    pools: tuple[str, ...]


def make_names(blocks: Sequence[str], pools: Sequence[str]) -> Names:
    """Names made safe and unique; what was changed stays recognisable."""
    return Names(_unique(blocks), _unique(pools))


def numbered(blocks: int, pools: int) -> Names:
    """Names for those who do not read them."""
    return Names(tuple(map(str, range(blocks))), tuple(map(str, range(pools))))


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    used: set[str] = set()
    result = []
    for name in names:
        safe = re.sub(r"[^A-Za-z0-9_]", "_", name)[:LONGEST]
        candidate, number = safe, 1
        while candidate in used:
            number += 1
            candidate = f"{safe}_{number}"
        used.add(candidate)
        result.append(candidate)
    return tuple(result)
