"""Sweeps are written with their plans and read again; other documents are refused, and faults are found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from planner import Buffer, Options, Plan, Pool, Preference, Problem, sweep, verify_sweep
from planner.formats import read_sweep, write_plan
from planner.formats.answers import plan_writer
from planner.formats.answers.plan_writer import PlanWriter
from planner.formats.answers.sweep import write_sweep_files, write_sweep_json
from planner.model.errors import BadInput

PROBLEM = Problem(
    (Buffer("a", 64, live=((0, 2),)), Buffer("b", 32, live=((1, 3),)), Buffer("c", 16, live=((0, 3),))),
    (Pool("sram"), Pool("dram", rank=1)),
)

HARMLESS = ("name", "warnings", "run", "reproducible")
"""Fields that nothing else in the document contradicts."""


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    found = sweep(PROBLEM, {"sram": range(32, 129, 16)}, Options(), processes=1)
    document: dict[str, Any] = json.loads(write_sweep_json(found, with_plans=True))
    return document


def read(document: Any) -> tuple[str, ...]:
    return verify_sweep(PROBLEM, read_sweep(json.dumps(document).encode()))


def test_plans_of_a_sweep_are_inside_it_or_in_files() -> None:
    found = sweep(PROBLEM, {"sram": (48, 128)}, Options(), processes=1)
    data = write_sweep_json(found, with_plans=True)
    within = read_sweep(data)
    assert [point.plan for point in within.points] == [point.plan for point in found.points]
    assert verify_sweep(PROBLEM, within) == ()
    index, files = write_sweep_files(found)
    beside = read_sweep(index, lambda name: write_plan(files[name]))
    assert beside == within
    for figures in (index, write_sweep_json(found)):
        with pytest.raises(BadInput):
            read_sweep(figures)


def test_placements_that_neighbouring_sizes_share_become_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, text_of = [], plan_writer._placements

    def counted(plan: Plan) -> Iterator[str]:
        made.append(plan.placements)
        return text_of(plan)

    found = sweep(PROBLEM, {"sram": range(32, 257, 4)}, Options(), processes=1)
    plans = [point.plan for point in found.points if point.plan is not None]
    monkeypatch.setattr(plan_writer, "_placements", counted)
    write_sweep_json(found, with_plans=True)
    changes = 1 + sum(a.placements is not b.placements for a, b in pairwise(plans))
    assert len(made) == changes + 1, "and that of the smallest size"
    assert 1 < changes < len(plans)
    writer = PlanWriter()
    assert [writer.write(each) for each in plans] == [write_plan(each) for each in plans]


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all values, except values within plans, which have a reader of their own."""
    if here[-1:] == ("plan",):
        return [here]
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, each in inner for path in paths(each, (*here, key)))]


@pytest.mark.parametrize("other", [None, -1, 10**30, 1.5, "x", [], {}, True])
def test_any_changed_value_is_refused_or_found_by_verification(
    written: dict[str, Any], other: Any, nightly: bool
) -> None:
    """By day a third of the values is changed to each of the others."""
    assert read(written) == ()
    text = json.dumps(written)
    for path in paths(written)[1 :: 1 if nightly else 3]:
        document = json.loads(text)
        place = document
        for key in path[:-1]:
            place = place[key]
        before, place[path[-1]] = place[path[-1]], other
        is_harmless = path[0] in HARMLESS or path[-1] == "solved" or before == other
        if is_harmless or (path, other) in ((("points",), []), (("smallest",), None), (("smallest", "bound"), -1)):
            continue  # the change claims less, and nothing false
        try:
            wrong = read(document)
        except BadInput:
            continue
        assert wrong, path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reproducible", "no"),
        ("reproducible", 1),
        ("name", 7),
        ("problem_digest", None),
        ("run", {"seconds": "1"}),
        ("run", {"seconds": 10**400}),
    ],
)
def test_fields_of_the_whole_sweep_are_read_strictly(written: dict[str, Any], name: str, value: object) -> None:
    with pytest.raises(BadInput):
        read({**written, name: value})


def test_a_sweep_is_no_more_reproducible_than_its_plans(written: dict[str, Any]) -> None:
    document = json.loads(json.dumps(written))
    plans = [point["plan"] for point in document["points"] if point["plan"] is not None]
    plans[0]["reproducible"] = False
    assert any("calls itself reproducible" in text for text in read(document))


def test_a_sweep_is_of_the_price_that_it_names() -> None:
    """`balanced` weighs as with the largest size swept, which the problem's own size does not show."""
    buffers = (Buffer("a", 12, live=((0, 2),), reads=300), Buffer("b", 4, live=((1, 3),), reads=100))
    problem = Problem(buffers, (Pool("sram", 8), Pool("dram", rank=1)))
    found = sweep(problem, {"sram": (8, 32)}, Options(prefer=Preference.BALANCED), processes=1)
    within = read_sweep(write_sweep_json(found, with_plans=True))
    assert within.peak_price == found.peak_price > 1
    assert verify_sweep(problem, within) == ()
    assert verify_sweep(problem, replace(within, peak_price=within.peak_price + 1)) != ()
