"""Verification accepts true frontiers and notices every change to one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from planner.facts.plain_choices import Choice
from planner.facts.possible_places import Places
from planner.facts.variants import choice_of
from planner.formats import read_frontier, write_frontier
from planner.generate import Request, generate
from planner.model.errors import BadInput
from planner.model.plan import Frontier, Placement, PlanStatus
from planner.model.problem import Problem
from planner.planning.options.options import Options
from planner.planning.placing.solving import pareto
from planner.verifying.choices import other_choices
from planner.verifying.choices.other_choices import MOST_CHOICES, SimplePoints
from planner.verifying.findings import FindingKind
from planner.verifying.frontier import verify_frontier
from planner.verifying.simple_plans import simple_plans
from solvers.model.errors import StopReason

PROBLEM = generate("variants", Request(8, 1, parameters={"groups": 3, "alternatives": 2}))


@pytest.fixture(scope="module")
def found() -> Frontier:
    made = pareto(PROBLEM, Options(workers=1))
    assert made.is_complete
    assert len(made.points) > 2
    return made


def test_a_found_frontier_passes_verification(found: Frontier) -> None:
    assert verify_frontier(PROBLEM, found) == ()
    again = read_frontier(write_frontier(found))
    assert verify_frontier(PROBLEM, again) == ()
    files = {f"{k}.json": plan for k, plan in enumerate(write_frontier(found).splitlines())}
    with pytest.raises(BadInput) as caught:
        read_frontier(write_frontier(found, list(files)[: len(found.points)]))
    assert caught.value.findings[0].pointer == "/points/0/plan"


def test_each_choice_is_tried_once_for_all_points(found: Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Problem] = []

    def noted(places: Places, **more: Any) -> Iterator[Sequence[Placement | None]]:
        tried.append(places.problem)
        return simple_plans(places, **more)

    monkeypatch.setattr(other_choices, "simple_plans", noted)
    assert verify_frontier(PROBLEM, found) == ()
    assert len(tried) == len({*tried}) == 2**3, "there are two alternatives in each of three groups"


def test_of_long_frontiers_each_point_s_own_choice_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many choices as for four plans are tried in all."""
    problem = generate("variants", Request(20, 1, parameters={"groups": 8, "alternatives": 3}))
    made = pareto(problem, Options(workers=1))
    choices: list[Choice] = []
    monkeypatch.setattr(SimplePoints, "_try", lambda _, choice, *__: choices.append(choice))
    assert verify_frontier(problem, made) == ()
    own = {choice_of(problem, plan) for plan in made.points}
    assert len(own) > 10
    assert own <= {*choices}
    assert len(choices) == len({*choices}) <= 5 * MOST_CHOICES


def test_changes_to_a_frontier_are_found(found: Frontier) -> None:
    first, *others = found.points
    humble = replace(first, status=PlanStatus.FEASIBLE)
    moved = replace(first, placements=(replace(first.placements[0], offset=1 << 30), *first.placements[1:]))
    changed = {
        "another problem": (replace(found, problem_digest="x"), FindingKind.WRONG_DIGEST),
        "another order": (replace(found, points=(*others, first)), FindingKind.WRONG_STATUS),
        "a point twice": (replace(found, points=(first, *found.points)), FindingKind.WRONG_STATUS),
        "a plan without a choice": (
            replace(found, points=(replace(first, choice=None), *others)),
            FindingKind.WRONG_CHOICE,
        ),
        "an open point": (replace(found, points=(humble, *others)), FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND),
        "a buffer elsewhere": (replace(found, points=(moved, *others)), FindingKind.WRONG_PEAK),
        "something left out": (replace(found, within=0.5), FindingKind.WRONG_STATUS),
        "nothing left out": (replace(found, is_complete=False), FindingKind.WRONG_STATUS),
        "less than nothing left out": (replace(found, is_complete=False, within=-0.5), FindingKind.WRONG_STATUS),
        "all left out": (replace(found, is_complete=False, within=math.inf), FindingKind.WRONG_STATUS),
        "nothing fits": (replace(found, is_infeasible=True), FindingKind.WRONG_STATUS),
        "no points": (replace(found, points=()), FindingKind.WRONG_STATUS),
        "a point less": (replace(found, points=found.points[1:]), FindingKind.WRONG_STATUS),
        "much less, within little": (
            replace(found, is_complete=False, stop=StopReason.WORK_LIMIT, within=1e-6, points=found.points[1:]),
            FindingKind.WRONG_STATUS,
        ),
        "cut short": (replace(found, stop=StopReason.WORK_LIMIT), FindingKind.WRONG_STATUS),
        "not proven": (
            replace(found, is_complete=False, within=None, points=(humble, *others)),
            FindingKind.WRONG_STATUS,
        ),
        "nothing is missing": (replace(found, missing="all is there"), FindingKind.WRONG_STATUS),
        "a dear one": (replace(found, most_cost=10**6), FindingKind.WRONG_STATUS),
        "nothing at all": (
            replace(found, points=(), is_complete=False, is_infeasible=True, within=None),
            FindingKind.UNPROVEN_INFEASIBILITY,
        ),
        "nothing at all, in no words of ours": (
            replace(found, points=(), is_complete=False, is_infeasible=True, within=None, missing="nonsense"),
            FindingKind.WRONG_SHORTAGE,
        ),
        "by chance": (
            replace(found, points=(replace(first, reproducible=False), *others)),
            FindingKind.WRONG_STATUS,
        ),
    }
    for what, (wrong, kind) in changed.items():
        findings = verify_frontier(PROBLEM, wrong)
        assert kind in {each.kind for each in findings}, what
        assert kind is not FindingKind.WRONG_PEAK or findings[0].message.startswith("point 1: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("complete", 1),
        ("infeasible", "no"),
        ("reproducible", None),
        ("stop", "tired"),
        ("within", "0"),
        ("run", []),
        ("max_cost", 1.0),
        ("problem_digest", 7),
        ("missing", 7),
    ],
)
def test_fields_about_all_points_are_read_strictly(found: Frontier, name: str, value: object) -> None:
    document = json.loads(write_frontier(found))
    with pytest.raises(BadInput):
        read_frontier(json.dumps({**document, name: value}).encode())
    document.pop(name, None)
    if name not in ("within", "missing", "max_cost"):
        with pytest.raises(BadInput):
            read_frontier(json.dumps(document).encode())
