"""Verification finds every kind of fault in a sharing and names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from planner import (
    BadInput,
    Buffer,
    CannotSolve,
    Colocation,
    Constraints,
    Options,
    PlanStatus,
    Pool,
    Problem,
    Sharing,
    StopReason,
    share,
    verify_sharing,
)
from planner.checks.arguments import checked
from planner.facts.digest import digest
from planner.model.plan import Shortage
from planner.model.problem import Fixed
from planner.model.storage import Assignment, Kind, SharingCertificate, SharingProof, StorageObject, Witness
from planner.planning.sharing.bounds import notes
from planner.planning.sharing.findings import SharingFindingKind as K
from tests.planner.planning.sharing.truth import PROVED_BY_SEARCH

PROBLEM = Problem(
    (
        Buffer("a", 64, live=((0, 2),), device="cpu", dtype="f32"),
        Buffer("b", 32, live=((1, 3),), device="cpu", dtype="f32"),
        Buffer("c", 60, live=((2, 4),), device="cpu", dtype="f32"),
        Buffer("view", 60, live=((3, 5),), device="cpu", dtype="f32"),
        Buffer("d", 8, live=((7, 8),), device="gpu", dtype="f32"),
        Buffer("e", 8, live=((8, 9),), device="gpu", dtype="f32"),
    ),
    (Pool("p", 120),),
    Constraints(conflicts=(("d", "e"),), colocations=(Colocation("view", "c", 0),)),
)
MADE = share(PROBLEM)


def test_a_problem_that_is_not_sound_is_refused_with_the_place() -> None:
    with pytest.raises(BadInput, match=r"^/pools/0/alignment: must be from 1"):
        checked(verify_sharing)(replace(PROBLEM, pools=(Pool("p", 120, alignment=0),)), MADE)


def with_object(number: int, **changes: object) -> Sharing:
    things = tuple(replace(t, **changes) if t.id == number else t for t in MADE.objects)  # type: ignore[arg-type]
    return replace(MADE, objects=things)


def moved(buffer: str, number: int) -> Sharing:
    return replace(
        MADE,
        assignments=tuple(replace(a, object=number) if a.id == buffer else a for a in MADE.assignments),
    )


def on_device(number: int, device: str | None) -> Sharing:
    return with_object(number, kind=replace(MADE.objects[number].kind, device=device))


def with_certificate(**changes: object) -> Sharing:
    first, *rest = MADE.certificates
    return replace(MADE, certificates=(replace(first, **changes), *rest))  # type: ignore[arg-type]


def test_sharings_made_pass_verification() -> None:
    assert [a.object for a in MADE.assignments] == [0, 1, 0, 0, 2, 3]
    assert (MADE.status, MADE.total, MADE.bound) == (PlanStatus.OPTIMAL, 112, 112)
    assert verify_sharing(PROBLEM, MADE) == ()
    assert notes(MADE) == ()


WRONG: dict[str, tuple[Callable[[], Sharing], K]] = {
    "no object": (lambda: replace(MADE, assignments=MADE.assignments[1:]), K.MISSING_BUFFER),
    "a stranger": (lambda: replace(MADE, assignments=(*MADE.assignments, Assignment("x", 0))), K.UNKNOWN_BUFFER),
    "twice": (lambda: replace(MADE, assignments=(*MADE.assignments, MADE.assignments[0])), K.DUPLICATE_ASSIGNMENT),
    "another order": (lambda: replace(MADE, assignments=MADE.assignments[::-1]), K.WRONG_ORDER),
    "no such object": (lambda: moved("a", 9), K.UNKNOWN_OBJECT),
    "an object twice": (lambda: replace(MADE, objects=(*MADE.objects, MADE.objects[0])), K.DUPLICATE_OBJECT),
    "an object for nobody": (
        lambda: replace(MADE, objects=(*MADE.objects, StorageObject(9, 0, Kind("p")))),
        K.UNUSED_OBJECT,
    ),
    "too small": (lambda: with_object(0, size=63), K.OBJECT_TOO_SMALL),
    "another pool": (lambda: with_object(0, kind=Kind("q", "cpu", "f32")), K.WRONG_POOL),
    "another device": (lambda: on_device(0, "gpu"), K.WRONG_DEVICE),
    "no device": (lambda: on_device(0, None), K.WRONG_DEVICE),
    "another type": (lambda: with_object(0, kind=Kind("p", "cpu", "i8")), K.WRONG_DTYPE),
    "needed together": (lambda: moved("b", 0), K.CLASH),
    "in conflict": (lambda: moved("e", 2), K.CLASH),
    "a view elsewhere": (lambda: moved("view", 1), K.COLOCATION_BROKEN),
    "no room": (lambda: with_object(0, size=80), K.OVER_CAPACITY),
    "a wrong total": (lambda: replace(MADE, total=111), K.WRONG_TOTAL),
    "a wrong total of a pool": (lambda: replace(MADE, pools=(replace(MADE.pools[0], total=1),)), K.WRONG_TOTAL),
    "another size": (lambda: replace(MADE, pools=(replace(MADE.pools[0], size=None),)), K.WRONG_POOL_TOTAL),
    "no pools": (lambda: replace(MADE, pools=()), K.WRONG_POOL_TOTAL),
    "a wrong gap": (lambda: replace(MADE, gap=0.5), K.WRONG_GAP),
    "no gap": (lambda: replace(MADE, gap=None), K.WRONG_GAP),
    "optimal without a proof": (lambda: replace(MADE, stop=StopReason.TIME_LIMIT), K.WRONG_STATUS),
    "nothing, but with objects": (lambda: replace(MADE, status=PlanStatus.UNKNOWN), K.WRONG_STATUS),
    "feasible without objects": (lambda: replace(MADE, objects=(), assignments=()), K.WRONG_STATUS),
    "optimal above its bound": (lambda: replace(MADE, bound=100, gap=0.12), K.CLAIMED_OPTIMAL_ABOVE_BOUND),
    "a bound that is too high": (lambda: replace(MADE, bound=113), K.BOUND_ABOVE_TOTAL),
    "an unproven bound": (lambda: replace(MADE, certificates=MADE.certificates[1:]), K.UNPROVEN_BOUND),
    "infeasible": (
        lambda: replace(MADE, status=PlanStatus.INFEASIBLE, total=None, gap=None, objects=(), assignments=()),
        K.UNPROVEN_INFEASIBILITY,
    ),
    "short of nothing": (lambda: replace(MADE, shortage=Shortage("it is short", "p", 1)), K.WRONG_SHORTAGE),
    "short of a stranger": (lambda: replace(MADE, shortage=Shortage("it is short", "q", 1)), K.WRONG_SHORTAGE),
    "a negative seed": (lambda: replace(MADE, seed=-1), K.WRONG_SEED),
    "another problem": (lambda: replace(MADE, problem_digest=digest(Problem(()))), K.WRONG_DIGEST),
    "a certificate that claims more": (lambda: with_certificate(value=97), K.WRONG_CERTIFICATE),
    "one of another kind": (lambda: with_certificate(kind=Kind("p", "gpu", "f32")), K.WRONG_CERTIFICATE),
    "one of another pool": (lambda: with_certificate(kind=Kind("q", "cpu", "f32")), K.WRONG_CERTIFICATE),
    "one at another time": (lambda: with_certificate(sets=(Witness(0, ("a", "b")),)), K.WRONG_CERTIFICATE),
    "one that names a stranger": (lambda: with_certificate(sets=(Witness(1, ("a", "x")),)), K.WRONG_CERTIFICATE),
    "one that names a view too": (lambda: with_certificate(sets=(Witness(3, ("c", "view")),)), K.WRONG_CERTIFICATE),
    "one without a reason": (lambda: with_certificate(sets=(Witness(None, ("a", "c")),)), K.WRONG_CERTIFICATE),
    "a search by nobody": (
        lambda: with_certificate(proof=SharingProof.SEARCH, sets=(), solver=None),
        K.WRONG_CERTIFICATE,
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_each_kind_of_fault_is_found(what: str) -> None:
    make, kind = WRONG[what]
    findings = verify_sharing(PROBLEM, make())
    assert kind in {finding.kind for finding in findings}
    assert all(finding.message for finding in findings)


def test_every_kind_of_finding_has_a_test() -> None:
    assert {kind for _, kind in WRONG.values()} == set(K)


def test_exclusions_permit_and_weaken_certificates() -> None:
    apart = replace(PROBLEM, constraints=replace(PROBLEM.constraints, exclusions=(("a", "b"),)))
    made = replace(moved("b", 0), problem_digest=digest(apart))
    kinds = {finding.kind for finding in verify_sharing(apart, made)}
    assert K.CLASH in kinds, "b and c are needed together all the same"
    assert K.WRONG_CERTIFICATE in kinds, "a and b may share now, so they prove nothing"
    assert verify_sharing(apart, share(apart)) == ()


def test_buffers_without_a_certificate_of_their_own_time_may_clash_pairwise() -> None:
    pairs = (("a", "b"), ("b", "c"), ("a", "c"))
    late = tuple(Buffer(id_, size, live=((i, i + 1),)) for i, (id_, size) in enumerate((("a", 5), ("b", 4), ("c", 3))))
    problem = Problem(late, constraints=Constraints(conflicts=pairs))
    made = share(problem)
    assert (made.total, made.bound) == (12, 12)
    assert made.certificates == (
        SharingCertificate(SharingProof.RANKED, 12, Kind("default"), (Witness(None, ("a", "b", "c")),)),
    )
    assert verify_sharing(problem, made) == ()


def test_a_set_may_name_a_small_view_of_something_large() -> None:
    """The set names the view of 5 bytes, but its object is as large as its largest buffer, 50 bytes."""
    problem = Problem(
        (Buffer("large", 50, live=((0, 1),)), Buffer("view", 5, live=((1, 3),)), Buffer("other", 7, live=((2, 4),))),
        constraints=Constraints(colocations=(Colocation("view", "large", 0),)),
    )
    made = share(problem)
    assert (made.total, made.bound, made.certificates[0].sets[0].time) == (57, 57, 2)
    assert verify_sharing(problem, made) == ()


@pytest.mark.parametrize("count", [3, 50, 500])
@pytest.mark.parametrize("status", [PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE, PlanStatus.UNKNOWN])
def test_what_a_plain_sharing_reaches_is_no_result_of_a_search(count: int, status: PlanStatus) -> None:
    """Each buffer has an object of its own, and a search is said to have found nothing better."""
    buffers = tuple(Buffer(n, 8 + n % 3, live=((n, n + 2),)) for n in range(count))
    total = sum(buffer.size for buffer in buffers)
    problem = Problem(buffers, (Pool("p", total if status.has_plan else 20), Pool("empty", 8)), Constraints())
    problem = replace(problem, buffers=tuple(replace(each, pools=("p",)) for each in buffers))
    made = share(problem, Options(solver="greedy"))
    kind = Kind("p")
    mine = SharingCertificate(SharingProof.SEARCH, total, kind, solver="cpsat")
    things = tuple(StorageObject(n, buffer.size, kind) for n, buffer in enumerate(buffers))
    forged = replace(
        made,
        status=status,
        stop=StopReason.WORK_LIMIT if status is PlanStatus.UNKNOWN else StopReason.PROVED,
        total=total if status.has_plan else None,
        bound=total,
        gap=0.0 if status.has_plan else None,
        pools=tuple(
            replace(pool, total=(total if pool.name == "p" else 0) if status.has_plan else None, bound=bound)
            for pool, bound in zip(made.pools, (total, 0), strict=True)
        ),
        objects=things if status.has_plan else (),
        assignments=tuple(Assignment(n, n) for n in range(count)) if status.has_plan else (),
        certificates=(mine,),
        shortage=None,
    )
    assert {finding.kind for finding in verify_sharing(problem, forged)} == {K.WRONG_CERTIFICATE}
    elsewhere = replace(made, certificates=(*made.certificates, replace(mine, kind=Kind("empty"), value=1)))
    assert {finding.kind for finding in verify_sharing(problem, elsewhere)} == {K.WRONG_CERTIFICATE}


def test_a_search_is_believed_with_a_note() -> None:
    made = share(PROVED_BY_SEARCH)
    assert verify_sharing(PROVED_BY_SEARCH, made) == ()
    assert notes(made) == (
        "the bound of pool 'default' rests on an exhausted search by 'cpsat' and was not checked again",
    )


def test_findings_of_one_kind_are_not_listed_without_end() -> None:
    many = Problem(tuple(Buffer(i, 1, live=((0, 1),)) for i in range(150)))
    made = share(many)
    heap = replace(made, assignments=tuple(replace(a, object=0) for a in made.assignments))
    assert sum(finding.kind is K.CLASH for finding in verify_sharing(many, heap)) == 100


def test_colocated_and_excluded_buffers_do_not_clash() -> None:
    """Colocated and excluded buffers do not clash; a large group is checked as one, not pair by pair."""
    count = 600
    buffers = (*(Buffer(i, 1, live=((0, 5),)) for i in range(count)), Buffer("other", 1, live=((1, 3),)))
    ties = tuple(Colocation(i, 0, 0) for i in range(1, count))
    pairs = tuple((i, "other") for i in range(count))
    both = Problem(buffers, constraints=Constraints(colocations=ties, exclusions=pairs))
    made = share(both)
    assert made.total == 1
    assert verify_sharing(both, made) == ()
    but_one = replace(both, constraints=replace(both.constraints, exclusions=pairs[1:]))
    assert [f.buffers for f in verify_sharing(but_one, made) if f.kind is K.CLASH] == [(0, "other")]


def test_a_set_without_a_time_has_a_greatest_length() -> None:
    many = Problem(tuple(Buffer(i, 1, live=((0, 1),)) for i in range(5000)))
    made = share(many)
    timeless = replace(made.certificates[0], sets=(replace(made.certificates[0].sets[0], time=None),))
    assert made.certificates[0].sets[0].time == 0
    reasons = [f.message for f in verify_sharing(many, replace(made, certificates=(timeless,)))]
    assert any("a set without a time may have 4096 buffers" in reason for reason in reasons)


def test_a_problem_with_offsets_has_no_valid_sharing() -> None:
    pinned = replace(PROBLEM, buffers=(replace(PROBLEM.buffers[0], fixed=Fixed("p", 0)), *PROBLEM.buffers[1:]))
    with pytest.raises(CannotSolve):
        verify_sharing(pinned, MADE)


def test_objects_without_users_count() -> None:
    idle = replace(MADE, objects=(*MADE.objects, StorageObject(9, 4, Kind("p"))))
    assert {finding.kind for finding in verify_sharing(PROBLEM, idle)} == {K.WRONG_TOTAL, K.UNUSED_OBJECT}
    empty = replace(MADE, objects=(*MADE.objects, StorageObject(9, 0, Kind("p"))))
    assert {finding.kind for finding in verify_sharing(PROBLEM, empty)} == {K.UNUSED_OBJECT}
