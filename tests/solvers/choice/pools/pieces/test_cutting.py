"""What pieces prove of the first term, of each pool's height and with them of a second term agrees with trying all choices."""

from __future__ import annotations

from dataclasses import replace
from operator import mul
from random import Random

import pytest

from planner import Options, Preference, plan, verify
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from solvers.choice.pools import budget
from solvers.choice.pools.budget import Share
from solvers.choice.pools.pieces import cutting
from solvers.choice.pools.pieces.cutting import Pieces
from solvers.choice.pools.program.least import above_lowest, lowest_tops, with_all_in_cheapest
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.questions.asking import Asking, Next, Wish
from solvers.choice.pools.questions.question import Answer, Question
from solvers.choice.pools.searches.floors_of_pieces import Floors
from solvers.model.errors import StopReason
from solvers.model.outcome import Proof
from solvers.model.solver import Limits, Silent

from ..prices.test_crowds import random_prices
from ..searches.test_floors import choices, small

WORK = 3_000_000


def pieces_of(program: Program, asking: Asking, seed: int) -> Pieces:
    """Return pieces with random prices, all bounded."""
    chance = Random(seed)
    dearest = max(cost for costs in program.terms[0].of_homes for cost in costs)
    units = max(units for row in program.rows for _, units in row.members)
    prices = [chance.choice((0.0, chance.random() * dearest / units)) for _ in program.rows]
    pieces = Pieces(program, asking, enumerate(prices))
    assert pieces.bound(WORK) is not None
    return pieces


