"""How to plan: limits, solver, seed, goal. One row for each option; library, command line, query and body all read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from numbers import Integral, Real
from typing import Any

from solvers.model.solver import Goal, Warm

from ...model.errors import BadInput, Code, Finding, echo

GREATEST = 1 << 62


class Preference(StrEnum):
    """Replaces the problem's objective."""

    SIZE = "size"
    """The smallest peaks; among those plans, the least access cost."""
    BALANCED = "balanced"
    """The least sum of access cost and peaks, with all bytes together worth as much as the whole possible gain in speed."""
    SPEED = "speed"
    """The least access cost; among those plans, the smallest peaks."""


class Stability(StrEnum):
    """What a plan gives up to keep buffers at their places in an older plan."""

    TIES = "ties"
    """Nothing: among the otherwise best plans, the one that moves the fewest bytes."""
    BALANCED = "balanced"
    """As much of the peaks as it saves in moves, both relative to their totals."""
    FIRST = "first"
    """Everything: the fewest moved bytes first, then the other goals."""


class OptionKind(StrEnum):
    """The kind of an option's value. Each interface knows how to read each kind."""

    SECONDS = "seconds"
    COUNT = "count"
    BYTES = "bytes"
    NAME = "name"
    CHOICE = "choice"
    FLAG = "flag"
    SIZES = "sizes"
    """Bytes, or bytes for each pool by name."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An option's declaration, for every interface."""

    name: str
    default: Any
    kind: OptionKind
    help: str
    least: int | None
    choices: type[StrEnum] | None
    over_http: bool

    @property
    def public_name(self) -> str:
        """The name outside of the library, where units are written differently."""
        return self.name.removesuffix("_bytes")


def option(
    kind: OptionKind,
    help_: str,
    *,
    least: int | None = None,
    choices: type[StrEnum] | None = None,
    over_http: bool = True,
) -> dict[str, Any]:
    """Return an option's metadata: the kind of value, its help, and the least number or the words it accepts."""
    return {"kind": kind, "help": help_, "least": least, "choices": choices, "over_http": over_http}


@dataclass(frozen=True, slots=True)
class Options:
    """What planner.plan may use, and what it aims for."""

    time_limit: float | None = field(
        default=10.0,
        metadata=option(OptionKind.SECONDS, "Seconds of wall time from call to answer, everything included.", least=0),
    )
    work_limit: int | None = field(
        default=None,
        metadata=option(
            OptionKind.COUNT,
            "Units of work, about a microsecond each; a run that ends by work gives the same plan on every machine.",
            least=0,
        ),
    )
    """None: half of what the time limit allows."""
    memory_limit_bytes: int | None = field(
        default=None, metadata=option(OptionKind.BYTES, "Memory of each solver process.", least=1)
    )
    solver: str = field(default="auto", metadata=option(OptionKind.NAME, "auto, or a name from the list of solvers."))
    workers: int | None = field(
        default=None,
        metadata=option(
            OptionKind.COUNT, "Solver processes side by side; the plan is the same with any number.", least=1
        ),
    )
    """None: one for each core."""
    seed: int = field(default=0, metadata=option(OptionKind.COUNT, "Seed of everything random.", least=0))
    capacity: int | Mapping[str, int] | None = field(
        default=None,
        metadata=option(OptionKind.SIZES, "Replaces a pool's size: bytes for the only pool, or for several by name."),
    )
    goal: Goal = field(
        default=Goal.MINIMISE,
        metadata=option(OptionKind.CHOICE, "fit stops at the first plan within all capacities.", choices=Goal),
    )
    explain: bool = field(
        default=False,
        metadata=option(OptionKind.FLAG, "Say why nothing smaller is possible, or find out which buffers cannot fit."),
    )
    warm: Warm | None = field(
        default=None,
        metadata=option(
            OptionKind.CHOICE,
            "What exact solvers get of the best plan so far; by default what suits each.",
            choices=Warm,
        ),
    )
    verbose: bool = field(
        default=False,
        metadata=option(OptionKind.FLAG, "What each solver did and found, and the solvers' logs.", over_http=False),
    )
    prefer: Preference | None = field(
        default=None,
        metadata=option(
            OptionKind.CHOICE,
            "Replaces the problem's objective: the smallest peaks, the fastest accesses, or both weighed against each other.",
            choices=Preference,
        ),
    )
    stability: Stability | None = field(
        default=None,
        metadata=option(
            OptionKind.CHOICE,
            "How much to give up so that buffers stay where an older plan had them: ties, peaks for moves, or all.",
            choices=Stability,
        ),
    )
    max_cost: int | None = field(
        default=None,
        metadata=option(
            OptionKind.COUNT,
            "Of a problem with variants: the greatest cost of the chosen alternatives.",
            least=-GREATEST,
        ),
    )

    def __post_init__(self) -> None:
        """Replace words by the choices that they name, and integers of numpy by Python's.

        Raises BadInput for unknown words, which would otherwise count as a choice.
        """
        for name in WHOLE:
            value = getattr(self, name)
            if type(value) is not int and isinstance(value, Integral) and not isinstance(value, bool):
                object.__setattr__(self, name, int(value))
        for row in CHOICES:
            value = getattr(self, row.name)
            if isinstance(value, str) and not isinstance(value, StrEnum):
                object.__setattr__(self, row.name, as_choice(row.name, value))


def as_choice(name: str, value: Any) -> Any:
    """Return the option's choice that a word names; a choice and None as they are. Raises BadInput for anything else."""
    row = DECLARED[name]
    if value is None or (row.choices is not None and isinstance(value, row.choices)):
        return value
    try:
        return chosen(row, value)
    except ValueError as error:
        raise bad_option(name, str(error)) from None


def chosen(row: Declared, word: str) -> StrEnum:
    """Return the choice that a word names. Raises ValueError for an unknown word."""
    assert row.choices is not None
    try:
        return row.choices(word)
    except ValueError:
        words = [each.value for each in row.choices]
        raise ValueError(f"{echo(word)} is not one of {', '.join(words)}") from None


DECLARED = {each.name: Declared(each.name, each.default, **each.metadata) for each in fields(Options)}

WHOLE = tuple(
    row.name for row in DECLARED.values() if row.kind in (OptionKind.COUNT, OptionKind.BYTES, OptionKind.SIZES)
)

CHOICES = tuple(row for row in DECLARED.values() if row.choices is not None)


def require_valid(options: Options) -> None:
    """Raise BadInput for an option with a bad value."""
    for name, row in DECLARED.items():
        value = getattr(options, name)
        if value is None or row.least is None:
            continue
        is_number = isinstance(value, Real)  # as a name: mypy knows no order of Reals
        if not is_number:
            raise bad_option(name, f"must be a number, not {echo(value)}")
        if row.kind is not OptionKind.SECONDS and (isinstance(value, bool) or not isinstance(value, Integral)):
            raise bad_option(name, f"must be an integer, not {echo(value)}")
        if not row.least <= value < GREATEST:
            raise bad_option(name, f"{echo(value)} is out of range: it must be at least {row.least} and below 2^62")


def bad_option(name: str, message: str) -> BadInput:
    """Return bad input about an option."""
    return BadInput(Finding(Code.INVALID_OPTION, f"/options/{name}", message))
