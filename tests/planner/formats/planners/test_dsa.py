"""The JSON of dsa-solver is read."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from planner import Options, plan, verify
from planner.formats import read_problem
from planner.formats.planners.dsa import BANKS, FIRST_TERM, RESERVED_PEAK
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Lifetimes, Pool, Problem, ReusePenalty
from solvers.model.instance import Term
from tests.planner.formats.reading import corpus, read, refusal, wrong


def buffer(number: int, *live: tuple[int, int], **rest: Any) -> dict[str, Any]:
    spans = [{"lower": start, "upper": end} for start, end in live or [(0, 10)]]
    return {
        "id": number,
        "name": f"b{number}",
        "size": 8,
        "alignment": 1,
        "live_intervals": spans,
        "allowed_pools": [1],
        **rest,
    }


def document(*buffers: dict[str, Any], **rest: Any) -> dict[str, Any]:
    constraints = {
        kind: rest.pop(kind, []) for kind in ("colocations", "separations", "temporal_exclusions", "pinned_allocations")
    }
    problem = {
        "pools": [{"id": 1, "name": "Vec", "capacity": 100, "reserved_ranges": []}],
        "buffers": list(buffers),
        "constraints": constraints,
        "objective": {"aggregation": "lexicographic", "terms": ["total_peak", "max_peak"]},
        **rest,
    }
    return {
        "schema_version": 1,
        "profile": "pypto_hard_v1",
        "instance": "i",
        "metadata": {"k": "v"},
        "problem": problem,
    }


def pair(first: int, second: int, **rest: Any) -> dict[str, Any]:
    return {"first": first, "second": second, **rest}


def test_a_full_document_is_read() -> None:
    problem, warnings = read_problem(
        json.dumps(
            document(
                buffer(3, (0, 2), (5, 9), alignment=4, allowed_pools=[2, 1]),
                buffer(4, name=""),
                buffer(5),
                buffer(6),
                pools=[
                    {"id": 2, "name": "L0", "capacity": None, "reserved_ranges": [{"begin": 0, "end": 4}]},
                    {"id": 1, "name": "Vec", "capacity": (1 << 64) - 1, "reserved_ranges": []},
                ],
                separations=[pair(3, 4, reasons=["generic"])],
                temporal_exclusions=[pair(4, 5)],
                colocations=[pair(5, 6)],
                pinned_allocations=[{"buffer": 3, "pool": 2, "offset": 8, "exclusive_for_all_time": False}],
                cost_model={
                    "reuse_penalties": [pair(3, 5, cost=2, reason="cross_pipe"), pair(5, 6, cost=1, reason="generic")]
                },
                objective={"aggregation": "lexicographic", "terms": ["capacity_overflow", "reuse_cost", "max_peak"]},
                pypto_structure={"alias_classes": [{"buffer": 3, "members": ["x"]}], "pipeline_groups": []},
            )
        ).encode()
    )
    live = ((0, 10),)
    assert problem == Problem(
        (
            Buffer("b3", 8, 4, ((0, 2), (5, 9)), ("L0", "Vec"), Fixed("L0", 8)),
            Buffer(4, 8, 1, live, ("Vec",)),
            Buffer("b5", 8, 1, live, ("Vec",)),
            Buffer("b6", 8, 1, live, ("Vec",)),
        ),
        (Pool("L0", None, reserved=((0, 4),), rank=0), Pool("Vec", None, rank=1)),
        Constraints(
            (("b3", 4),), ((4, "b5"),), (Colocation("b6", "b5", 0),), reuse_penalties=(ReusePenalty("b3", "b5", 2),)
        ),
        (Term.REUSE_COST, Term.LARGEST_PEAK),
        "i",
        Lifetimes.HALF_OPEN,
    )
    assert warnings == (RESERVED_PEAK,)


def test_an_exclusive_pin_lives_for_all_time() -> None:
    pin = {"buffer": 1, "pool": 1, "offset": 0, "exclusive_for_all_time": True}
    problem = read(document(buffer(0, (-5, 3)), buffer(1, (4, 5)), buffer(2, (8, 20)), pinned_allocations=[pin]))
    assert problem.buffers[1].live == ((-5, 20),)


def test_an_exclusive_pin_and_a_separation_outweigh_an_exclusion() -> None:
    pin = {"buffer": 1, "pool": 1, "offset": 0, "exclusive_for_all_time": True}
    problem = read(
        document(
            *(buffer(i) for i in range(4)),
            pinned_allocations=[pin],
            temporal_exclusions=[pair(0, 1), pair(2, 3), pair(0, 3)],
            separations=[pair(3, 2)],
        )
    )
    assert problem.constraints.exclusions == (("b0", "b3"),)


def test_circles_of_colocations_say_nothing_new() -> None:
    circle = [pair(0, 1), pair(1, 2), pair(2, 0)]
    problem = read(document(*(buffer(i) for i in range(3)), colocations=circle))
    assert problem.constraints.colocations == (Colocation("b1", "b0", 0), Colocation("b2", "b1", 0))


def test_an_objective_of_capacities_alone_is_the_usual_one() -> None:
    objective = {"aggregation": "lexicographic", "terms": ["capacity_overflow"]}
    assert read(document(buffer(0), objective=objective)).terms == (Term.SUM_OF_PEAKS,)


def banked(**geometry: int) -> list[dict[str, Any]]:
    made = {"bank_size": 32, "num_banks": 2} | geometry
    return [{"id": 1, "name": "Vec", "capacity": 100, "reserved_ranges": [], "bank_geometry": made}]


@pytest.mark.parametrize(
    ("terms", "kept"),
    [
        (["total_peak", "bank_cost"], (Term.SUM_OF_PEAKS,)),
        (["bank_cost", "max_peak"], (Term.LARGEST_PEAK,)),
        (["capacity_overflow", "bank_cost", "reuse_cost"], (Term.REUSE_COST,)),
        (["bank_cost"], (Term.SUM_OF_PEAKS,)),
        (["total_peak"], (Term.SUM_OF_PEAKS,)),
    ],
)
def test_banks_cost_nothing_and_decide_nothing(terms: list[str], kept: tuple[Term, ...]) -> None:
    """bank_cost is ignored, as in dsa-solver, whose EvaluateObjective leaves it at 0 for every plan."""
    objective = {"aggregation": "lexicographic", "terms": terms}
    for pools, warnings in ((banked(), (BANKS,)), (banked(bank_size=1 << 63, num_banks=1), (BANKS,))):
        made = document(buffer(0, (0, 4)), buffer(1, (2, 6)), pools=pools, objective=objective)
        problem, warned = read_problem(json.dumps(made).encode())
        assert (problem.terms, warned) == (kept, warnings)
        del made["problem"]["pools"][0]["bank_geometry"]
        assert read_problem(json.dumps(made).encode()) == (problem, ())


@pytest.mark.parametrize(
    ("changed", "code", "place"),
    [
        ({"colour": 1}, "unknown_field", "/problem/colour"),
        ({"pools": banked(bank_size=0)}, "out_of_range", "/problem/pools/0/bank_geometry/bank_size"),
        ({"pools": banked(num_banks=0)}, "out_of_range", "/problem/pools/0/bank_geometry/num_banks"),
        ({"separations": [pair(0, 9)]}, "unknown_buffer", "/problem/constraints/separations/0/second"),
        ({"separations": [pair(0, True)]}, "wrong_type", "/problem/constraints/separations/0/second"),
        ({"temporal_exclusions": [pair(9, 0)]}, "unknown_buffer", "/problem/constraints/temporal_exclusions/0/first"),
        ({"colocations": [pair(0, 9)]}, "unknown_buffer", "/problem/constraints/colocations/0/second"),
        (
            {"cost_model": {"reuse_penalties": [pair(0, 9, cost=1, reason="generic")]}},
            "unknown_buffer",
            "/problem/cost_model/reuse_penalties/0/second",
        ),
        (
            {"pinned_allocations": [{"buffer": 0, "pool": 7, "offset": 0, "exclusive_for_all_time": False}]},
            "unknown_pool",
            "/problem/constraints/pinned_allocations/0/pool",
        ),
        (
            {"pinned_allocations": [{"buffer": 0, "pool": 1, "offset": 0, "exclusive_for_all_time": False}] * 2},
            "contradiction",
            "/problem/constraints/pinned_allocations/1",
        ),
        ({"buffers": [buffer(0), buffer(0, name="other")]}, "duplicate_id", "/problem/buffers/1/id"),
        ({"buffers": [buffer(0), buffer(1, name="b0")]}, "duplicate_id", "/problem/buffers/1/name"),
        ({"buffers": [buffer(0, (5, 3))]}, "interval_reversed", "/problem/buffers/0/live_intervals/0"),
        ({"buffers": [buffer(0, allowed_pools=[1, 8])]}, "unknown_pool", "/problem/buffers/0/allowed_pools/1"),
        ({"buffers": [buffer(0, size=-1)]}, "out_of_range", "/problem/buffers/0/size"),
        (
            {"objective": {"aggregation": "sum", "terms": ["max_peak"]}},
            "invalid_value",
            "/problem/objective/aggregation",
        ),
        (
            {"objective": {"aggregation": "lexicographic", "terms": ["max_peak", "max_peak"]}},
            "invalid_value",
            "/problem/objective/terms/1",
        ),
    ],
)
def test_errors_are_named_with_the_places_of_the_document(changed: dict[str, Any], code: str, place: str) -> None:
    changed = dict(changed)
    buffers = changed.pop("buffers", [buffer(0)])
    assert wrong(document(*buffers, **changed)) == [(code, place)]


def test_another_schema_version_is_refused() -> None:
    assert wrong({**document(buffer(0)), "schema_version": 2}) == [("invalid_value", "/schema_version")]


def test_large_metadata_is_no_error_and_many_bad_buffers_are_counted() -> None:
    wide = {**document(buffer(0)), "metadata": {f"k{i}": "v" for i in range(2000)}}
    assert len(read(wide).buffers) == 1
    error = refusal(document(*[buffer(i, size="x") for i in range(2000)]))
    assert (len(error.findings), error.more) == (20, 1980)


@pytest.mark.parametrize("path", corpus("pypto/*.json"))
def test_the_corpus_is_read_faithfully(path: Path) -> None:
    given = json.loads(path.read_bytes())
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    assert problem.name == given["instance"]
    assert [b.size for b in problem.buffers] == [b["size"] for b in given["problem"]["buffers"]]
    assert len(problem.constraints.conflicts) == len(given["problem"]["constraints"]["separations"])
    assert [p.size for p in problem.pools] == [p["capacity"] for p in given["problem"]["pools"]]


BEFORE, AFTER = buffer(0, (0, 2)), [buffer(1, (2, 4), size=4), buffer(2, (2, 4), size=4)]


@pytest.mark.parametrize(
    ("more", "peak"),
    [
        ({}, 8),
        ({"pypto_structure": {"whole_slot_reuse": True}}, 12),
        ({"pypto_structure": {"whole_slot_reuse": True}, "separations": [pair(0, 1), pair(0, 2)]}, 16),
        ({"no_partial_overlaps": [pair(0, 1)]}, 12),
        ({"no_partial_overlaps": [pair(0, 1), pair(2, 0)]}, 16),
        ({"no_partial_overlaps": [pair(1, 2)]}, 8),
    ],
)
def test_buffers_share_addresses_from_a_common_beginning_on_request(more: dict[str, Any], peak: int) -> None:
    """Two small buffers share a large one's place, except if slots are used whole or ranges must be equal."""
    made = document(BEFORE, *AFTER, **{k: v for k, v in more.items() if k != "no_partial_overlaps"})
    made["problem"]["constraints"]["no_partial_overlaps"] = more.get("no_partial_overlaps", [])
    problem = read(made)
    found = plan(problem)
    assert (found.status.value, found.peak) == ("optimal", peak)
    assert verify(problem, found) == ()