@pytest.mark.parametrize("piece", [2, 4, 3_000])
@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_is_below_what_pieces_prove(
    kind: str, piece: int, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "PIECE", piece)
    for seed in range(3):
        program = small(kind, seed)
        everything = choices(program)
        pieces = pieces_of(program, asking, seed)
        tops = [program.least_tops(pools) for _, _, pools in everything]
        values = sorted({first for first, _, _ in everything})
        for most in (values[0], values[len(values) // 2]):
            lowest = [
                min(top[pool] for top, (first, _, _) in zip(tops, everything, strict=True) if first <= most)
                for pool in range(len(program.rooms))
            ]
            for pool, low in enumerate(lowest):
                assert not pieces.exceeds(most, pool, low, WORK)
                settled = max((row.always for row in program.rows if row.pool == pool), default=0)
                if piece > len(program.homes) and low > max(program.rooms[pool].lowest, settled):
                    assert pieces.exceeds(most, pool, low - 1, WORK)
            allowed = [second for first, second, _ in everything if first <= most]
            floors = Floors(above_lowest(program), pieces, most, tops[0], asking)
            assert floors.bound(WORK) <= min(allowed)


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_is_below_what_pieces_prove_after_moving_costs(kind: str, asking: Asking) -> None:
    raised = 0
    for seed in range(4):
        program = small(kind, seed)
        everything = choices(program)
        prices = random_prices(program, Random(seed))
        pieces = Pieces(program, asking, prices.of_rows.items(), prices.of_crowds.items(), size=2)
        before, least = pieces.bound(WORK), min(first for first, _, _ in everything)
        assert before is not None
        after = pieces.improve(least, WORK)
        assert before <= after <= least
        raised += after > before
        pools = pieces.choice(WORK)
        assert pools in {each for _, _, each in everything} or pools is None
        for most in (least, max(first for first, _, _ in everything)):
            tops = [program.least_tops(each) for first, _, each in everything if first <= most]
            floors = Floors(program, pieces, most, tops[0], asking)
            assert floors.bound(WORK) <= min(second for first, second, _ in everything if first <= most)
    assert raised or kind == "memories"


def test_choices_that_cost_nothing_have_pieces_that_prove_nothing(asking: Asking) -> None:
    program = small("pools", 0)
    free = tuple((0,) * len(homes) for homes in program.homes)
    first = program.terms[0]._replace(of_homes=free)
    pieces = Pieces(replace(program, terms=(first, *program.terms[1:])), asking, (), size=2)
    assert pieces.bound(WORK) == 0
    assert pieces.improve(0, WORK) == 0


class Noting(Asking):
    """Notes all that it is asked."""

    def __init__(self) -> None:
        super().__init__(Limits(), 0, Silent())
        self.asked: list[Wish] = []

    def ask(self, program: Program, question: Question, work: int | None, then: Next = lambda: None) -> Answer:
        self.asked.append(Wish(program, question, work))
        return super().ask(program, question, work, then)


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_pieces_are_asked_about_rows_for_which_there_may_be_too_little_room(kind: str) -> None:
    """A question pays for each row, and those of a pool without end, mostly half of all, say nothing."""
    asking = Noting()
    for seed in range(3):
        program = small(kind, seed)
        least, _, pools = min(choices(program))
        tops = program.least_tops(pools)
        pieces = Pieces(program, asking, ())
        assert pieces.bound(WORK, pools) == least
        assert all(wish.program.is_tight(row) for wish in asking.asked for row in wish.program.rows)
        asking.asked.clear()
        pool = len(program.rooms) - 1
        pieces.exceeds(least, pool, tops[pool] - 1, WORK)
        rows = sum(row.pool == pool and bool(row.members) for row in program.rows)
        assert all(sum(row.pool == pool for row in wish.program.rows) == rows for wish in asking.asked)
        asking.asked.clear()
    asking.close()


def test_no_question_about_a_floor_gets_less_than_it_takes_to_begin() -> None:
    asking = Noting()
    program = small("hot", 2)
    least, _, pools = min(choices(program))
    pieces = Pieces(program, asking, (), size=4)
    pieces.bound(WORK)
    asking.asked.clear()
    for work in range(
        1, 2 * budget.LEAST_PER_ENTRY * program.entries, 4
    ):  # another top each time, or it would be known
        for pool, top in enumerate(program.least_tops(pools)):
            pieces.exceeds(least, pool, top * 2 // 3 - work, work)
    assert asking.asked
    assert not any(wish.is_too_little for wish in asking.asked)
    asking.close()


class Hasty(Asking):
    """Takes every answer for one that was not proven."""

    def ask(self, program: Program, question: Question, work: int | None, then: Next = lambda: None) -> Answer:
        return super().ask(program, question, work, then)._replace(stopped=StopReason.WORK_LIMIT)


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_is_below_what_pieces_prove_that_were_cut_in_two(kind: str) -> None:
    asking, most = Hasty(Limits(), 0, Silent()), 0
    for seed in range(4):
        program = small(kind, seed)
        everything = choices(program)
        least, _, pools = min(everything)
        prices = random_prices(program, Random(seed))
        pieces = Pieces(program, asking, prices.of_rows.items(), prices.of_crowds.items(), size=100)
        bound = pieces.bound(WORK, pools)
        assert bound is not None
        assert bound <= pieces.improve(least, 100_000) <= least
        most = max(most, pieces.count)
        assert pieces.choice(WORK) in {each for _, _, each in everything} | {None}
    assert most > 2
    asking.close()


def test_pieces_that_choose_alike_prove_the_best_choice_and_its_heights(asking: Asking) -> None:
    """Floors ended one unit below pools that cannot be any lower."""
    exact = 0
    for seed in range(6):
        program = small("hot", seed)
        everything = choices(program)
        least, second, pools = min(everything)
        pieces = Pieces(program, asking, (), size=100)
        assert pieces.bound(WORK) == least
        assert pieces.improve(least, WORK) == least
        tops = program.least_tops(pools)
        lowest = [
            min(program.least_tops(each)[p] for first, _, each in everything if first == least)
            for p in range(len(tops))
        ]
        if lowest == list(tops):
            exact += 1
            assert Floors(program, pieces, least, tops, asking).bound(WORK) == second
    assert exact


def test_pieces_find_the_choice_whose_heights_they_prove(asking: Asking) -> None:
    """The best choice was left to a question about all classes at once, which ended without an answer."""
    met = 0
    for seed in range(12):
        program = small("hot", seed)
        everything = choices(program)
        most = sorted(first for first, _, _ in everything)[len(everything) // 2]
        allowed = sorted((second, pools) for first, second, pools in everything if first <= most)
        pieces = Pieces(program, asking, (), size=100)
        pieces.bound(WORK)
        floors = Floors(program, pieces, most, program.least_tops(allowed[-1][1]), asking)
        bound = floors.bound(WORK)
        assert bound <= allowed[0][0]
        if floors.found is not None:
            value, tops, pools = floors.found
            assert (value, pools) in allowed
            assert tops == program.least_tops(pools)
            assert value < allowed[-1][0]
            met += value == allowed[0][0]
    assert met


class Open(Pieces):
    """Pieces of which nothing is proven."""

    def __init__(self) -> None:
        self.below = None

    def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
        return False


def test_a_floor_that_is_not_answered_is_asked_for_lower(asking: Asking) -> None:
    """The same was asked again, until no work was left."""

    class Slow(Open):
        def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
            asking.work += 100
            return True if top < 500 else None

    program = small("pools", 0)
    tops = [1_000] * len(program.rooms)
    found = Floors(program, Slow(), 0, tops, asking).bound(10_000)
    assert found * 4 > sum(map(mul, program.terms[1].of_peaks, tops))


def test_floors_that_are_known_are_not_asked_for_again(asking: Asking) -> None:
    program = small("pools", 0)
    tops, known = [1_000] * len(program.rooms), [900] * len(program.rooms)
    asked = list[int]()

    class Asked(Open):
        def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
            asked.append(top)
            return top < 950

    found = Floors(program, Asked(), 0, tops, asking, known=known)
    assert found.bound(WORK) == sum(map(mul, program.terms[1].of_peaks, found.floors))
    assert found.floors == [max(950, min(room.lowest, 1_000)) for room in program.rooms]
    assert min(asked) >= 900


def test_the_floor_that_may_gain_most_is_asked_for_first(asking: Asking) -> None:
    """The pool whose floor was known least was asked about again and again, in ever smaller steps."""

    class Half(Open):
        """The first pool is half as high as the others."""

        def exceeds(self, most: int, pool: int, top: int, work: int) -> bool | None:
            asking.work += 100
            return top < (100_000 if pool else 50_000)

    program = small("pools", 0)
    prices = program.terms[1].of_peaks
    found = Floors(program, Half(), 0, [100_000] * len(prices), asking).bound(2_000)
    assert found * 100 > 98 * (sum(prices) * 100_000 - prices[0] * 50_000)


@pytest.mark.parametrize("top", [1, 2, 5, 63, 400, 100_000])
def test_floors_come_to_an_end_where_nothing_is_proven(top: int, asking: Asking) -> None:
    program = small("pools", 0)
    tops = [top] * len(program.rooms)
    lowest = [min(room.lowest, top) for room in program.rooms]
    found = Floors(program, Open(), 0, tops, asking).bound(WORK)
    assert found == sum(map(mul, program.terms[1].of_peaks, lowest))


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_no_choice_has_lower_pools_than_the_fullest_section_demands(kind: str) -> None:
    for seed in range(20):
        program = small(kind, seed)
        tops = [(program.least_tops(pools), second) for _, second, pools in choices(program)]
        above = above_lowest(program)
        for pool, (room, low) in enumerate(zip(program.rooms, lowest_tops(program), strict=True)):
            if room.capacity is None:
                assert above.rooms[pool].lowest <= min(top[pool] for top, _ in tops)
            else:
                assert low == room.capacity
        assert with_all_in_cheapest(program, 1) <= min(second for _, second in tops)


def test_peaks_that_come_first_reach_the_heights_of_the_fullest_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LARGE", 50)
    monkeypatch.setattr(cutting, "PIECE", 100)
    problem = with_preference(generate("hot", Request(300, 1)), Preference.SIZE)
    options = Options(time_limit=None, work_limit=1_500_000, workers=1, solver="pools_first")
    made = plan(problem, options)
    first = made.objective.terms[0]
    assert first.value is not None
    assert first.bound is not None
    assert first.value <= 1.01 * first.bound
    assert verify(problem, made) == ()


def test_a_second_term_is_bounded_pool_by_pool_where_programs_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LARGE", 50)
    monkeypatch.setattr(cutting, "PIECE", 60)
    problem = generate("pools", Request(160, 5))
    options = Options(time_limit=None, work_limit=1_500_000, workers=1, prefer=Preference.SPEED, solver="pools_first")
    made = plan(problem, options)
    second = made.objective.terms[1]
    others = [each.value for each in made.certificates if each.term == second.name and each.proof != Proof.SEARCH]
    assert second.bound is not None
    assert second.bound > max(others, default=0)
    assert verify(problem, made) == ()


def test_what_pieces_choose_cheaper_than_the_placement_is_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows had to find it, and where they had too little work the first term ended 6 % above its bound."""
    monkeypatch.setattr(budget, "LARGE", 50)
    monkeypatch.setattr(budget, "WINDOWS", Share(1, 1_000))
    problem = generate("pools", Request(160, 5))
    options = Options(time_limit=None, work_limit=500_000, workers=1, prefer=Preference.SPEED, solver="pools_first")
    made = plan(problem, options)
    first = made.objective.terms[0]
    assert first.value is not None
    assert first.bound is not None
    assert first.value <= 1.02 * first.bound
    assert verify(problem, made) == ()


@pytest.mark.parametrize("kind", ["pools", "hot", "memories"])
def test_pieces_that_never_choose_alike_become_one(kind: str, asking: Asking) -> None:
    """Moving costs alone left some of the first term open, and with it most of what is proven of heights."""
    for seed in range(10):
        program = small(kind, seed)
        everything = choices(program)
        prices = random_prices(program, Random(seed))
        size = (len(program.homes) + 1) // 2
        pieces = Pieces(program, asking, prices.of_rows.items(), prices.of_crowds.items(), size=size)
        pieces.bound(WORK)
        least = min(first for first, _, _ in everything)
        assert pieces.improve(least, WORK) == least
        tops = [program.least_tops(pools) for first, _, pools in everything if first <= least]
        for pool in range(len(program.rooms)):
            lowest = min(top[pool] for top in tops)
            settled = max((row.always for row in program.rows if row.pool == pool), default=0)
            assert not pieces.exceeds(least, pool, lowest, WORK)
            if lowest > max(program.rooms[pool].lowest, settled):
                assert pieces.exceeds(least, pool, lowest - 1, WORK)
