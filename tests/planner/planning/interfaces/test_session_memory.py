"""What a session remembers of one problem says nothing of another that only resembles it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Thread
from typing import Any

import numpy as np
import pytest

from planner import (
    BadInput,
    Buffer,
    BufferInfo,
    Options,
    Plan,
    PlanStatus,
    Pool,
    Preference,
    Problem,
    Session,
    StopReason,
    plan,
    verify,
)
from planner.facts.digest import digest
from planner.model import deadline
from planner.model.problem import Alternative, Constraints, CostTerm, VariantGroup, Variants
from planner.planning.interfaces import session as session_module


def meeting(size: int) -> tuple[Buffer, ...]:
    return Buffer("a", 10, live=((0, 2),)), Buffer("b", size, live=((1, 3),))


def test_constraints_known_from_a_problem_with_read_only_pools_are_digested() -> None:
    session, ram = Session(), (Pool("ram"),)
    for constraints in (Constraints(conflicts=(("a", "b"),)), Constraints(exclusions=(("a", "b"),))):
        for size, pools in ((5, (Pool("rom", read_only=True), Pool("ram"))), (5, ram), (6, ram)):
            problem = Problem(meeting(size), pools, constraints)
            made = session.plan(problem)
            assert made.problem_digest == digest(problem)
            assert made.peak == plan(problem).peak


def test_what_another_thread_plans_meanwhile_is_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    two, one = (Pool("m", rank=0), Pool("n", rank=1)), (Pool("m", rank=1), Pool("n", rank=0))
    first = tuple(Buffer(f"b{i}", 4, live=((0, 2),)) for i in range(4))
    buffers = tuple(replace(each, pools=None if i else ("m", "n")) for i, each in enumerate(first))
    session, compare = Session(0), session_module._named_alike
    session.plan(Problem(first, one))
    threads = [Thread(target=session.plan, args=(Problem(buffers, two),))]

    def interrupted(pools: Sequence[Pool], others: Sequence[Pool]) -> bool:
        found = compare(pools, others)
        while threads:
            thread = threads.pop()
            thread.start()
            thread.join()
        return found

    monkeypatch.setattr(session_module, "_named_alike", interrupted)
    problem = Problem(buffers, one)
    assert not verify(problem, session.plan(problem))
    assert not threads


@pytest.mark.parametrize("afresh", [False, True])
def test_of_variants_a_session_prefers_what_plan_prefers(*, afresh: bool) -> None:
    fast, small = Alternative("fast", (1,), (Buffer("v", 50, live=((0, 3),)),)), Alternative("small", (2,))
    variants = Variants((VariantGroup("g", (fast, small)),), (CostTerm("cycles"),))
    session, problem = Session(afresh=afresh), Problem(meeting(5), (Pool("m", 100),), variants=variants)
    for prefer in (Preference.SIZE, Preference.SPEED, None):
        options = Options(prefer=prefer)
        made, fresh = session.plan(problem, options), plan(problem, options)
        assert (made.status, made.peak, made.choice) == (fresh.status, fresh.peak, fresh.choice)
    with pytest.raises(BadInput):
        session.plan(problem, Options(prefer=Preference.BALANCED))


@pytest.mark.parametrize(
    ("buffers", "pointer"),
    [
        ((BufferInfo("a", 4), BufferInfo("a", 5)), "/buffers/1/id"),
        ((BufferInfo("a", 4, conflicts=("b",)),), "/buffers/0/conflicts/0"),
        ((Buffer("a", -4),), "/buffers/0/size"),
    ],
)
def test_what_can_be_read_only_once_is_refused_for_what_is_wrong_in_it(
    buffers: tuple[Buffer | BufferInfo, ...], pointer: str
) -> None:
    for pools in ([("m", None)], iter([("m", None)])):
        with pytest.raises(BadInput) as refusal:
            Session().plan_memory(pools, iter(buffers))
        assert refusal.value.findings[0].pointer == pointer


def test_pools_and_tensors_that_can_be_read_only_once_are_planned() -> None:
    tensors = [BufferInfo("a", np.int64(4)), BufferInfo("b", np.int64(5), conflicts=("a",))]  # type: ignore[arg-type]
    assert len(Session().plan_memory(iter([("m", None)]), iter(tensors))) == 2


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = ()
    for _ in range(5000):
        deep = (deep,)
    with pytest.raises(BadInput):
        Session().plan(Problem((Buffer("a", 1, pools=deep),)))
    with pytest.raises(BadInput):
        Session().plan_memory([("m", None)], [BufferInfo("a", 1, conflicts=deep)])


@pytest.mark.parametrize(
    ("buffers", "least"),
    [
        (tuple(Buffer(i, 10, live=((i, i + 2),)) for i in range(1000)), 300_000),
        ((Buffer("a", 900_000, live=((0, 1),), kind="constant", data=b"constants" * 100_000),), 900_000),
        ((Buffer("a", 9, live=tuple((3 * i, 3 * i + 1) for i in range(2000))),), 200_000),
    ],
    ids=["infeasible", "data", "lifetimes"],
)
def test_the_memory_of_what_was_given_counts(buffers: tuple[Buffer, ...], least: int) -> None:
    session, small = Session(), Session(least // 2)
    for each in (session, small):
        each.plan(Problem((*buffers, Buffer("last", 1)), (Pool("m", 15),)))
    assert session.bytes > least
    assert small.bytes <= small.max_bytes


def test_checking_and_digesting_count_as_the_call_s_time(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[bool] = []

    def noted(problem: Problem) -> str:
        limits.append(deadline._current.get() is not None)
        return digest(problem)

    monkeypatch.setattr(session_module, "digest", noted)
    Session().plan(Problem(meeting(5)), Options(time_limit=5.0))
    assert limits == [True]


def test_a_problem_with_other_costs_of_memories_gets_all_of_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int | None] = []

    def left_open(problem: Problem, options: Options, begun: float, start: Plan | None = None) -> Plan:
        limits.append(options.work_limit)
        made = plan(problem, options)
        return replace(made, status=PlanStatus.FEASIBLE, stop=StopReason.WORK_LIMIT, gap=0.1)

    monkeypatch.setattr(session_module, "plan", left_open)
    monkeypatch.setattr(session_module, "placed_again", lambda *_: None)
    session = Session()
    for size, cost in ((5, 1), (6, 1), (6, 2)):
        session.plan(Problem(meeting(size), (Pool("m", cost=cost),)), Options(work_limit=100_000))
    assert limits == [100_000, 20_000, 100_000]
