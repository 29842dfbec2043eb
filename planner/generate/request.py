"""The input and the output of a generator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral

from solvers.model.instance import Term

from ..model.problem import DEFAULT_TERMS, Buffer, Pool, Variants
from .chance import Chance


@dataclass(frozen=True, slots=True)
class Request:
    """How many buffers, and which of all the problems of the kind."""

    buffers: int
    seed: int = 0
    alignment: int = 1
    parameters: Mapping[str, int] = field(default_factory=dict)
    """The kind's own; missing ones have their defaults."""

    def __post_init__(self) -> None:
        """Replace integers of numpy by Python's, which are not limited."""
        for name in ("buffers", "seed", "alignment"):
            value = getattr(self, name)
            if type(value) is not int and isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))

    def chance(self) -> Chance:
        """Return the source of all its random numbers."""
        return Chance(self.seed)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A problem without a name."""

    buffers: tuple[Buffer, ...]
    pools: tuple[Pool, ...] | None = None
    """None: one unlimited arena."""
    terms: tuple[Term, ...] = DEFAULT_TERMS
    variants: Variants | None = None
    symbols: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The range of each symbol on which sizes depend."""
    sizes: Mapping[int | str, str] = field(default_factory=dict)
    """The sizes of such buffers, as expressions."""
    optimum: int | None = None
    """The smallest possible peak, if the construction determines it."""


def largest_live_sum(buffers: Iterable[Buffer]) -> int:
    """Return the largest sum of sizes that are live together: no plan's peaks add up to less."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        for start, end in buffer.live or ():
            changes[start] = changes.get(start, 0) + buffer.size
            changes[end] = changes.get(end, 0) - buffer.size
    live = largest = 0
    for _, change in sorted(changes.items()):
        live += change
        largest = max(largest, live)
    return largest
