"""The digest is the same for all ways to write one problem, and differs between problems."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from planner.facts import digest as digest_module
from planner.facts.digest import digest, digest_for_sizes
from planner.formats import read_problem
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Lifetimes, Pool, Problem, ReusePenalty
from solvers.model.instance import Term


def digest_of(document: Any, **style: Any) -> str:
    return digest(read_problem(json.dumps(document, **style).encode())[0])


SHORT: dict[str, Any] = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "buffers": [{"id": "a", "size": 8, "live": [[0, 2], [2, 5]]}, {"id": 1, "size": 4}],
}
KINDS = ("conflicts", "exclusions", "colocations", "same_pool", "different_pool", "reuse_penalties")
LONG: dict[str, Any] = {
    "objective": {"terms": ["sum_of_peaks"]},
    "constraints": {kind: [] for kind in KINDS},
    "buffers": [
        {
            "live": [[0, 4]],
            "size": 8,
            "id": "a",
            "alignment": 1,
            "pools": ["default"],
            "fixed": None,
            "hint": None,
            "max_offset": None,
            "kind": None,
            "accesses": 0,
        },
        {"size": 4, "id": 1, "live": None},
    ],
    "pools": [
        {"name": "default", "size": None, "alignment": 1, "base": None, "reserved": [[3, 3]], "cost": 1, "rank": 0}
    ],
    "lifetimes": "inclusive",
    "name": "called something",
    "format": "memplan/1",
}


def test_spelling_does_not_change_the_digest() -> None:
    assert digest_of(SHORT) == digest_of(LONG) == digest_of(LONG, indent=3) == digest_of(SHORT, separators=(",", ":"))


def test_a_problem_s_digest_never_changes() -> None:
    assert digest_of(SHORT) == "b997902f2500f7e5b107da756f8e4609ec2a1e59c2d0303a3f70816735d8315f"


PROBLEM = Problem(
    buffers=(
        Buffer("a", 8, 2, ((0, 4),), ("p", "q"), Fixed("p", 0), 0, 64, "input", 1),
        Buffer("b", 8, live=((0, 4),)),
        Buffer("c", 8, live=((0, 4),)),
    ),
    pools=(Pool("p", 100, 2, 4, ((40, 50),), 2, 0), Pool("q", rank=1)),
    constraints=Constraints(
        (("a", "b"),),
        (("b", "c"),),
        (Colocation("b", "c", 8),),
        (("a", "b"),),
        (("a", "c"),),
        (ReusePenalty("a", "c", 1),),
    ),
    terms=(Term.REUSE_COST, Term.SUM_OF_PEAKS),
    name="n",
    lifetimes=Lifetimes.HALF_OPEN,
)


def buffer(**changes: Any) -> dict[str, Any]:
    return {"buffers": (replace(PROBLEM.buffers[0], **changes), *PROBLEM.buffers[1:])}


def pool(**changes: Any) -> dict[str, Any]:
    return {"pools": (replace(PROBLEM.pools[0], **changes), PROBLEM.pools[1])}


def constraints(**changes: Any) -> dict[str, Any]:
    return {"constraints": replace(PROBLEM.constraints, **changes)}


@pytest.mark.parametrize(
    "changes",
    [
        buffer(id="x"),
        buffer(id=1),
        buffer(size=9),
        buffer(alignment=4),
        buffer(live=((0, 5),)),
        buffer(live=None),
        buffer(pools=("q", "p")),
        buffer(fixed=None),
        buffer(fixed=Fixed("p")),
        buffer(hint=None),
        buffer(max_offset=63),
        buffer(kind="output"),
        buffer(accesses=2),
        {"buffers": PROBLEM.buffers[::-1]},
        pool(name="r"),
        pool(size=None),
        pool(alignment=1),
        pool(base=None),
        pool(reserved=()),
        pool(cost=1),
        pool(rank=1),
        {"pools": PROBLEM.pools[::-1]},
        constraints(conflicts=()),
        constraints(exclusions=()),
        constraints(conflicts=PROBLEM.constraints.exclusions, exclusions=PROBLEM.constraints.conflicts),
        constraints(colocations=(Colocation("b", "c", 9),)),
        constraints(same_pool=()),
        constraints(different_pool=()),
        constraints(reuse_penalties=(ReusePenalty("a", "c", 2),)),
        {"terms": (Term.REUSE_COST,)},
    ],
)
def test_every_difference_in_meaning_changes_the_digest(changes: dict[str, Any]) -> None:
    assert digest(replace(PROBLEM, **changes)) != digest(PROBLEM)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": None},
        {"lifetimes": Lifetimes.INCLUSIVE},
        buffer(live=((2, 4), (0, 3), (9, 9))),
        pool(reserved=((45, 50), (40, 45))),
        {"buffers": (*PROBLEM.buffers[:2], replace(PROBLEM.buffers[2], pools=("p", "q")))},
    ],
)
def test_differences_without_meaning_keep_the_digest(changes: dict[str, Any]) -> None:
    assert digest(replace(PROBLEM, **changes)) == digest(PROBLEM)


def test_numbers_and_their_digits_are_different_ids() -> None:
    assert digest(Problem((Buffer(1, 8),))) != digest(Problem((Buffer("1", 8),)))


def test_names_that_utf8_cannot_carry_have_digests_too() -> None:
    assert digest(Problem((Buffer("\ud800", 8),))) != digest(Problem((Buffer("?", 8),)))


def test_each_size_of_a_sweep_checks_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(digest_module, "look", looks.append)
    problem = Problem((Buffer(1, 8, live=((0, 1),)),), (Pool("p", 64),))
    of_sizes = digest_for_sizes(problem)
    for size in range(10, 15):
        sized = replace(problem, pools=(Pool("p", size),))
        before = len(looks)
        found = of_sizes(sized)
        assert len(looks) > before
        assert found == digest(sized)
