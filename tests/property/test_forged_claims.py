"""Each field of an answer is changed by itself: a false claim is refused, and every written answer can be read."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner import BadInput, Options, Plan, PlanStatus, Pool, Problem, plan, share, verify, verify_sharing
from planner.formats import read_plan, read_sharing, write_plan, write_sharing
from planner.model.problem import Buffer, Speed
from planner.reporting.report import memory_report
from solvers.model.errors import StopReason
from solvers.model.instance import Term
from solvers.model.outcome import Proof
from tests.planner.planning.sharing.truth import least_total, sharable
from tests.small.oracle import Truth, solve
from tests.small.strategies import NIGHTLY, effort, problems

Path: TypeAlias = tuple[str | int, ...]
Json: TypeAlias = dict[str, Any]

SAID_OF_THE_RUN = {"solver", "versions", "warnings", "run", "seed"}
"""Fields that say who made an answer and how, which nothing can contradict, except for a negative seed."""
HUGE = 10**9
WORDS = {
    "status": tuple(str(status) for status in PlanStatus),
    "stop": tuple(str(stop) for stop in StopReason),
    "proof": (*map(str, Proof), "ranked"),
    "term": tuple(str(term) for term in Term),
}
LISTS = ("placements", "assignments", "objects", "pools")


def leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value that is no list and no object, with its path."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from leaves(value, (*path, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from leaves(value, (*path, number))
    else:
        yield path, document


def others(path: Path, value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return other values for the field at this path."""
    if path[-1] in WORDS:
        return tuple(word for word in (*WORDS[str(path[-1])], None) if word != value)
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return value + 1, value + HUGE, value - 1, None
    if isinstance(value, float):
        return value + 0.25, None
    if isinstance(value, str):
        return value + "x", *(name for name in names if name != value)
    return 1, HUGE, "x", *names


def at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def with_value(document: Json, path: Path, value: Any) -> Json:
    """Return a copy of the document with another value at this path."""
    copy: Json = json.loads(json.dumps(document))
    at(copy, path[:-1])[path[-1]] = value
    return copy


def forgeries(document: Json, names: tuple[str, ...]) -> Iterator[tuple[Path, Json]]:
    for path, value in leaves(document):
        if path[0] not in SAID_OF_THE_RUN:
            for other in others(path, value, names):
                yield path, with_value(document, path, other)
    for name in LISTS:
        rows = document.get(name) or []
        if rows:
            yield (name,), {**document, name: rows[1:]}
            yield (name,), {**document, name: [*rows, rows[0]]}
    yield ("seed",), {**document, "seed": -1}


class Judge(ABC):
    """Decides whether the changed value in a forged document is still true, by trying everything."""

    def __init__(self, document: Json) -> None:
        self.document = document

    def is_true(self, path: Path, forged: Json) -> bool:
        if path[0] == "stop":
            settled = forged["status"] in ("optimal", "infeasible")
            return forged["stop"] != "proved" or settled
        if path[0] == "reproducible":
            return forged["reproducible"] is False or forged["stop"] in ("work_limit", "proved", "goal_met")
        if path[-1] in ("offset", "object") or (path[0] == "placements" and path[-1] == "pool"):
            return True  # another place may be as good; other tests check that
        if path[0] == "objects" and path[-1] in ("device", "dtype"):
            return False
        if path[0] == "certificate":
            return self.is_proven(forged["certificate"][path[1]], path)
        before, after = (at(each, path) if path[-1] not in LISTS else None for each in (self.document, forged))
        is_less = type(before) is type(after) is int and after < before
        return path[-1] == "bound" and is_less  # a lower bound claims less

    def is_proven(self, certificate: Json, path: Path) -> bool:
        """Return whether the certificate's claim is true, whatever reason it gives."""
        value = certificate["value"]
        least = self.least(certificate)
        if isinstance(value, int) and least is not None:
            return value <= least
        searched = certificate["proof"] == "search"
        return not (path[-1] == "value" and isinstance(value, int) and value >= HUGE) or searched

    @abstractmethod
    def least(self, certificate: Json) -> int | None:
        """Return the least value of what the certificate is about; None if there is nothing to compare."""


