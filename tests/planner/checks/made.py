"""Functions that make problems and return what the checks find in them."""

from __future__ import annotations

from typing import Any

from planner.checks import check
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem
from solvers.model.instance import Term

TOP = 1 << 62


TWO = (Pool("p", 100), Pool("q", rank=1))


def make(id_: int | str, size: int = 8, **rest: Any) -> Buffer:
    return Buffer(id_, size, **{"live": ((0, 10),), **rest})


def at(id_: int | str, offset: int, size: int = 8, pool: str = "default", **rest: Any) -> Buffer:
    return make(id_, size, fixed=Fixed(pool, offset), **rest)


def problem(
    *buffers: Buffer,
    pools: tuple[Pool, ...] = (Pool("default"),),
    terms: tuple[Term, ...] = (Term.SUM_OF_PEAKS,),
    peak_price: int = 1,
    **constraints: Any,
) -> Problem:
    return Problem(buffers, pools, Constraints(**constraints), terms, peak_price=peak_price)


def found(*buffers: Buffer, **rest: Any) -> list[tuple[str, str]]:
    return [(str(f.code), f.pointer) for f in check(problem(*buffers, **rest))]


def follows(*ties: tuple[int | str, int | str, int]) -> tuple[Colocation, ...]:
    return tuple(Colocation(*tie) for tie in ties)
