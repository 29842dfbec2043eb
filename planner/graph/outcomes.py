"""The outcome for each of a graph's operators: which results lie inside something else, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ..model.problem import BufferId, Problem

if TYPE_CHECKING:
    from ..planning.shapes.expression import Expression
    from ..planning.shapes.shaped import ShapedProblem

Sizes: TypeAlias = "dict[tuple[str | None, BufferId], Expression]"
"""The bytes of tensors, by function and id, as expressions over symbols."""


class Reason(StrEnum):
    """Why an operator's result gets its own memory. Stable names."""

    SOURCE_NOT_PLANNED = "source_not_planned"
    """An input lies outside the plan (a constant, or an input or output that the caller provides)."""
    RESULT_NOT_PLANNED = "result_not_planned"
    """The result is a graph output that the caller provides."""
    OPT_LEVEL = "opt_level"
    """Not done at this optimisation level."""
    NOT_OUTERMOST = "not_outermost"
    """A dimension before the operator's own has more than one index, so the bytes are not contiguous."""
    STEP = "step"
    """A step other than 1 leaves gaps."""
    MISALIGNED = "misaligned"
    """The place is not a multiple of the alignment required by kernels or tensors."""
    PARTIAL_BYTES = "partial_bytes"
    """The place is within a byte."""
    SIZE_DIFFERS = "size_differs"
    """The sizes do not fit each other."""
    SOURCE_TWICE = "source_twice"
    """One tensor would have to be in two places."""
    ALREADY_PLACED = "already_placed"
    """A tensor's place inside something else is already final."""
    STILL_NEEDED = "still_needed"
    """The overwritten data is read later, or by the same operator in another place."""
    OVERWRITTEN = "overwritten"
    """One of two that would share bytes is written while the other is needed."""
    NO_COMMON_POOL = "no_common_pool"
    """No pool may hold both."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator that moves nothing: (tensor, source, offset) for each tensor that now lies inside another."""

    operator: int
    places: tuple[tuple[BufferId, BufferId, int], ...]
    function: str | None = None
    """The function of a program's operator."""
    part: str | None = None
    """The step of a call, branch or loop that copies: `enter`, `again` or `give back`."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An operator whose rule does not apply, so that its result has its own memory."""

    operator: int
    reason: Reason
    message: str
    function: str | None = None
    part: str | None = None


@dataclass(frozen=True, slots=True)
class GraphProblem:
    """The problem made from a graph or program, and how it was made."""

    problem: Problem
    applied: tuple[Applied, ...]
    refused: tuple[Refused, ...]
    """Both in the order of the operators; plain operators are in neither."""
    pinned: tuple[BufferId, ...]
    """Tensors that must be in the fastest memory."""
    outside: tuple[BufferId, ...]
    """Tensors that are not planned: constants, what the caller provides, and views of these. In programs also inputs and outputs of functions
    run from several places, which lie elsewhere each time.
    """
    homes: Mapping[tuple[str | None, BufferId], BufferId] = field(default_factory=dict)
    """For programs: the buffer of each function's tensor (None: shared by all functions), or a tensor outside."""


def with_symbols(
    made: GraphProblem,
    sizes: Mapping[tuple[str | None, BufferId], int | Expression],
    symbols: Mapping[str, tuple[int, int]],
) -> ShapedProblem:
    """Return the problem with its tensors' sizes as expressions; those too long to write stay as they are."""
    from ..planning.shapes.expression import MOST_CHARACTERS
    from ..planning.shapes.shaped import shaped

    texts: dict[BufferId, str] = {}
    for name, home in made.homes.items():
        text = str(sizes.get(name, ""))
        if text and len(text) <= MOST_CHARACTERS:
            texts.setdefault(home, text)
    buffers = {buffer.id for buffer in made.problem.buffers}
    return shaped(made.problem, symbols, {id_: text for id_, text in texts.items() if id_ in buffers})
