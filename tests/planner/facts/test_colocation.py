"""Colocations processed all at once give the same groups, contradictions and possible addresses as one by one."""

from __future__ import annotations

import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest

from planner.checks import check
from planner.facts import colocation
from planner.facts.colocation import FAR, Congruence, aligned, forest_of, groups, joined
from planner.model.plan import PlanStatus
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem
from planner.planning.options.options import Options
from planner.planning.placing.bases import Bases
from planner.planning.placing.lowering import lower
from planner.planning.placing.solving import plan
from planner.verifying.proofs.blocks import Blocks
from planner.verifying.verify import verify


def made_up(seed: int) -> Problem:
    """Return a random problem with many colocations, which often contradict each other."""
    chance = random.Random(seed)
    count = chance.randrange(3, 30)
    names = chance.sample(range(count), count)
    ties = [Colocation(names[i], names[chance.randrange(i)], 4 * chance.randrange(3)) for i in range(1, count)]
    ties = [tie for tie in ties if chance.random() < 0.7]
    if chance.random() < 0.3:
        buffer, base = chance.sample(range(count), 2)
        ties.append(Colocation(buffer, base, chance.randrange(9)))
    alignments = chance.choice(((1,), (4,), (1, 2), (1, 4, 6)))
    buffers = [
        Buffer(i, chance.randrange(9), chance.choice(alignments), live=((start, start + 3),))
        for i, start in enumerate(chance.randrange(9) for _ in range(count))
    ]
    if chance.random() < 0.3:
        buffers[0] = replace(buffers[0], fixed=Fixed("second", 4 * chance.randrange(9)))
    pools = (Pool("first", alignment=chance.choice((1, 2))), Pool("second", 1 << 20, base=chance.choice((None, 2, 8))))
    return Problem(tuple(buffers), pools, Constraints(colocations=tuple(ties)))


def test_groups_formed_at_once_and_one_by_one_agree() -> None:
    forests = 0
    for seed in range(400):
        problem = made_up(seed)
        index, ties = {buffer.id: i for i, buffer in enumerate(problem.buffers)}, problem.constraints.colocations
        one_by_one = groups(index, ties)
        with patch.object(colocation, "FOREST", 1):
            assert groups(index, ties) == one_by_one, seed
            forests += bool(ties) and forest_of(index, ties) is not None
    assert forests > 100


@pytest.mark.parametrize(
    "ties",
    [
        [(0, 1, 0), (1, 0, 0)],
        [(0, 1, 0), (1, 2, 0), (2, 3, 0), (3, 0, 0)],
        [(0, 1, 0), (0, 2, 0)],
        [(0, 0, 0)],
        [(0, 1, 1 << 61), (1, 2, 1 << 61)],
    ],
    ids=["two in a circle", "four in a circle", "two bases", "its own base", "beyond all addresses"],
)
def test_ties_that_may_contradict_are_checked_one_by_one(ties: list[tuple[int, int, int]]) -> None:
    with patch.object(colocation, "FOREST", 1):
        assert forest_of({i: i for i in range(5)}, [Colocation(*tie) for tie in ties]) is None


def test_one_far_offset_among_many_ties_is_no_contradiction() -> None:
    ties = [Colocation(i + 1, i, (1 << 61) * (i == 7)) for i in range(300)]
    forest = forest_of({i: i for i in range(301)}, ties)
    assert forest is not None
    assert forest.offsets.tolist() == [(1 << 61) * (i > 7) for i in range(301)]


def test_both_ways_find_the_same_contradictions() -> None:
    sound = wrong = 0
    for seed in range(300):
        problem = made_up(seed)
        one_by_one = check(problem)
        with patch.object(colocation, "FOREST", 1):
            side_by_side = check(problem)
        assert [(each.code, each.pointer.split("/")[1]) for each in side_by_side] == [
            (each.code, each.pointer.split("/")[1]) for each in one_by_one
        ], seed
        sound, wrong = sound + (not one_by_one), wrong + bool(one_by_one)
    assert sound > 50
    assert wrong > 50


