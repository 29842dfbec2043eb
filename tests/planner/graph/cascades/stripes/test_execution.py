"""Networks run in stripes, in the memory of a plan, compute the same bytes as the network run whole."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import planner.graph.cascades.problem as making
import planner.graph.cascades.stripes.ways as looking
from planner import Options, plan
from planner.facts.variants import with_choice
from planner.graph.cascades.demand import Flow
from planner.graph.cascades.problem import CascadeOptions, CascadeProblem, cascade_problem
from planner.graph.cascades.stripes.cutting import Cutting
from planner.graph.cascades.stripes.group import Group, Mode
from planner.graph.cascades.stripes.paths import Path
from tests.small.strategies import NIGHTLY

from ..networks import random_network
from ..running import InMemory, Machine

SEEDS = range(25 if NIGHTLY else 15)


def assert_runs(machine: Machine, made: CascadeProblem, choice: Sequence[int]) -> None:
    """Require that a run in the plan of the choice computes the right results."""
    assert made.problem.variants is not None
    chosen = [
        (group.name, group.alternatives[a].name) for group, a in zip(made.problem.variants.groups, choice, strict=True)
    ]
    found = plan(with_choice(made.problem, choice), Options(work_limit=20_000))
    results = InMemory(machine, made, found, [made.ways[pick] for pick in chosen]).run()
    whole = machine.whole()
    for tensor, values in results.items():
        assert np.array_equal(values, whole[tensor]), (chosen, tensor)


def any_path(chance: random.Random, groups: Mapping[tuple[int, int], Sequence[Group]], count: int) -> Path:
    """Return random groups that together hold all operators; groups of several operators are preferred."""
    path: list[Group] = []
    while (at := path[-1].last + 1 if path else 0) < count:
        here = [group for (first, _), ways in groups.items() if first == at for group in ways]
        joint = [group for group in here if group.first < group.last]
        path.append(chance.choice(joint if joint and chance.random() < 0.8 else here))
    return tuple(path)


def test_any_stripes_compute_the_results_of_the_whole(monkeypatch: pytest.MonkeyPatch, nightly: bool) -> None:
    seen = dict.fromkeys(Mode, 0)
    for seed in range(2000) if nightly else SEEDS:
        chance = random.Random(seed)
        network = random_network(seed)

        def paths(flow: Flow, groups: Mapping[tuple[int, int], Sequence[Group]], planned: frozenset[int]) -> list[Path]:
            del planned
            return [any_path(chance, groups, len(flow.steps)) for _ in range(3)]  # noqa: B023 - used at once

        monkeypatch.setattr(looking, "best", list)
        monkeypatch.setattr(making, "frontier", paths)
        axes = tuple(range(max(len(tensor.shape) for tensor in network.tensors)))
        made = cascade_problem(network, options=CascadeOptions(cutting=Cutting(axes=axes, most_axes=3)))
        machine = Machine(network, seed)
        assert made.problem.variants is not None
        counts = [len(group.alternatives) for group in made.problem.variants.groups]
        for k in range(3):
            assert_runs(machine, made, [min(k, count - 1) for count in counts])
        for path in made.ways.values():
            for group in path:
                if group.stripes is not None:
                    seen[group.stripes.mode] += 1
    assert min(seen.values()) > 10


def test_points_of_the_frontier_compute_the_results_of_the_whole() -> None:
    for seed in SEEDS:
        network = random_network(seed, operators=4)
        made = cascade_problem(network)
        assert made.problem.variants is not None
        machine, groups = Machine(network, seed), made.problem.variants.groups
        for choice in ([len(group.alternatives) - 1 for group in groups], [0] * len(groups)):
            assert_runs(machine, made, choice)