def test_three_buffers_may_use_one_slot_unless_needed_together() -> None:
    buffers = [buffer(i, (i, i + 1), size=8 - i) for i in range(3)]
    long = buffer(3, (0, 2), size=8)
    made = document(*buffers, long, pypto_structure={"whole_slot_reuse": True})
    problem, warnings = read_problem(json.dumps(made).encode())
    found = plan(problem)
    at = {each.id: each.offset for each in found.placements}
    assert (found.peak, FIRST_TERM in warnings) == (16, True)
    assert at["b0"] == at["b1"] != at["b3"]


@pytest.mark.parametrize(
    ("buffers", "more", "equal", "peak"),
    [
        ([(2, (1, 2)), (1, (3, 5)), (1, (0, 2))], {"pypto_structure": {"whole_slot_reuse": True}}, [], 2),
        ([(1, (2, 4)), (3, (0, 1), (2, 3)), (3, (3, 4))], {}, [pair(2, 1)], 6),
    ],
)
def test_slots_and_equal_ranges_work_beside_colocations(
    buffers: list[Any], more: dict[str, Any], equal: list[dict[str, Any]], peak: int
) -> None:
    """Slots and equal ranges work beside colocations, and buffers needed together stay apart."""
    made = document(*(buffer(i, *live, size=size) for i, (size, *live) in enumerate(buffers)), **more)
    made["problem"]["constraints"] |= {"colocations": [pair(2, 0)], "no_partial_overlaps": equal}
    assert plan(read(made)).peak == peak


