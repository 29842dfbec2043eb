"""Options of HTTP requests: how limits clip them, and which requests count as the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from api.errors import Refusal
from api.jobs.kinds.plans import require_solver
from api.jobs.requests.endpoints import ENDPOINTS, FIELDS, PLANS, Endpoint, RequestOptions
from api.jobs.requests.options import as_document, clipped, from_body, from_document, merged, wrong_options
from api.jobs.requests.posted_problem import separate, understand
from api.settings import Settings
from planner.model.errors import BadInput, Code
from planner.planning.options.options import Options, Preference
from solvers.model.solver import Goal, Warm

SETTINGS = Settings(max_time_limit=20, max_work_limit=1000, max_solver_memory=10_000, max_workers_per_job=2)


def solve(**fields: Any) -> RequestOptions:
    """Return the options that a request has under `solve`."""
    return PLANS.loose.model_validate(fields)


def test_missing_options_have_the_service_s_defaults() -> None:
    found = clipped(solve(), SETTINGS)
    assert found.notes == ()
    assert found.options == Options(time_limit=10.0, memory_limit_bytes=10_000, workers=2)


def test_excessive_limits_are_clipped_with_a_note() -> None:
    wanted = solve(time_limit=21, work_limit=1001, memory_limit=10_001, workers=3)
    found = clipped(wanted, SETTINGS)
    assert len(found.notes) == 4
    assert found.options == Options(time_limit=20.0, work_limit=1000, memory_limit_bytes=10_000, workers=2)
    exactly = solve(time_limit=20, work_limit=1000, memory_limit=10_000, workers=2)
    assert clipped(exactly, SETTINGS).notes == ()


def test_explaining_has_its_own_limit() -> None:
    settings = Settings(max_explain_seconds=5)
    assert clipped(solve(explain=True), settings).options.time_limit == 5
    assert clipped(solve(explain=True), settings).notes == ()
    assert len(clipped(solve(explain=True, time_limit=6), settings).notes) == 1


def test_only_allowed_solvers_are_accepted() -> None:
    settings = Settings(allowed_solvers=("greedy",))
    clipped(solve(solver="auto"), settings)
    clipped(solve(solver="greedy"), settings)
    with pytest.raises(Refusal) as caught:
        clipped(solve(solver="search"), settings)
    assert caught.value.code is Code.UNKNOWN_SOLVER


def test_options_survive_writing_and_reading() -> None:
    options = Options(5.0, 7, 9, "greedy", 2, 3, {"a": 1}, Goal.FIT, True, Warm.HINT, prefer=Preference.SPEED)
    assert from_document(json.loads(json.dumps(as_document(options)))) == options
    assert from_document(json.loads(json.dumps(as_document(Options())))) == Options()


def test_options_of_query_and_body_are_merged() -> None:
    assert merged(solve(seed=1), from_body({"goal": "fit"})) == solve(seed=1, goal="fit")
    with pytest.raises(Refusal, match="different things"):
        merged(solve(seed=1), from_body({"seed": 2}))


def test_only_the_options_are_taken_out_of_the_body() -> None:
    document = {
        "format": "memplan/1",
        "buffers": [{"id": "solve", "size": 1, "kind": "\u2028\x00"}],
        "solve": {"seed": 1},
    }
    data, solve = separate(json.dumps(document).encode(), None)
    assert solve == {"seed": 1}
    assert json.loads(data) == {name: value for name, value in document.items() if name != "solve"}
    untouched = json.dumps({"format": "memplan/1", "buffers": [{"solve": 1}]}).encode()
    assert separate(untouched, None) == (untouched, None)
    assert separate(b'id,"solve"\n', "minimalloc") == (b'id,"solve"\n', None)
    with pytest.raises(BadInput):
        separate(b'{"solve": 1, "solve": 2}', None)


def key(problem: dict[str, Any], query: RequestOptions | None = None, settings: Settings = SETTINGS) -> str:
    return understand(json.dumps(problem).encode(), None, query or solve(), settings).key


def test_requests_that_must_have_the_same_plan_have_the_same_key() -> None:
    problem = {"format": "memplan/1", "buffers": [{"id": 1, "size": 8}, {"id": 2, "size": 8}]}
    same = key(problem)
    assert key({**problem, "name": "other"}) == same
    assert key({**problem, "pools": [{"name": "default"}]}) == same
    assert key(problem, solve(workers=1)) == same
    assert key(problem, solve(time_limit=10)) == same
    others = [
        key({**problem, "buffers": problem["buffers"][::-1]}),
        key({**problem, "buffers": [{"id": "1", "size": 8}, {"id": 2, "size": 8}]}),
        key(problem, solve(seed=1)),
        key(problem, solve(time_limit=11)),
        key(problem, solve(capacity=100)),
        key(problem, solve(time_limit=21)),
        key(problem, solve(objects=True)),
    ]
    assert len({same, *others}) == 1 + len(others)


def test_conflict_lists_that_only_some_planners_heed_change_the_key() -> None:
    def usmp(*conflicts: list[str]) -> dict[str, Any]:
        names = "abc"
        return {
            "buffers": [
                {"name_hint": name, "size_bytes": 8, "conflicts": theirs}
                for name, theirs in zip(names, conflicts, strict=True)
            ]
        }

    one_side, other_side = usmp(["b"], [], []), usmp([], ["a"], [])
    assert key(one_side) != key(other_side)
    assert understand(json.dumps(one_side).encode(), "usmp", solve(), SETTINGS).subject.problem.constraints.listed


def test_jobs_of_an_older_version_can_still_be_read() -> None:
    document = as_document(Options(seed=3))
    del document["prefer"]
    assert from_document(document) == Options(seed=3)


def test_a_choice_may_have_other_usual_spellings() -> None:
    assert clipped(from_body({"goal": "minimize"}), SETTINGS).options.goal is Goal.MINIMISE
    with pytest.raises(Refusal, match="minimise"):
        from_body({"goal": "smallest"})


@pytest.mark.parametrize("endpoint", ENDPOINTS.values(), ids=ENDPOINTS)
@pytest.mark.parametrize("value", ["x", "", "nan", -1, 1e400, 1.5, {"a": -1}, [None], None, True, "x" * 300])
def test_wrong_options_are_explained_in_plain_words(endpoint: Endpoint, value: object) -> None:
    """This holds for each option, in a query (where all is text) and in JSON."""
    for name in {**FIELDS, **endpoint.own}:
        for model in (endpoint.loose, endpoint.strict):
            try:
                model.model_validate({name: value})
            except ValidationError as error:
                refusal = wrong_options(error.errors())
                assert len(refusal.findings) == 1, refusal.findings
                assert refusal.findings[0].pointer.startswith(f"/options/{name}")
                assert " should " not in refusal.detail
                assert "nput" not in refusal.detail


def test_an_unknown_solver_is_refused_with_each_known_name_once() -> None:
    with pytest.raises(Refusal) as refused:
        require_solver("nobody")
    known = str(refused.value).rpartition("known are ")[2].split(", ")
    assert sorted(known) == sorted(set(known))
    assert "auto" in known


def test_who_gives_a_setting_of_a_format_as_an_option_is_told_where_it_goes() -> None:
    with pytest.raises(Refusal) as caught:
        from_body({"in-place": True, "tim_limit": 1})
    messages = {finding.pointer: finding.message for finding in caught.value.findings}
    assert messages["/solve/tim_limit"] == "there is no such option"
    assert messages["/solve/in-place"].endswith("?format=tflite:in_place")
