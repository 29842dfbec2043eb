"""Errors as users see them: one tree, stable codes, the place, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


class Code(StrEnum):
    """Stable codes of bad input; the HTTP service and the command line use the same."""

    INVALID_JSON = "invalid_json"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    NOT_FINITE = "not_finite"
    INTEGER_TOO_LONG = "integer_too_long"
    UNKNOWN_FORMAT = "unknown_format"
    MISSING_FIELD = "missing_field"
    UNKNOWN_FIELD = "unknown_field"
    WRONG_TYPE = "wrong_type"
    OUT_OF_RANGE = "out_of_range"
    INVALID_VALUE = "invalid_value"
    NOT_SUPPORTED_YET = "not_supported_yet"
    DUPLICATE_ID = "duplicate_id"
    UNKNOWN_BUFFER = "unknown_buffer"
    UNKNOWN_POOL = "unknown_pool"
    UNKNOWN_ALTERNATIVE = "unknown_alternative"
    LIFETIMES_MISSING = "lifetimes_missing"
    INVALID_EXPRESSION = "invalid_expression"
    INTERVAL_REVERSED = "interval_reversed"
    SELF_REFERENCE = "self_reference"
    CYCLIC_COLOCATION = "cyclic_colocation"
    CONTRADICTION = "contradiction"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    UNWRITABLE = "unwritable"
    INVALID_PROOF = "invalid_proof"
    INVALID_OPTION = "invalid_option"
    UNKNOWN_SOLVER = "unknown_solver"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    SOLVER_FAILED = "solver_failed"
    INFEASIBLE = "infeasible"
    NO_PLAN_FOUND = "no_plan_found"
    PLAN_WITHHELD = "plan_withheld"
    OUT_OF_TIME = "out_of_time"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of an input: a stable code, a JSON pointer to the place, one clear sentence."""

    code: Code
    pointer: str
    message: str


class PlannerError(Exception):
    """The root of the errors that planner raises on purpose. Each has findings on which a user can act."""

    def __init__(self, *findings: Finding, more: int = 0) -> None:
        self.findings = findings
        self.more = more
        """How many further findings were counted but not listed."""
        super().__init__("; ".join(f"{f.pointer}: {f.message}" if f.pointer else f.message for f in findings))

    def __reduce__(self) -> tuple[object, ...]:
        """Say how another process makes it again: an error's text does not make its findings."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[PlannerError], args: tuple[object, ...], state: dict[str, object]) -> PlannerError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class BadInput(PlannerError):
    """The given problem, plan or option is wrong in itself."""


class BadAnswer(BadInput):
    """A plan, or another answer, is wrong beside its problem. Places are in the answer; those of any other BadInput about the two are in the problem."""


class CannotSolve(PlannerError):
    """The requested solver does not exist, is not installed, or does not support this problem."""


class NoPlan(PlannerError):
    """There are no addresses to return: proven impossible, or none found within the limits."""

    def __init__(self, finding: Finding, answer: Plan) -> None:
        self.answer = answer
        """The Plan without placements: its status, why the run stopped, and what is missing."""
        super().__init__(finding)


class PlanWithheld(PlannerError):
    """What was made failed its verification: a fault of memplan itself."""


MAX_FINDINGS = 20
MAX_ECHO = 200
MAX_BITS = 10_000
"""Python refuses to write an integer of more than 4 300 digits."""


def shown_bare(value: object) -> str:
    """Return what is not a text for a message."""
    bits = value.bit_length() if isinstance(value, int) else 0
    return str(value) if bits <= MAX_BITS else f"a number of {bits} bits"


def echo(text: object) -> str:
    """Return input for quoting in a message: at most MAX_ECHO characters, control characters escaped."""
    shown = repr(text) if isinstance(text, str) else shown_bare(text)
    return shown if len(shown) <= MAX_ECHO else shown[: MAX_ECHO - 1] + "…"
