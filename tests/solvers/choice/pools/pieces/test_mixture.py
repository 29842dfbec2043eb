"""Costs move so that what known choices allow reaches a level, by no less than that takes, and not where no costs lead there."""

from __future__ import annotations

from itertools import product
from random import Random

from solvers.choice.pools.pieces.mixture import Known, Mixture

PIECES_OF = {0: (0, 1), 1: (0, 1, 2), 2: (1, 2)}
UNITS = {0: 5, 1: 2, 2: 7}
HOMES = [[0, 1], [0, 1, 2], [1, 2]]


def known_choices(chance: Random) -> list[Known]:
    found = []
    for piece in range(3):
        groups = [group for group, pieces in PIECES_OF.items() if piece in pieces]
        everything = list(product(*(HOMES[group] for group in groups)))
        for n, pools in enumerate(chance.sample(everything, chance.randint(1, 4))):
            found.append(Known(piece, dict(zip(groups, pools, strict=True)), chance.randint(0, 100) if n else 0))
    return found


def allowed(known: list[Known], moves: dict[int, dict[int, list[int]]]) -> int:
    """Return what known choices allow all pieces to prove more, after these moves."""
    least = dict[int, int]()
    for one in known:
        rises = moves.get(one.piece, {})
        cost = one.excess + sum(rises[g][HOMES[g].index(pool)] for g, pool in one.homes.items() if g in rises)
        least[one.piece] = min(least.get(one.piece, cost), cost)
    return sum(least.values())


def test_known_choices_allow_what_was_aimed_at_or_nothing_does() -> None:
    chance, reached = Random(0), 0
    for _ in range(300):
        known, level = known_choices(chance), chance.randint(1, 80)
        mixture = Mixture(known, PIECES_OF, UNITS)
        can_rise = mixture.aim(float(level))
        moves = mixture.moves(HOMES)
        for group, pieces in PIECES_OF.items():
            each = [moves[n][group] for n in pieces if group in moves.get(n, {})]
            assert not any(map(sum, zip(*each, strict=True))), "costs came from nowhere"
        if can_rise:
            reached += 1
            assert allowed(known, moves) > level * 0.9 - 10
        else:
            mixed = mixture.most
            for _ in range(20):
                some = {
                    group: [[chance.randint(-99, 99) for _ in HOMES[group]] for _ in pieces[1:]]
                    for group, pieces in PIECES_OF.items()
                }
                moves = dict[int, dict[int, list[int]]]()
                for group, rises in some.items():
                    rest = [-sum(each) for each in zip(*rises, strict=True)]
                    for n, rise in zip(PIECES_OF[group], [*rises, rest], strict=True):
                        moves.setdefault(n, {})[group] = rise
                assert allowed(known, moves) <= mixed + 1
    assert 50 < reached < 290


def test_the_pieces_that_mix_most_are_named_if_they_are_small() -> None:
    known = [
        Known(0, {0: 0, 1: 0}, 0),
        Known(1, {0: 0, 1: 0, 2: 1}, 0),
        Known(1, {0: 0, 1: 1, 2: 2}, 0),
        Known(2, {1: 0, 2: 2}, 0),
        Known(2, {1: 1, 2: 1}, 0),
    ]
    mixture = Mixture(known, PIECES_OF, UNITS)
    mixture.aim(1e6)
    assert mixture.most_divided(lambda *_: True) == (1, 2)
    assert mixture.most_divided(lambda *two: two != (1, 2)) in {(0, 1), (0, 2)}
    assert mixture.most_divided(lambda *_: False) is None


def test_classes_may_weigh_more_than_machine_numbers_hold() -> None:
    known = [Known(0, {0: 0, 1: 0}, 0), Known(1, {0: 1, 1: 0, 2: 1}, 0), Known(2, {1: 0, 2: 1}, 0)]
    mixture = Mixture(known, PIECES_OF, dict.fromkeys(UNITS, 1 << 70))
    assert mixture.aim(float(1 << 75))
    assert allowed(known, mixture.moves(HOMES)) >= 1 << 74
