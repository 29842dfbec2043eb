"""The choice among groups and stripes agrees with trying all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import SimpleNamespace

import pytest

import planner.graph.cascades.problem as making
import planner.graph.cascades.stripes.ways as looking
from planner import Options, Problem, pareto, plan
from planner.facts.variants import with_choice
from planner.graph.cascades import CascadeOptions, Cutting, Network, Work, cascade_problem
from planner.graph.cascades.demand import Flow
from planner.graph.cascades.stripes.group import Group
from planner.graph.cascades.stripes.paths import Path
from planner.planning.options.options import Preference
from tests.small.strategies import NIGHTLY

from ..networks import random_network

SEEDS = range(20 if NIGHTLY else 12)
MOST_PATHS = 60
"""Networks with more paths are left out, as they take too long."""


def load(problem: Problem) -> int:
    """Return the most bytes that are live together."""
    times = {start for buffer in problem.buffers for start, _ in buffer.live or ()}
    return max(
        sum(b.size for b in problem.buffers if any(s <= time < e for s, e in b.live or ())) for time in times or {0}
    )


def all_paths(groups: Mapping[tuple[int, int], Sequence[Group]], at: int, count: int) -> Iterator[Path]:
    if at == count:
        yield ()
    for (first, last), ways in groups.items():
        if first == at:
            for rest in all_paths(groups, last + 1, count):
                yield from ((group, *rest) for group in ways)


def worth(network: Network, path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return cycles and bytes of a path; the bytes follow from the lifetimes of its buffers."""
    with monkeypatch.context() as patch:
        patch.setattr(making, "Ways", lambda *_: SimpleNamespace(groups={}, is_cut_short=False, is_thinned=False))
        patch.setattr(making, "frontier", lambda *_: [path])
        made = cascade_problem(network).problem
    assert made.variants is not None
    return sum(group.cycles for group in path), load(with_choice(made, [0] * len(made.variants.groups)))


def test_the_frontier_agrees_with_trying_all_ways_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    several = 0
    for seed in SEEDS:
        network = random_network(seed, operators=3, extents=5)
        kept: list[Path] = []

        def all_of_them(flow: Flow, groups: Mapping[tuple[int, int], Sequence[Group]], _: object) -> list[Path]:
            kept.extend(islice(all_paths(groups, 0, len(flow.steps)), MOST_PATHS + 1))  # noqa: B023 - used at once
            return kept[:1]  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(looking, "best", list)
            patch.setattr(making, "frontier", all_of_them)
            cascade_problem(network)
        if len(kept) > MOST_PATHS:
            continue
        known = {worth(network, path, monkeypatch) for path in kept}
        wanted = sorted(a for a in known if not any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in known))
        found = pareto(cascade_problem(network).problem, Options(time_limit=None, work_limit=2_000_000))
        assert found.is_complete
        assert [(point.choice.cost if point.choice else None, point.peak) for point in found.points] == wanted, seed
        several += len(wanted) > 2
    assert several >= 3


def test_the_fastest_that_fits_is_on_the_frontier() -> None:
    made = cascade_problem(random_network(16, operators=4)).problem
    found = pareto(made, Options(time_limit=None, work_limit=2_000_000))
    assert len(found.points) > 2
    middle = found.points[len(found.points) // 2]
    fitting = plan(made, Options(work_limit=2_000_000, prefer=Preference.SPEED, capacity={"default": middle.peak or 0}))
    assert fitting.choice == middle.choice or (
        fitting.choice and middle.choice and fitting.choice.cost == middle.choice.cost
    )


def test_a_callers_own_cycles_count() -> None:
    network = random_network(3, operators=4)
    seen: list[Work] = []

    def runs(work: Work) -> int:
        seen.append(work)
        return work.runs

    made = cascade_problem(network, options=CascadeOptions(cycles=runs))
    assert made.problem.variants is not None
    fastest = [group.alternatives[0] for group in made.problem.variants.groups]
    assert sum(each.costs[0] for each in fastest) == len(network.operators)
    assert {work.operator for work in seen} == set(network.operators)


def test_groups_are_no_longer_than_the_option_allows() -> None:
    network = random_network(5, operators=6)
    for longest in (1, 2):
        made = cascade_problem(network, options=CascadeOptions(cutting=Cutting(longest=longest)))
        assert max(group.last - group.first + 1 for path in made.ways.values() for group in path) <= longest
        assert made.warnings == ()


def test_an_incomplete_search_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "MOST_EFFORT", 60)
    made = cascade_problem(random_network(5, operators=6))
    assert len(made.warnings) == 2
    assert "not all stripes were looked at" in made.warnings[0]
    (longest,) = re.findall("more than ([1-5]) operators were not looked at", made.warnings[1])
    assert max(group.last - group.first + 1 for path in made.ways.values() for group in path) <= int(longest)
