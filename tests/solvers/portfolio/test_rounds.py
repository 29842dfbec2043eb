"""Who works on a component: never somebody too slow for it while others are there."""

from __future__ import annotations

from solvers.portfolio.rounds import FROM_ROUND, LARGEST, SMALLEST, team

ALL = ("improve", "search", "cpsat")


LATER = max(FROM_ROUND.values())


def names(engines: tuple[str, ...], blocks: int, number: int = LATER) -> list[str]:
    return [name for name, _ in team(engines, blocks, number)]


def test_small_components_are_not_improved() -> None:
    assert names(ALL, SMALLEST["improve"] - 1) == ["search", "cpsat"]
    assert names(ALL, SMALLEST["improve"]) == ["improve", "search", "cpsat"]


def test_large_models_are_not_built_while_others_can_search() -> None:
    assert names(ALL, LARGEST["cpsat"] + 1) == ["improve", "search"]
    assert names(("improve", "cpsat"), LARGEST["cpsat"] + 1) == ["improve", "cpsat"]
    assert names(("cpsat",), LARGEST["cpsat"] + 1) == ["cpsat"]


def test_everybody_gets_a_part() -> None:
    assert all(parts > 0 for _, parts in team((*ALL, "cbc"), 2_500, LATER))


def test_what_takes_long_to_load_waits_while_others_can_search() -> None:
    assert names(ALL, 10, LATER - 1) == ["search"]
    assert names(ALL, 10, LATER) == ["search", "cpsat"]
    assert names(("cpsat",), 10, 1) == ["cpsat"]
