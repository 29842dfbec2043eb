"""What a file in another format does not say is named."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner import BadInput
from planner.facts.digest import digest
from planner.facts.intervals import merged
from planner.formats import FORMATS, read_problem
from planner.formats.memories import in_one_memory
from planner.formats.tables.problems import written
from planner.model.problem import (
    NO_CONSTRAINTS,
    Alternative,
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    Lifetimes,
    Pool,
    Problem,
    ReusePenalty,
    Speed,
    VariantGroup,
    Variants,
    Was,
)
from planner.reporting.lost import lost
from solvers.model.instance import Term
from tests.small.strategies import effort, problems

A, B = Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((1, 3),))
SLOW_FIRST = (Pool("slow", 4096, rank=1), Pool("fast", 256))


def back(problem: Problem, name: str) -> Problem:
    return read_problem(FORMATS[name].write(problem), format=name)[0]


def named(problem: Problem) -> str:
    """Return the digest, with ids as text, an only memory's alignment in its buffers, and without values that mean nothing."""
    ids = {buffer.id: str(buffer.id) for buffer in problem.buffers}
    c = problem.constraints
    buffers = tuple(
        replace(each, id=ids[each.id], live=merged(each.live or ()), hint=each.hint or None) for each in problem.buffers
    )
    by_rank = sorted(problem.pools, key=lambda pool: pool.rank)
    made = replace(
        problem,
        buffers=buffers,
        pools=tuple(replace(pool, rank=by_rank.index(pool), base=pool.base or None) for pool in problem.pools),
        peak_price=1,
        constraints=replace(
            NO_CONSTRAINTS, colocations=tuple(Colocation(ids[t.buffer], ids[t.base], t.offset) for t in c.colocations)
        ),
    )
    return digest(in_one_memory(made))


@effort(100, 20_000)
@example(Problem((Buffer("a", 0),), lifetimes=Lifetimes.HALF_OPEN), "dsa", 0)
@given(problems(max_buffers=4, max_pools=2), st.sampled_from([*written()]), st.integers(0, 3))
def test_what_comes_back_is_the_problem_if_nothing_is_lost(problem: Problem, name: str, simpler: int) -> None:
    if len(problem.pools) > 1:
        problem = replace(problem, pools=tuple(replace(pool, alignment=1) for pool in problem.pools))
    if simpler:
        problem = replace(problem, constraints=NO_CONSTRAINTS)
    if simpler > 1:
        pools = tuple(Pool(pool.name) for pool in problem.pools[:1])
        problem = replace(
            problem,
            pools=pools,
            terms=(Term.SUM_OF_PEAKS,),
            was=(),
            buffers=tuple(
                replace(
                    each, pools=None, fixed=None, max_offset=None, accesses=0, reads=0, writes=0, live=each.live or ()
                )
                for each in problem.buffers
            ),
        )
    try:
        found = back(problem, name)
    except BadInput:
        return
    if not problem.buffers:
        return  # then nobody prefers one pool to another, which is all that some formats say of their order
    if not lost(problem, found) and {each.id for each in found.buffers} <= {str(each.id) for each in problem.buffers}:
        never = {
            str(each.id) for each in problem.buffers if each.live is None
        }  # some formats give these a time of their own
        buffers = tuple(replace(each, live=None) if each.id in never else each for each in found.buffers)
        assert named(replace(found, buffers=buffers)) == named(problem)


