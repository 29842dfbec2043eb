"""Storage objects on real networks: results are proven, and Relay's tokens need as much with offsets as without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner import Options, PlanStatus, Problem, plan, share, verify_sharing
from planner.formats import read_problem
from tests.conftest import CORPUS

FOUND = sorted((CORPUS / "nets").glob("*.json"))
NETS = tuple(FOUND) or (CORPUS / "nets" / "absent.json",)
"""The networks; without a corpus, an absent path for a test to skip."""

pytestmark = pytest.mark.skipif(not FOUND, reason=f"corpus: no instances in {CORPUS.name}; set MEMPLAN_CORPUS")

PROVEN = {
    "densenet121": "greedy",
    "bert_base_128_nofold": "cpsat",
    "mobilenet_v2": "cpsat",
    "resnet18": "greedy",
    "unet_256": "greedy",
}


def read(path: Path) -> Problem:
    """Read a problem without its alignments, since the runtime decides where objects begin."""
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    return replace(
        problem,
        buffers=tuple(replace(buffer, alignment=1) for buffer in problem.buffers),
        pools=tuple(replace(pool, alignment=1) for pool in problem.pools),
    )


@pytest.mark.parametrize("path", NETS, ids=lambda path: path.stem)
def test_relays_tokens_are_the_same_with_offsets_and_without(path: Path) -> None:
    problem = read(path)
    made = share(problem, Options(solver="relay_tokens"))
    assert verify_sharing(problem, made) == ()
    assert made.total == plan(problem, Options(solver="relay_tokens")).peak


@pytest.mark.parametrize(("name", "solver"), PROVEN.items())
def test_networks_are_shared_to_their_proven_optimum(name: str, solver: str) -> None:
    problem = read(CORPUS / "nets" / f"{name}.json")
    made = share(problem, Options(time_limit=60))
    assert verify_sharing(problem, made) == ()
    assert (made.status, made.solver) == (PlanStatus.OPTIMAL, solver)
    least = plan(problem).peak
    assert least is not None
    assert made.total is not None
    assert made.total >= least, "objects never need less than offsets"
