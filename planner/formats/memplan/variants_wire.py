"""The variants in memplan/1 as they appear in a file. Loaded only for problems that have them."""

from __future__ import annotations

from typing import Annotated, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from ...model.problem import MAX_ADDRESS
from ..json.strict import STRICT, BufferIdField, Items
from .wire import BufferWire, Bytes, ConstraintsWire, Interval, Name, ProblemWire, described

Choosable = Annotated[list[Name], Field(min_length=2, max_length=2)]
Choosables = Annotated[list[Choosable], Field(min_length=2, max_length=2)]
Cost = Annotated[int, Field(ge=-MAX_ADDRESS, le=MAX_ADDRESS)]


@with_config(STRICT)
class CostTermWire(TypedDict):
    """A kind of cost of alternatives."""

    name: Annotated[Name, described("Unique name of the cost, such as cycles or energy.")]
    weight: NotRequired[Annotated[Bytes, described("Weight of one unit in the cost that is minimised.", 1)]]


@with_config(STRICT)
class MoreLifeWire(TypedDict):
    """Further times at which one of the problem's buffers is needed."""

    buffer: Annotated[BufferIdField, described("A buffer of the problem.")]
    live: Annotated[list[Interval], described("Further times at which it is needed if the alternative is chosen.")]


@with_config(STRICT)
class AlternativeWire(TypedDict):
    """One way to do something, and what holds if it is chosen."""

    name: Annotated[Name, described("Unique within its group.")]
    costs: NotRequired[
        Annotated[dict[str, Cost], described("Its costs by the names of the cost terms; those left out are 0.", {})]
    ]
    buffers: NotRequired[
        Annotated[Items[BufferWire], described("Its own buffers. Only alternatives of one group may share ids.", [])]
    ]
    constraints: NotRequired[
        Annotated[ConstraintsWire, described("Constraints on its own buffers and those of the problem.")]
    ]
    live: NotRequired[Annotated[Items[MoreLifeWire], described("Buffers of the problem that it needs longer.", [])]]


@with_config(STRICT)
class VariantGroupWire(TypedDict):
    """Alternatives of which one is chosen."""

    name: Annotated[Name, described("Unique name of the group.")]
    alternatives: Annotated[Items[AlternativeWire], described("Exactly one of them is chosen.", min_items=1)]


@with_config(STRICT)
class VariantsWire(TypedDict):
    """The choices of a problem, and their costs."""

    costs: NotRequired[Annotated[Items[CostTermWire], described("The kinds of cost that alternatives have.", [])]]
    groups: Annotated[Items[VariantGroupWire], described("One alternative of each group is chosen.", min_items=1)]
    requires: NotRequired[
        Annotated[
            Items[Choosables], described("Pairs of [group, alternative]: choosing the first requires the second.", [])
        ]
    ]
    forbids: NotRequired[
        Annotated[Items[Choosables], described("Pairs of [group, alternative] that must not be chosen together.", [])]
    ]


@with_config(STRICT)
class ChoosingProblemWire(ProblemWire):
    """A memory planning problem."""

    variants: NotRequired[
        Annotated[VariantsWire | None, described("The choices that are still open, and their costs.")]
    ]
