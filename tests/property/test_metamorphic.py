"""Changes that must not change an optimum: other units, time reversed or shifted, names, order, one more buffer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner import Buffer, Options, Plan, PlanStatus, Problem, StopReason, plan, verify
from planner.model.problem import BufferId, Colocation, Constraints, Fixed
from solvers.model.instance import Term
from tests.small.oracle import IN_BYTES, solve
from tests.small.strategies import effort, problems

LIMITS = Options(time_limit=60.0, work_limit=2_000_000, workers=1)


def rescaled(problem: Problem, k: int) -> Problem:
    """Return the problem with all addresses and sizes k times as large."""

    def times(value: int | None) -> int | None:
        return None if value is None else value * k

    pools = tuple(
        replace(
            p,
            size=times(p.size),
            alignment=p.alignment * k,
            base=times(p.base),
            reserved=tuple((begin * k, end * k) for begin, end in p.reserved),
        )
        for p in problem.pools
    )
    buffers = tuple(
        replace(
            b,
            size=b.size * k,
            alignment=b.alignment * k,
            fixed=b.fixed and Fixed(b.fixed.pool, times(b.fixed.offset)),
            hint=times(b.hint),
            max_offset=times(b.max_offset),
        )
        for b in problem.buffers
    )
    ties = tuple(replace(tie, offset=tie.offset * k) for tie in problem.constraints.colocations)
    was = tuple(replace(each, offset=each.offset * k) for each in problem.was)
    constraints = replace(problem.constraints, colocations=ties)
    return replace(problem, pools=pools, buffers=buffers, constraints=constraints, was=was)


def at_other_times(problem: Problem, change: Callable[[int, int], tuple[int, int]]) -> Problem:
    buffers = tuple(
        b if b.live is None else replace(b, live=tuple(change(start, end) for start, end in b.live))
        for b in problem.buffers
    )
    return replace(problem, buffers=buffers)


def backwards(problem: Problem) -> Problem:
    return at_other_times(problem, lambda start, end: (-end, -start))


def later(problem: Problem) -> Problem:
    return at_other_times(problem, lambda start, end: (start + 10**15, end + 10**15))


def renamed(problem: Problem, order: list[int]) -> Problem:
    """Return the problem with its buffers in another order and under other names."""
    name: dict[BufferId, BufferId] = {b.id: f"new {order.index(n)}" for n, b in enumerate(problem.buffers)}
    c = problem.constraints
    return replace(
        problem,
        buffers=tuple(replace(problem.buffers[n], id=name[problem.buffers[n].id]) for n in order),
        was=tuple(replace(each, buffer=name[each.buffer]) for each in reversed(problem.was)),
        constraints=Constraints(
            tuple((name[b], name[a]) for a, b in reversed(c.conflicts)),
            tuple((name[b], name[a]) for a, b in reversed(c.exclusions)),
            tuple(Colocation(name[t.buffer], name[t.base], t.offset) for t in reversed(c.colocations)),
            tuple(tuple(name[id_] for id_ in group) for group in c.same_pool),
            tuple(tuple(name[id_] for id_ in group) for group in c.different_pool),
            tuple(replace(p, first=name[p.second], second=name[p.first]) for p in c.reuse_penalties),
        ),
    )


def with_a_twin(problem: Problem, which: int) -> Problem:
    """Return the problem with a copy of one buffer, live long after all others, which can lie at the same place."""
    twin = replace(problem.buffers[which], id="twin", live=((10**6, 10**6 + 1),), accesses=0, reads=0, writes=0)
    return replace(problem, buffers=(*problem.buffers, twin))


def scaled_value(problem: Problem, value: tuple[int, ...], k: int) -> tuple[int, ...]:
    return tuple(v * k if term in IN_BYTES else v for term, v in zip(problem.terms, value, strict=True))


def compare(problem: Problem, best: tuple[int, ...] | None) -> Plan:
    """Plan the problem, assert that the plan does not contradict the known optimum, and return it."""
    made = plan(problem, LIMITS)
    assert verify(problem, made) == ()
    assert made.stop is not StopReason.SOLVER_FAILED
    values = tuple(term.value for term in made.objective.terms)
    if best is None:
        assert made.status in (PlanStatus.INFEASIBLE, PlanStatus.UNKNOWN)
    elif made.status is PlanStatus.OPTIMAL:
        assert values == best
    else:
        assert made.status is not PlanStatus.INFEASIBLE
        assert made.status is PlanStatus.UNKNOWN or values > best
    return made


@effort(8, 3000)
@given(problems(max_buffers=5), st.sampled_from((2, 3, 1000, 3 << 40)))
def test_other_units_keep_the_optimum(problem: Problem, k: int) -> None:
    assume(Term.BALANCED not in problem.terms)  # this term weighs bytes against what does not grow with them
    assume(all(pool.speed is None for pool in problem.pools))  # transfers come in whole bursts
    best = solve(problem).value
    compare(rescaled(problem, k), None if best is None else scaled_value(problem, best, k))


@pytest.mark.parametrize("change", [backwards, later])
def test_reversed_and_shifted_time_keeps_the_optimum(change: Callable[[Problem], Problem]) -> None:
    @effort(8, 3000)
    @given(problems(max_buffers=5))
    def keeps_the_optimum(problem: Problem) -> None:
        compare(change(problem), solve(problem).value)

    keeps_the_optimum()


@effort(8, 3000)
@given(problems(max_buffers=5), st.data())
def test_other_names_and_orders_keep_the_optimum(problem: Problem, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(problem.buffers))))
    compare(renamed(problem, list(order)), solve(problem).value)


@effort(8, 3000)
@given(problems(max_buffers=5).filter(lambda p: bool(p.buffers)), st.data())
def test_a_buffer_that_never_meets_the_others_keeps_the_optimum(problem: Problem, data: st.DataObject) -> None:
    assume(Term.SPILLED_BYTES not in problem.terms)  # the twin may be spilled, too
    compare(with_a_twin(problem, data.draw(st.integers(0, len(problem.buffers) - 1))), solve(problem).value)


def test_each_change_makes_a_different_problem() -> None:
    problem = Problem((Buffer("a", 3, 1, ((0, 2),)), Buffer("b", 4, 2, ((1, 5),))))
    assert solve(rescaled(problem, 5)).value == (35,)
    assert backwards(problem).buffers[0].live == ((-2, 0),)
    assert [b.id for b in renamed(problem, [1, 0]).buffers] == ["new 0", "new 1"]
    assert with_a_twin(problem, 1).buffers[2].size == 4
