"""Questions about a program and their answers, which go back to the process that asked as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from ....model.errors import SolverFailed, StopReason
from ..prices.crowds import Crowd, Relaxed, is_crowd
from ..program.program import Heights, Pools, Program, Row

NAME = "cpsat"
THOUSAND = 1_000


class Clash(NamedTuple):
    """Classes that a pool has no room for together, although at each moment it has."""

    pool: int
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Which choice of pools has the least of one term, among those that keep the limits?"""

    term: int
    held: tuple[int, ...] = ()
    """The greatest values that earlier terms may have."""
    least: int | None = None
    """A known lower bound of the term."""
    most: int | None = None
    """Only choices up to this value are of use."""
    stretch: tuple[int, ...] = ()
    """For each pool, by how many thousandths its rows are stretched."""
    tops: tuple[int | None, ...] = ()
    """For each pool, its greatest allowed peak."""
    are_peaks: bool = False
    """Take the tops as the peaks, even if the choice would end lower? Without peaks to weigh, the answer comes many times sooner."""
    near: Pools | None = None
    """A choice to begin with."""
    heights: Heights = ()
    """The choice must have pools of these heights."""
    with_ends: bool = False
    """Count peaks to the last unit: where sizes are rounded up, the block on top ends where it ends. Rows must not be stretched then."""
    enough: int | None = None
    """A proof that no choice is below this value is enough."""
    clashes: tuple[Clash, ...] = ()
    crowds: tuple[Crowd, ...] = ()
    """Lifted covers that help to answer it; they hold in any case."""

    def most_in(self, row: Row, room: int) -> int:
        """How much the row may count where there is so much room."""
        full = THOUSAND + (self.stretch[row.pool] if self.stretch else 0)
        return room * THOUSAND // full

    def weighs_peaks(self, program: Program) -> bool:
        """True if the peaks are not given, and some term up to this one counts them."""
        return not self.are_peaks and any(term.counts_peaks for term in program.terms[: self.term + 1])

    def holds_peaks(self, program: Program) -> bool:
        """The same of earlier terms alone."""
        return self.weighs_peaks(program) and not any(program.terms[self.term].of_peaks)


class Answer(NamedTuple):
    """The best choice found, and a bound on all choices that were asked for."""

    pools: Pools | None
    value: int | None
    """The term's value for the choice."""
    bound: int | None
    """No choice is better than this; None: there is no choice, or nothing is known."""
    stopped: StopReason | None
    """Why the search ended early."""
    work: int = 0

    @property
    def is_impossible(self) -> bool:
        return self.pools is None and self.stopped is None


def write_answer(answer: Answer) -> dict[str, object]:
    return answer._asdict()


def read_answer(fields: Mapping[str, Any], program: Program) -> Answer:
    """Read an answer. Raises SolverFailed if it cannot be right: what comes from another process is checked before it counts."""
    try:
        pools, value, bound, stopped, work = (fields[name] for name in Answer._fields)
        pools = None if pools is None else tuple(pools)
        answer = Answer(pools, value, bound, None if stopped is None else StopReason(stopped), work)
    except (KeyError, TypeError, ValueError) as error:
        raise SolverFailed(NAME, f"its answer is not a choice of pools: {error}") from error
    if type(work) is not int or work < 0 or any(type(n) is not int for n in (value, bound) if n is not None):
        raise SolverFailed(NAME, "its answer is not a number")
    if pools is not None and (
        value is None
        or len(pools) != len(program.homes)
        or any(pool not in homes for pool, homes in zip(pools, program.homes, strict=True))
    ):
        raise SolverFailed(NAME, "it answered with pools in which something may not be")
    return answer


def read_crowd(fields: Sequence[Any]) -> Crowd:
    row, classes, votes = fields
    return Crowd(int(row), tuple(map(int, classes)), tuple(map(int, votes)))


def write_relaxed(relaxed: Relaxed | None, work: int) -> dict[str, object]:
    found = None if relaxed is None else {field.name: getattr(relaxed, field.name) for field in fields(relaxed)}
    return {"relaxed": found, "work": work}


def read_bound(fields: Mapping[str, Any], best: int) -> tuple[int, int]:
    """Read a bound, which is no greater than the best known, and the work it took. Raises SolverFailed like `read_answer`."""
    try:
        bound, work = fields["bound"], fields["work"]
    except KeyError as error:
        raise SolverFailed(NAME, f"its answer is not a bound: {error}") from error
    if type(bound) is not int or type(work) is not int or work < 0 or bound > best:
        raise SolverFailed(NAME, "its answer is not a bound")
    return bound, work


def read_heights(fields: Mapping[str, Any], program: Program) -> tuple[Heights, int]:
    """Read ranges of heights, or none, and the work they took. Raises SolverFailed like `read_answer`."""
    try:
        heights = tuple((int(low), int(high)) for low, high in fields["heights"])
        work = int(fields["work"])
    except (KeyError, TypeError, ValueError) as error:
        raise SolverFailed(NAME, f"its answer is not heights: {error}") from error
    if heights and len(heights) != len(program.rooms):
        raise SolverFailed(NAME, "it answered with heights of other pools")
    if work < 0 or not all(0 <= low <= high for low, high in heights):
        raise SolverFailed(NAME, "it answered with what are no heights")
    return heights, work


def read_relaxed(fields: Mapping[str, Any], program: Program, held: int) -> tuple[Relaxed | None, int]:
    """Read a solution for the term after the first `held`, with the work it took. Raises SolverFailed like `read_answer`."""
    try:
        work, found = int(fields["work"]), fields["relaxed"]
        if found is None:
            return None, work
        relaxed = Relaxed(
            peaks=tuple(int(peak) for peak in found["peaks"]),
            of_rows=tuple((int(row), float(price)) for row, price in found["of_rows"]),
            of_crowds=tuple((read_crowd(crowd), float(price)) for crowd, price in found["of_crowds"]),
            of_held=tuple(float(price) for price in found["of_held"]),
            gain=float(found["gain"]),
            work=int(found["work"]),
            spreads=tuple(float(spread) for spread in found["spreads"]),
            shares=tuple(tuple(float(share) for share in shares) for shares in found["shares"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise SolverFailed(NAME, f"its answer is not a relaxation: {error}") from error
    prices = [*(price for _, price in (*relaxed.of_rows, *relaxed.of_crowds)), *relaxed.of_held]
    if len(relaxed.peaks) != len(program.rooms) or min(relaxed.peaks, default=0) < 0 or work < 0:
        raise SolverFailed(NAME, "it answered with what are no peaks")
    if len(relaxed.spreads) != len(program.rooms) or not all(map(math.isfinite, relaxed.spreads)):
        raise SolverFailed(NAME, "it answered with what are no heights")
    due = zip(relaxed.shares, program.homes, strict=False)
    if len(relaxed.shares) != len(program.homes) or not all(
        len(shares) == len(homes) and all(map(math.isfinite, shares)) for shares, homes in due
    ):
        raise SolverFailed(NAME, "it answered with what are no shares")
    if len(relaxed.of_held) != held or not all(math.isfinite(price) and price >= 0 for price in prices):
        raise SolverFailed(NAME, "it answered with what are no prices")
    rows = [row for row, _ in relaxed.of_rows] + [crowd.row for crowd, _ in relaxed.of_crowds]
    if not all(0 <= row < len(program.rows) for row in rows) or not all(
        is_crowd(program, crowd) for crowd, _ in relaxed.of_crowds
    ):
        raise SolverFailed(NAME, "it answered with prices of what is not there")
    return relaxed, work
