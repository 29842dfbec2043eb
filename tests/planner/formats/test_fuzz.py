"""Any input gives a Problem or BadInput, and nothing else."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.formats import FORMATS, read_plan, read_problem
from planner.model.errors import MAX_FINDINGS, BadInput
from planner.model.problem import Problem
from tests.small.strategies import effort

MEMPLAN = {
    "format": "memplan/1",
    "name": "n",
    "lifetimes": "inclusive",
    "pools": [
        {"name": "p", "size": 64, "alignment": 4, "base": 8, "reserved": [[0, 4]], "cost": 2, "rank": 0},
        {"name": "q"},
    ],
    "buffers": [
        {"id": "a", "size": 8, "live": [[0, 2], [4, 5]], "pools": ["p", "q"], "kind": "input", "accesses": 3},
        {"id": 1, "size": 4, "alignment": 2, "live": [[1, 3]], "fixed": {"pool": "p", "offset": 8}, "hint": 8},
        {"id": "c", "size": 4, "live": [[1, 3]], "max_offset": 60},
    ],
    "constraints": {
        "conflicts": [["a", "c"]],
        "exclusions": [["a", 1]],
        "colocations": [{"buffer": "c", "base": "a", "offset": 8}],
        "same_pool": [["a", "c"]],
        "different_pool": [[1]],
        "reuse_penalties": [{"first": "a", "second": 1, "cost": 4}],
    },
    "objective": {"terms": ["sum_of_peaks", "reuse_cost"]},
}
DSA = {
    "schema_version": 1,
    "profile": "pypto_hard_v1",
    "instance": "i",
    "metadata": {"k": "v"},
    "problem": {
        "pools": [{"id": 1, "name": "Vec", "capacity": 64, "reserved_ranges": [{"begin": 0, "end": 4}]}],
        "buffers": [
            {
                "id": i,
                "name": "",
                "size": 8,
                "alignment": 1,
                "live_intervals": [{"lower": i, "upper": 9}],
                "allowed_pools": [1],
            }
            for i in range(3)
        ],
        "constraints": {
            "colocations": [{"first": 0, "second": 1}],
            "separations": [{"first": 0, "second": 2, "reasons": ["generic"]}],
            "temporal_exclusions": [{"first": 1, "second": 2}],
            "pinned_allocations": [{"buffer": 2, "pool": 1, "offset": 8, "exclusive_for_all_time": True}],
        },
        "cost_model": {"reuse_penalties": [{"first": 1, "second": 2, "cost": 1, "reason": "generic"}]},
        "objective": {"aggregation": "lexicographic", "terms": ["total_peak"]},
    },
}
USMP = {
    "name": "u",
    "pools": [{"pool_name": "p", "size_hint_bytes": -1}],
    "buffers": [
        {"name_hint": "a", "size_bytes": 4, "alignment": 1, "pool_candidates": ["p"], "conflicts": ["b"]},
        {"name_hint": "b", "size_bytes": 4, "alignment": 1, "pool_candidates": ["p"], "conflicts": []},
    ],
}
SPANS = {"lifetimes": "inclusive", "intervals": [[0, 1, 2], [3, 4, 5]]}
CSV = b"id,lower,upper,size,alignment,gaps,offset,hint\na,0,9,4,2,3-4 5-6,8,-1\nb,1,5,4,1,,,3\n"

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.5, "", "a", "p", [], {}, [[]], [1, 2], ["a", "a"], {"a": 1}, 1 << 62, 1 << 63, -(1 << 70), "\x00", "\ud800", "variants"]
)  # fmt: skip


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) below the value."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        here = todo.pop()
        items = here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        for key, inner in items:
            found.append((here, key))
            todo.append(inner)
    return found


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """Draw a sound document with a few values replaced, removed, doubled or renamed, and perhaps some bytes changed."""
    document = json.loads(json.dumps(draw(st.sampled_from([MEMPLAN, MEMPLAN, DSA, USMP, SPANS]))))
    for _ in range(draw(st.integers(0, 3))):
        spots = places(document)
        if not spots:
            break
        holder, key = spots[draw(st.integers(0, len(spots) - 1))]
        match draw(st.sampled_from(["replace", "remove", "double", "rename", "swap"])):
            case "replace":
                holder[key] = deepcopy(draw(ODD))
            case "remove":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(holder[key])
            case "rename" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x", "extensions", "a/~b"]))] = holder.pop(key)
            case _:
                other, name = spots[draw(st.integers(0, len(spots) - 1))]
                holder[key] = (
                    json.loads(json.dumps(other[name]))
                    if name in other or (isinstance(other, list) and name < len(other))
                    else 0
                )
    return broken(draw, json.dumps(document, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass"))


def broken(draw: st.DrawFn, data: bytes) -> bytes:
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(data)))
        junk = draw(
            st.sampled_from(
                [b"", b"", b",", b"9" * 30, b"NaN", b'"', b"\\", b"{", b"]", b"\xff", b"-", b"1e999", b"\n", b"@"]
            )
        )
        data = data[:at] + junk + data[at + draw(st.integers(0, 3)) :]
    return data


def survive(data: bytes, **options: Any) -> None:
    outcome = attempt(data, **options)
    if isinstance(outcome, BadInput):
        assert 1 <= len(outcome.findings) <= MAX_FINDINGS
        for finding in outcome.findings:
            assert finding.message.isprintable()
            assert finding.pointer.isprintable()
            assert len(finding.pointer) <= 200
            assert "cannot be used here" not in finding.message, "a pydantic error without a sentence of ours"
    else:
        problem, warnings = outcome
        assert isinstance(problem, Problem)
        assert all(warning.isprintable() for warning in warnings)


def attempt(data: bytes, **options: Any) -> BadInput | tuple[Problem, tuple[str, ...]]:
    try:
        return read_problem(data, **options)
    except BadInput as error:
        return error


def test_the_seeds_are_sound() -> None:
    for seed in (MEMPLAN, DSA, USMP, SPANS):
        read_problem(json.dumps(seed).encode())
    read_problem(CSV)


@effort(60, 10000)
@given(mutations())
def test_mutated_documents_are_read_or_refused(data: bytes) -> None:
    survive(data)


@st.composite
def mutated_csv(draw: st.DrawFn) -> bytes:
    return broken(draw, CSV)


@effort(30, 3000)
@given(mutated_csv())
def test_mutated_tables_are_read_or_refused(data: bytes) -> None:
    survive(data)
    survive(data, format="minimalloc")


@effort(20, 2000)
@given(st.binary(max_size=60), st.sampled_from([None, *FORMATS]), st.sampled_from([None, "x.csv", "x.json", ""]))
def test_noise_is_read_or_refused(data: bytes, format: str | None, name: str | None) -> None:  # noqa: A002 - the word that users know
    survive(data, format=format, name=name)
    with pytest.raises(BadInput):
        read_plan(data)


@effort(20, 2000)
@given(mutations(), st.sampled_from(list(FORMATS)))
def test_documents_read_in_other_formats_are_read_or_refused(data: bytes, format: str) -> None:  # noqa: A002 - the word that users know
    survive(data, format=format)
