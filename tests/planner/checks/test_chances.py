"""What no choice can contain is found by search, as trying every choice finds it, within a limited number of steps."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest

from planner.checks import chances
from planner.checks.chances import Chances, Hopeless
from planner.checks.report import Report
from planner.checks.variants import _check_chances
from planner.facts.variants import broken_rules
from planner.model.problem import Alternative, Pick, VariantGroup, Variants
from tests.small.strategies import NIGHTLY

RUNS = 20000 if NIGHTLY else 400


def variants(
    counts: list[int], requires: list[tuple[Pick, Pick]] | None = None, forbids: list[tuple[Pick, Pick]] | None = None
) -> Variants:
    groups = tuple(
        VariantGroup(f"g{g}", tuple(Alternative(str(a), ()) for a in range(count))) for g, count in enumerate(counts)
    )
    return Variants(groups, (), tuple(requires or ()), tuple(forbids or ()))


def random_variants(chance: random.Random) -> Variants:
    counts = [chance.choice((1, 2, 2, 3)) for _ in range(chance.randrange(2, 6))]
    picks = [(f"g{g}", str(a)) for g, count in enumerate(counts) for a in range(count)]

    def pairs(most: int) -> list[tuple[Pick, Pick]]:
        return [(chance.choice(picks), chance.choice(picks)) for _ in range(chance.randrange(most))]

    return variants(counts, pairs(5), pairs(12))


def choices(given: Variants, without: set[int] | None = None) -> list[tuple[int, ...]]:
    """Return all choices that break no rule, or none between groups that are not left aside."""
    names = {f"g{g}" for g in without or ()}
    kept = [tuple(p for p in pairs if not names & {p[0][0], p[1][0]}) for pairs in (given.requires, given.forbids)]
    asked = Variants(given.groups, (), *kept)
    every = product(*(range(len(group.alternatives)) for group in given.groups))
    return [choice for choice in every if not any(broken_rules(asked, choice))]


def test_what_the_search_finds_is_what_trying_every_choice_finds() -> None:
    lost_groups = lost_alternatives = 0
    for seed in range(RUNS):
        given = random_variants(random.Random(seed))
        found = list(Chances(given).hopeless())
        sound = choices(given)
        if not sound:
            assert any(each.alternative is None for each in found), seed
        for each in found:
            others = set(range(len(given.groups))) - {each.group, *each.others}
            assert not [c for c in choices(given, others) if each.alternative in (None, c[each.group])], seed
        if sound:
            never = {
                (g, a)
                for g, group in enumerate(given.groups)
                for a in range(len(group.alternatives))
                if all(choice[g] != a for choice in sound)
            }
            assert {(each.group, each.alternative) for each in found} == never, seed
            lost_alternatives += len(never)
        lost_groups += not sound
    assert min(lost_groups, lost_alternatives) > RUNS / 20


def rivals(count: int, places: int) -> list[tuple[Pick, Pick]]:
    """Return rules by which no two of the first groups may have the same alternative."""
    return [((f"g{g}", str(a)), (f"g{h}", str(a))) for g, h in combinations(range(count), 2) for a in range(places)]


def test_what_only_search_can_tell_is_found() -> None:
    """Three groups must differ in two ways if the fourth chooses its second alternative: no single conclusion shows it."""
    third = [(("g3", "1"), (f"g{g}", "2")) for g in range(3)]
    found = list(Chances(variants([3, 3, 3, 2], forbids=rivals(3, 3) + third)).hopeless())
    assert found == [Hopeless(3, 1, (0, 1, 2))]
    assert list(Chances(variants([2, 2, 2, 2], forbids=rivals(3, 2))).hopeless()) == [Hopeless(0, None, (1, 2))]


@pytest.mark.parametrize(
    ("given", "place", "message"),
    [
        (
            variants([2, 2], forbids=[(("g0", "0"), ("g0", "0"))]),
            "/variants/groups/0/alternatives/0",
            "nothing can choose '0': with it the rules leave not even itself",
        ),
        (
            variants([2, 2], forbids=[(("g0", "0"), ("g1", "0")), (("g0", "0"), ("g1", "1"))]),
            "/variants/groups/0/alternatives/0",
            "nothing can choose '0': with it the rules leave no alternative of group 'g1'",
        ),
        (
            variants([3, 3, 3, 2], forbids=rivals(3, 3) + [(("g3", "1"), (f"g{g}", "2")) for g in range(3)]),
            "/variants/groups/3/alternatives/1",
            "nothing can choose '1': with it the rules leave no choice of groups 'g0', 'g1' and 'g2'",
        ),
        (
            variants([5] * 6, forbids=rivals(6, 5)),
            "/variants/groups/0",
            "nothing can be chosen in group 'g0': the rules leave no alternative that goes with one of groups 'g1', 'g2', 'g3' and 2 more",
        ),
        (
            variants([1, 2], forbids=[(("g0", "0"), ("g0", "0")), (("g0", "0"), ("g1", "1"))]),
            "/variants/groups/0",
            "nothing can be chosen in group 'g0': the rules leave no alternative",
        ),
    ],
)
def test_the_finding_says_which_groups_leave_no_way(given: Variants, place: str, message: str) -> None:
    report = Report()
    _check_chances(given, report)
    assert [(finding.pointer, finding.message) for finding in report.listed] == [(place, message)]


def test_the_search_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too hard stays undecided; what is simple is found beside it."""
    monkeypatch.setattr(chances, "MOST_STEPS", 4_000)
    simple = [(("g0", "0"), ("g1", str(a))) for a in range(2)]
    hard = [((f"g{g + 2}", a), (f"g{h + 2}", a)) for g, h in combinations(range(14), 2) for a in map(str, range(13))]
    searched = Chances(variants([2, 2, *[13] * 14], forbids=hard + simple))
    assert list(searched.hopeless()) == [Hopeless(0, 0, (1,))]
    assert searched.steps <= 4_000
