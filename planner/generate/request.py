"""What is asked of a generator, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from solvers.model.instance import Term

from ..problem import DEFAULT_TERMS, Buffer, Pool
from .chance import Chance


@dataclass(frozen=True, slots=True)
class Request:
    """How many buffers, and which of all the problems of the kind."""

    buffers: int
    seed: int = 0
    alignment: int = 1
    parameters: Mapping[str, int] = field(default_factory=dict)
    """Of the kind alone; what is left out has its default."""

    def chance(self) -> Chance:
        """The source of all that is random in it."""
        return Chance(self.seed)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A problem without a name."""

    buffers: tuple[Buffer, ...]
    pools: tuple[Pool, ...] | None = None
    """None: one unlimited arena."""
    terms: tuple[Term, ...] = DEFAULT_TERMS
    optimum: int | None = None
    """The smallest peak there is, where the construction tells."""
