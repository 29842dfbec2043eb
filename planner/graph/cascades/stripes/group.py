"""Operators that run together, and what they need."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Mode(StrEnum):
    """How operators run together."""

    RECOMPUTE = "recompute"
    """Stripe by stripe from the first operator to the last; what two stripes both need is computed for each."""
    ROLLING = "rolling"
    """Nothing is computed twice: of each tensor between them, rows stay until no longer needed."""


@dataclass(frozen=True, slots=True)
class Stripes:
    """How the output of a group is cut."""

    mode: Mode
    extents: tuple[int, ...]
    """The extents of a stripe; the last ones along an axis may be shorter."""
    axis: int = 0
    """The axis along which it rolls, from the first element to the last."""


class Inner(NamedTuple):
    """A tensor that exists only in part, and only within a group."""

    tensor: int
    size: int
    start: int
    """The step that makes it, or the group's first step if it rolls; half-open with `end`."""
    end: int
    rows: int | None = None
    """For a rolling buffer, its elements along the rolling axis: element r lies at r modulo this. None: a whole piece."""
    axis: int | None = None
    """The tensor's rolling axis."""


class Group(NamedTuple):
    """The operators from `first` to `last`, run together."""

    first: int
    last: int
    stripes: Stripes | None
    """None: one operator, and its output whole."""
    inner: tuple[Inner, ...]
    own: int
    """Bytes at the busiest time besides whole tensors."""
    cycles: int
