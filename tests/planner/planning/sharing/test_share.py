"""planner.share as its callers see it: kinds of storage, refusals with places, capacities, options, repeatability."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from planner import (
    BadInput,
    Buffer,
    CannotSolve,
    Code,
    Colocation,
    Constraints,
    Goal,
    Options,
    PlanStatus,
    Pool,
    Problem,
    Progress,
    ReusePenalty,
    Sharing,
    StopReason,
    Term,
    Warm,
    share,
    verify_sharing,
    write_sharing,
)
from planner.model.columns.buffers import BufferColumns, buffer_columns
from planner.model.columns.rows import FEW
from planner.model.errors import PlannerError
from planner.model.plan import Run
from planner.model.problem import Fixed, Was
from planner.model.storage import SharingProof
from tests.planner.planning.sharing.truth import FOUND_BY_SEARCH, PROVED_BY_SEARCH

FIRST, SECOND = Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((2, 3),))


def storage(made: Sharing) -> list[int]:
    return [each.object for each in made.assignments]


def lasting(made: Sharing) -> bytes:
    return write_sharing(replace(made, run=Run(0.0)))


def refused(problem: Problem, options: Options | None = None) -> list[tuple[Code, str]]:
    """Require that sharing is refused; return the errors' codes and places."""
    with pytest.raises(PlannerError) as caught:
        share(problem, options)
    return [(finding.code, finding.pointer) for finding in caught.value.findings]


def test_objects_are_numbered_in_the_order_of_first_use() -> None:
    made = share(Problem((Buffer("x", 8, live=((0, 3),)), FIRST, SECOND)))
    assert (made.status, made.total, made.bound, made.gap) == (PlanStatus.OPTIMAL, 72, 72, 0.0)
    assert storage(made) == [0, 1, 1]
    assert [(thing.id, thing.size) for thing in made.objects] == [(0, 8), (1, 64)]


@pytest.mark.parametrize("field", ["device", "dtype"])
def test_buffers_of_different_kinds_never_share(field: str) -> None:
    def two(first: str, second: str) -> Problem:
        return Problem((replace(FIRST, **{field: first}), replace(SECOND, **{field: second})))  # type: ignore[arg-type]

    assert share(two("one", "other")).total == 96
    made = share(two("one", "one"))
    assert made.total == 64
    assert getattr(made.objects[0].kind, field) == "one"


def test_each_pool_is_a_kind_of_storage() -> None:
    pools = (Pool("p", 100), Pool("q"))
    made = share(Problem((replace(FIRST, pools=("p",)), replace(SECOND, fixed=Fixed("q"))), pools))
    assert [(pool.name, pool.total, pool.bound) for pool in made.pools] == [("p", 64, 64), ("q", 32, 32)]


def test_a_missing_type_is_a_type_of_its_own() -> None:
    assert share(Problem((replace(FIRST, dtype="f32"), SECOND))).total == 96


def test_sizes_count_rounded_up_to_the_alignment() -> None:
    made = share(Problem((Buffer("a", 10, 8, ((0, 1),)), Buffer("b", 13, live=((1, 2),))), (Pool("p", alignment=3),)))
    assert [thing.size for thing in made.objects] == [24]


def test_empty_buffers_get_an_object_but_need_none() -> None:
    assert share(Problem(())).status is PlanStatus.OPTIMAL
    made = share(Problem((Buffer("z", 0, live=((0, 9),)), FIRST)))
    assert (storage(made), made.total) == ([0, 0], 64)
    alone = share(Problem((Buffer("z", 0, live=((0, 9),)),)))
    assert [(thing.id, thing.size) for thing in alone.objects] == [(0, 0)]
    assert (alone.status, alone.total, alone.gap) == (PlanStatus.OPTIMAL, 0, None)


def test_a_buffer_with_a_gap_in_its_life_lets_others_in() -> None:
    gapped = Buffer("a", 8, live=((0, 1), (5, 6)))
    assert share(Problem((gapped, Buffer("b", 8, live=((2, 4),))))).total == 8
    assert share(Problem((gapped, Buffer("b", 8, live=((2, 6),))))).total == 16


