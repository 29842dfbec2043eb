"""What relates buffers in long documents is what short documents say."""

from __future__ import annotations

import json

import pytest

from planner import BadInput, read_problem
from planner.model.problem import Colocation, Problem, ReusePenalty

COUNT = 30_000


def problem_of(second: object = "b1", *, more: object = None) -> Problem:
    """Read a document of more than a megabyte, the last relations of which name this buffer."""
    buffers = [{"id": id_, "size": 1, "live": [[0, 1]]} for id_ in ("b0", "b1", 7, "7")]
    penalties: list[object] = [{"first": "b0", "second": 7 if i % 2 else "7", "cost": i % 5} for i in range(COUNT)]
    penalties.append({"first": "b0", "second": second, "cost": 9})
    ties: list[object] = [{"buffer": 7, "base": "7", "offset": 3} for _ in range(COUNT)]
    relations = {"reuse_penalties": penalties, "colocations": ties, "same_pool": []}
    document = {"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers, "constraints": relations}
    if more is not None:
        ties.append(more)
    return read_problem(json.dumps(document).encode())[0]


def test_long_lists_say_what_is_written() -> None:
    constraints = problem_of().constraints
    expected = [ReusePenalty("b0", 7 if i % 2 else "7", i % 5) for i in range(COUNT)]
    assert constraints.reuse_penalties == (*expected, ReusePenalty("b0", "b1", 9))
    assert constraints.colocations == (Colocation(7, "7", 3),) * COUNT


@pytest.mark.parametrize(
    ("second", "more", "place"),
    [
        ("b2", None, f"/constraints/reuse_penalties/{COUNT}/second"),
        (True, None, f"/constraints/reuse_penalties/{COUNT}/second"),
        ("b1", {"buffer": "b0", "base": 7}, f"/constraints/colocations/{COUNT}/offset"),
        ("b1", {"buffer": 7, "base": "7", "offset": 4}, f"/constraints/colocations/{COUNT}"),
    ],
)
def test_faults_of_long_lists_have_their_places(second: object, more: object, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        problem_of(second, more=more)
    assert [each.pointer for each in caught.value.findings] == [place]