@pytest.mark.parametrize(
    ("sizes", "more", "equal", "peak"),
    [
        ((8, 4), {"pypto_structure": {"whole_slot_reuse": True}}, [], 8),
        ((8, 8), {}, [pair(0, 1)], 8),
        ((8, 4), {}, [pair(0, 1)], 12),
    ],
)
def test_slots_and_equal_ranges_work_beside_exclusions(
    sizes: tuple[int, int], more: dict[str, Any], equal: list[dict[str, Any]], peak: int
) -> None:
    """Buffers with a common time that exclude each other may share one place, too."""
    made = document(*(buffer(i, size=size) for i, size in enumerate(sizes)), temporal_exclusions=[pair(0, 1)], **more)
    made["problem"]["constraints"]["no_partial_overlaps"] = equal
    found = plan(read(made))
    assert (found.status.value, found.peak) == ("optimal", peak)


def test_slots_are_used_whole_by_many_buffers() -> None:
    """More than eight pairs may share; the peak is the least of all ways to put buffers into slots."""
    chance = random.Random(4)
    times = [chance.randrange(8) for _ in range(7)]
    made = document(*(buffer(i, (t, t + 2), size=4 + i % 3) for i, t in enumerate(times)))
    made["problem"]["pypto_structure"] = {"whole_slot_reuse": True}
    problem = read(made)
    found = plan(problem, Options(time_limit=None, work_limit=20_000))
    assert verify(problem, found) == ()
    spans = {each.id: (each.offset, each.offset + each.size) for each in found.placements}
    for a, b in combinations(spans.values(), 2):
        assert a[0] == b[0] or a[1] <= b[0] or b[1] <= a[0]
    ways = slots([(4 + i % 3, t) for i, t in enumerate(times)])
    assert found.peak == min(sum(max(size for size, _ in slot) for slot in way) for way in ways)


