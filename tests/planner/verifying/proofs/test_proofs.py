"""Each step of a proof may claim what its rule allows and no more; other files are refused with the line."""

from __future__ import annotations

import gzip
from dataclasses import replace
from io import BufferedReader, BytesIO, RawIOBase
from random import Random
from typing import TYPE_CHECKING

import pytest

from planner import (
    BadProof,
    Buffer,
    Colocation,
    Constraints,
    Fixed,
    NoProof,
    Options,
    PlanStatus,
    Pool,
    Problem,
    check_proof,
    plan,
    prove,
)
from planner.facts.digest import digest
from planner.generate import Request, generate
from planner.verifying.proofs import reading, replay
from planner.verifying.proofs.check import FORMAT
from planner.verifying.proofs.claims import check_plan_proof
from planner.verifying.proving import one_memory
from tests.property.tight_problems import uneven_problem

LIVE = ((0, 2),)


THREE = Problem(
    (Buffer("a", 4, live=((0, 2),)), Buffer("b", 3, live=((1, 3),)), Buffer("c", 5, live=((2, 4),))), (Pool("p"),)
)
"""No plan needs less than 8 bytes: b and c are live together."""


def proof_of(problem: Problem, height: int, *lines: str) -> bytes:
    return "\n".join((FORMAT, f"problem {digest(problem)}", f"refutes {height}", *lines, "")).encode()


def objection(problem: Problem, proof: bytes | BufferedReader) -> tuple[int, str]:
    """Require that the proof is refused; return the line and the reason."""
    with pytest.raises(BadProof) as caught:
        check_proof(problem, proof)
    (finding,) = caught.value.findings
    assert finding.pointer == (f"/line/{caught.value.line}" if caught.value.line else "")
    assert finding.code == "invalid_proof"
    return caught.value.line, finding.message


if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def test_live_buffers_are_a_proof_of_one_step() -> None:
    proven = check_proof(THREE, proof_of(THREE, 7, "t 2", "s 0 1"))
    assert (proven.height, proven.lines, proven.placements) == (7, 5, 0)
    assert check_proof(THREE, proof_of(THREE, 7, "c 1 2", "s 0 2")).height == 7
    assert objection(THREE, proof_of(THREE, 8, "t 2", "s 0 1"))[0] == 5


def test_a_buffer_that_is_too_large_is_a_proof_of_one_step() -> None:
    assert check_proof(THREE, proof_of(THREE, 4, "e 2")).height == 4
    assert objection(THREE, proof_of(THREE, 5, "e 2"))[0] == 4


def test_no_buffer_ends_below_address_0() -> None:
    assert check_proof(THREE, proof_of(THREE, -1)).height == -1
    assert objection(THREE, proof_of(THREE, -1, "e 0")) == (4, "everything is refuted already")
    empty = Problem(())
    assert check_proof(empty, proof_of(empty, -1)).height == -1
    assert objection(empty, proof_of(empty, 0))[0] == 4


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (["c 0 2"], 4),  # buffers 0 and 2 are not live together
        (["c 1 1"], 4),
        (["c 1 3"], 4),
        (["c 1 -1"], 4),
        (["t 2 3"], 4),
        (["t"], 4),
        (["s 0 1"], 4),
        (["t 2", "s 1 1"], 5),
        (["t 2", "s -1 1"], 5),
        (["t 2", "s 0 0"], 5),
        (["t 2", "s 0"], 5),
        (["t 2", "r 0 1 2"], 5),
        (["t 2", "r 0 1"], 5),
        (["e"], 4),
        (["e 3"], 4),
        (["e 0"], 4),
        (["f 1"], 4),  # buffer 1 may lie above another
        (["b"], 4),
        (["b 0 1"], 4),
        (["b 1", "b 1"], 5),
        (["k 1", "k 1"], 5),
        (["u 0"], 4),
        (["u"], 4),
        (["k 1", "u 0"], 5),  # what is kept as number 0 is not refuted yet
        (["x 1"], 4),
        (["T 2"], 4),
        ([""], 4),
        (["t  2"], 4),
        (["t 2 "], 4),
        (["t 02"], 4),
        (["t +2"], 4),
        (["t 2.0"], 4),
        (["t 2\r"], 4),
        (["t 123456789012345678901"], 4),
        (["t 2", "s 0 1", "s 0 1"], 6),
        (["t 2"], 5),
        ([], 4),
    ],
)
def test_a_step_that_is_not_allowed_is_refused_with_its_line(lines: list[str], at: int) -> None:
    assert objection(THREE, proof_of(THREE, 7, *lines))[0] == at


