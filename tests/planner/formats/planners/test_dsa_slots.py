"""Files of dsa-solver whose buffers must begin at one address or lie apart."""

from __future__ import annotations

import json
import random
from itertools import combinations, product
from typing import Any

import pytest

from planner import Options, PlanStatus, Problem, plan, verify
from planner.formats import read_problem
from tests.planner.formats.planners.test_dsa import buffer, document, pair
from tests.planner.formats.reading import read, refusal

WHOLE = {"pypto_structure": {"whole_slot_reuse": True}}
ENOUGH = Options(time_limit=None, work_limit=1_000_000)


def random_document(chance: random.Random, *, whole: bool) -> dict[str, Any]:
    """Return a document of a few buffers with all kinds of constraints, and with pairs that may not overlap in part."""
    count = chance.randrange(4, 6)
    buffers = []
    for i in range(count):
        start = chance.randrange(6)
        buffers.append(buffer(i, (start, start + chance.randrange(1, 3)), size=chance.choice((0, 1, 2, 2, 2))))
    pairs = list(combinations(range(count), 2))
    chance.shuffle(pairs)
    tied = [pairs.pop() for _ in range(chance.randrange(3))]
    pinned = [
        {"buffer": chance.randrange(count), "pool": 1, "offset": chance.randrange(3), "exclusive_for_all_time": False}
        for _ in range(chance.randrange(2))
    ]
    made = document(
        *buffers,
        colocations=[pair(*each) for each in tied],
        separations=[{"first": a, "second": b, "reasons": []} for a, b in pairs[: chance.randrange(2)]],
        temporal_exclusions=[pair(*each) for each in pairs[2 : 2 + chance.randrange(3)]],
        pinned_allocations=pinned,
        **(WHOLE if whole else {}),
    )
    named = chance.sample(pairs, chance.randrange(len(pairs) + 1))
    made["problem"]["constraints"]["no_partial_overlaps"] = [pair(*each) for each in named]
    return made


def least_peak(problem: Problem, equal: list[tuple[int, int]], *, whole: bool) -> int | None:
    """Return the least peak of all offsets up to 8 that keep the rules; None if no offsets do."""
    buffers = problem.buffers
    given = problem.constraints
    number = {each.id: i for i, each in enumerate(buffers)}
    tied = [{number[each.buffer], number[each.base]} for each in given.colocations]
    units: list[set[int]] = [{i} for i in range(len(buffers))]
    for each in tied:
        met = [unit for unit in units if unit & each]
        units = [unit for unit in units if not unit & each] + [set().union(*met)]
    of = {i: k for k, unit in enumerate(units) for i in unit}
    apart = {frozenset((number[a], number[b])) for a, b in given.conflicts}
    never = {frozenset((number[a], number[b])) for a, b in given.exclusions}
    best = None
    for places in product(range(9), repeat=len(units)):
        at = [places[of[i]] for i in range(len(buffers))]
        if any(each.fixed is not None and each.fixed.offset != at[i] for i, each in enumerate(buffers)):
            continue
        for i, j in combinations(range(len(buffers)), 2):
            first, second = buffers[i], buffers[j]
            if of[i] == of[j] or not first.size or not second.size:
                continue
            if at[i] + first.size <= at[j] or at[j] + second.size <= at[i]:
                continue
            lives = [{t for start, end in each.live or () for t in range(start, end)} for each in (first, second)]
            meet = frozenset((i, j)) not in never and lives[0] & lives[1]
            named = (i, j) in equal
            if frozenset((i, j)) in apart or meet or (named and first.size != second.size):
                break
            if (named or whole) and at[i] != at[j]:
                break
        else:
            peak = max((at[i] + each.size for i, each in enumerate(buffers)), default=0)
            best = peak if best is None else min(best, peak)
    return best


@pytest.mark.parametrize("seed", range(29))
def test_plans_keep_the_rules_and_agree_with_trying_everything(seed: int) -> None:
    chance = random.Random(seed)
    whole = seed % 2 == 0
    made = random_document(chance, whole=whole)
    plain = json.loads(json.dumps(made))
    plain["problem"].pop("pypto_structure", None)
    named = plain["problem"]["constraints"].pop("no_partial_overlaps")
    truth = least_peak(read(plain), [(each["first"], each["second"]) for each in named], whole=whole)
    problem = read_problem(json.dumps(made).encode())[0]
    found = plan(problem, ENOUGH)
    if truth is None:
        assert found.status in (PlanStatus.INFEASIBLE, PlanStatus.UNKNOWN)
        return
    assert verify(problem, found) == ()
    assert found.peak == truth


