"""The examples work as described; tests/planner/planning/placing/test_memories.py tries two_memories.json."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.formats import read_problem
from planner.graph import nested_plan, program_problem

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("keyword_spotting.json", 24_528),
        ("loop.json", 18_432),
        ("rows.csv", 60),
        ("run.jsonl", 12_288),
        ("three.json", 84),
    ],
)
def test_an_example_is_planned_to_its_proven_optimum(name: str, peak: int) -> None:
    problem, warnings = read_problem((EXAMPLES / name).read_bytes(), name=name)
    plan = planner.plan(problem)
    assert not warnings
    assert plan.status is planner.PlanStatus.OPTIMAL
    assert (plan.peak, plan.bound) == (peak, peak)
    assert planner.verify(problem, plan) == ()
    assert peak < sum(buffer.size for buffer in problem.buffers)


def test_the_example_with_devices_is_shared_to_its_proven_optimum() -> None:
    problem, _ = read_problem((EXAMPLES / "devices.json").read_bytes())
    sharing = planner.share(problem)
    assert (sharing.status, sharing.total, len(sharing.objects)) == (planner.PlanStatus.OPTIMAL, 102_912, 5)
    assert planner.verify_sharing(problem, sharing) == ()


def test_the_network_runs_in_a_third_of_its_memory() -> None:
    problem, warnings = read_problem((EXAMPLES / "mobilenet.json").read_bytes())
    whole = 1_204_224
    fitting = planner.plan(problem, planner.Options(prefer=planner.Preference.SPEED, capacity={"default": whole // 3}))
    least = planner.plan(problem)
    assert not warnings
    assert (fitting.status, least.status) == (planner.PlanStatus.OPTIMAL, planner.PlanStatus.OPTIMAL)
    assert (fitting.peak, least.peak) == (401_408, 262_496)
    assert fitting.choice is not None
    assert fitting.choice.cost < 1.04 * 3_124_841
    assert planner.verify(problem, least) == ()


@pytest.mark.parametrize("name", ["prefill.json", "decode.json"])
def test_the_examples_with_symbols_take_the_least_at_every_length(name: str) -> None:
    problem, _ = planner.read_shaped((EXAMPLES / name).read_bytes())
    found = planner.plan_shapes(problem)
    assert planner.verify_shapes(problem, found) == ()
    assert found.exact
    assert all(row.used == row.optimum for row in found.rows)


def test_every_example_has_a_test() -> None:
    assert [path.name for path in sorted(EXAMPLES.iterdir())] == [
        "decode.json",
        "devices.json",
        "gallery",
        "keyword_spotting.json",
        "loop.json",
        "mobilenet.json",
        "prefill.json",
        "programs",
        "rows.csv",
        "run.jsonl",
        "three.json",
        "two_memories.json",
    ]


@pytest.mark.parametrize(
    ("name", "whole", "nested"),
    [
        ("called", 45_056, 51_200),
        ("called_twice", 49_152, 55_296),
        ("branch", 57_344, 61_457),
        ("loop", 49_152, 55_296),
    ],
)
def test_planning_the_whole_program_takes_less_than_planning_its_functions(name: str, whole: int, nested: int) -> None:
    file = planner.read_program((EXAMPLES / "programs" / f"{name}.json").read_bytes())
    problem = program_problem(file.program, file.pools, file.options).problem
    assert planner.plan(problem).peak == whole
    assert nested_plan(file.program, file.pools, file.options, planner.plan).peak == nested
    row = f"| {whole:,} | {nested:,} |".replace(",", " ")
    assert row in (EXAMPLES.parent / "docs" / "programs.md").read_text("utf-8")