def test_the_head_of_a_proof_is_read_strictly() -> None:
    good = proof_of(THREE, 7, "t 2", "s 0 1")
    assert objection(THREE, good.replace(b"/1", b"/2"))[0] == 1
    assert objection(THREE, good.replace(b"problem ", b"problem f"))[0] == 2
    assert objection(replace(THREE, pools=(Pool("p", 100),)), good) == (
        2,
        "the proof is about another problem: the digests differ",
    )
    assert objection(THREE, good.replace(b"refutes", b"shows"))[0] == 3
    assert objection(THREE, good.replace(b"refutes 7", b"refutes 7 7"))[0] == 3
    assert objection(THREE, b"")[0] == 1
    assert objection(THREE, good[:-1]) == (5, "the line ends early")
    assert objection(THREE, good.replace(b"t 2", b"t \xff"))[0] == 4


def test_every_end_that_comes_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_memory, "MOST_STACKED", 0)
    proof = prove(STACKED, plan(STACKED)).text
    assert proof is not None
    check_proof(STACKED, proof)
    lines = proof.splitlines(keepends=True)
    assert any(line.startswith(b"b ") for line in lines)
    for count in range(len(lines)):
        assert objection(STACKED, b"".join(lines[:count]))[0] == count + 1


STACKED = Problem(
    (
        *(Buffer(n, size, alignment=4, live=LIVE) for n, size in enumerate((6, 5, 7))),
        Buffer(3, 3, alignment=2, live=LIVE),
        Buffer(4, 3, alignment=2, live=((1, 2),)),
    ),
    (Pool("p"),),
)
"""Its alignments leave gaps, so that no sum of sizes proves the least peak."""


def test_a_compressed_proof_is_read_unchanged() -> None:
    proof = proof_of(THREE, 7, "t 2", "s 0 1")
    packed = gzip.compress(proof)
    assert check_proof(THREE, packed) == check_proof(THREE, proof)
    assert check_proof(THREE, BufferedReader(BytesIO(packed))).height == 7
    for count in range(2, len(packed)):
        objection(THREE, packed[:count])
    for at in range(10, len(packed)):
        spoiled = packed[:at] + bytes([packed[at] ^ 0x10]) + packed[at + 1 :]
        try:
            check_proof(THREE, spoiled)
        except BadProof:
            continue
        assert gzip.decompress(spoiled) == proof


class Endless(RawIOBase):
    """A file that never ends: after the beginning, the rest is repeated forever."""

    def __init__(self, beginning: bytes, rest: bytes) -> None:
        self._beginning, self._rest = beginning, rest

    def readable(self) -> bool:
        return True

    def readinto(self, room: WriteableBuffer, /) -> int:
        view = memoryview(room).cast("B")
        data = (self._beginning or self._rest)[: len(view)]
        self._beginning = self._beginning[len(data) :]
        view[: len(data)] = data
        return len(data)


def test_endless_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_LINES", 3_000)
    monkeypatch.setattr(reading, "MOST_LINE_BYTES", 1 << 16)
    monkeypatch.setattr(reading, "MOST_MEMBERS", 3_500)
    head = proof_of(THREE, 7)
    assert objection(THREE, BufferedReader(Endless(head, b"0" * 4096))) == (4, "the line is too long")
    assert "cliques" in objection(THREE, BufferedReader(Endless(head, b"t 2\n" * 1024)))[1]
    assert "3000 lines" in objection(THREE, BufferedReader(Endless(head, b"t 9\n" * 1024)))[1]
    bomb = gzip.compress(head + b"t 2\n" * 1_000_000)
    assert "cliques" in objection(THREE, bomb)[1]


