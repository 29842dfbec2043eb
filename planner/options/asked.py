"""The problem as it was asked for: options of a run may change its pools' sizes and its objective, and whoever looks at the plan must know."""

from __future__ import annotations

from collections.abc import Mapping

from ..problem import Problem
from .capacity import with_capacity
from .preference import Preference, with_preference


def as_asked(problem: Problem, capacity: int | Mapping[str, int] | None, prefer: Preference | str | None) -> Problem:
    """The problem that a plan with these options is a plan of. Raises BadInput."""
    return with_preference(with_capacity(problem, capacity), None if prefer is None else Preference(prefer))
