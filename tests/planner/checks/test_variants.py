"""Variants that are wrong or contradict themselves are refused, with the place."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from planner import read_problem
from planner.checks import variants as checks
from planner.checks.report import Report
from planner.model import deadline
from planner.model.deadline import LOOK_EVERY, OutOfTime, time_limit
from tests.planner.formats.reading import problem, read, wrong
from tests.property.long_lists import problem as long_problem

GROUP = "/variants/groups/0"
FIRST = f"{GROUP}/alternatives/0"


def document(alternative: dict[str, Any] | None = None, **variants: Any) -> dict[str, Any]:
    """Return a document with two groups of two alternatives; the argument is added to the first alternative."""
    groups = [
        {"name": "g", "alternatives": [{"name": "a", **(alternative or {})}, {"name": "b"}]},
        {"name": "h", "alternatives": [{"name": "a"}, {"name": "b", "buffers": [buffer("hb")]}]},
    ]
    costs = [{"name": "cycles"}]
    return problem({"id": "x"}, {"id": "y"}, variants={"groups": groups, "costs": costs, **variants})


def buffer(id_: Any, **rest: Any) -> dict[str, Any]:
    return {"id": id_, "size": 4, "live": [[0, 5]], **rest}


@pytest.mark.parametrize(
    ("alternative", "code", "place"),
    [
        ({"name": ""}, "invalid_value", f"{FIRST}/name"),
        ({"name": "b"}, "duplicate_id", f"{GROUP}/alternatives/1/name"),
        ({"costs": {"joules": 1}}, "unknown_field", f"{FIRST}/costs/joules"),
        ({"costs": {"cycles": 1.5}}, "wrong_type", f"{FIRST}/costs/cycles"),
        ({"costs": {"cycles": (1 << 62) + 1}}, "out_of_range", f"{FIRST}/costs/cycles"),
        ({"costs": {"cycles": 1 << 62}}, "too_large", "/variants/costs"),
        ({"colour": 1}, "unknown_field", f"{FIRST}/colour"),
        ({"buffers": [buffer("x")]}, "duplicate_id", f"{FIRST}/buffers/0/id"),
        ({"buffers": [buffer("hb")]}, "duplicate_id", "/variants/groups/1/alternatives/1/buffers/0/id"),
        ({"buffers": [buffer("n"), buffer("n")]}, "duplicate_id", f"{FIRST}/buffers/1/id"),
        ({"buffers": [buffer("n", pools=["nix"])]}, "unknown_pool", f"{FIRST}/buffers/0/pools/0"),
        ({"buffers": [buffer("n", live=[[5, 1]])]}, "interval_reversed", f"{FIRST}/buffers/0/live/0"),
        ({"live": [{"buffer": "n", "live": [[0, 1]]}]}, "unknown_buffer", f"{FIRST}/live/0/buffer"),
        ({"live": [{"buffer": "x", "live": [[3, 1]]}]}, "interval_reversed", f"{FIRST}/live/0/live/0"),
        (
            {"constraints": {"colocations": [{"buffer": "x", "base": "hb", "offset": 0}]}},
            "unknown_buffer",
            f"{FIRST}/constraints/colocations/0/base",
        ),
        ({"constraints": {"conflicts": [["x", "x"]]}}, "self_reference", f"{FIRST}/constraints/conflicts/0"),
        (
            {"buffers": [buffer("n", fixed={"pool": "default", "offset": 3}, alignment=2)]},
            "contradiction",
            f"{FIRST}/buffers/0/fixed/offset",
        ),
    ],
)
def test_a_bad_alternative_is_named(alternative: dict[str, Any], code: str, place: str) -> None:
    assert (code, place) in wrong(document(alternative))


@pytest.mark.parametrize(
    ("variants", "code", "place"),
    [
        ({"groups": []}, "invalid_value", "/variants/groups"),
        ({"groups": [{"name": "g", "alternatives": []}]}, "invalid_value", f"{GROUP}/alternatives"),
        ({"groups": [{"name": "g"}]}, "missing_field", f"{GROUP}/alternatives"),
        ({"groups": 3}, "wrong_type", "/variants/groups"),
        ({"costs": [{"name": "a"}, {"name": "a"}]}, "duplicate_id", "/variants/costs/1/name"),
        ({"costs": [{"name": f"c{k}"} for k in range(65)]}, "too_large", "/variants/costs"),
        ({"costs": [{"name": "a", "weight": -1}]}, "out_of_range", "/variants/costs/0/weight"),
        ({"requires": [[["g", "a"], ["h", "c"]]]}, "unknown_alternative", "/variants/requires/0/1"),
        ({"forbids": [[["k", "a"], ["h", "b"]]]}, "unknown_alternative", "/variants/forbids/0/0"),
        ({"forbids": [[["g", "a"], ["g", "a"]]]}, "contradiction", FIRST),
        ({"requires": [[["g", "a"], ["g", "b"]]]}, "contradiction", FIRST),
        ({"requires": [[["g", "a"], ["h", "a"]], [["h", "a"], ["g", "b"]]]}, "contradiction", FIRST),
        ({"forbids": [[["g", "a"], ["h", "a"]], [["g", "a"], ["h", "b"]]]}, "contradiction", FIRST),
        ({"forbids": [[["g", "a"]]]}, "invalid_value", "/variants/forbids/0"),
    ],
)
def test_bad_variants_are_named(variants: dict[str, Any], code: str, place: str) -> None:
    assert (code, place) in wrong(document(**variants))


def test_a_group_in_which_nothing_can_be_chosen_is_named_alone() -> None:
    """Where rules leave a group nothing, no alternative of the groups tied to it can be chosen either: the group is the fault."""
    none = [[["g", name], ["g", name]] for name in "ab"]
    assert wrong(document(forbids=[*none, [["g", "a"], ["h", "a"]]])) == [("contradiction", GROUP)]


def test_an_alternative_that_nothing_can_choose_is_named_alone() -> None:
    """Only the alternative is refused, not its group, whose other alternative can be chosen."""
    assert wrong(document(forbids=[[["g", "a"], ["g", "a"]]])) == [("contradiction", FIRST)]


def test_objectives_unfit_for_variants_are_refused() -> None:
    assert wrong(document() | {"objective": {"terms": ["access_cost"]}}) == [("not_supported_yet", "/objective/terms")]


def test_alternatives_of_one_group_may_share_ids() -> None:
    found = read(
        problem(
            {"id": "x"},
            variants={
                "groups": [
                    {"name": "g", "alternatives": [{"name": n, "buffers": [buffer("n")]} for n in ("a", "b")]},
                ]
            },
        )
    )
    assert found.variants is not None
    assert [each.buffers[0].id for each in found.variants.groups[0].alternatives] == ["n", "n"]


def test_alternatives_need_not_be_sound_together() -> None:
    """Alternatives that are sound one by one are accepted, although the first check takes all of them at once."""
    large = 1 << 61
    fixed = {"pool": "default", "offset": 0}
    for rest in {"size": large}, {"fixed": fixed}:
        alternatives = [{"name": name, "buffers": [buffer(name, **rest)]} for name in "abc"]
        given = problem({"id": "x"}, variants={"groups": [{"name": "g", "alternatives": alternatives}]})
        assert read(given).variants is not None
    alternatives[1]["buffers"][0]["size"] = -1  # type: ignore[index]
    given = problem({"id": "x"}, variants={"groups": [{"name": "g", "alternatives": alternatives}]})
    assert [place for _, place in wrong(given)] == [f"{GROUP}/alternatives/1/buffers/0/size"]


def test_alternatives_that_contradict_the_problem_are_refused() -> None:
    """An alternative colocates x and y, which conflict in the problem."""
    tied = {"constraints": {"colocations": [{"buffer": "x", "base": "y", "offset": 0}]}}
    bad = document(tied) | {"constraints": {"conflicts": [["x", "y"]]}}
    assert wrong(bad) == [("contradiction", FIRST)]


@pytest.mark.parametrize(
    "alternative",
    [
        {"buffers": [buffer("n")]},
        {"live": [{"buffer": "x", "live": [[8, 9]]}]},
        {"constraints": {"conflicts": [["x", "y"]]}},
    ],
)
def test_old_places_of_buffers_may_be_stated(alternative: dict[str, Any]) -> None:
    """The problem's own buffers may have earlier places, even if an alternative changes them."""
    was = [{"buffer": id_, "pool": "default", "offset": 0} for id_ in ("x", "y")]
    assert len(read(document(alternative) | {"objective": {"was": was}}).was) == 2


