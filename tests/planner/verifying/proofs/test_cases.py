"""Proofs that examine each memory and each alternative as a case."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from planner import (
    Buffer,
    CannotSolve,
    Colocation,
    Constraints,
    Fixed,
    Options,
    Pool,
    Problem,
    check_proof,
    plan,
    prove,
)
from planner.model.problem import Alternative, CostTerm, VariantGroup, Variants, Was
from planner.verifying.proofs import reading
from planner.verifying.proofs.cases import ANY_VALUE
from planner.verifying.proofs.claims import check_plan_proof
from solvers.model.instance import Term
from tests.planner.verifying.proofs.test_proofs import LIVE, THREE, objection, proof_of

TWO = replace(THREE, pools=(Pool("p", 5), Pool("q", cost=3)))
"""b and c are live together, and one must be in q, which costs more: at best 5 bytes at 1 and 3 bytes at 3."""


CHOICE = replace(
    THREE,
    variants=Variants(
        (VariantGroup("g", (Alternative("small", (4,)), Alternative("large", (1,), (Buffer("d", 9, live=LIVE),)))),),
        (CostTerm("cycles"),),
    ),
)


def test_live_buffers_weigh_on_several_memories() -> None:
    assert check_proof(TWO, proof_of(TWO, 13, "t 2", "w 1 2 0")).height == 13
    assert objection(TWO, proof_of(TWO, 14, "t 2", "w 1 2 0"))[0] == 5
    assert objection(TWO, proof_of(TWO, 13, "t 2", "w 1 0 0"))[0] == 5
    assert objection(TWO, proof_of(TWO, 13, "t 2", "w 1 -2 0"))[0] == 5
    assert objection(TWO, proof_of(TWO, 13, "t 2", "w 1 2"))[0] == 5
    assert objection(TWO, proof_of(TWO, 13, "w 1 2 0"))[0] == 4
    assert objection(TWO, proof_of(TWO, 13, "c 1 2", "c 0 1", "w 1 2 0"))[0] == 6
    full = replace(TWO, pools=(Pool("p", 4), Pool("q", 3)))
    assert check_proof(full, proof_of(full, ANY_VALUE, "t 2", "w 0 1 1")).height == ANY_VALUE


def test_each_memory_that_a_buffer_may_be_in_is_a_case() -> None:
    b_in_p = ("m 2", "p 0 5", "c 0 1", "s 0 0", "p 1 4", "e 0")
    b_in_q = ("p 1 2", "e 0", "m 2", "p 0 4", "e 0", "p 1 4", "e 1")
    assert check_proof(TWO, proof_of(TWO, 13, "m 1", *b_in_p, *b_in_q)).height == 13
    assert objection(TWO, proof_of(TWO, 13, "m 1", *b_in_q, *b_in_p))[0] == 6
    assert objection(TWO, proof_of(TWO, 13, *b_in_p))[0] == 6
    assert objection(TWO, proof_of(TWO, 14, "m 1", *b_in_p, *b_in_q))[0] == 17
    whole = prove(TWO, plan(TWO)).text
    assert whole is not None
    assert check_proof(TWO, whole).height == 13
    assert objection(TWO, proof_of(TWO, 13, "m 3"))[0] == 4
    assert objection(TWO, proof_of(TWO, 13, "m"))[0] == 4
    assert objection(TWO, proof_of(TWO, 13, "m 1", "m 1")) == (5, "there is one memory alone for buffer 1")
    assert objection(TWO, proof_of(TWO, 13, "a 0"))[0] == 4
    assert objection(TWO, proof_of(TWO, 13, "p 2 1", "e 0"))[0] == 4
    assert objection(TWO, proof_of(TWO, 13, "x"))[0] == 4


def test_each_alternative_is_a_case_and_dear_ones_may_be_left_out() -> None:
    steps = ("a 0", "p 0 7", "t 2", "s 0 1", "p 0 7", "t 2", "s 0 1")
    assert check_proof(CHOICE, proof_of(CHOICE, 7, *steps)).within is None
    assert objection(CHOICE, proof_of(CHOICE, 7, *steps[:4]))[0] == 8
    assert objection(CHOICE, proof_of(CHOICE, 7, *steps[:2], "a 0"))[0] == 6
    cheap = proof_of(CHOICE, 12, "a 0", "p 0 12", "t 0", "s 0 0").replace(b"refutes 12", b"refutes 12 3")
    assert check_proof(CHOICE, cheap).within == 3
    dear = cheap.replace(b"refutes 12 3", b"refutes 12 4")
    assert objection(CHOICE, dear)[0] > 4
    assert objection(THREE, proof_of(THREE, 7).replace(b"refutes 7", b"refutes 7 3"))[0] == 3
    made = plan(CHOICE, Options(max_cost=3))
    proof = prove(CHOICE, made).text
    assert proof is not None
    assert b"refutes 15 3" in proof
    assert check_plan_proof(CHOICE, made, proof).notes(CHOICE) == (
        "no plan ends below 16 at a cost of 3 or less: the proof was replayed, 6 lines",
    )
    (finding,) = check_plan_proof(CHOICE, plan(CHOICE), cheap).findings
    assert "shows only that no plan ends below 13 at a cost of 3 or less" in finding.message


def test_cases_are_limited_in_work(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Problem(tuple(Buffer(n, 2, live=LIVE) for n in range(2_000)), (Pool("p"), Pool("q", cost=2)))
    line, why = objection(many, proof_of(many, 4_001, *(f"m {n}" for n in range(2_000))))
    assert line < 1_100
    assert "divided too often" in why
    monkeypatch.setattr(reading, "MOST_WORK", 100_000)
    assert "looks" in objection(many, proof_of(many, 4_001, *["t 0"] * 1_000))[1]
    pools = tuple(Pool(f"p{n}") for n in range(1_001))
    why = "proofs about several memories are about 1000000 pairs of a buffer and a memory at most"
    wide = replace(many, buffers=many.buffers[:1_000], pools=pools)
    assert objection(wide, proof_of(wide, 1, "m 0")) == (3, why)


def test_pairs_count_as_work_again_for_each_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each case of a memory examines all pairs again, so many pairs use up the limit on work within a few cases."""
    monkeypatch.setattr(reading, "MOST_WORK", 20_000)
    count = 100
    pairs = tuple((a, b) for a in range(count) for b in range(a))
    buffers = tuple(Buffer(n, 2, live=((n, n + 1),), fixed=Fixed("p")) for n in range(count))
    problem = Problem(buffers, (Pool("p", 999), Pool("q", 999)), Constraints(conflicts=pairs))
    line, why = objection(problem, proof_of(problem, 1, *["p 0 0", "e 0"] * 10))
    assert line < 14
    assert "asks for more than" in why


