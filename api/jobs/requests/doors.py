"""The paths that take problems: what may be asked for at each, and which kinds of jobs that makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model

from planner.planning.options.options import DECLARED, GREATEST, Declared, OptionKind, chosen

Size = Annotated[int, Field(ge=0, le=GREATEST)]
SIZES = ("of the only pool", "by pool")
"""The two ways to say capacities: so that what is wrong with one is not told of both."""
OFFERED = {row.public_name: row for row in DECLARED.values() if row.over_http}
"""The library's options, by their names over HTTP."""


def meant(row: Declared, word: object) -> object:
    """A choice may be written in more than one way."""
    with suppress(ValueError):
        return chosen(row, word).value if isinstance(word, str) else word
    return word


def field_of(row: Declared) -> tuple[Any, Any]:
    """The option as pydantic reads it."""
    types: dict[OptionKind, Any] = {
        OptionKind.SECONDS: Annotated[float, Field(gt=0, allow_inf_nan=False)],
        OptionKind.COUNT: Annotated[int, Field(ge=row.least, lt=GREATEST)],
        OptionKind.BYTES: Annotated[int, Field(ge=row.least, lt=GREATEST)],
        OptionKind.NAME: Annotated[str, Field(min_length=1, max_length=100)],
        OptionKind.CHOICE: Annotated[
            Literal[tuple(each.value for each in row.choices or ())], BeforeValidator(partial(meant, row))
        ],
        OptionKind.FLAG: bool,
        OptionKind.SIZES: Annotated[
            Annotated[Size, Tag(SIZES[0])] | Annotated[dict[str, Size], Tag(SIZES[1])],
            Discriminator(lambda said: SIZES[isinstance(said, dict)]),
        ],
    }
    default = None if row.kind is OptionKind.SECONDS else row.default  # the service has a limit of its own
    return (types[row.kind] | None if default is None else types[row.kind]), Field(
        default=default, description=row.help
    )


FIELDS: dict[str, Any] = {name: field_of(row) for name, row in OFFERED.items()}


class RequestOptions(BaseModel):
    """What a request may ask for, wherever it says so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def said(self) -> dict[str, Any]:
        """What was asked for, without what was left to defaults."""
        return self.model_dump(exclude_unset=True)


class StrictRequestOptions(RequestOptions):
    """The same in JSON, where a number is no string."""

    model_config = ConfigDict(strict=True)


@dataclass(frozen=True)
class Door:
    """A path that takes problems."""

    name: str
    """What stands behind /v1/ in its path."""
    own: Mapping[str, tuple[Any, Any]]
    """What may be asked for here besides the library's options, as pydantic reads it. What is called as one of these takes its place."""
    kinds: tuple[str, ...]
    """Of jobs."""
    kind: Callable[[Mapping[str, Any]], str]
    """Which of them it is, from what was asked for of the door's own."""
    loose: type[RequestOptions] = field(init=False)
    strict: type[RequestOptions] = field(init=False)
    """In JSON, where a number is no string."""

    def __post_init__(self) -> None:
        fields: dict[str, Any] = {**FIELDS, **self.own}
        for name, base in (("loose", RequestOptions), ("strict", StrictRequestOptions)):
            model = create_model(f"{name.title()}{self.name.title()}Options", __base__=base, **fields)
            object.__setattr__(self, name, model)


def _kind_of_plan(own: Mapping[str, Any]) -> str:
    if own.get("arenas") == "nested":
        return "nested"
    return "sharing" if own.get("objects") else "plan"


PLANS = Door(
    "plans",
    {
        "objects": (
            bool,
            Field(
                default=False,
                description="Let buffers share storage objects instead of giving them offsets: the answer is a memplan-sharing/1.",
            ),
        ),
        "arenas": (
            Literal["global", "nested"],
            Field(
                default="global",
                description="`nested`: plan a program function by function, to compare; the answer is a memplan-nested/1.",
            ),
        ),
    },
    ("plan", "sharing", "nested"),
    _kind_of_plan,
)
PARETO = Door(
    "pareto",
    {
        "points": (
            Annotated[int, Field(ge=1, lt=GREATEST)] | None,
            Field(
                default=None,
                description="So many points at most, spread evenly over memory; by default the whole frontier.",
            ),
        ),
    },
    ("frontier",),
    lambda _: "frontier",
)
SWEEP = Door(
    "sweep",
    {
        "capacity": (
            list[str],
            Field(
                default=[],
                description="Sizes to try: `sram=64KiB..512KiB`, or `sram=64k,96k`; of several pools all combinations. Without a name for the only pool.",
            ),
        ),
        "step": (
            Annotated[int, Field(ge=1, lt=GREATEST)] | None,
            Field(default=None, description="From one size of a range to the next, in bytes; by default 16 KiB."),
        ),
    },
    ("sweep",),
    lambda _: "sweep",
)
SHAPES = Door(
    "shapes",
    {
        "mode": (
            Literal["expressions", "buckets", "maximum"],
            Field(default="expressions", description="What the offsets depend on."),
        ),
        "at": (
            list[str],
            Field(default=[], description="A shape, as in `n=128,m=4`: of `buckets` one that the offsets hold for."),
        ),
        "c": (
            Annotated[str, Field(min_length=1, max_length=64)] | None,
            Field(
                default=None,
                description="Write C functions that work out the offsets into the answer, with names that begin so.",
            ),
        ),
    },
    ("shapes",),
    lambda _: "shapes",
)
PROOF = Door("proof", {}, ("proof",), lambda _: "proof")
DOORS = {door.name: door for door in (PLANS, PARETO, SWEEP, SHAPES, PROOF)}
DOOR_OF = {kind: door for door in DOORS.values() for kind in door.kinds}