def test_a_proof_that_asks_for_too_much_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_WORK", 50_000)
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(60)), (Pool("p"),))
    names = " ".join(map(str, range(60)))
    line, why = objection(many, proof_of(many, 200, *["c " + names] * 1_000))
    assert line < 200
    assert "looks" in why
    line, why = objection(many, proof_of(many, 200, "c " + names, *["r 0 0 1"] * 1_000))
    assert line == 5


def test_checking_a_proof_looks_at_the_clock_at_each_line_and_within_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    looks: list[int] = []
    monkeypatch.setattr(reading, "look", lines.append)
    monkeypatch.setattr(replay, "tick", lambda _, count: looks.append(count))
    problem = Problem(tuple(Buffer(i, 1, live=((0, 1),)) for i in range(100)), (Pool("p"),))
    clique = " ".join(map(str, range(100)))
    assert check_proof(problem, proof_of(problem, 99, f"c {clique}", f"c {clique}", "s 0 0")).height == 99
    assert len(lines) == 4
    assert sum(looks) > 100 * 100


def test_nesting_is_no_deeper_than_the_number_of_buffers() -> None:
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(300)), (Pool("p"),))
    steps = [f"b {n}" for n in range(300)]
    line, _ = objection(many, proof_of(many, 1 << 40, *steps))
    assert 300 <= line <= 304


def test_proofs_of_large_problems_use_sums_but_no_placements() -> None:
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(5_000)), (Pool("p"),))
    assert check_proof(many, proof_of(many, 9_999, "t 0", "s 0 7")).height == 9_999
    assert "2000 buffers" in objection(many, proof_of(many, 9_999, "b 0"))[1]


def test_facts_of_a_branch_are_reused_where_they_hold_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_memory, "MOST_STACKED", 0)
    problem = uneven_problem(0)
    proof = prove(problem, plan(problem, Options(time_limit=None, work_limit=300_000)))
    assert proof.text is not None
    lines = proof.text.decode().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("u "))
    check_proof(problem, proof.text)
    forgotten = [f"b{line[1:]}" if line.startswith("k ") else line for line in lines]
    assert objection(problem, "".join(f"{line}\n" for line in forgotten).encode()) == (
        at + 1,
        f"nothing is kept yet as number {lines[at][2:]}",
    )


def test_buffers_that_may_share_addresses_are_no_clique() -> None:
    buffers = tuple(Buffer(name, 4, live=LIVE) for name in "abc")
    excluded = Problem(buffers, constraints=Constraints(exclusions=(("a", "c"),)))
    assert "0 and 2" in objection(excluded, proof_of(excluded, 7, "t 0"))[1]
    assert objection(excluded, proof_of(excluded, 7, "c 0 2"))[0] == 4
    assert check_proof(excluded, proof_of(excluded, 7, "c 0 1", "s 0 0")).height == 7
    tied = Problem(buffers, constraints=Constraints(colocations=(Colocation("b", "a", 2),)))
    assert "0 and 1" in objection(tied, proof_of(tied, 7, "t 0"))[1]
    apart = Problem(buffers, constraints=Constraints(colocations=(Colocation("b", "a", 4),)))
    assert check_proof(apart, proof_of(apart, 11, "t 0", "s 0 0")).height == 11


def test_conflicts_hold_without_lifetimes_and_empty_buffers_take_no_room() -> None:
    problem = Problem(
        (Buffer("a", 4), Buffer("b", 4), Buffer("c", 0)), constraints=Constraints(conflicts=(("a", "b"),))
    )
    assert check_proof(problem, proof_of(problem, 7, "c 0 1", "s 0 0")).height == 7
    assert objection(problem, proof_of(problem, 7, "c 0 2"))[0] == 4


def test_fixed_buffers_are_obstacles() -> None:
    wall = Buffer("wall", 2, live=LIVE, fixed=Fixed("p", 5))
    problem = Problem((wall, Buffer("a", 4, live=LIVE), Buffer("b", 4, live=LIVE)), (Pool("p", 11),))
    made = plan(problem)
    assert made.peak == 11
    proof = prove(problem, made)
    assert proof.text is not None
    assert check_proof(problem, proof.text).height == 10
    assert check_proof(problem, proof_of(problem, 10, "f 0", "t 0", "s 0 1")).height == 10
    assert objection(problem, proof_of(problem, 11, "f 0", "t 0", "s 0 1"))[0] == 6


