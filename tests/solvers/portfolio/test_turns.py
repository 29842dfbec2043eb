"""A round's engines work side by side: results do not depend on who is first, and free workers help the others."""

from __future__ import annotations

import sys
from threading import Thread

import numpy as np
import pytest

from solvers.geometry.presolve import by_pool
from solvers.model.errors import StopReason
from solvers.model.instance import Ints, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Silent
from solvers.portfolio.board import Board, Relay
from solvers.portfolio.execute import Answer
from solvers.portfolio.single_pool import SinglePool
from solvers.portfolio.turns import QUICK_SWITCH, Part, Turn, play
from tests.running.processes import until
from tests.small.instances import make_instance

BLOCKS = make_instance([(0, 2, 3), (1, 3, 3), (2, 4, 3)])


def turn_of(*team: tuple[str, int]) -> tuple[Board, Turn]:
    pool = SinglePool(next(iter(by_pool(BLOCKS, np.zeros(BLOCKS.blocks, dtype=np.int64)))))
    pool.split_all()
    (component,) = pool.open
    return Board(BLOCKS, Silent()), Turn(pool, component, team, pool.bound, lambda placement: None)


def found(*offset: int) -> Outcome:
    peak = max(offset) + 3
    at = np.array(offset, dtype=np.int64)
    return Outcome(StopReason.WORK_LIMIT, Placement.in_one_pool(at), (peak,), (6,), work=1)


NOTHING = Outcome(StopReason.WORK_LIMIT, work=1)
OPTIMAL = found(0, 3, 0)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("winner", [0, 1, 2])
def test_only_engines_that_one_worker_would_have_asked_count(workers: int, winner: int) -> None:
    board, turn = turn_of(("first", 1), ("second", 5), ("third", 3))
    play(
        [turn],
        workers,
        board,
        1_000_000,
        lambda part, relay, active_threads: OPTIMAL if part.number == winner else NOTHING,
    )
    wanted = [(name, NOTHING) for name, _ in turn.team[:winner]]
    assert turn.answers() == [*wanted, (turn.team[winner][0], OPTIMAL)]
    assert turn.settled


def test_engines_no_longer_needed_are_told_to_stop() -> None:
    board, turn = turn_of(("first", 1), ("second", 2))
    at_work: list[object] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        if part.number == 0:
            until(lambda: len(at_work) >= 1)
            return OPTIMAL
        at_work.append(part)
        assert until(relay.stopped) is StopReason.CANCELLED
        return NOTHING

    play([turn], 2, board, 1_000_000, work)
    assert turn.answers() == [("first", OPTIMAL)]


def test_an_earlier_engine_is_waited_for() -> None:
    board, turn = turn_of(("first", 1), ("second", 2))
    ended: list[object] = []
    worse = found(6, 3, 0)

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        if part.number == 0:
            until(lambda: len(ended) >= 1)
            assert relay.stopped() is None
            return worse
        ended.append(part)
        return OPTIMAL

    play([turn], 2, board, 1_000_000, work)
    assert turn.answers() == [("first", worse), ("second", OPTIMAL)]


def test_free_workers_help_engines_that_use_threads() -> None:
    board, turn = turn_of(("search", 6), ("beam", 1))
    seen: list[int] = []
    stage: list[object] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        if part.name == "beam":
            until(lambda: len(stage) >= 1)
            assert int(active_threads[0]) == 1
            return NOTHING
        seen.append(int(active_threads[0]))
        stage.append(part)
        until(lambda: active_threads[0] != seen[0])
        seen.append(int(active_threads[0]))
        return NOTHING

    play([turn], 4, board, 1_000_000, work)
    assert seen == [3, 4]


def test_a_member_rests_for_another_that_would_be_the_last_to_end() -> None:
    board, turn = turn_of(("first", 1), ("second", 1), ("third", 1))
    begun: list[object] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        begun.append(part)
        until(lambda: relay.stopped() is not None or len(begun) == 3)
        assert len(begun) == 3
        return NOTHING

    play([turn], 2, board, 4_000_000, work)
    assert turn.answers() == [("first", NOTHING), ("second", NOTHING), ("third", NOTHING)]


def test_a_member_at_rest_is_told_to_stop() -> None:
    board, turn = turn_of(("first", 1), ("second", 1), ("third", 1))
    begun: list[object] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        begun.append(part)
        if part.number == 0:
            until(lambda: len(begun) >= 3)
            return OPTIMAL
        assert until(relay.stopped) is StopReason.CANCELLED
        return NOTHING

    play([turn], 2, board, 4_000_000, work)
    assert turn.answers() == [("first", OPTIMAL)]


def test_others_stop_once_a_member_has_failed() -> None:
    board, turn = turn_of(("first", 1), ("second", 1), ("third", 1))
    begun: list[object] = []
    reasons: list[object] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        begun.append(part)
        if part.number == 0:
            until(lambda: len(begun) >= 3)
            raise ZeroDivisionError
        reasons.append(until(relay.stopped))
        return NOTHING

    with pytest.raises(ZeroDivisionError):
        play([turn], 2, board, 4_000_000, work)
    assert reasons == [StopReason.CANCELLED] * 2


@pytest.mark.parametrize("most", range(3))
def test_a_round_ends_where_the_system_gives_no_more_threads(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    board, turn = turn_of(*((f"member {i}", 1) for i in range(6)))
    started: list[Thread] = []
    start = Thread.start

    def limited(thread: Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        assert until(relay.stopped) is StopReason.CANCELLED
        return NOTHING

    monkeypatch.setattr(Thread, "start", limited)
    with pytest.raises(RuntimeError, match="thread"):
        play([turn], 3, board, 1_000_000, work)


def test_placements_are_kept_only_if_lower() -> None:
    board, turn = turn_of(("first", 1), ("second", 1))
    kept: list[int] = []
    turn.put = lambda placement: kept.append(int(placement.offset.max()))

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        for outcome in (found(0, 9, 0), found(0, 5, 0), found(0, 7, 0)):
            assert outcome.placement is not None
            relay.incumbent(outcome.placement)
        return NOTHING

    play([turn], 1, board, 1_000_000, work)
    assert kept == [9, 5]


def test_a_second_worker_helps_an_engine_before_the_next_one_begins() -> None:
    board, turn = turn_of(("search", 6), ("gluing", 6), ("gluing", 6))
    begun: list[tuple[str, int]] = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        begun.append((part.name, int(active_threads[0])))
        return OPTIMAL

    play([turn], 2, board, 1_000_000, work)
    assert begun == [("search", 2)]


@pytest.mark.parametrize("workers", [1, 2])
def test_several_workers_take_turns_in_python_quickly(workers: int) -> None:
    usual = sys.getswitchinterval()
    assert usual > QUICK_SWITCH
    seen = []

    def work(part: Part, relay: Relay, active_threads: Ints) -> Answer:
        if part.name == "outer":
            board, turn = turn_of(("inner", 1))
            play([turn], workers, board, 1_000_000, work)
        seen.append(sys.getswitchinterval())
        return NOTHING

    board, turn = turn_of(("outer", 1), ("last", 1))
    play([turn], workers, board, 1_000_000, work)
    assert seen == pytest.approx([usual if workers == 1 else QUICK_SWITCH] * 3)
    assert sys.getswitchinterval() == usual
