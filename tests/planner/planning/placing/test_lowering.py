"""Lowering turns names into numbers and loses no rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner import Options, PlanStatus, plan
from planner.facts.colocation import Congruence, groups
from planner.model.columns.buffers import BufferColumns, buffer_columns
from planner.model.columns.placements import PlacementColumns
from planner.model.columns.rows import FEW
from planner.model.columns.texts import GatheredTexts, Texts
from planner.model.errors import BadInput
from planner.model.problem import Buffer, Colocation, Constraints, Fixed, Pool, Problem, ReusePenalty
from planner.planning.placing.lowering import lower, place_blocks
from solvers.model.instance import PoolSpec, Term


def test_buffers_become_blocks_in_input_order() -> None:
    problem = Problem(
        (Buffer("b", 4, 2, ((0, 5),)), Buffer("a", 3, 1, ((5, 9),)), Buffer(7, 2)),
        (Pool("p", 20, 4, reserved=((8, 9),)),),
    )
    lowered = lower(problem)
    i = lowered.instance
    assert i.pools == (PoolSpec(20, ((8, 9),), 1, 0),)
    assert i.part_high.tolist() == [4, 3, 2]
    assert i.modulus[:, 0].tolist() == [4, 4, 4]
    assert i.highest[:, 0].tolist() == [16, 16, 16]
    assert (i.rect_start.tolist(), i.rect_end.tolist()) == ([0, 1], [1, 2])
    assert lowered.times.tolist() == [0, 5, 9]
    assert i.name_rank.tolist() == [2, 1, 0]


def test_a_pools_base_shifts_the_alignment() -> None:
    i = lower(Problem((Buffer("a", 4, 8),), (Pool("p", None, 4, base=12),))).instance
    assert (i.modulus[0, 0], i.residue[0, 0], i.lowest[0, 0]) == (8, 4, 4)


def test_a_base_off_every_alignment_leaves_room_for_naive_planners() -> None:
    buffers = tuple(Buffer(name, size, alignment, ((0, 1),)) for name, size, alignment in (("a", 1, 37), ("b", 3, 1)))
    made = plan(Problem(buffers, (Pool("p", base=5),)), Options(solver="exir_naive"))
    assert [place.offset for place in made.placements] == [32, 69]  # this solver rounds sizes up to the alignment


def test_colocated_members_become_parts_of_one_block() -> None:
    problem = Problem(
        (Buffer("view", 4, 1, ((5, 6),)), Buffer("x", 1), Buffer("base", 10, 4, ((0, 5),))),
        (Pool("p"),),
        Constraints(colocations=(Colocation("view", "base", 6),)),
    )
    i = lower(problem).instance
    assert i.part_block.tolist() == [0, 1, 0]
    assert i.part_low.tolist() == [6, 0, 0]
    assert i.input_rank.tolist() == [0, 1]
    assert i.modulus[0, 0] == 4


def test_members_alignments_combine_by_congruence() -> None:
    problem = Problem(
        (Buffer("base", 20, 3), Buffer("view", 4, 4)),
        (Pool("p"),),
        Constraints(colocations=(Colocation("view", "base", 6),)),
    )
    i = lower(problem).instance
    assert (i.modulus[0, 0], i.residue[0, 0]) == (12, 6)


def test_fixed_and_max_offset_bound_the_base() -> None:
    i = lower(
        Problem((Buffer("a", 4, fixed=Fixed("p", 12)), Buffer("b", 4, max_offset=7)), (Pool("p", 100, 4),))
    ).instance
    assert (i.lowest[0, 0], i.highest[0, 0]) == (12, 12)
    assert (i.lowest[1, 0], i.highest[1, 0]) == (0, 4)


def test_a_pool_is_closed_to_what_no_gap_between_reserved_ranges_holds() -> None:
    walled = Pool("walled", 40, 4, reserved=((10, 13), (12, 17), (33, 35)))
    buffers = tuple(Buffer(f"b{size}", size) for size in (0, 5, 10, 13, 14))
    i = lower(Problem(buffers, (walled, Pool("open")))).instance
    assert i.allowed.tolist() == [[True, True], [True, True], [True, True], [True, True], [False, True]]
    nowhere = lower(Problem((*buffers, Buffer("large", 90)), (walled, Pool("short", 50)))).instance
    assert nowhere.allowed[4:].tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("begin", range(12))
def test_a_pool_is_closed_just_where_no_address_is_off_its_reserved_ranges(begin: int) -> None:
    """Whatever its base is, and with the least alignment, a greatest offset, a fixed place, or a part that is far above another."""
    ranges = ((begin, begin + 4), (begin + 11, begin + 12))
    buffers = (
        *(Buffer(f"b{size}", size, 2) for size in range(1, 12)),
        Buffer("limited", 6, max_offset=8),
        Buffer("decided", 3, fixed=Fixed("walled", 9)),
        *(Buffer("low", 1), Buffer("high", 1)),
    )
    walled = Pool("walled", 20, base=1, reserved=ranges)
    apart = Constraints(colocations=(Colocation("high", "low", 9),))
    allowed = lower(Problem(buffers, (walled, Pool("open")), apart)).instance.allowed[:, 0]
    for buffer, is_open in zip(buffers[:12], allowed.tolist(), strict=False):
        most = 20 - buffer.size if buffer.max_offset is None else buffer.max_offset
        places = (at for at in range(most + 1) if not (at + 1) % buffer.alignment)
        free = [at for at in places if all(at + buffer.size <= low or at >= high for low, high in ranges)]
        assert is_open == bool(free), buffer
    assert allowed[12:].all()  # who is only there, and who is not looked at, stay


def test_what_no_gap_holds_keeps_its_memory_only_where_bounds_say_how_much_is_missing() -> None:
    walled = tuple(Pool(name, 40, reserved=((10, 20),)) for name in "ab")
    alone, choosing = Buffer("alone", 30, pools=("a",)), Buffer("choosing", 30)
    assert lower(Problem((alone, choosing), walled)).instance.allowed.tolist() == [[True, False], [False, False]]


def test_what_no_gap_of_several_memories_holds_is_named_at_once() -> None:
    """With prices and choices of gaps it took more than a million units to find that there is no plan, and no buffer was named."""
    low = Buffer("low", 6, live=((0, 1),), max_offset=0)
    others = (Buffer("b", 4, live=((0, 1),)), Buffer("c", 3, live=((0, 1),)))
    walled = (Pool("p", reserved=((0, 3),)), Pool("q", reserved=((0, 1), (11, 12))))
    found = plan(Problem((low, *others), walled), Options(time_limit=None, work_limit=1_000, workers=1))
    assert found.status is PlanStatus.INFEASIBLE
    assert found.shortage is not None
    assert found.shortage.message.startswith("buffer 'low' needs 6 bytes and fits nowhere, even alone")


def test_pools_are_allowed_preferred_and_shared() -> None:
    pools = (Pool("slow", rank=1), Pool("fast", 8, rank=0), Pool("tiny", 2, rank=2))
    problem = Problem(
        (Buffer("a", 4), Buffer("b", 4, pools=("slow", "fast")), Buffer("c", 4, fixed=Fixed("slow"))),
        pools,
        Constraints(same_pool=(("a", "c"),), different_pool=(("b", "c"),)),
    )
    i = lower(problem).instance
    assert i.allowed.tolist() == [[True, False, False], [True, True, False], [True, False, False]]
    assert i.preference.tolist() == [[1, 0, 2], [0, 1, 2], [1, 0, 2]]
    assert i.pool_class.tolist() == [0, 1, 0]
    assert i.apart.tolist() == [[1, 2]]


def test_a_group_that_needs_more_pools_than_there_are_says_so_in_few_pairs() -> None:
    names = tuple(f"b{i}" for i in range(50))
    group = Constraints(different_pool=(names,))
    lowered = lower(Problem(tuple(Buffer(name, 1) for name in names), (Pool("p"), Pool("q"), Pool("r")), group))
    assert lowered.instance.apart.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_a_group_with_a_pool_for_each_member_keeps_all_its_pairs() -> None:
    group = Constraints(different_pool=(("c", "a", "b"),))
    buffers = (Buffer("a", 1), Buffer("b", 1), Buffer("c", 1))
    lowered = lower(Problem(buffers, (Pool("p"), Pool("q"), Pool("r")), group))
    assert lowered.instance.apart.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_pairs_penalties_and_accesses_are_translated() -> None:
    problem = Problem(
        (Buffer("a", 4, accesses=3), Buffer("b", 4), Buffer("c", 4)),
        (Pool("p"), Pool("q", rank=2)),
        Constraints(conflicts=(("a", "c"),), exclusions=(("b", "c"),), reuse_penalties=(ReusePenalty("a", "b", 9),)),
        (Term.ACCESS_COST,),
    )
    i = lower(problem).instance
    assert i.conflicts.tolist() == [[0, 2]]
    assert i.exclusions.tolist() == [[1, 2]]
    assert i.penalties.tolist() == [[0, 1, 9]]
    assert i.access_cost.tolist() == [[0, 6], [0, 0], [0, 0]]


def test_empty_intervals_and_empty_buffers_are_never_live() -> None:
    i = lower(Problem((Buffer("a", 4, live=((3, 3),)), Buffer("b", 0, live=((0, 9),))))).instance
    assert len(i.rect_part) == 0
    assert i.sections == 0


def test_touching_intervals_are_one() -> None:
    i = lower(Problem((Buffer("a", 4, live=((5, 7), (0, 2), (2, 3), (6, 9))),))).instance
    assert (i.rect_start.tolist(), i.rect_end.tolist()) == ([0, 2], [1, 3])


def test_reserved_ranges_are_merged() -> None:
    i = lower(Problem((Buffer("a", 4),), (Pool("p", reserved=((8, 10), (2, 5), (4, 8))),))).instance
    assert i.pools[0].reserved == ((2, 10),)


def test_alignments_beyond_all_addresses_leave_one_place() -> None:
    i = lower(Problem((Buffer("a", 4, 2**61 - 1), Buffer("b", 4, 2**61)), (Pool("p", None, 3),))).instance
    assert i.allowed.all()
    assert i.highest[0, 0] - i.lowest[0, 0] < i.modulus[0, 0]


def test_sizes_that_cannot_be_added_are_refused() -> None:
    with pytest.raises(BadInput, match=r"2\^62"):
        lower(Problem((Buffer("a", 2**61), Buffer("b", 2**61))))


def test_congruences_are_combined_or_contradict() -> None:
    assert Congruence(4, 1).and_also(Congruence(6, 3)) == Congruence(12, 9)
    assert Congruence(4, 1).and_also(Congruence(6, 2)) is None
    assert Congruence(5, 2).at_least(8) == 12
    assert Congruence(5, 2).at_most(8) == 7


def test_chains_of_colocations_form_one_group() -> None:
    (group,) = groups("dcba", [Colocation("b", "a", 4), Colocation("c", "b", 4), Colocation("d", "a", 2)])
    assert group.members == (0, 1, 2, 3)
    assert group.offsets == (2, 8, 4, 0)


def test_no_objects_are_made_of_many_plain_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all are live together, so that one certificate names all of them, and where a plan is made by birth."""
    count = FEW + 1
    size, zero = np.arange(1, count + 1), np.zeros(count, dtype=np.int64)
    buffers = buffer_columns(range(count), size, zero + 1, zero, zero + 2)
    made_objects: list[int] = []

    def every(_: object) -> object:
        made_objects.append(-1)
        return iter(())

    monkeypatch.setattr(BufferColumns, "row", lambda _, i: made_objects.append(i))
    monkeypatch.setattr(BufferColumns, "__iter__", every)
    made = plan(Problem(buffers, (Pool("p"),)), Options(workers=1))
    assert made.status is PlanStatus.OPTIMAL
    assert len(made.certificates[0].buffers) == count
    assert made_objects == []