def test_groups_of_one_alignment_are_lowered_as_one_by_one() -> None:
    seen = 0
    for seed in range(300):
        problem = made_up(seed)
        if check(problem) or not problem.constraints.colocations:
            continue
        side_by_side = lower(problem).instance
        with patch.object(Bases, "_of_one_alignment", lambda self, *_: self._blocks.members):
            one_by_one = lower(problem).instance
        for name in ("modulus", "residue", "allowed", "lowest", "highest"):
            assert np.array_equal(getattr(side_by_side, name), getattr(one_by_one, name)), (seed, name)
        seen += 1
    assert seen > 50


def test_rules_with_at_most_one_address_are_joined_in_small_numbers() -> None:
    chance = random.Random(3)
    for _ in range(300):
        place = chance.choice((chance.randrange(1 << 10), FAR - 1 - chance.randrange(9), chance.randrange(4 * FAR)))
        moduli = [chance.randrange(1, 1 << chance.choice((4, 30))) for _ in range(chance.randrange(9))]
        rules = [Congruence(modulus, (place + (chance.random() < 0.02)) % modulus) for modulus in moduli]
        exact: Congruence | None = Congruence()
        for rule in rules:
            exact = exact and exact.and_also(rule)
        found = joined(rules)
        if exact is None or exact.residue >= FAR <= exact.modulus:
            assert found is None
        else:
            assert found is not None
            assert found.residue == exact.residue
            assert found.modulus == exact.modulus or exact.modulus > found.modulus >= FAR
    many = joined(Congruence(modulus, 0) for modulus in range(1, 2000))
    assert many is not None
    assert many.modulus < FAR * 2000


def test_a_block_that_could_only_lie_above_all_addresses_fits_nowhere() -> None:
    """The product of the coprime alignments would have thousands of digits; no number much above an address is made."""
    coprime = [
        modulus for modulus in range(2, 3000) if all(modulus % below for below in range(2, int(modulus**0.5) + 1))
    ]
    buffers = (Buffer(0, 8, live=((0, 3),)), *(Buffer(p, 8, p, ((0, 3),)) for p in coprime))
    tied = tuple(Colocation(p, 0, 8 * i) for i, p in enumerate(coprime))
    problem = Problem(buffers, (Pool("unlimited"),), Constraints(colocations=tied))
    made = plan(problem, Options(workers=1))
    assert made.status is PlanStatus.INFEASIBLE
    assert verify(problem, made) == ()
    block = Blocks(problem, 1 << 20).block(0)
    assert block.first > block.last
    nearly = replace(problem, constraints=Constraints(colocations=tuple(replace(tie, offset=0) for tie in tied)))
    assert verify(nearly, plan(nearly, Options(workers=1))) == ()
    assert Blocks(nearly, 1 << 20).block(0).rule.modulus < FAR * 3000


TWO = (Buffer("a", 100, live=((0, 2),)), Buffer("b", 40, 8, live=((1, 3),)))


def test_memories_get_the_alignment_and_buffers_keep_theirs() -> None:
    problem = Problem(TWO, (Pool("fast", 4096, 4), Pool("slow")))
    made = aligned(problem, 64)
    assert [pool.alignment for pool in made.pools] == [64, 64]
    assert (made.buffers, made.pools[0].size) == (problem.buffers, 4096)
    assert [pool.alignment for pool in aligned(made, 2).pools] == [2, 2]


def test_what_lies_inside_another_buffer_is_not_moved() -> None:
    inside = Buffer("inside", 20, 4, live=((1, 2),))
    problem = Problem((*TWO, inside), (Pool("arena"),), Constraints(colocations=(Colocation("inside", "a", 12),)))
    made = aligned(problem, 64)
    assert check(made) == ()
    found = plan(made)
    where = {place.id: place.offset for place in found.placements}
    assert verify(made, found) == ()
    assert (where["a"] % 64, where["b"] % 64, where["inside"] - where["a"]) == (0, 0, 12)
