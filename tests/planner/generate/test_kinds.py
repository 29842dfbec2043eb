"""Generated problems are sound, have the size asked for, are the same everywhere, and state true facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import BadInput, Options, PlanStatus, Problem, Term, plan
from planner.bench.running.known import Known
from planner.checks import require_sound
from planner.facts.digest import digest
from planner.formats import read_problem, read_shaped, write_problem, write_shaped
from planner.generate import KINDS, Request, generate, generate_shaped
from planner.planning.shapes import Mode, plan_shapes, verify_shapes

DIGESTS = {
    "random": "a586457419d88337c8092a000725e0c053ee2f845145df1aad107be10b7ce01e",
    "packing": "446ec59b19ed0699d9f5816ea2a7ee3db03d4b81a648b5a917df7872e59dbd26",
    "transformer": "01f2cb5b44d63b904c90fac314959e1103babd82205a064372111ac4ed21bf0a",
    "prefill": "900892da772fae8ca09c36fd045c037c7cfc9bbdd9bd1f13ef873042a1845e86",
    "decode": "7529d1a84b0af732265a3e1988ab6bac6f4ed59109ec6b5f89fb7add2cc123f4",
    "convnet": "a0dc4ec5b14ce39c73fd05e755bc06e60f1a4bf2b1bc6fd4eb0296822331094b",
    "unet": "ea3ab490087c4dbd623efdc784699ab592b6b34d4bc775f7ee17d526f71322d8",
    "recurrent": "7d3927faf16b579984cb1fd5096319b4a9859d7467496552f07ab53f474a39b8",
    "training": "9a7eb056bbc52f6fe78eda5353822ecf7cc2106f1b72ffc607d25f9fd9003b62",
    "pangu": "0343e7302f040dad351789e14721eadf00ea02261a2a8fe7d5e155992be5221b",
    "offload": "17069a6499d24d9aa4d724067f4c34a0cc320fcf1b21c240b1a3780f2f60af04",
    "pool_packing": "cec0c9e96d910b7e042f0ea706cadd6a37c130df26827a21b7fd6bc461b9ff6b",
    "memories": "10e1a2473cbabcad30abb18bf6e0e2afe3beaa8476aa7225b1c574aa5d94d233",
    "hot": "718f9225cf98247f871ccc115eb2a6f0a77c49b3141f520b10e9f2a9ca456aa1",
    "variants": "3e3fb1049453997c3fa958fbf9b70bb00a7504faa991c435245718b4595599c7",
    "pools": "e64087b71cf90340c5c588aff8da28125d62211826fc571d3386bbe9c92c176d",
}
"""Digests for 40 buffers, seed 7, alignment 8.