def test_conflicts_exclusions_and_views_are_followed() -> None:
    late = replace(SECOND, live=((1, 3),))
    assert share(Problem((FIRST, SECOND), constraints=Constraints(conflicts=(("a", "b"),)))).total == 96
    assert share(Problem((FIRST, late))).total == 96
    assert share(Problem((FIRST, late), constraints=Constraints(exclusions=(("a", "b"),)))).total == 64
    view = share(Problem((FIRST, late), constraints=Constraints(colocations=(Colocation("b", "a", 0),))))
    assert (storage(view), view.total) == ([0, 0], 64)


def test_a_view_keeps_the_object_of_its_source() -> None:
    third = Buffer("c", 64, live=((2, 3),))
    tied = Constraints(colocations=(Colocation("b", "a", 0),))
    assert share(Problem((FIRST, SECOND, third))).total == 96
    assert share(Problem((FIRST, SECOND, third), constraints=tied)).total == 128


@pytest.mark.parametrize(
    ("problem", "code", "place"),
    [
        (Problem((replace(FIRST, fixed=Fixed("default", 0)),)), Code.UNSUPPORTED, "/buffers/0/fixed/offset"),
        (Problem((FIRST, replace(SECOND, max_offset=9))), Code.UNSUPPORTED, "/buffers/1/max_offset"),
        (Problem((FIRST,), (Pool("p", reserved=((0, 4),)),)), Code.UNSUPPORTED, "/pools/0/reserved"),
        (Problem((FIRST,), (Pool("p"), Pool("q"))), Code.UNSUPPORTED, "/buffers/0/pools"),
        (
            Problem((FIRST, SECOND), constraints=Constraints(colocations=(Colocation("b", "a", 16),))),
            Code.UNSUPPORTED,
            "/constraints/colocations/0/offset",
        ),
        (
            Problem(
                (FIRST, SECOND),
                constraints=Constraints(reuse_penalties=(ReusePenalty("a", "b", 1),)),
                terms=(Term.SUM_OF_PEAKS, Term.REUSE_COST),
            ),
            Code.UNSUPPORTED,
            "/objective/terms/1",
        ),
        (
            Problem((FIRST, SECOND), terms=(Term.MOVED_BYTES,), was=(Was("a", "default", 0),)),
            Code.UNSUPPORTED,
            "/objective/was",
        ),
        (Problem((FIRST, replace(SECOND, device="gpu"))), Code.MISSING_FIELD, "/buffers/0/device"),
        (Problem((replace(FIRST, dtype=""),)), Code.WRONG_TYPE, "/buffers/0/dtype"),
        (
            Problem(
                (replace(FIRST, dtype="f32"), SECOND), constraints=Constraints(colocations=(Colocation("b", "a", 0),))
            ),
            Code.CONTRADICTION,
            "/constraints/colocations/0",
        ),
        (
            Problem((FIRST, SECOND), constraints=Constraints(different_pool=(("a", "b"),))),
            Code.CONTRADICTION,
            "/constraints/different_pool/0",
        ),
        (
            Problem(
                (replace(FIRST, pools=("p",)), replace(SECOND, pools=("q",))),
                (Pool("p"), Pool("q")),
                Constraints(same_pool=(("a", "b"),)),
            ),
            Code.UNSUPPORTED,
            "/buffers/0/pools",
        ),
        (Problem((replace(FIRST, alignment=(1 << 61) - 1),), (Pool("p", alignment=3),)), Code.TOO_LARGE, "/buffers"),
    ],
)
def test_fields_without_meaning_for_objects_are_refused_with_their_place(
    problem: Problem, code: Code, place: str
) -> None:
    assert (code, place) in refused(problem)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (Options(goal=Goal.FIT), "/options/goal"),
        (Options(warm=Warm.HINT), "/options/warm"),
        (Options(explain=True), "/options/explain"),
        (Options(seed=-1), "/options/seed"),
    ],
)
def test_options_invalid_for_sharing_are_refused(options: Options, place: str) -> None:
    assert refused(Problem((FIRST,)), options) == [(Code.INVALID_OPTION, place)]


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("nobody", "known are auto, greedy, largest_first", Code.UNKNOWN_SOLVER),
        ("search", "search cannot take this problem: it gives addresses", Code.UNSUPPORTED),
        ("room_prices", "given by auto, greedy, largest_first", Code.UNSUPPORTED),
    ],
)
def test_solvers_that_share_nothing_are_refused(name: str, words: str, code: Code) -> None:
    with pytest.raises(CannotSolve, match=words) as caught:
        share(Problem((FIRST,)), Options(solver=name))
    assert caught.value.findings[0].code is code