def slots(buffers: list[tuple[int, int]]) -> Iterator[list[list[tuple[int, int]]]]:
    """Yield all ways to put buffers into slots. A buffer is its size and the first of the two steps that it lives."""
    if not buffers:
        yield []
        return
    one, *others = buffers
    for way in slots(others):
        yield [[one], *way]
        for i, slot in enumerate(way):
            if all(abs(one[1] - time) >= 2 for _, time in slot):
                yield [*way[:i], [one, *slot], *way[i + 1 :]]


def test_whole_slots_for_too_many_buffers_are_refused() -> None:
    made = document(*(buffer(i, (i, i + 1)) for i in range(100)), pypto_structure={"whole_slot_reuse": True})
    assert wrong(made) == [("too_large", "/problem/pypto_structure/whole_slot_reuse")]
    made["problem"]["constraints"]["colocations"] = [pair(0, 1)]
    assert wrong(made) == [("too_large", "/problem/pypto_structure/whole_slot_reuse")]
    made["problem"]["pypto_structure"]["whole_slot_reuse"] = "yes"
    assert wrong(made) == [("wrong_type", "/problem/pypto_structure/whole_slot_reuse")]


def test_structures_that_ask_for_no_slots_are_read() -> None:
    made = document(buffer(0), buffer(1), pypto_structure={"whole_slot_reuse": False, "alias_classes": []})
    made["problem"]["constraints"]["no_partial_overlaps"] = []
    assert len(read(made).buffers) == 2
