"""For small problems, optimal plans have proofs and false claims have none, however forged; brute force knows which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner import BadProof, Options, PlanStatus, Problem, check_proof, plan, prove
from planner.facts.constants import spell_out_constants
from planner.facts.digest import digest
from planner.verifying.proofs.blocks import BEYOND, Blocks
from planner.verifying.proofs.check import FORMAT
from planner.verifying.proofs.reading import Reader
from planner.verifying.proofs.replay import Replay
from planner.verifying.proofs.stacked import MOST_STACKED
from planner.verifying.proving import one_memory
from planner.verifying.proving.cliques import cliques
from planner.verifying.proving.search import Ending, Search
from solvers.model.instance import Term
from tests.property.tight_problems import tight_problem, uneven_problem
from tests.small.oracle import solve
from tests.small.strategies import NIGHTLY, effort, problems

SEEDS = 3_000 if NIGHTLY else 60
MOST_FORGERIES = 5_000 if NIGHTLY else 40
"""The most forgeries of one proof that are tried."""


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs are searched for where going through all orders would do."""
    monkeypatch.setattr(one_memory, "MOST_STACKED", 0)


def with_orders(problem: Problem, height: int, lines: list[str]) -> list[str]:
    """Return an accepted proof with each `s` that can be said so replaced by `o`."""
    for at, line in enumerate(lines):
        word, number, *_ = line.split(" ")
        one = [*lines[:at], f"o {number}", *lines[at + 1 :]]
        if word == "s" and is_accepted(problem, written(problem, height, one)):
            lines = one
    return lines


@lru_cache(SEEDS)
def least_peak(problem: Problem) -> int | None:
    """Return the least peak, found by trying everything; None if nothing fits."""
    pools = tuple(replace(pool, cost=1) for pool in problem.pools)
    value = solve(replace(problem, pools=pools, terms=(Term.SUM_OF_PEAKS,))).value
    return None if value is None else value[0]


def written(problem: Problem, height: int, lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in (FORMAT, f"problem {digest(problem)}", f"refutes {height}", *lines)).encode()


def is_accepted(problem: Problem, proof: bytes) -> bool:
    try:
        check_proof(problem, proof)
    except BadProof:
        return False
    return True


@pytest.mark.usefixtures("searched")
def test_exactly_the_true_claims_are_proven() -> None:
    branched = remembered = 0
    for seed in range(SEEDS):
        problem = tight_problem(seed)
        if problem is None:
            continue
        made = plan(problem, Options(time_limit=None, work_limit=200_000))
        proof = prove(problem, made)
        assert proof.text is not None, seed
        proven = check_proof(problem, proof.text)
        branched += b"\nb " in proof.text or b"\nk " in proof.text
        remembered += b"\nu " in proof.text
        least = least_peak(problem)
        assert (least is None) == (made.status is PlanStatus.INFEASIBLE)
        if least is not None:
            assert proven.height == least - 1, seed
    assert branched > SEEDS / 10
    assert remembered


@effort(36, 10_000)
@given(problem=problems(max_pools=1), height=st.integers(0, 40))
def test_a_search_refutes_exactly_the_impossible_heights(problem: Problem, height: int) -> None:
    """This holds with every kind of constraint and at any height, tight or not."""
    assume(not problem.constraints.different_pool)
    problem = spell_out_constants(problem)
    least = least_peak(problem)
    size = problem.pools[0].size
    for wanted in {height, *(() if least is None else (least - 1, least))}:
        if wanted < 0:
            continue
        # Where nothing fits at any height, the claim is about the whole memory.
        at = wanted if least is not None else BEYOND if size is None else size
        blocks = Blocks(problem, at)
        search = Search(blocks, cliques(blocks) or [], lambda: False)
        ending, lines = search.run()
        assert ending is (Ending.REFUTED if least is None or at < least else Ending.FOUND)
        if ending is Ending.REFUTED:
            assert check_proof(problem, written(problem, at, list(lines))).height == at


