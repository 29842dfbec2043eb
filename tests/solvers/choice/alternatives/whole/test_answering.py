"""Memories for whole blocks, window by window: small instances against every choice and every assignment."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from solvers.choice.alternatives.instance import Choices, Load, Memories, Pick, Question, Share
from solvers.choice.alternatives.questions.without_addresses import Questions
from solvers.choice.alternatives.whole import answering
from solvers.choice.alternatives.whole.answering import Whole
from solvers.choice.alternatives.whole.state import Layout
from solvers.exact.cpsat.engine import Budget
from solvers.model.errors import StopReason
from solvers.model.solver import Limits, Silent

SIZES = (16, 32, 48, 80)
BUDGET = Budget(None, None)


def instance(seed: int, *, groups: int = 3, times: int = 5, is_anywhere: bool = False) -> Choices:
    """Two memories; blocks of alternatives, some of two at once, and blocks that are always there."""
    chance = random.Random(seed)
    alternatives = [chance.randint(1, 3) for _ in range(groups)]
    costs = tuple(tuple(chance.randrange(40) for _ in range(count)) for count in alternatives)
    picks: list[tuple[Pick, ...]] = [((g, a),) for g, count in enumerate(alternatives) for a in range(count)]
    if groups > 1:
        picks.append(((0, 0), (1, 0)))
    live: list[list[Share]] = [[] for _ in range(times)]
    for block, needed in enumerate([(), (), *picks]):
        pools = (0, 1) if is_anywhere else chance.choice([(0, 1), (0, 1), (0,), (1,)])
        first = chance.randrange(times)
        last = min(first + chance.randint(0, 2), times - 1)
        share = Share(chance.choice(SIZES), block, needed, pools)
        more = share._replace(size=chance.choice(SIZES), picks=chance.choice(picks)) if chance.random() < 0.3 else None
        for time in range(first, last + 1):
            live[time] += [share] if more is None else [share, more]
    memories = Memories((1, 4), (chance.choice([96, 160]), None), is_largest=chance.random() < 0.2, live=tuple(map(tuple, live)), spare=0)  # fmt: skip
    loads = tuple(_load(shares) for shares in memories.live)
    rules = tuple(
        (one, other) for one, other in itertools.permutations([each[0] for each in picks], 2) if one[0] < other[0]
    )
    requires = (chance.choice(rules),) if groups > 1 and chance.random() < 0.5 else ()
    forbids = (chance.choice(rules),) if groups > 1 and chance.random() < 0.5 else ()
    return Choices(costs, loads, tuple(range(times)), memories, (), requires, forbids)


def _load(shares: list[Share] | tuple[Share, ...]) -> Load:
    return Load(
        sum(each.size for each in shares if not each.picks),
        tuple((each.size, each.picks) for each in shares if each.picks),
    )


def allowed(choices: Choices) -> Iterator[tuple[int, ...]]:
    every = itertools.product(*(range(len(of)) for of in choices.costs))
    return (choice for choice in every if choices.keeps_rules(choice))


def peaks(layout: Layout, choice: tuple[int, ...], homes: dict[int, int]) -> list[int]:
    return [max(each) for each in zip(*layout.loads(choice, homes), strict=True)]


def least_cost(choices: Choices, tops: list[int | None]) -> int | None:
    """The least cost of a choice of which some assignment stays below the tops."""
    layout = Layout(choices)
    for choice in sorted(allowed(choices), key=choices.cost):
        for homes in itertools.product(*layout.pools.values()):
            reached = peaks(layout, choice, dict(zip(layout.pools, homes, strict=True)))
            if all(top is None or peak <= top for peak, top in zip(reached, tops, strict=True)):
                return choices.cost(choice)
    return None


def ask(choices: Choices, choice: tuple[int, ...], tops: list[int | None], **more: Any) -> dict[str, Any]:
    asked = {
        "value": 0,
        "homes": [],
        "caps": [],
        "around": [],
        "enough": -1,
        "aim": choice,
        "work": None,
        "deadline": None,
        "seed": 0,
    }
    return dict(Whole(choices).answer({"choice": choice, "tops": tops, **asked, **more}, Silent(Limits())))


@pytest.mark.parametrize("seed", range(25))
def test_one_window_over_all_finds_the_cheapest_choice_that_fits(seed: int) -> None:
    choices = instance(seed)
    assert choices.memories is not None
    chance = random.Random(seed)
    start = next(allowed(choices), None)
    if start is None:
        return
    tops: list[int | None] = [choices.memories.room[0], chance.choice(range(48, 400, 16))]
    best = least_cost(choices, tops)
    found = ask(choices, start, tops)
    layout, choice, homes = Layout(choices), tuple(found["choice"]), dict(found["homes"])
    assert choices.keeps_rules(choice)
    assert all(homes[block] in pools for block, pools in layout.pools.items())
    fits = all(top is None or peak <= top for peak, top in zip(peaks(layout, choice, homes), tops, strict=True))
    assert fits == (best is not None)
    if fits:
        assert choices.cost(choice) == best


@pytest.mark.parametrize("seed", range(25))
def test_many_small_windows_keep_rules_and_are_no_better_than_the_best(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("SWEEP", 2), ("AHEAD", 1), ("REACHES", (2, 3, 6)), ("STRIDES", (2, 3))):
        monkeypatch.setattr(answering, name, value)
    choices = instance(100 + seed, groups=4, times=8)
    start = next(allowed(choices), None)
    if start is None:
        return
    tops: list[int | None] = [96, 160]
    found = ask(choices, start, tops, caps=[(3, 1, 112)])
    layout, choice, homes = Layout(choices), tuple(found["choice"]), dict(found["homes"])
    assert choices.keeps_rules(choice)
    assert all(homes[block] in pools for block, pools in layout.pools.items())
    best = least_cost(choices, tops)
    if all(peak <= (top or 0) for peak, top in zip(peaks(layout, choice, homes), tops, strict=True)):
        assert best is not None
        assert choices.cost(choice) >= best


def test_what_one_memory_holds_is_all_put_there() -> None:
    choices = instance(3, is_anywhere=True)
    choice = next(allowed(choices))
    found = ask(choices, choice, [0, 10_000])
    assert {pool for _, pool in found["homes"]} == {1}
    assert tuple(found["choice"]) == choice or found["choice"] != list(choice)
    assert choices.cost(found["choice"]) <= choices.cost(choice)


def test_without_work_for_it_every_block_has_a_memory_all_the_same() -> None:
    choices = instance(5)
    choice = next(allowed(choices))
    found = ask(choices, choice, [0, 0], work=0)
    assert found["stopped"] is StopReason.WORK_LIMIT
    assert set(dict(found["homes"])) == set(Layout(choices).pools)


@pytest.mark.parametrize("seed", range(12))
def test_tops_are_worth_the_value_and_hold_the_choice_byte_by_byte(seed: int) -> None:
    choices = instance(seed, is_anywhere=True)
    memories = choices.memories
    assert memories is not None
    choice = next(allowed(choices), None)
    if choice is None:
        return
    least = Questions(choices, is_divisible=True).ask(Question(False, fixed=choice), BUDGET, Silent(Limits())).bound
    assert least is not None
    for value in (least, least + 100):
        tops = [top or 0 for top in Whole(choices).tops(choice, value, BUDGET, Silent(Limits()))]
        assert sum(tops) >= choices.load(choice)
        worth = (
            max(tops)
            if memories.is_largest
            else sum(top * price for top, price in zip(tops, memories.prices, strict=True))
        )
        assert worth <= value


@pytest.mark.parametrize("seed", range(12))
def test_where_all_bytes_may_be_anywhere_their_sum_says_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In large instances, no variables say how much is in which memory."""
    choices = instance(seed, is_anywhere=True)
    found = []
    for most in (1_000, -1):
        monkeypatch.setattr("solvers.choice.alternatives.questions.without_addresses.MOST_SHARES", most)
        asked = Questions(choices, is_divisible=True)
        least = asked.ask(Question(False), BUDGET, Silent(Limits()))
        values = [] if least.bound is None else [least.bound, least.bound + 40, least.bound + 200]
        found.append(
            [least.bound, *(asked.ask(Question(True, value), BUDGET, Silent(Limits())).bound for value in values)]
        )
    assert found[0] == found[1]


def test_windows_cover_all_times_and_each_has_one_at_least() -> None:
    layout = Layout(instance(7, groups=4, times=9))
    for time in range(9):
        for blocks in (1, 3, 100):
            assert time < layout.after(time, blocks) <= 9
            assert 0 <= layout.before(time, blocks) <= time
