"""Parts of memories between reserved ranges: which blocks may be in each, what that is worth, and which blocks belong together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from solvers.choice.alternatives.instance import Bin, Choices, Memories, Question, Share, Taken, Tie
from solvers.choice.alternatives.questions.without_addresses import Questions
from solvers.choice.alternatives.whole.answering import Whole
from solvers.choice.alternatives.whole.state import Layout
from solvers.model.solver import Limits, Silent
from tests.solvers.choice.alternatives.whole.test_answering import BUDGET, allowed, ask, instance, peaks


def with_taken(seed: int) -> Choices:
    """The instance of the seed with reserved ranges and something pinned."""
    chance = random.Random(seed)
    choices = instance(seed)
    assert choices.memories is not None
    ranges = chance.choice([((48, 64),), ((0, 16), (80, 112)), ((32, 40), (64, 72)), ()])
    pinned = tuple((chance.choice((32, 200)), pick, -1) for pick in (None, (0, 0)) if chance.random() < 0.4)
    first = Taken(ranges if chance.random() < 0.8 else (), pinned)
    second = Taken(ranges if chance.random() < 0.4 else ())
    return replace(choices, memories=replace(choices.memories, taken=(first, second)))


def value(memories: Memories, bins: tuple[Bin, ...], loads: list[int], choice: tuple[int, ...]) -> int:
    """What loads of the bins are worth, the plain way."""
    tops = []
    for p in range(len(memories.prices)):
        ends = [end for end, pick, _ in memories.taken[p].pinned if pick is None or choice[pick[0]] == pick[1]]
        ends += [each.low + load for each, load in zip(bins, loads, strict=True) if each.pool == p and load]
        tops.append(max(ends, default=0))
    return (
        max(tops) if memories.is_largest else sum(top * price for top, price in zip(tops, memories.prices, strict=True))
    )


def every(choices: Choices) -> Iterator[tuple[int, int]]:
    """Cost and value of each choice with each assignment of blocks to bins in which they fit."""
    layout, memories = Layout(choices), choices.memories
    assert memories is not None
    for choice in allowed(choices):
        for homes in itertools.product(*layout.pools.values()):
            loads = peaks(layout, choice, dict(zip(layout.pools, homes, strict=True)))
            if all(each.size is None or load <= each.size for each, load in zip(layout.bins, loads, strict=True)):
                yield choices.cost(choice), value(memories, layout.bins, loads, choice)


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_no_bound_is_above_what_some_choice_needs(seed: int, is_large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_large:
        monkeypatch.setattr("solvers.choice.alternatives.questions.without_addresses.MOST_SHARES", -1)
    choices = with_taken(seed)
    found = [*every(choices)]
    asked = Questions(choices)
    least = asked.ask(Question(False), BUDGET, Silent(Limits()))
    if not found:
        return
    assert least.bound is not None
    assert least.bound <= min(worth for _, worth in found)
    for within in sorted({worth for _, worth in found})[:3]:
        cheapest = asked.ask(Question(True, within), BUDGET, Silent(Limits()))
        assert cheapest.bound is not None
        assert cheapest.bound <= min(cost for cost, worth in found if worth <= within)


@pytest.mark.parametrize("seed", range(12))
def test_bytes_that_may_be_anywhere_need_no_variables(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over bins say the same as variables for the bytes in each, where memories are listed and parts of them too small."""
    found: list[list[Any]] = []
    for most in (1_000, -1):
        monkeypatch.setattr("solvers.choice.alternatives.questions.without_addresses.MOST_SHARES", most)
        asked = Questions(with_taken(seed), is_divisible=True)
        least = asked.ask(Question(False), BUDGET, Silent(Limits())).bound
        values = [] if least is None else [least, least + 40, least + 200]
        found.append([least, *(asked.ask(Question(True, each), BUDGET, Silent(Limits())).bound for each in values)])
    assert found[0] == found[1]


def test_bins_lie_between_reserved_ranges_and_end_with_the_room() -> None:
    taken = (Taken(((0, 10), (30, 40), (95, 200))), Taken(((5, 9),)), Taken())
    memories = Memories((1, 1, 1), (75, None, 0), False, (), 0, taken)
    assert memories.bins() == (Bin(0, 10, 30), Bin(0, 40, 95), Bin(1, 0, 5), Bin(1, 9, None), Bin(2, 0, 0))
    share = Share(21, 0, (), (0, 1))
    assert memories.bins_for(share, memories.bins()) == (1, 3)
    assert Bin(0, 40, 95).below(60) == 20
    assert Bin(0, 40, 95).below(20) == 0
    assert Bin(0, 40, 95).below(None) == 55


@pytest.mark.parametrize("is_same", [True, False])
def test_blocks_that_are_tied_are_in_one_memory_or_in_two(is_same: bool) -> None:
    """They were given memories as if nothing tied them, so that such problems had one point."""
    live = tuple(tuple(Share(40, block, (), (0, 1)) for block in (time, time + 1)) for time in range(5))
    ties = tuple(Tie(block, block + 1, None, is_same) for block in (0, 2))
    memories = Memories((1, 4), (None, None), False, live, 0, ties=ties)
    choices = Choices(((0,),), memories=memories)
    found = ask(choices, (0,), [40, 80])
    homes = dict(found["homes"])
    if not is_same:
        assert all(homes[tie.one] != homes[tie.other] for tie in ties)
    else:
        assert all(homes[tie.one] == homes[tie.other] for tie in ties)


def test_a_pinned_block_is_where_it_is_pinned() -> None:
    live = ((Share(8, 0, (), (0,)), Share(8, 1, (), (0,))),)
    memories = Memories((1,), (56,), False, live, 0, (Taken(((20, 24),), ((40, None, 0),)),))
    layout = Layout(Choices(((0,),), memories=memories))
    assert layout.pools == {0: (1,), 1: (0, 1)}
    tops = Whole(Choices(((0,),), memories=memories)).tops((0,), 40, BUDGET, Silent(Limits()))
    assert tops == [20, 16]