class PlanJudge(Judge):
    def __init__(self, document: Json, problem: Problem, truth: Truth) -> None:
        super().__init__(document)
        self.problem, self.truth = problem, truth

    def is_true(self, path: Path, forged: Json) -> bool:
        if path[-1] == "bound" and path[:2] == ("objective", "terms") and path[2] != 0:
            bound = at(forged, path)  # bounds a later term if the earlier ones are at their bounds
            if bound is None:
                return True  # no bound claims nothing
            if isinstance(bound, int):
                return bound >= 0 and (self.truth.value is None or bound <= self.truth.value[int(path[2])])
        return super().is_true(path, forged)

    def least(self, certificate: Json) -> int | None:
        if self.truth.value is None:
            return None
        pool, term = certificate["pool"], certificate.get("term")
        if pool is None and term == self.problem.terms[0]:
            return self.truth.value[0]
        if pool is None and term is not None and term in self.problem.terms:
            return self.truth.value[self.problem.terms.index(Term(term))]
        if pool is None and term is None and certificate["proof"] == "priced_room":
            return self.truth.value[0]
        if pool is None and term != "sum_of_peaks" and certificate["proof"] != "pool_sharing":
            return -1  # there is a plan, so a claim of infeasibility is false
        return least_peak(self.problem, pool)


@lru_cache(1000)
def least_peak(problem: Problem, name: str | None) -> int | None:
    """Return the least peak of one pool, or without a name the least cost-weighted sum of peaks."""
    pools = tuple(pool if name is None else replace(pool, cost=int(pool.name == name)) for pool in problem.pools)
    value = solve(replace(problem, pools=pools, terms=(Term.SUM_OF_PEAKS,))).value
    return None if value is None else value[0]


class SharingJudge(Judge):
    def __init__(self, document: Json, problem: Problem, fits: bool) -> None:
        super().__init__(document)
        self.problem, self.fits = problem, fits

    def least(self, certificate: Json) -> int | None:
        if not self.fits:
            return None
        kind = (certificate["pool"], certificate["device"], certificate["dtype"])
        mine = [b for b in self.document["objects"] if (b["pool"], b["device"], b["dtype"]) == kind]
        return sum(int(thing["size"]) for thing in mine)


def check(case: Judge, names: tuple[str, ...], refused: Any, seed: int) -> None:
    """Assert that each forgery is true or refused: by day some, drawn by the seed, at night all."""
    forged = list(forgeries(case.document, names))
    if not NIGHTLY and len(forged) > MOST:
        forged = Random(seed).sample(forged, MOST)
    for path, document in forged:
        assert case.is_true(path, document) or refused(document), (path, at(document, path))


MOST = 60
"""The most forgeries of one answer that are tried by day."""


@pytest.mark.parametrize("solver", ["greedy", "auto"])
@effort(7, 1000)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_no_claim_of_a_plan_can_be_forged(solver: str, problem: Problem, seed: int) -> None:
    made = plan(problem, Options(solver=solver, time_limit=None, work_limit=20_000))
    document = written(problem, made)

    def refused(forged: Json) -> bool:
        try:
            return bool(verify(problem, read_plan(json.dumps(forged).encode())))
        except BadInput:
            return True

    assert not refused(document)
    names = tuple(pool.name for pool in problem.pools)
    check(PlanJudge(document, problem, solve(problem)), names, refused, seed)


def written(problem: Problem, made: Plan) -> Json:
    """Return the plan's document, after asserting that it can be read back, verified and reported on."""
    data = write_plan(made)
    again = read_plan(data)
    assert again == made
    assert write_plan(again) == data
    assert verify(problem, again) == ()
    memory_report(problem, again)
    document: Json = json.loads(data)
    return document