def test_a_long_line_takes_little_more_room_than_its_numbers() -> None:
    line = b"c" + b" 1" * 100_000
    reader = reading.Reader(line + b"\n")
    tracemalloc.start()
    try:
        assert len(reader.words()[1]) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 50 * len(line)
    finally:
        tracemalloc.stop()


def test_memories_are_not_alike_as_long_as_alternatives_are_open() -> None:
    """Two equal memories are two cases while an alternative is open that may fix a buffer in one of them."""
    fixed = Alternative("fixed", buffers=(Buffer("d", 9, live=LIVE, fixed=Fixed("p")),))
    groups = (VariantGroup("g", (fixed,)),)
    problem = Problem((Buffer("a", 5, live=LIVE),), (Pool("p", 12), Pool("q", 12)), variants=Variants(groups))
    assert plan(problem).objective.value == 14
    assert objection(problem, proof_of(problem, 14, "m 0", "p 0 4", "e 0"))[0] > 5
    everywhere = ("p 0 4", "e 0"), ("p 1 4", "e 0")
    assert objection(problem, proof_of(problem, 4, "m 0", *everywhere[0]))[0] == 7
    assert check_proof(problem, proof_of(problem, 4, "m 0", *everywhere[0], *everywhere[1])).height == 4
    proof = prove(problem, plan(problem)).text
    assert proof is not None
    assert check_proof(problem, proof).height == 13