def test_the_field_may_be_written_with_escapes() -> None:
    whole = document()
    assert read(json.dumps(whole).replace('"variants"', '"vari\\u0061nts"').encode()) == read(whole)


def test_lifetimes_must_be_declared_for_alternatives_too() -> None:
    bare = document({"buffers": [buffer("n")]})
    bare.pop("lifetimes")
    bare["buffers"] = [{"id": "x", "size": 8}]
    assert ("lifetimes_missing", "/lifetimes") in wrong(bare)


def test_long_chains_of_rules_and_large_groups_are_checked_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking takes steps in proportion to the rules, and only one alternative reads all buffers."""
    from planner.checks import chances, part

    left: list[int] = []
    count = 400
    groups = [{"name": str(g), "alternatives": [{"name": "a"}, {"name": "b"}]} for g in range(count)]
    chain = [[[str(g), "a"], [str(g + 1), "a"]] for g in range(count - 1)]
    whole = problem({"id": "x"}, variants={"groups": groups, "requires": chain})
    monkeypatch.setattr(chances, "MOST_STEPS", 5_000)
    honest = chances.Chances.hopeless

    def counting(self: chances.Chances) -> Iterator[chances.Hopeless]:
        yield from honest(self)
        left.append(self.steps)

    monkeypatch.setattr(chances.Chances, "hopeless", counting)
    read(whole)
    assert len(left) == 1
    assert left[0] > -10 * count
    monkeypatch.setattr(part, "MOST_BUFFERS", 10)
    tied = [{"buffer": i, "base": 0, "offset": 0} for i in range(1, 40)]
    named = [
        {
            "name": str(a),
            "constraints": {"colocations": [{"buffer": "n", "base": 5, "offset": 0}]},
            "buffers": [buffer("n")],
        }
        for a in range(6)
    ]
    sizes: list[int] = []
    small = part.Parts._part

    def measuring(self: part.Parts, alternative: Any) -> Any:
        found = small(self, alternative)
        sizes.append(len(found.buffers))
        return found

    monkeypatch.setattr(part.Parts, "_part", measuring)
    read(
        problem(
            *({"id": i} for i in range(40)),
            constraints={"colocations": tied},
            variants={"groups": [{"name": "g", "alternatives": named}]},
        )
    )
    assert sizes == [40, 1, 1, 1, 1, 1]


def test_groups_are_not_checked_against_their_rules_once_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LEAST_SECONDS", 0.0)
    found, _ = read_problem(long_problem("rules", 9 * LOOK_EVERY))
    assert found.variants is not None
    with pytest.raises(OutOfTime), time_limit(1, time.monotonic() - 60):
        checks._check_chances(found.variants, Report())