def forgeries(lines: list[str], buffers: int, draw: Random) -> Iterator[list[str]]:
    """Yield the proof with each line left out, doubled or swapped with the next, and each word and number replaced."""
    for at, line in enumerate(lines):
        before, after = lines[:at], lines[at + 1 :]
        yield before + after
        yield [*before, line, line, *after]
        if after:
            yield [*before, after[0], line, *after[1:]]
        word, *numbers = line.split(" ")
        if numbers:
            yield [*before, f"o {numbers[0]}", *after]
        for other in "ctrfbkseuo":
            yield [*before, " ".join((other, *numbers)), *after]
        for place, number in enumerate(numbers):
            for value in {int(number) + 1, int(number) - 1, draw.randrange(buffers), draw.randrange(buffers)}:
                yield [*before, " ".join((word, *numbers[:place], str(value), *numbers[place + 1 :])), *after]
            yield [*before, " ".join((word, *numbers[:place], *numbers[place + 1 :])), *after]
            yield [*before, " ".join((word, *numbers[: place + 1], *numbers[place:])), *after]


def test_no_forged_proof_of_a_false_claim_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    forged, kinds = 0, set[str]()
    for seed in range(SEEDS):
        problem = tight_problem(seed)
        if problem is None:
            continue
        least = least_peak(problem)
        if least is None:
            continue
        monkeypatch.setattr(one_memory, "MOST_STACKED", 0 if seed % 3 else MOST_STACKED)
        proof = prove(problem, plan(problem, Options(time_limit=None, work_limit=20_000)))
        assert proof.text is not None
        lines = proof.text.decode().splitlines()[3:]
        kinds.update(line[0] for line in lines)
        draw = Random(seed)
        some = [lines, *forgeries(lines, len(problem.buffers), draw)]
        for one in draw.sample(some, MOST_FORGERIES) if len(some) > MOST_FORGERIES else some:
            forged += 1
            # Plans exist at all three heights: the least peak, one more, and the whole memory.
            for height in (least, least + 1, BEYOND):
                assert not is_accepted(problem, written(problem, height, one)), (seed, height, one)
    assert forged > 1_500
    assert kinds == set("tcrfbkseuo"), "every kind of line has been forged"