def test_relays_tokens_take_no_explicit_conflicts() -> None:
    problem = Problem((FIRST, SECOND), constraints=Constraints(conflicts=(("a", "b"),)))
    assert refused(problem, Options(solver="relay_tokens")) == [(Code.UNSUPPORTED, "/options/solver")]


def test_too_small_a_pool_is_proven_with_its_shortage() -> None:
    problem = Problem((FIRST, replace(SECOND, live=((1, 3),))), (Pool("p", 90),))
    made = share(problem)
    assert (made.status, made.stop, made.objects, made.assignments) == (
        PlanStatus.INFEASIBLE,
        StopReason.PROVED,
        (),
        (),
    )
    assert made.shortage is not None
    assert (made.shortage.pool, made.shortage.bytes_short) == ("p", 6)
    assert verify_sharing(problem, made) == ()
    assert share(problem, Options(capacity=96)).total == 96


def test_a_shortage_that_only_a_search_proves_is_proven() -> None:
    problem = replace(PROVED_BY_SEARCH, pools=(Pool("p", 72),))
    assert share(problem, Options(solver="greedy")).status is PlanStatus.UNKNOWN
    made = share(problem)
    assert made.status is PlanStatus.INFEASIBLE
    assert [certificate.proof for certificate in made.certificates] == [SharingProof.RANKED, SharingProof.SEARCH]
    assert verify_sharing(problem, made) == ()


def test_the_exact_solver_finds_and_proves_more_than_greedy() -> None:
    greedy = share(FOUND_BY_SEARCH, Options(solver="greedy"))
    assert (greedy.status, greedy.total, greedy.bound) == (PlanStatus.FEASIBLE, 120, 116)
    made = share(FOUND_BY_SEARCH)
    assert (made.status, made.total, made.bound, made.solver) == (PlanStatus.OPTIMAL, 118, 118, "cpsat")
    assert "ortools" in made.versions
    assert verify_sharing(FOUND_BY_SEARCH, made) == ()


def test_the_same_sharing_is_written_every_time() -> None:
    made = [share(PROVED_BY_SEARCH, Options(work_limit=2_000_000, time_limit=60, workers=n)) for n in (1, 1, 2)]
    assert all(each.reproducible for each in made)
    assert len({lasting(each) for each in made}) == 1


def test_a_cancelled_sharing_reports_progress_and_keeps_its_best() -> None:
    moments: list[Progress] = []
    made = share(FOUND_BY_SEARCH, on_progress=moments.append, cancelled=lambda: len(moments) > 2)
    assert made.stop is StopReason.CANCELLED
    assert not made.reproducible
    assert verify_sharing(FOUND_BY_SEARCH, made) == ()
    assert [moment.value for moment in moments if moment.value is not None] == sorted(
        (moment.value for moment in moments if moment.value is not None), reverse=True
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(BadInput):
        share(Problem((FIRST, FIRST)))


def test_very_many_kinds_of_storage_are_refused_with_the_reason() -> None:
    problem = Problem(tuple(Buffer(i, 8, live=((i, i + 2),), device=f"d{i}") for i in range(2000)))
    with pytest.raises(CannotSolve) as refused:
        share(problem, Options(time_limit=60.0))
    assert [finding.code for finding in refused.value.findings] == [Code.TOO_LARGE]
    assert "2000 kinds" in refused.value.findings[0].message


def test_objects_of_buffers_in_columns_are_made_once_for_each_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    passes, go_through = 0, BufferColumns.__iter__

    def counted(columns: BufferColumns) -> Iterator[Buffer]:
        nonlocal passes
        passes += 1
        return go_through(columns)

    monkeypatch.setattr(BufferColumns, "__iter__", counted)
    start = np.arange(2 * FEW, dtype=np.int64)
    ones = np.ones(len(start), dtype=np.int64)
    problem = Problem(buffer_columns(range(len(start)), ones, ones, start, start + 3))
    made = share(problem, Options(work_limit=100))
    assert made.total == 3
    assert passes == 1
    assert not verify_sharing(problem, made)
    assert passes == 2


def test_who_wants_to_know_is_told_what_each_solver_did() -> None:
    lines: list[str] = []
    made = share(FOUND_BY_SEARCH, Options(verbose=True), on_log=lines.append)
    mine = [line for line in lines if line.startswith(f"{made.solver}: ")]
    assert any(f"value {made.total}" in line and "units of work" in line for line in mine)