def test_costs_of_single_buffers_count_too() -> None:
    buffers = tuple(replace(buffer, accesses=4) for buffer in THREE.buffers)
    problem = replace(TWO, buffers=buffers, pools=(Pool("p", 5), Pool("q", rank=2)), terms=(Term.ACCESS_COST,))
    made = plan(problem)
    proof = prove(problem, made)
    assert proof.text is not None
    assert check_proof(problem, proof.text).height == (made.objective.value or 0) - 1
    assert check_plan_proof(problem, made, proof.text).notes(problem)[0].startswith("no plan has access_cost below")


def test_costs_of_reuse_in_several_memories_are_refused() -> None:
    problem = replace(TWO, terms=(Term.REUSE_COST,))
    why = "proofs about several memories are about peaks, and what memories cost, not about reuse_cost"
    with pytest.raises(CannotSolve, match=why):
        prove(problem, plan(problem))
    assert objection(problem, proof_of(problem, 7, "t 2"))[1] == why


def test_moves_are_not_counted_and_that_is_what_is_said() -> None:
    was = tuple(Was(id_, "p", 0) for id_ in ("b", "c"))
    problem = replace(TWO, pools=(Pool("p"), Pool("q")), terms=(Term.MOVED_BYTES,), was=was)
    made = plan(problem)
    assert made.objective.value
    assert prove(problem, made).why_not == "the objective counts what moves, and a proof does not"


def test_that_one_memory_is_too_few_needs_no_step() -> None:
    problem = replace(THREE, constraints=Constraints(different_pool=(("b", "c"),)))
    made = plan(problem)
    proof = prove(problem, made).text
    assert proof is not None
    assert check_plan_proof(problem, made, proof).findings == ()
    assert objection(THREE, proof_of(THREE, 100))[0] == 4


def test_that_nothing_fits_at_a_cost_is_proven_of_what_costs_no_more() -> None:
    problem = replace(CHOICE, pools=(Pool("p", 8),))
    made = plan(problem, Options(max_cost=1))
    proof = prove(problem, made)
    assert proof.text is not None
    verdict = check_plan_proof(problem, made, proof.text)
    assert verdict.findings == ()
    assert verdict.notes(problem)[0].startswith("no plan fits at a cost of 1 or less")
    assert plan(problem, Options(max_cost=4)).peak == 8
    assert made.shortage is not None
    dearer = replace(made, shortage=replace(made.shortage, most_cost=4))
    assert [finding.kind for finding in check_plan_proof(problem, dearer, proof.text).findings] == ["wrong_proof"]


def test_buffers_that_open_alternatives_may_overlap_are_no_clique() -> None:
    """Buffers that an alternative colocates or excludes form a clique only once another one is chosen."""
    tied = Alternative("tied", constraints=Constraints(colocations=(Colocation("c", "b", 0),)))
    excluded = Alternative("excluded", constraints=Constraints(exclusions=(("b", "c"),)))
    for other in (tied, excluded):
        problem = replace(THREE, variants=Variants((VariantGroup("g", (Alternative("plain"), other)),)))
        assert objection(problem, proof_of(problem, 7, "p 0 7", "t 2", "s 0 1"))[0] == 5
        assert objection(problem, proof_of(problem, 7, "a 0", *("p 0 7", "t 2", "s 0 1") * 2))[0] > 5
        made = plan(problem)
        assert made.peak == 7
        proof = prove(problem, made)
        assert proof.text is not None
        assert check_proof(problem, proof.text).height == 6