If a generator changes, its names denote other instances, and old results are void.
"""


def area(problem: Problem) -> int:
    return sum(b.size * (end - start) for b in problem.buffers for start, end in b.live or ())


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_makes_the_same_problem_on_every_machine(kind: str) -> None:
    assert digest(generate(kind, Request(40, 7, 8))) == DIGESTS[kind]
    assert digest(generate(kind, Request(40, 8, 8))) != DIGESTS[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 29, 300])
def test_problems_are_sound_of_the_requested_size_and_survive_writing(kind: str, count: int) -> None:
    problem = generate(kind, Request(count, 1))
    require_sound(problem)
    groups = () if problem.variants is None else problem.variants.groups
    assert {len(each.buffers) for group in groups for each in group.alternatives} <= {
        len(group.alternatives[0].buffers) for group in groups
    }
    assert len(problem.buffers) + sum(len(group.alternatives[0].buffers) for group in groups) == count
    assert read_problem(write_problem(problem)) == (problem, ())
    assert all(start < end for buffer in problem.buffers for start, end in buffer.live or ())


@pytest.mark.parametrize("kind", KINDS)
def test_facts_in_the_name_agree_with_a_plan(kind: str) -> None:
    problem = generate(kind, Request(60, 5, alignment=4))
    known = Known.of(problem.name)
    assert (known.optimum is None) != (known.bound is None)
    made = plan(problem, Options(solver="greedy"))
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
    assert known.contradiction(made, None) is None


@pytest.mark.parametrize("kind", ["prefill", "decode"])
@pytest.mark.parametrize("count", [0, 1, 17, 40])
def test_sizes_of_a_transformer_depend_on_the_tokens(kind: str, count: int) -> None:
    made = generate_shaped(kind, Request(count, 3, 16, {"longest": 64}))
    assert made.largest == generate(kind, Request(count, 3, 16, {"longest": 64}))
    assert made.largest == replace(made.at({"n": 64}), name=made.largest.name)
    assert read_shaped(write_shaped(made)) == (made, ())
    if count < 17:
        return
    found = plan_shapes(made, Mode.EXPRESSIONS, [{"n": 1}, {"n": 64}], Options(time_limit=60, workers=1))
    assert verify_shapes(made, found) == ()
    one, all_ = (sum(b.size for b in made.at({"n": n}).buffers) for n in (1, 64))
    assert 8 * one < all_ or kind == "decode"


def test_a_transformer_of_too_many_tokens_is_refused() -> None:
    with pytest.raises(BadInput, match="longest=1048577 is out of range"):
        generate("prefill", Request(10, parameters={"longest": 1_048_577}))


@pytest.mark.parametrize("alignment", [1, 3, 4096])
def test_a_packing_is_perfect(alignment: int) -> None:
    problem = generate("packing", Request(80, 2, alignment, {"height": 40_000}))
    optimum = Known.of(problem.name).optimum
    assert optimum == -(-40_000 // alignment) * alignment
    ends = [moment for buffer in problem.buffers for moment in (buffer.live or ())[0]]
    assert area(problem) == optimum * (max(ends) - min(ends))
    assert all(buffer.size % alignment == 0 for buffer in problem.buffers)


@pytest.mark.parametrize("alignment", [1, 3, 512])
def test_full_memories_are_perfect_together(alignment: int) -> None:
    problem = generate("pool_packing", Request(60, 3, alignment, {"height": 40_000}))
    optimum = Known.of(problem.name).optimum
    assert optimum is not None
    ends = [moment for buffer in problem.buffers for moment in (buffer.live or ())[0]]
    assert area(problem) == optimum * (max(ends) - min(ends))
    tcm, sram, dram = problem.pools
    assert dram.size is None
    assert (tcm.size or 0) + (sram.size or 0) < optimum
    assert tcm.cost < sram.cost < dram.cost
    restricted = [buffer for buffer in problem.buffers if buffer.pools is not None]
    assert 0 < len(restricted) < 30


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_small_full_memories_are_filled(count: int) -> None:
    problem = generate("pool_packing", Request(count, 1))
    made = plan(problem, Options(workers=1))
    assert (made.status, made.peak) == (PlanStatus.OPTIMAL, Known.of(problem.name).optimum)
    assert [use.peak for use in made.pools[:-1]] == [pool.size for pool in problem.pools[:-1]]


def test_networks_on_several_memories_leave_a_choice() -> None:
    problem = generate("offload", Request(80, 2, 16))
    assert [pool.name for pool in problem.pools] == ["tcm", "sram", "dram"]
    assert all(buffer.accesses * 64 >= 2 * buffer.size for buffer in problem.buffers)
    assert any(buffer.pools is None for buffer in problem.buffers)
    assert problem.terms == (Term.ACCESS_COST, Term.SUM_OF_PEAKS)


def test_a_small_packing_is_solved_to_its_known_optimum() -> None:
    made = plan(generate("packing", Request(12, 4)))
    assert (made.status, made.peak) == (PlanStatus.OPTIMAL, 1 << 20)


def test_pangu_has_about_as_many_conflicts_as_asked_for() -> None:
    wanted = 200_000
    problem = generate("pangu", Request(2_000, 1, parameters={"conflicts": wanted}))
    live = [(buffer.live or ())[0] for buffer in problem.buffers]
    found = sum(a[0] < b[1] and b[0] < a[1] for i, a in enumerate(live) for b in live[:i])
    assert wanted / 2 < found < wanted * 2


def test_problems_have_several_pools_to_choose_from() -> None:
    problem = generate("pools", Request(50, 1, alignment=16))
    assert len(problem.pools) == 3
    assert all((pool.size or 0) % 16 == 0 for pool in problem.pools)
    assert any(buffer.pools is None for buffer in problem.buffers)
    assert any(buffer.pools is not None for buffer in problem.buffers)
    assert any(buffer.accesses for buffer in problem.buffers)


def test_activations_of_a_training_graph_wait_for_the_way_back() -> None:
    problem = generate("training", Request(240, 1, parameters={"segment": 1}))
    spans = {str(b.id): end - start for b in problem.buffers for start, end in b.live or ()}
    masks = [span for name, span in spans.items() if name.startswith("mask.")]
    assert max(masks) > len(problem.buffers) // 2
    assert masks == sorted(masks, reverse=True)


def test_a_training_graph_that_runs_segments_again_keeps_little() -> None:
    def activations(segment: int) -> int:
        problem = generate("training", Request(400, 1, parameters={"segment": segment}))
        spans = [(b.live or ())[0] for b in problem.buffers if str(b.id).startswith("mask.")]
        return max(end - start for start, end in spans)

    assert activations(4) < activations(12) < activations(1)


@pytest.mark.parametrize(
    ("kind", "request_", "message"),
    [
        ("nonsense", Request(1), "there is no kind 'nonsense'"),
        ("unet", Request(1, parameters={"live": 3}), "unet has no parameter 'live'; it takes none"),
        ("random", Request(1, parameters={"live": 0}), "live=0 is out of range"),
        ("random", Request(-1), "-1 is out of range"),
        ("random", Request(1, alignment=0), "0 is out of range"),
        ("random", Request(1, seed=-1), "-1 is out of range"),
    ],
)
def test_wrong_requests_are_refused(kind: str, request_: Request, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        generate(kind, request_)