def everything(count: int) -> dict[str, Any]:
    """Return a document of buffers that live one after the other, of which no pair may overlap in part."""
    made = document(*(buffer(i, (i, i + 1)) for i in range(count)))
    made["problem"]["constraints"]["no_partial_overlaps"] = [pair(i, j) for i in range(count) for j in range(i)]
    return made


def test_a_clique_of_pairs_is_one_choice_for_each_buffer() -> None:
    problem = read(everything(30))
    assert problem.variants is not None
    assert len(problem.variants.groups) == 30


def test_colocated_buffers_take_a_slot_together() -> None:
    """There is one choice for each colocated group, not one for each pair of buffers."""
    ties = [pair(2 * i, 2 * i + 1) for i in range(15)]
    problem = read(document(*(buffer(i, (i, i + 1)) for i in range(30)), colocations=ties, **WHOLE))
    assert problem.variants is not None
    assert len(problem.variants.groups) == 15
    assert plan(problem, ENOUGH).peak == 8


def test_a_named_pair_says_nothing_of_what_its_buffers_are_colocated_with() -> None:
    """The small buffer must be apart from the other, since they differ in size; the large one below both may overlap it in part."""
    buffers = (buffer(0, (3, 5), size=2), buffer(1, (5, 6), size=1), buffer(2, (3, 5), size=2))
    made = document(*buffers, colocations=[pair(1, 2)], temporal_exclusions=[pair(0, 1), pair(0, 2)])
    made["problem"]["constraints"]["no_partial_overlaps"] = [pair(0, 1)]
    assert plan(read(made), ENOUGH).peak == 3


def test_pinned_buffers_keep_the_slots_of_their_colocated_buffers() -> None:
    pins = [{"buffer": i, "pool": 1, "offset": 0, "exclusive_for_all_time": False} for i in (0, 1)]
    buffers = [buffer(i, (2 * i, 2 * i + 1)) for i in range(3)]
    made = document(*buffers, pinned_allocations=pins, colocations=[pair(1, 2)], **WHOLE)
    found = plan(read(made), ENOUGH)
    assert [each.offset for each in found.placements] == [0, 0, 0]


def test_pairs_that_live_together_are_plain_conflicts() -> None:
    made = document(*(buffer(i) for i in range(200)))
    made["problem"]["constraints"]["no_partial_overlaps"] = [pair(i, i + 1) for i in range(0, 200, 2)]
    problem = read(made)
    assert len(problem.constraints.conflicts) == 100
    assert problem.variants is None


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (document(*(buffer(i, (i, i + 1)) for i in range(100)), **WHOLE), "more than 4096 ways"),
        (everything(100), "more than 4096 ways"),
    ],
)
def test_refusals_of_large_files_say_what_to_do(made: dict[str, Any], text: str) -> None:
    finding = refusal(made).findings[0]
    assert (finding.code, text in finding.message) == ("too_large", True)
    assert "memplan share" in finding.message


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("sizes", [(64,), (16, 32, 48, 96)])
def test_thirty_buffers_in_slots_are_proven(whole: bool, sizes: tuple[int, ...]) -> None:
    """Those needed at one time count in full, and so do all that have a slot of their own."""
    chance = random.Random(len(sizes))
    begins = [chance.randrange(30) for _ in range(30)]
    buffers = [
        buffer(i, (begin, begin + chance.randrange(2, 10)), size=chance.choice(sizes)) for i, begin in enumerate(begins)
    ]
    made = document(*buffers, **(WHOLE if whole else {}))
    if not whole:
        made["problem"]["constraints"]["no_partial_overlaps"] = [pair(i, j) for i in range(30) for j in range(i)]
    made["problem"]["pools"][0]["capacity"] = 1 << 20
    problem = read(made)
    found = plan(problem, ENOUGH)
    assert found.status is PlanStatus.OPTIMAL
    assert verify(problem, found) == ()
    lives = [[{t for s, e in each.live or () for t in range(s, e)} for each in problem.buffers], problem.buffers]
    most = max(sum(b.size for live, b in zip(*lives, strict=True) if t in live) for t in range(40))
    assert found.peak is not None
    assert found.peak == most if len(sizes) == 1 else found.peak >= most
