"""Operators that run together, and what they take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Mode(StrEnum):
    """How operators run together."""

    RECOMPUTE = "recompute"
    """Stripe by stripe from the first to the last; what two stripes of the output need is computed for each."""
    ROLLING = "rolling"
    """Nothing is computed twice: of each tensor between them the rows that are needed again stay until they are not."""


@dataclass(frozen=True, slots=True)
class Stripes:
    """How the output of a group is cut."""

    mode: Mode
    extents: tuple[int, ...]
    """Of a stripe; the last ones along an axis may be shorter."""
    axis: int = 0
    """Along which it rolls, from the first element to the last."""


class Inner(NamedTuple):
    """A tensor that exists only in part, and within a group."""

    tensor: int
    size: int
    start: int
    """The step that makes it, as long as the group runs if it rolls; half-open with `end`."""
    end: int
    rows: int | None = None
    """Of a rolling buffer, how many elements it has along the axis that rolls: element r lies at r modulo this. None: a piece in full."""
    axis: int | None = None
    """Of the tensor, that which rolls."""


class Group(NamedTuple):
    """The operators from `first` to `last`, run together."""

    first: int
    last: int
    stripes: Stripes | None
    """None: one operator, and its output whole."""
    inner: tuple[Inner, ...]
    own: int
    """Bytes at the busiest time beside tensors that are whole."""
    cycles: int