@effort(10, 1000)
@given(problem=sharable(), seed=st.integers(0, 1000))
def test_no_claim_of_a_sharing_can_be_forged(problem: Problem, seed: int) -> None:
    made = share(problem, Options(solver="greedy", time_limit=None, work_limit=20_000))
    data = write_sharing(made)
    assert read_sharing(data) == made
    document: Json = json.loads(data)

    def refused(forged: Json) -> bool:
        try:
            return bool(verify_sharing(problem, read_sharing(json.dumps(forged).encode())))
        except BadInput:
            return True

    assert not refused(document)
    names = tuple(pool.name for pool in problem.pools)
    fits = least_total(problem) is not None and made.status.has_plan
    check(SharingJudge(document, problem, fits), names, refused, seed)


SPEEDS = st.builds(
    Speed,
    clock_frequency_hz=st.sampled_from((1, 7, 332_999_994, 10**9, 10**12)),
    read_bandwidth_bytes_per_cycle=st.integers(1, 97),
    write_bandwidth_bytes_per_cycle=st.integers(1, 7),
)


@effort(10, 2000)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=5),
    speeds=st.lists(SPEEDS, min_size=2, max_size=3),
    room=st.integers(1, 14),
    counted=st.sampled_from((Term.ACCESS_COST, Term.BALANCED, Term.SPILLED_BYTES, Term.SUM_OF_PEAKS)),
)
def test_plans_for_uneven_memories_can_be_written_and_read(
    sizes: list[int], speeds: list[Speed], room: int, counted: Term
) -> None:
    """In memories of very unequal speed, prices of room once had more digits than the reader accepts."""
    pools = tuple(Pool(f"p{n}", room if n == 0 else None, speed=speed, rank=n) for n, speed in enumerate(speeds))
    buffers = tuple(Buffer(n, size, live=((0, 2 + n % 2),), accesses=1 + n) for n, size in enumerate(sizes))
    problem = Problem(buffers, pools, terms=(counted,))
    written(problem, plan(problem, Options(time_limit=None, work_limit=20_000)))


def test_a_plan_with_a_proof_that_nothing_fits_is_refused() -> None:
    problem = Problem((Buffer("a", 0), Buffer("b", 0)), (Pool("p"), Pool("q", rank=1)), terms=(Term.ACCESS_COST,))
    document = json.loads(write_plan(plan(problem)))
    search = {"proof": "search", "value": 0, "pool": None, "solver": "cpsat", "term": None}
    document["certificate"] = [search]
    assert [str(finding.kind) for finding in verify(problem, read_plan(json.dumps(document).encode()))] == [
        "wrong_certificate"
    ]


def test_a_forged_infeasibility_is_refused_for_any_named_solver() -> None:
    roomy = Problem((Buffer("a", 4, live=((0, 2),)), Buffer("b", 4, live=((1, 3),))), (Pool("p", None),))
    made = plan(roomy)
    document = json.loads(write_plan(made))
    search = {"proof": "search", "value": 0, "pool": None, "solver": "cpsat"}
    empty = {**document, "status": "infeasible", "peak": None, "gap": None, "bound": 0, "placements": []}
    empty["objective"] = {
        "value": None,
        "bound": None,
        "terms": [{"name": "sum_of_peaks", "value": None, "bound": None}],
    }
    for size in (None, 8, 100):
        problem = replace(roomy, pools=(Pool("p", size),))
        empty["pools"] = [{"name": "p", "size": size, "peak": None, "bound": 0}]
        empty["problem_digest"] = plan(problem).problem_digest
        for value in (0, 1, 9, 10**9):
            for pool in (None, "p"):
                forged = {**empty, "certificate": [{**search, "value": value, "pool": pool}]}
                kinds = {finding.kind for finding in verify(problem, read_plan(json.dumps(forged).encode()))}
                assert kinds & {"unproven_infeasibility", "wrong_certificate"}, (size, value, pool)