@pytest.mark.usefixtures("searched")
def test_remembered_facts_refute_no_possible_height() -> None:
    """All results are remembered, and ends of branches replaced by them; no such proof may refute a possible height."""
    tried = 0
    for seed in range(SEEDS // 4):
        problem = uneven_problem(seed, 9)
        made = plan(problem, Options(time_limit=None, work_limit=200_000))
        proof = prove(problem, made)
        if made.peak is None or proof.text is None or b"\nb " not in proof.text:
            continue
        lines = [f"k{line[1:]}" if line[0] == "b" else line for line in proof.text.decode().splitlines()[3:]]
        kept = sum(line[0] == "k" for line in lines)
        assert is_accepted(problem, written(problem, proof.height, lines)) or b"\nu" in proof.text
        if is_accepted(problem, written(problem, proof.height, lines)):
            lines = with_orders(problem, proof.height, lines)
        draw = Random(seed)
        ends = [at for at, line in enumerate(lines) if line[0] in "seuo"]
        for at in draw.sample(ends, min(len(ends), MOST_FORGERIES // 8)):
            for number in {0, kept - 1, draw.randrange(kept), draw.randrange(kept)}:
                one = [*lines[:at], f"u {number}", *lines[at + 1 :]]
                tried += 1
                for height in (made.peak, made.peak + 7):
                    assert not is_accepted(problem, written(problem, height, one)), (seed, height, one)
    assert tried > 20


@pytest.mark.parametrize("seed", range(12 if NIGHTLY else 4))
def test_heights_with_a_plan_are_never_refuted(seed: int) -> None:
    """With more buffers than brute force can settle, the search may take long, but does not end in a proof."""
    problem = uneven_problem(seed)
    made = plan(problem, Options(time_limit=None, work_limit=100_000))
    assert made.peak is not None
    blocks = Blocks(problem, made.peak)
    search = Search(blocks, cliques(blocks) or [], lambda: search.placements > 600)
    assert search.run()[0] is not Ending.REFUTED
    proof = prove(problem, made)
    assert proof.text is not None
    assert check_proof(problem, proof.text).height < made.peak


def test_a_proof_of_one_problem_proves_nothing_of_another_that_is_easier() -> None:
    """One buffer is made smaller or shorter-lived, and the digest corrected: a proof that is accepted must be true."""
    accepted = refused = 0
    for seed in range(SEEDS):
        problem = tight_problem(seed)
        if problem is None or least_peak(problem) is None:
            continue
        proof = prove(problem, plan(problem, Options(time_limit=None, work_limit=20_000)))
        assert proof.text is not None
        lines = proof.text.decode().splitlines()[3:]
        for number, buffer in enumerate(problem.buffers):
            for easier in (replace(buffer, size=buffer.size - 1), replace(buffer, live=(buffer.live or ())[:1])):
                buffers = (*problem.buffers[:number], easier, *problem.buffers[number + 1 :])
                other = replace(problem, buffers=buffers)
                if is_accepted(other, written(other, proof.height, lines)):
                    accepted += 1
                    least = least_peak(other)
                    assert least is None or proof.height < least, (seed, number)
                else:
                    refused += 1
    assert accepted
    assert refused


@pytest.mark.parametrize("seed", range(20 if NIGHTLY else 10))
def test_random_steps_refute_nothing_possible(seed: int) -> None:
    """Random steps that the rules allow follow each other, until there are none or 40 are made."""
    problem = next(p for n in range(seed * 50, seed * 50 + 50) if (p := tight_problem(n)) and least_peak(p) is not None)
    least = least_peak(problem)
    assert least is not None
    draw = Random(seed)
    blocks = Blocks(problem, least)
    named = cliques(blocks) or []
    head = [clique.line for clique in named]
    for _ in range(MOST_FORGERIES // 10):
        lines = list(head)
        for _ in range(40):
            grown = [f"{word} {draw.randrange(len(blocks.size))}" for word in draw.sample(("e", "f", "b", "k", "u"), 4)]
            for number in draw.sample(range(len(named)), len(named)):
                first, other = draw.choice(named[number].buffers), draw.choice(named[number].buffers)
                grown += [f"s {number} {first}", f"r {number} {first} {other}", f"o {number}"]
            open_ends = [line for line in grown if refused_at(problem, least, [*lines, line]) > len(lines) + 4]
            if not open_ends:
                break
            lines.append(draw.choice(open_ends))
        assert not is_accepted(problem, written(problem, least, lines))


def refused_at(problem: Problem, height: int, lines: list[str]) -> int:
    """Return the line at which a proof is refused; one beyond the last if it only ends too early."""
    with pytest.raises(BadProof) as caught:
        check_proof(problem, written(problem, height, lines))
    return caught.value.line


def fits(blocks: Blocks, low: dict[int, int], placed: dict[int, int]) -> bool:
    """Return whether these blocks can start at their least starts or higher, placed low in any order."""
    if not low:
        return True
    for block, least in low.items():
        start = blocks.start(blocks.block(block), least)
        apart = {other: dict(blocks.distances(other).items()).get(block, ()) for other in placed}
        while any(a <= start - at < b for other, at in placed.items() for a, b in apart[other]):
            start = blocks.start(blocks.block(block), start + 1)
        rest = {each: its for each, its in low.items() if each != block}
        if start <= blocks.block(block).last and fits(blocks, rest, {**placed, block: start}):
            return True
    return False


@pytest.mark.usefixtures("searched")
def test_each_remembered_fact_is_true_by_itself() -> None:
    """In proofs that remember everything, the blocks that a remembered line names cannot start where it says."""
    kept = by_orders = 0
    for seed in range(SEEDS // 4):
        problem = uneven_problem(seed, 9)
        proof = prove(problem, plan(problem, Options(time_limit=None, work_limit=200_000)))
        if proof.text is None or b"\nu " in proof.text:
            continue
        lines = proof.text.replace(b"\nb ", b"\nk ").decode().splitlines()[3:]
        lines = with_orders(problem, proof.height, lines)
        by_orders += any(line.startswith("k ") for line in lines) and any(line.startswith("o ") for line in lines)
        text = written(problem, proof.height, lines)
        reader = Reader(text)
        for _ in range(3):
            reader.next()
        replayed = Replay(reader, Blocks(problem, proof.height))
        replayed.refute()
        for lesson in map(replayed.lesson, range(len(replayed._lessons))):
            if len(lesson) <= 6:
                kept += 1
                assert not fits(Blocks(problem, proof.height), lesson, {}), (seed, lesson)
    assert kept > 5
    assert by_orders
