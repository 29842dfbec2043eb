"""How much memory an answer takes that a session keeps, with its key and with what was given."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from ....model.columns.rows import Columns
from ....model.plan import Plan
from ....model.problem import Buffer

Key: TypeAlias = tuple[Any, ...]
"""What an answer is kept under: texts, pairs of names, and the numbers of buffer objects."""
PLAN_BYTES, PLACEMENT_BYTES = 4096, 240
"""The memory of a plan itself, and of each placement or buffer named in certificates."""
BUFFER_BYTES, RANGE_BYTES, NAME_BYTES = 450, 120, 8
"""The memory of a buffer and its place in a key, of each range of its lifetime, and of each pool in its list."""
CONTENTS = attrgetter("live"), attrgetter("pools"), attrgetter("data")
"""What can be of any length in a buffer, in the order of the names below."""


def bytes_of(plan: Plan) -> int:
    """Return the approximate memory of a plan."""
    named = sum(len(certificate.buffers) + len(certificate.weights) for certificate in plan.certificates)
    return PLAN_BYTES + PLACEMENT_BYTES * (len(plan.placements) + named + len(plan.run.trace))


def bytes_of_key(key: Key) -> int:
    """Return the memory of what a key contains besides numbers of buffers: its texts, and pairs of names."""
    pairs = [part for part in key[1:] if isinstance(part, tuple)]
    return sum(len(text) for text in key if isinstance(text, str)) + RANGE_BYTES * sum(map(len, pairs))


def bytes_of_buffers(buffers: Sequence[Buffer]) -> int:
    """Return the approximate memory of buffers, as if nobody else had them."""
    if isinstance(buffers, Columns):
        return BUFFER_BYTES * len(buffers)
    ranges, names, data = (sum(map(len, filter(None, map(read, buffers)))) for read in CONTENTS)
    return BUFFER_BYTES * len(buffers) + RANGE_BYTES * ranges + NAME_BYTES * names + data
