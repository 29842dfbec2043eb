"""Two plans in one picture: on the same scales, with an outline around each buffer that lies elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from planner import Options, plan, verify
from planner.drawing import Sheet, compared, memory_map, rectangles
from planner.generate import Request, generate
from solvers.model.instance import Term


def test_both_plans_have_the_same_scales_and_moved_buffers_outlines() -> None:
    problem = generate("transformer", Request(80, 1))
    best, other = plan(problem), plan(problem, Options(solver="usmp_by_size"))
    assert best.peak is not None
    assert other.peak is not None
    assert other.peak > best.peak
    there = {place.id: place.offset for place in best.placements}
    moved = [place.id for place in other.placements if there[place.id] != place.offset]
    picture = compared(memory_map(problem, best), memory_map(problem, other)).decode()
    assert f"{len(moved)} of 80 buffers lie elsewhere in B" in picture
    assert len(re.findall(r'<rect class="(?:[^"]* moved|went [^"]*)"', picture)) == 2 * len(moved)
    assert re.search(r' height="\d+" role="img"', picture), "whole pixels: the last row would be half white"
    fields = re.findall(r'<rect class="field" [^>]*height="([\d.]+)"', picture)
    assert len(fields) == 2
    assert len(set(fields)) == 1
    assert "higher" in picture


def test_objective_values_other_than_peaks_are_compared() -> None:
    """A plan of a higher peak may be the better one."""
    problem = generate("pools", Request(12, 1))
    best = plan(problem)
    costs = replace(problem, terms=(Term.ACCESS_COST, Term.SUM_OF_PEAKS))
    value = replace(best.objective, value=1000)
    drawn = [memory_map(costs, replace(best, objective=replace(value, value=each))) for each in (1000, 1500)]
    picture = compared(drawn[0], drawn[1]).decode()
    assert "access cost 1 000" in picture
    assert ">the access cost of B is 500 higher (+50.00%)</text>" in picture.replace("\xa0", " ").replace("\u202f", " ")


def test_names_of_pools_get_the_room_beside_the_figures() -> None:
    """Of several spaces SVG shows one."""
    problem = generate("transformer", Request(2000, 2))
    drawn = memory_map(problem, plan(problem, Options(solver="greedy")))
    assert ">B: arena</text>" in compared(drawn, drawn, Sheet(640)).decode()


def test_outlines_are_drawn_over_neighbours() -> None:
    problem = generate("transformer", Request(40, 1))
    drawn = [memory_map(problem, plan(problem, Options(solver=name))) for name in ("greedy", "usmp_by_size")]
    for part in compared(drawn[0], drawn[1]).decode().split('<rect class="field"')[1:]:
        kinds = ["moved" in each for each in re.findall(r'<rect class="([^"]* box[^"]*)"', part)]
        assert kinds == sorted(kinds)
        assert any(kinds)


def test_a_plan_beside_itself_shows_no_moves() -> None:
    problem = generate("pools", Request(12, 1))
    drawn = memory_map(problem, plan(problem))
    picture = compared(drawn, drawn).decode()
    assert "both have the same peak; 0 of 12 buffers lie elsewhere in B" in picture
    assert ' moved"' not in picture


def test_the_few_that_moved_are_seen_among_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boxes too small for an outline, and boxes drawn together, have the colour of the outline."""
    monkeypatch.setattr(rectangles, "FEW", 100)
    problem = generate("random", Request(400, 1))
    best = plan(problem)
    moved = {place.id for place in best.placements[::20]}
    elsewhere = tuple(
        replace(place, offset=place.offset + (1 << 20) * (place.id in moved)) for place in best.placements
    )
    both = memory_map(problem, best), memory_map(problem, replace(best, placements=elsewhere))
    picture = compared(*both, Sheet(640)).decode()
    assert '<path class="went" shape-rendering' in picture
    assert '<rect class="went ' in picture
    assert "20 of 400 buffers lie elsewhere in B" in picture
    assert "smallest rectangles are drawn together, without names" in picture


def test_kinds_are_seen_where_very_many_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rectangles, "FEW", 100)
    problem = generate("random", Request(1000, 1))
    best, other = plan(problem), plan(problem, Options(solver="usmp_by_size"))
    picture = compared(memory_map(problem, best), memory_map(problem, other), Sheet(640)).decode()
    assert 'class="went' not in picture
    assert '<path class="k0" shape-rendering' in picture
    assert ">So much does that only what has room for an outline is marked.</text>" in picture
    outlined = re.findall(r'<rect class="k[^"]* moved" [^>]*width="([\d.]+)" height="([\d.]+)"', picture)
    assert outlined
    assert min(float(side) for sides in outlined for side in sides) >= rectangles.OUTLINED


def test_a_plan_is_drawn_beside_no_plan() -> None:
    problem = generate("transformer", Request(30, 1))
    nothing = plan(problem, Options(capacity=64))
    picture = compared(memory_map(problem, nothing), memory_map(problem, plan(problem))).decode()
    assert "no plan" in picture
    assert "lies elsewhere in the other, or is not there" in picture


def test_what_a_wrong_plan_claims_is_not_compared() -> None:
    problem = generate("transformer", Request(30, 1))
    right = plan(problem)
    wrong = replace(right, peak=64, placements=tuple(replace(each, offset=0) for each in right.placements))
    drawn = memory_map(problem, wrong, verify(problem, wrong))
    picture = compared(memory_map(problem, right), drawn).decode()
    assert "B  wrong (claims to be optimal)" in picture
    assert "the peak of B" not in picture
    assert ">named in what is wrong<" in picture
