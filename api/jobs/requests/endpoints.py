"""The paths that take problems: the options of each, and the kinds of jobs that they make."""

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
    """Return the value of a choice, which may be written in more than one way."""
    with suppress(ValueError):
        return chosen(row, word).value if isinstance(word, str) else word
    return word


def field_of(row: Declared) -> tuple[Any, Any]:
    """Return the option as a field for pydantic."""
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
            Discriminator(lambda value: SIZES[isinstance(value, dict)]),
        ],
    }
    default = None if row.kind is OptionKind.SECONDS else row.default  # the service has a limit of its own
    return (types[row.kind] | None if default is None else types[row.kind]), Field(
        default=default, description=row.help
    )


FIELDS: dict[str, Any] = {name: field_of(row) for name, row in OFFERED.items()}


class RequestOptions(BaseModel):
    """The options of a request, from its query or its body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self) -> dict[str, Any]:
        """Return the given options, without those left at defaults."""
        return self.model_dump(exclude_unset=True)


class StrictRequestOptions(RequestOptions):
    """The same in JSON, where a number must not be a string."""

    model_config = ConfigDict(strict=True)


@dataclass(frozen=True)
class Endpoint:
    """A path that takes problems."""

    name: str
    """The part of its path after /v1/."""
    own: Mapping[str, tuple[Any, Any]]
    """Options besides the library's, as pydantic fields. One with the name of a library option replaces it."""
    kinds: tuple[str, ...]
    """The kinds of jobs that it makes and no other endpoint does."""
    kind: Callable[[Mapping[str, Any]], str]
    """Returns the kind of a job, given the endpoint's own options."""
    always: Mapping[str, Any] = field(default_factory=dict)
    """Library options that have this value there."""
    loose: type[RequestOptions] = field(init=False)
    strict: type[RequestOptions] = field(init=False)
    """For JSON, where a number must not be a string."""

    def __post_init__(self) -> None:
        fields: dict[str, Any] = {**FIELDS, **self.own}
        for name, base in (("loose", RequestOptions), ("strict", StrictRequestOptions)):
            model = create_model(f"{name.title()}{self.name.title()}Options", __base__=base, **fields)
            object.__setattr__(self, name, model)


def _kind_of_plan(own: Mapping[str, Any]) -> str:
    if own.get("arenas") == "nested":
        return "nested"
    return "sharing" if own.get("objects") else "plan"


PLANS = Endpoint(
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
                description="`nested`: plan a program, also that of a model, function by function, to compare; the answer is a memplan-nested/1.",
            ),
        ),
    },
    ("plan", "sharing", "nested"),
    _kind_of_plan,
)
EXPLAIN = Endpoint("explain", {}, (), lambda _: "plan", always={"explain": True})
"""Explanations are of plans, and their jobs are those of `PLANS`."""
PARETO = Endpoint(
    "pareto",
    {
        "points": (
            Annotated[int, Field(ge=1, lt=GREATEST)] | None,
            Field(
                default=None,
                description="The most points, spread evenly over memory; by default the whole frontier.",
            ),
        ),
    },
    ("frontier",),
    lambda _: "frontier",
)
SWEEP = Endpoint(
    "sweep",
    {
        "capacity": (
            list[str],
            Field(
                default=[],
                description="Sizes to try: `sram=64KiB..512KiB`, or `sram=64k,96k`; the name may be left out if there is only one pool. Several pools: all combinations.",
            ),
        ),
        "step": (
            Annotated[int, Field(ge=1, lt=GREATEST)] | None,
            Field(default=None, description="The step between sizes of a range, in bytes; by default 16 KiB."),
        ),
    },
    ("sweep",),
    lambda _: "sweep",
)
SHAPES = Endpoint(
    "shapes",
    {
        "mode": (
            Literal["expressions", "buckets", "maximum"],
            Field(default="expressions", description="What the offsets depend on."),
        ),
        "at": (
            list[str],
            Field(
                default=[],
                description="A shape, as in `n=128,m=4`, to compare with its best plan; with `buckets`, a shape that the offsets are for.",
            ),
        ),
        "c": (
            Annotated[str, Field(min_length=1, max_length=64)] | None,
            Field(
                default=None,
                description="Add C functions that compute the offsets; their names begin with this.",
            ),
        ),
    },
    ("shapes",),
    lambda _: "shapes",
)
PROOF = Endpoint("proof", {}, ("proof",), lambda _: "proof")
ENDPOINTS = {endpoint.name: endpoint for endpoint in (PLANS, EXPLAIN, PARETO, SWEEP, SHAPES, PROOF)}
ENDPOINT_OF = {kind: endpoint for endpoint in ENDPOINTS.values() for kind in endpoint.kinds}