def test_an_infeasible_problem_has_a_proof_of_its_capacity() -> None:
    problem = replace(STACKED, pools=(Pool("p", 20),))
    made = plan(problem)
    assert made.status is PlanStatus.INFEASIBLE
    proof = prove(problem, made)
    assert proof.height == 20
    assert proof.text is not None
    verdict = check_plan_proof(problem, made, proof.text)
    assert not verdict.findings
    assert verdict.notes(problem)[0].startswith("no plan fits")
    unlimited = Problem(
        (Buffer("a", 4, live=LIVE, max_offset=3), Buffer("b", 4, live=LIVE, max_offset=3)), (Pool("p"),)
    )
    made = plan(unlimited)
    assert made.status is PlanStatus.INFEASIBLE
    proof = prove(unlimited, made)
    assert proof.text is not None
    assert not check_plan_proof(unlimited, made, proof.text).findings


def test_a_proof_of_less_than_the_plan_claims_is_a_finding() -> None:
    made = plan(THREE)
    (finding,) = check_plan_proof(THREE, made, proof_of(THREE, 6, "t 2", "s 0 1")).findings
    assert finding.kind == "wrong_proof"
    assert "below 8, but its proof shows only that no plan ends below 7" in finding.message
    (finding,) = check_plan_proof(THREE, made, proof_of(THREE, 7, "t 1", "s 0 0")).findings
    assert finding.message.startswith("line 4 of the proof") or finding.message.startswith("line 5 of the proof")


def test_a_proof_not_found_in_time_is_not_written() -> None:
    proof = prove(STACKED, plan(STACKED), lambda: True)
    assert (proof.text, proof.why_not) == (None, NoProof.TIME)


@pytest.mark.parametrize(
    "kind", ["random", "packing", "transformer", "convnet", "unet", "recurrent", "training", "pangu"]
)
@pytest.mark.parametrize("alignment", [1, 64])
def test_30_buffers_of_every_kind_have_a_proof(kind: str, alignment: int) -> None:
    for seed in range(3):
        problem = generate(kind, Request(30, seed, alignment))
        made = plan(problem, Options(time_limit=None, work_limit=500_000))
        proof = prove(problem, made)
        assert proof.text is not None
        assert check_proof(problem, proof.text).height == made.bound - 1


def test_views_into_one_block_are_summed_up_once() -> None:
    """The view lies within its base, so the proof adds up only base and other."""
    buffers = (Buffer("base", 8, live=LIVE), Buffer("view", 4, live=LIVE), Buffer("other", 5, live=LIVE))
    problem = Problem(buffers, constraints=Constraints(colocations=(Colocation("view", "base", 2),)))
    proof = prove(problem, plan(problem))
    assert proof.text is not None
    assert proof.text.splitlines()[3:] == [b"c 0 2", b"s 0 2"]
    assert check_proof(problem, proof.text).height == 12


@pytest.mark.parametrize(("count", "seed"), [(30, 0), (60, 1), (60, 2), (100, 1)])
def test_the_heaviest_clique_of_conflicts_is_found_without_a_certificate(count: int, seed: int) -> None:
    """Buffers without lifetimes, half of all pairs in conflict, and among them a clique that stands out in nothing but its bytes."""
    dice = Random(seed)
    hidden = dice.sample(range(count), 12)
    pairs = [(a, b) for b in range(count) for a in range(b) if dice.random() < 0.5 or (a in hidden and b in hidden)]
    buffers = tuple(Buffer(n, dice.randrange(10, 30)) for n in range(count))
    problem = Problem(buffers, (Pool("p"),), Constraints(conflicts=tuple(pairs)))
    made = plan(problem, Options(solver="greedy"))
    bound = sum(buffers[n].size for n in hidden)
    claimed = replace(made, bound=bound, pools=(replace(made.pools[0], bound=bound),), certificates=())
    looks = 0

    def stopped() -> bool:
        nonlocal looks
        looks += 1
        return looks > 1000

    shown = prove(problem, claimed, stopped)
    assert shown.text is not None
    assert len(shown.text.splitlines()) == 5
    assert check_proof(problem, shown.text).height == bound - 1