def test_names_packed_into_one_are_not_taken_apart_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    count = FEW + 1
    zero, names = np.zeros(count, dtype=np.int64), GatheredTexts()
    names.extend([f"name {7 * i % count}" for i in range(count)])
    buffers = buffer_columns(names.all(), zero + 3, zero + 1, zero, zero + 2)
    wanted = lower(Problem((*buffers,), (Pool("p"),))).instance.name_rank.tolist()
    monkeypatch.setattr(Texts, "__getitem__", None)
    assert lower(Problem(buffers, (Pool("p"),))).instance.name_rank.tolist() == wanted


def test_places_in_columns_mean_the_same_as_places_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    count = FEW + 1
    zero = np.zeros(count, dtype=np.int64)
    problem = Problem(buffer_columns(range(count), zero + 3, zero + 1, zero, zero + 2), (Pool("p"), Pool("q")))
    lowered = lower(problem)
    places = PlacementColumns(
        range(count), ("q", "unused", "p"), np.arange(count) % 2 * 2, 5 * np.arange(count), zero + 3
    )
    one_by_one = place_blocks(problem, lowered, (*places,))
    monkeypatch.setattr(PlacementColumns, "__iter__", lambda _: iter(()))
    together = place_blocks(problem, lowered, places)
    assert one_by_one is not None
    assert together is not None
    assert (one_by_one.pool.tolist(), one_by_one.offset.tolist()) == (together.pool.tolist(), together.offset.tolist())
    strange = replace(places, pools=("q", "unused", "nowhere"))
    assert place_blocks(problem, lowered, strange) is None
