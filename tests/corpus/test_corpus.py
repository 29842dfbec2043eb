"""Every real instance of the corpus is read, planned within small limits, verified, written and read again."""

from __future__ import annotations

import csv
import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from planner import Options, Plan, PlanStatus, Problem, StopReason, plan, verify
from planner.formats import read_plan, read_problem, write_plan, write_problem
from planner.reporting.explain import explain_bound
from tests.conftest import CORPUS

NOT_INSTANCES = {"MANIFEST.csv", "SUMMARY.csv", "problem.schema.json"}
FILES = tuple(
    path
    for folder in ("pypto", "nets", "usmp", "minimalloc")
    for path in sorted((CORPUS / folder).glob("*.*"))
    if path.name not in NOT_INSTANCES
)
LIMITS = Options(time_limit=60.0, work_limit=50_000, workers=1)

pytestmark = pytest.mark.skipif(not FILES, reason=f"corpus: no instances in {CORPUS.name}; set MEMPLAN_CORPUS")

HARDER_NETS = {
    "bert_base_128_nofold",
    "clip_vit_b32_text_image",
    "llama_kv_prefill64",
    "mamba_tiny_t32",
    "resnet18_train_b8",
    "unetpp_256",
    "vit_tiny_fx",
}
"""Instances on which no order of the buffers meets the bound."""

LIVE_AT_MOST = {"A": 1048576, "C": 1039360, "D": 986112, "F": 1048576, "H": 1048576, "K": 1048576}
"""The largest sum of live bytes of each minimalloc instance, as published."""


def of(folder: str) -> list[Path]:
    """Return the folder's instances; without a corpus, an absent path for a test to skip."""
    return [path for path in FILES if path.parent.name == folder] or [CORPUS / folder / "absent"]


@cache
def planned(path: Path) -> tuple[Problem, Plan]:
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    return problem, plan(problem, LIMITS)


@pytest.mark.parametrize("path", FILES or of("any"), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_plan_of_an_instance_is_valid(path: Path) -> None:
    problem, made = planned(path)
    assert verify(problem, made) == ()
    assert made.status is not PlanStatus.UNKNOWN
    assert not [text for text in made.warnings if "failed verification" in text]
    assert explain_bound(problem, made)
    if made.status is PlanStatus.INFEASIBLE:
        assert made.shortage is not None
        assert made.shortage.bytes_short


@pytest.mark.parametrize("path", FILES or of("any"), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_written_problems_and_plans_are_read_again(path: Path) -> None:
    problem, made = planned(path)
    again, warnings = read_problem(write_problem(problem), name="again.json")
    assert again == problem
    assert warnings == ()
    assert read_plan(write_plan(made)) == made
    assert verify(again, read_plan(write_plan(made))) == ()


@pytest.mark.parametrize("path", of("nets"), ids=lambda path: path.stem)
def test_most_networks_are_proven_optimal(path: Path) -> None:
    _, made = planned(path)
    assert made.status is PlanStatus.OPTIMAL or path.stem in HARDER_NETS
    assert made.peak is not None
    assert made.bound > 0


def test_no_network_needs_more_than_executorch_s_greedy_plan() -> None:
    with (CORPUS / "nets" / "SUMMARY.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    for path in of("nets"):
        _, made = planned(path)
        row = rows[path.stem]
        assert made.peak is not None
        assert made.bound <= int(row["lower_bound_rounded16"])
        if row["executorch_greedy"]:
            assert made.peak <= int(row["executorch_greedy"])


@pytest.mark.parametrize("path", of("minimalloc"), ids=lambda path: path.stem)
def test_the_bound_of_a_hard_instance_is_at_least_its_largest_live_sum(path: Path) -> None:
    _, made = planned(path)
    published = LIVE_AT_MOST.get(path.stem.split(".")[0])
    assert made.peak is not None
    if published is None:
        assert made.status is PlanStatus.OPTIMAL
    else:
        assert published <= made.bound <= made.peak


@pytest.mark.parametrize("path", of("usmp"), ids=lambda path: path.stem)
def test_no_published_planner_of_tvm_is_better(path: Path) -> None:
    _, made = planned(path)
    document = json.loads(path.read_bytes())
    assert made.status is PlanStatus.OPTIMAL
    assert made.peak is not None
    # Where conflicts are not symmetric, they count one way only, so that the published plans may break them.
    if "not symmetric" not in document.get("note", ""):
        for peaks in document.get("expected_peak", {}).values():
            assert made.peak <= sum(peaks.values())


def test_nearly_all_kernels_are_proven_optimal() -> None:
    stops = Counter(planned(path)[1].stop for path in of("pypto"))
    assert stops[StopReason.PROVED] >= 0.9 * len(of("pypto"))


@pytest.mark.parametrize("path", [CORPUS / "scale" / "S_1.csv"], ids=lambda path: path.stem)
def test_a_large_instance_is_proven_optimal(path: Path) -> None:
    problem, _ = read_problem(path.read_bytes(), name=path.name)
    made = plan(problem, Options(time_limit=300.0, work_limit=22_500_000, workers=1))
    assert (made.status, made.peak) == (PlanStatus.OPTIMAL, 1_498_635_932)
