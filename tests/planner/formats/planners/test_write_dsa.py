"""Problems are written as dsa-solver's JSON, and as idealloc's records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from planner import Buffer, Colocation, Constraints, Fixed, Pool, Problem, plan, read_problem
from planner.formats import FORMATS
from planner.model.errors import BadInput
from planner.model.problem import Lifetimes, ReusePenalty
from solvers.model.instance import Term

FULL = Problem(
    (
        Buffer("a", 8, 4, ((0, 2), (5, 9)), ("fast", "slow")),
        Buffer(0, 8, live=((1, 4),), pools=("fast",), fixed=Fixed("fast", 8)),
        Buffer("c", 8, live=((1, 4),), pools=("fast", "slow")),
        Buffer("d", 4, live=((3, 4),), pools=("slow",)),
    ),
    (Pool("fast", 64, reserved=((0, 4),)), Pool("slow", rank=1)),
    Constraints((("a", "d"),), ((0, "c"),), (Colocation("c", 0, 0),), reuse_penalties=(ReusePenalty("a", 0, 3),)),
    (Term.REUSE_COST, Term.SUM_OF_PEAKS),
    "n",
    Lifetimes.HALF_OPEN,
)
TWO = (Buffer("a", 8, live=((0, 2),)), Buffer("b", 4, live=((1, 3),)))


def as_dsa(problem: Problem) -> Any:
    return json.loads(FORMATS["dsa"].write(problem))


def refused(problem: Problem, name: str) -> str:
    with pytest.raises(BadInput) as caught:
        FORMATS[name].write(problem)
    return caught.value.findings[0].pointer


def test_a_written_problem_is_read_as_the_same_problem() -> None:
    again, _ = read_problem(FORMATS["dsa"].write(FULL))
    assert replace(again, name="n") == FULL
    assert as_dsa(FULL)["profile"] == "pypto_structured"
    assert as_dsa(Problem(TWO, (Pool("ram", 64),), lifetimes=Lifetimes.HALF_OPEN))["profile"] == "standard_dsa"


def test_buffers_without_a_lifetime_meet_their_conflicts() -> None:
    problem = Problem(
        tuple(Buffer(id_, 8, live=live) for id_, live in (("a", None), ("b", None), ("c", ()), ("d", ((0, 4),)))),
        constraints=Constraints((("a", "b"), ("a", "d"))),
    )
    again, _ = read_problem(FORMATS["dsa"].write(problem))
    assert plan(again).peak == plan(problem).peak == 16
    ends = [end for buffer in again.buffers for _, end in buffer.live or ()]
    assert sorted(ends) == [4, 5, 6, 7]


def test_alignments_and_addresses_that_matter_are_not_lost() -> None:
    one = Problem(TWO, (Pool("ram", alignment=16),), lifetimes=Lifetimes.HALF_OPEN)
    assert [each["alignment"] for each in as_dsa(one)["problem"]["buffers"]] == [16, 16]
    two = replace(one, pools=(Pool("ram", alignment=16), Pool("rom", rank=1)))
    assert refused(two, "dsa") == "/pools/0/alignment"
    assert refused(replace(one, pools=(Pool("ram", base=8, alignment=16),)), "dsa") == "/pools/0/base"
    assert as_dsa(replace(one, pools=(Pool("ram", base=32, alignment=16),)))


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"buffers": (replace(TWO[0], max_offset=8), TWO[1])}, "/buffers/0/max_offset"),
        ({"pools": (Pool("ram", cost=2),)}, "/pools/0/cost"),
        ({"constraints": Constraints(colocations=(Colocation("b", "a", 4),))}, "/constraints/colocations/0"),
        ({"constraints": Constraints(same_pool=(("a", "b"),))}, "/constraints/same_pool"),
        ({"terms": (Term.ACCESS_COST,)}, "/objective/terms/0"),
    ],
)
def test_problems_that_dsa_solver_cannot_express_are_refused(more: Any, pointer: str) -> None:
    assert refused(replace(Problem(TWO, (Pool("ram"),), lifetimes=Lifetimes.HALF_OPEN), **more), "dsa") == pointer


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"buffers": (Buffer("a", 8, live=((0, 2), (3, 4))),)}, "/buffers/0/live"),
        ({"buffers": (Buffer("a", 8, live=((-1, 2),)),)}, "/buffers/0/live"),
        ({"buffers": (Buffer("a", 8),)}, "/buffers/0/live"),
        ({"buffers": (replace(TWO[0], fixed=Fixed("ram", 8)),)}, "/buffers/0"),
        ({"pools": (Pool("ram"), Pool("rom"))}, "/buffers/0"),
        ({"pools": (Pool("ram", reserved=((0, 4),)),)}, "/pools/0"),
        ({"constraints": Constraints((("a", "b"),))}, "/constraints/conflicts"),
    ],
)
def test_problems_that_idealloc_cannot_express_are_refused(more: Any, pointer: str) -> None:
    assert refused(replace(Problem(TWO, (Pool("ram"),), lifetimes=Lifetimes.HALF_OPEN), **more), "idealloc") == pointer


def test_named_buffers_are_numbered_for_idealloc() -> None:
    problem = Problem((*TWO, Buffer(0, 2, live=((0, 3),))), (Pool("ram"),), lifetimes=Lifetimes.HALF_OPEN)
    again, _ = read_problem(FORMATS["idealloc"].write(problem), format="idealloc")
    assert [(each.id, each.size, each.live) for each in again.buffers] == [
        (1, 8, ((0, 2),)),
        (2, 4, ((1, 3),)),
        (0, 2, ((0, 3),)),
    ]