@pytest.mark.parametrize(
    ("problem", "name", "words"),
    [
        (Problem((A, B)), "minimalloc", ()),
        (Problem((A, replace(B, kind="weight", hint=32, alignment=4))), "minimalloc", ()),
        (Problem((A, B), (Pool("default", 128),), name="n"), "minimalloc", ("name", "sizes of memories")),
        (
            Problem((A, replace(B, reads=2, dtype="int8")), terms=(Term.LARGEST_PEAK,)),
            "minimalloc",
            ("objective", "types of elements", "numbers of uses"),
        ),
        (
            Problem((A, B), constraints=Constraints(conflicts=(("a", "b"),), colocations=(Colocation("b", "a", 0),))),
            "chrome-trace",
            ("conflicts", "colocations"),
        ),
        (Problem((A, replace(B, fixed=Fixed("default", 64)))), "chrome-trace", ("fixed offsets",)),
        (Problem((A, Buffer("c", 1, live=()))), "chrome-trace", ()),
        (Problem((A, B), steps=((0, "load"),)), "columns", ("names of steps",)),
        (Problem((A, B)), "usmp", ("lifetimes beyond which buffers meet",)),
        (Problem((A, B), (Pool("default", speed=Speed(1, 1, 1)),)), "dsa", ("speeds of memories",)),
        (Problem((A, replace(B, pools=("fast", "slow"))), SLOW_FIRST), "dsa", ()),
        (Problem((A, replace(B, pools=("slow",))), SLOW_FIRST), "dsa", ()),
    ],
)
def test_what_is_lost_is_named(problem: Problem, name: str, words: tuple[str, ...]) -> None:
    problem = replace(problem, lifetimes=Lifetimes.HALF_OPEN)
    assert lost(problem, back(problem, name)) == words


def test_the_order_of_memories_is_their_rank_wherever_they_stand() -> None:
    problem = Problem((A, replace(B, pools=("fast", "slow"))), SLOW_FIRST)
    slow, fast = SLOW_FIRST
    assert lost(problem, replace(problem, pools=(fast, slow), buffers=problem.buffers[::-1])) == ()
    swapped = (replace(slow, rank=0), replace(fast, rank=1))
    assert lost(problem, replace(problem, pools=swapped)) == ("order of memories", "memories in which buffers may be")
    resized = (replace(slow, size=1), fast)
    assert lost(problem, replace(problem, pools=resized[::-1])) == ("sizes of memories",)


OTHERS: dict[type, dict[str, object]] = {
    Problem: {
        "buffers": (A,),
        "pools": (Pool("default"), Pool("more")),
        "constraints": Constraints(conflicts=(("a", "b"),)),
        "terms": (Term.ACCESS_COST,),
        "name": "n",
        "steps": ((0, "load"),),
        "peak_price": 2,
        "was": (Was("a", "default", 0),),
        "variants": Variants((VariantGroup("g", (Alternative("x"),)),)),
    },
    Pool: {
        "name": "sram",
        "size": 128,
        "alignment": 16,
        "base": 64,
        "reserved": ((0, 8),),
        "cost": 2,
        "rank": 1,
        "speed": Speed(1, 1, 1),
        "read_only": True,
    },
    Buffer: {
        "id": "c",
        "size": 65,
        "alignment": 8,
        "live": ((0, 3),),
        "pools": ("default",),
        "fixed": Fixed("default", 0),
        "hint": 8,
        "max_offset": 8,
        "kind": "weight",
        "accesses": 1,
        "device": "gpu",
        "dtype": "int8",
        "reads": 1,
        "writes": 1,
        "data": b"0" * 64,
    },
    Constraints: {
        "conflicts": (("a", "b"),),
        "exclusions": (("a", "b"),),
        "colocations": (Colocation("b", "a", 0),),
        "same_pool": (("a", "b"),),
        "different_pool": (("a", "b"),),
        "reuse_penalties": (ReusePenalty("a", "b", 1),),
    },
}
"""Another value for each field."""


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, field.name)
        for kind in OTHERS
        for field in fields(kind)
        if field.compare and (kind, field.name) != (Problem, "lifetimes")
    ],
)
def test_each_field_is_compared(kind: type, name: str) -> None:
    other = {name: OTHERS[kind][name]}
    problem = Problem((A, B), (Pool("default"), Pool("slow")), terms=(Term.BALANCED,))
    if kind is Problem:
        changed = replace(problem, **other)  # type: ignore[arg-type]
    elif kind is Pool:
        changed = replace(problem, pools=(replace(problem.pools[0], **other), problem.pools[1]))  # type: ignore[arg-type]
    elif kind is Buffer:
        changed = replace(problem, buffers=(replace(A, **other), B))  # type: ignore[arg-type]
    else:
        changed = replace(problem, constraints=Constraints(**other))  # type: ignore[arg-type]
    assert lost(changed, problem)
    assert not lost(changed, changed)
