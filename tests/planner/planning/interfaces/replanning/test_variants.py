"""A session's plans of variants under all kinds of rules are those of fresh calls, or as good, and the full verifier finds no fault in them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planner import (
    BadInput,
    Buffer,
    Options,
    Plan,
    PlanStatus,
    Pool,
    Preference,
    Problem,
    Session,
    plan,
    verify,
    with_preference,
)
from planner.facts import costs
from planner.generate import Request, generate
from planner.model.plan import Run
from planner.model.problem import Colocation, Constraints, Fixed

LIMITED = Options(time_limit=None, work_limit=5_000, workers=1)
PREFER = (None, Preference.SPEED, Preference.SIZE, Preference.BALANCED)


def begun(chance: random.Random) -> Problem:
    """Return a problem with one or two memories, fixed places, greatest offsets, conflicts and views."""
    pools: tuple[Pool, ...] = (Pool("fast", 1 << 12, reserved=chance.choice(((), ((64, 96),)))), Pool("slow", rank=1))
    pools = chance.choice((pools, pools[1:]))
    buffers = []
    for i in range(10):
        start = chance.randrange(12)
        live = chance.choice((((start, start + chance.randint(1, 5)),),) * 4 + (((start, start + 1), (20, 22)),))
        listed = chance.choice((None, None, (pools[0].name,), (pools[-1].name,)))
        buffer = Buffer(i, 8 * chance.randint(1, 12), live=live, pools=listed, reads=chance.randint(0, 3))
        buffers.append(buffer)
    buffers[0] = replace(buffers[0], pools=None, fixed=Fixed(pools[-1].name, 8 * chance.randrange(4)))
    buffers[1] = replace(buffers[1], max_offset=160, alignment=4)
    base = buffers[4]
    buffers.append(Buffer("view", 4, live=base.live, pools=base.pools))
    rules = Constraints(conflicts=((2, 3), (5, 6)), colocations=(Colocation("view", 4, 4),))
    kinds = (Constraints(), replace(rules, colocations=()), rules)
    return Problem(tuple(buffers), pools, chance.choice(kinds))


def changed(problem: Problem, chance: random.Random) -> Problem:
    """Return the problem with one change, most often of a buffer."""
    kind, buffers = chance.randrange(9), list(problem.buffers)
    i = chance.randrange(7, 10)
    if kind < 5:
        other = replace(buffers[i], size=8 * chance.randint(1, 12))
        buffers[i] = chance.choice((other, replace(buffers[i], reads=chance.randint(0, 3)), replace(other)))
    elif kind == 5:
        buffers.insert(chance.randint(10, len(buffers)), Buffer(f"more {chance.random()}", 16, live=((3, 9),), reads=2))
    elif kind == 6:
        fixed = buffers[0].fixed
        assert fixed is not None
        buffers[0] = replace(buffers[0], fixed=replace(fixed, offset=8 * chance.randrange(6)))
    elif kind == 7:
        pools = (*problem.pools[:-1], replace(problem.pools[-1], rank=chance.randint(0, 3), cost=chance.randint(1, 2)))
        return replace(problem, pools=pools)
    else:
        return replace(problem, constraints=replace(problem.constraints, conflicts=((2, 3), (7, 8))))
    return replace(problem, buffers=tuple(buffers))


def figures(made: Plan) -> tuple[object, ...]:
    return made.status, [(term.name, term.value, term.bound) for term in made.objective.terms]


@pytest.mark.parametrize("seed", range(6))
def test_variants_under_all_kinds_of_rules_are_planned_as_afresh(seed: int, nightly: bool) -> None:
    chance = random.Random(seed)
    session, same, problem = Session(), Session(afresh=True), begun(chance)
    for _ in range(60 if nightly else 5):
        options = replace(LIMITED, prefer=chance.choice(PREFER))
        problem = chance.choice((problem, changed(problem, chance)))
        fresh, made, alike = (way(replace(problem), options) for way in (plan, session.plan, same.plan))
        assert replace(alike, run=Run(0.0)) == replace(fresh, run=Run(0.0))
        assert made.problem_digest == fresh.problem_digest
        if made.placements:
            assert not verify(with_preference(replace(problem), options.prefer), made)
        if fresh.status is PlanStatus.OPTIMAL:
            assert figures(made) == figures(fresh)


def test_a_variant_is_refused_for_what_is_wrong_with_it_alone() -> None:
    """What is known of the last problem hides nothing: neither of its buffers, nor of what they add up to."""
    rules = Constraints(conflicts=(("a", "b"),))
    good = Problem(tuple(Buffer(name, 8, live=((0, 2),), reads=1) for name in "abc"), (Pool("p", rank=1),), rules)
    a, b, c = good.buffers
    fixed = [replace(each, fixed=Fixed("p", 4)) for each in (b, c)]
    for bad in (
        replace(good, buffers=(a, *fixed)),
        replace(good, buffers=(a, b, replace(c, id="a"))),
        replace(good, buffers=(replace(a, id="d"), b, c)),
        replace(good, buffers=(a, b, replace(c, reads=1 << 62))),
        replace(good, buffers=(a, b, replace(c, size=1 << 62))),
        replace(good, constraints=Constraints(conflicts=(("a", "x"),))),
        replace(good, pools=(Pool("p", rank=1 << 62),)),
    ):
        for prefer in PREFER[1:]:
            options, session = replace(LIMITED, prefer=prefer), Session()
            session.plan(good, options)
            with pytest.raises(BadInput) as expected:
                plan(replace(bad), options)
            with pytest.raises(BadInput) as found:
                session.plan(bad, options)
            assert found.value.findings == expected.value.findings


@pytest.mark.parametrize("prefer", PREFER[1:])
def test_what_uses_cost_is_computed_only_for_buffers_that_changed(
    monkeypatch: pytest.MonkeyPatch, prefer: Preference
) -> None:
    problem = generate("transformer", Request(40, 1))
    buffers = tuple(replace(each, reads=1 + i % 3) for i, each in enumerate(problem.buffers))
    session, options = Session(), replace(LIMITED, prefer=prefer)
    session.plan(replace(problem, buffers=buffers), options)
    asked: list[object] = []
    usual = costs.access_cost

    def counted(buffer: Buffer, pool: Pool) -> int:
        asked.append(buffer.id)
        return usual(buffer, pool)

    monkeypatch.setattr(costs, "access_cost", counted)
    other = replace(buffers[5], size=buffers[5].size + 64)
    made = session.plan(replace(problem, buffers=(*buffers[:5], other, *buffers[6:])), options)
    assert made.status is PlanStatus.OPTIMAL
    assert asked == [other.id]
