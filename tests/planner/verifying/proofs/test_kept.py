"""What replaying a proof keeps takes few bytes, and is limited."""

from __future__ import annotations

import tracemalloc

import pytest

from planner import Buffer, Pool, Problem
from planner.verifying.proofs import replay
from planner.verifying.proofs.kept import Recent
from tests.planner.verifying.proofs.test_proofs import LIVE, objection, proof_of


def peak_of(problem: Problem, proof: bytes) -> tuple[str, int]:
    """Return why a proof is refused, and how many bytes its replay took at most."""
    tracemalloc.start()
    try:
        return objection(problem, proof)[1], tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "steps",
    [["t 1"] * 600, ["c " + " ".join(map(str, range(200)))] * 20, [f"b {n}" for n in range(199)], [f"k {n}" for n in range(199)]],
    ids=["live", "named", "branches", "lessons"],
)  # fmt: skip
def test_what_a_replay_keeps_takes_few_bytes(monkeypatch: pytest.MonkeyPatch, steps: list[str]) -> None:
    """Each step is about 200 buffers; each pair of a step and a buffer, and each pair of buffers, takes less than an object."""
    monkeypatch.setattr(replay, "MOST_RECENT", 1000)
    count = 200
    many = Problem(tuple(Buffer(n, 2 + n % 7, live=LIVE) for n in range(count)), (Pool("p"),))
    _, least = peak_of(many, proof_of(many, 5000))
    why, most = peak_of(many, proof_of(many, 5000, *steps))
    assert "ends before everything is refuted" in why
    assert most - least < 40 * count * (len(steps) + count)


def test_open_branches_change_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(100)), (Pool("p"),))
    monkeypatch.setattr(replay, "MOST_BYTES", 20 * 100 * 20)
    line, why = objection(many, proof_of(many, 5000, *(f"b {n}" for n in range(100))))
    assert 20 < line < 60
    assert "what the open branches changed" in why


def test_recent_things_are_made_again_once_others_took_their_room() -> None:
    made: list[int] = []

    def make(number: int) -> tuple[int, int]:
        made.append(number)
        return -number, number

    recent = Recent(5, make)
    assert [recent[number] for number in (2, 3, 2, 3, 9, 9, 2)] == [-2, -3, -2, -3, -9, -9, -2]
    assert made == [2, 3, 9, 2]


def test_cases_share_their_sets_of_memories() -> None:
    count = 200
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(count)), (Pool("p"), Pool("q", cost=2)))
    _, least = peak_of(many, proof_of(many, 401))
    why, most = peak_of(many, proof_of(many, 401, *(f"m {n}" for n in range(count - 1))))
    assert "ends before everything is refuted" in why
    assert most - least < 120 * count * count
