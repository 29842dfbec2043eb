"""A session keeps only what nobody can change, and what its text says completely: objects of others' classes are planned anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from planner import BadInput, Buffer, BufferInfo, Options, PlanStatus, Pool, Problem, Session, plan, plan_memory
from planner.facts.digest import digest
from planner.model.problem import Colocation, Constraints, ReusePenalty
from solvers.model.instance import Term

BUFFERS = (Buffer("a", 1025, live=((0, 1),)),)


class Sizes(Mapping[str, int]):
    """Sizes of pools, all with the same text, as those without their own have if they are at one address one after the other."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter("m")

    def __getitem__(self, name: str) -> int:
        return self._size

    def __repr__(self) -> str:
        return "sizes"


class Memory(Pool):
    def __repr__(self) -> str:
        return f"memory {self.name}"


class Wishes(Options):
    def __repr__(self) -> str:
        return "wishes"


class Name(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "name"


@pytest.mark.parametrize(
    "make",
    [
        lambda size: (Pool("m"), Options(capacity=Sizes(size))),
        lambda size: (Pool("m"), Wishes(capacity=size)),
        lambda size: (Memory("m", size), Options()),
    ],
    ids=["capacity", "options", "pool"],
)
def test_objects_with_the_same_text_are_not_the_same(make: Callable[[int], tuple[Pool, Options]]) -> None:
    session = Session()
    for size, status in ((2047, PlanStatus.OPTIMAL), (1024, PlanStatus.INFEASIBLE)):
        pool, options = make(size)
        for _ in range(2):
            made = session.plan(Problem(BUFFERS, (pool,)), options)
            assert made.status is status
    pool, options = make(2047)
    assert session.plan_memory([pool], BUFFERS, options) == plan_memory([pool], BUFFERS, options)


def test_names_with_the_same_text_are_not_the_same() -> None:
    session = Session()
    for name in "mn":
        assert session.plan(Problem(BUFFERS, (Pool(Name(name)),))).placements[0].pool == name


class Rows(Sequence[Any]):
    """A sequence whose owner changes it. Its hash is that of the object, as every object's is."""

    def __init__(self, *rows: Any) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        return self.rows[at]


def of_rules(name: str) -> Callable[[Rows, int], Problem]:
    terms = (Term.REUSE_COST, Term.SUM_OF_PEAKS) if name == "reuse_penalties" else (Term.SUM_OF_PEAKS,)

    def make(rows: Rows, size: int) -> Problem:
        b = Buffer("b", size, live=((1, 2),) if name == "exclusions" else ((4, 5),))
        buffers = (Buffer("a", 30, live=((0, 2),)), b, Buffer("c", 2, live=((0, 9),)))
        rules: dict[str, Any] = {name: rows}
        return Problem(buffers, (Pool("m"),), Constraints(**rules), terms)

    return make


def in_pools(rows: Rows, size: int) -> Problem:
    return Problem((Buffer("a", size, live=((0, 1),), pools=rows),), (Pool("m"), Pool("n")))  # type: ignore[arg-type]


def reserved(rows: Rows, size: int) -> Problem:
    return Problem((Buffer("a", size, live=((0, 1),)),), (Pool("m", reserved=rows),))


CHANGES: dict[str, tuple[Callable[[Rows, int], Problem], Any, Any]] = {
    "pools": (in_pools, "m", "n"),
    "reserved": (reserved, (0, 2), (0, 7)),
    **{
        name: (of_rules(name), ("a", "c"), ("a", "b"))
        for name in ("conflicts", "exclusions", "same_pool", "different_pool")
    },
    "colocations": (of_rules("colocations"), Colocation("c", "a", 0), Colocation("b", "a", 0)),
    "reuse_penalties": (of_rules("reuse_penalties"), ReusePenalty("a", "c", 1), ReusePenalty("a", "b", 1)),
}


def answer(call: Callable[[Problem], Any], problem: Problem) -> tuple[object, ...]:
    try:
        made = call(problem)
    except BadInput as refusal:
        return tuple(finding.pointer for finding in refusal.findings)
    return made.status, made.objective.value, made.problem_digest


@pytest.mark.parametrize("change", CHANGES)
def test_sequences_of_others_can_be_changed(change: str) -> None:
    make, first, second = CHANGES[change]
    session, rows = Session(), Rows(first)
    problem = make(rows, 4)
    for given in (problem, replace(problem, buffers=make(rows, 5).buffers)):
        assert answer(session.plan, given) == answer(plan, given)
    rows.rows[:] = [second]
    variation = replace(problem, buffers=make(rows, 6).buffers)
    for given in (problem, variation):
        assert answer(session.plan, given) == (*answer(plan, given)[:2], digest(given))


def test_bytes_that_can_be_changed_are_not_those_of_a_known_constant() -> None:
    def constant(data: Any) -> Problem:
        return Problem((Buffer("a", 3, live=((0, 1),), kind="constant", data=data),), (Pool("m"),))

    session, data = Session(), bytearray(b"abc")
    session.plan(constant(b"abc"))
    problem = constant(data)
    assert session.plan(problem).problem_digest == digest(problem)
    data[0] = 65
    assert session.plan(problem).problem_digest == digest(problem)
    data.extend(b"more")
    with pytest.raises(BadInput):
        session.plan(problem)


@pytest.mark.parametrize(
    "wrong",
    [
        Problem(BUFFERS, (Pool("m"),), terms=("sum_of_peaks",)),  # type: ignore[arg-type]
        Problem(BUFFERS, (Pool("m"),), lifetimes="half_open"),  # type: ignore[arg-type]
        Problem((replace(BUFFERS[0], pools="m"),), (Pool("m"),)),  # type: ignore[arg-type]
        Problem({*BUFFERS}, (Pool("m"),)),  # type: ignore[arg-type]
        Problem((Buffer("a", 1), Buffer("b", 1)), (Pool("m"),), Constraints(conflicts=("ab",))),  # type: ignore[arg-type]
    ],
)
def test_a_session_refuses_what_is_of_another_type_than_declared(wrong: Problem) -> None:
    with pytest.raises(BadInput):
        Session().plan(wrong)


TENSORS: list[dict[str, Any]] = [
    {"conflicts": (1.0,)},
    {"conflicts": (True,)},
    {"conflicts": {1}},
    {"pool_candidates": "m"},
    {"pool_candidates": {"m"}},
    {"live": {(0, 1)}},
    {"live": ((0, 1) for _ in range(1))},
]


@pytest.mark.parametrize("wrong", TENSORS)
def test_tensors_of_other_types_than_declared_are_refused(wrong: dict[str, Any]) -> None:
    session = Session()
    for _ in range(2):
        with pytest.raises(BadInput):
            session.plan_memory([("m", None)], [BufferInfo(1, 4), BufferInfo(2, 4, **wrong)])


def test_what_is_no_pool_and_no_options_is_refused() -> None:
    pools: Any = [("m", None, 5)]
    with pytest.raises(BadInput):
        Session().plan_memory(pools, [BufferInfo(1, 4)])
    options: Any = {}
    for _ in range(2):
        with pytest.raises(BadInput):
            Session().plan(Problem(BUFFERS), options)


def test_lists_and_integers_of_others_are_tensors_as_before() -> None:
    session, lists = Session(), [1]
    tensors: list[Any] = [BufferInfo(1, np.int64(4)), BufferInfo(2, 4, conflicts=lists, live=[(0, 1)])]  # type: ignore[arg-type]
    for _ in range(2):
        assert {place.pool_offset for place in session.plan_memory([["m", None]], tensors)} == {0, 4}  # type: ignore[list-item]
    lists.clear()
    assert {place.pool_offset for place in session.plan_memory([("m", None)], tensors)} == {0}


def test_a_tensor_of_a_class_of_others_can_be_changed() -> None:
    class Growing(BufferInfo):
        @property
        def size_bytes(self) -> int:
            return sizes[0]

    sizes, session = [4], Session()
    growing, other = object.__new__(Growing), BufferInfo("b", 4, conflicts=("a",))
    known = BufferInfo("a", 4)
    for field in fields(BufferInfo):
        if field.name != "size_bytes":
            object.__setattr__(growing, field.name, getattr(known, field.name))
    for tensor, size in ((known, 4), (growing, 4), (growing, 9)):
        sizes[0] = size
        assert session.plan_memory([("m", None)], [tensor, other]) == plan_memory([("m", None)], [tensor, other])
