"""However long a name or a value is, its refusal is short: lists of refused jobs hold many of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planner import BadInput, read_problem
from tests.http.hostile.absurd import RICH

LONG = "s" * 20_000
MOST = 2_000
BUFFERS = [{"id": 1, "size": "4*n", "live": [[0, 2]]}, {"id": 2, "size": 8, "live": [[1, 3]]}]
BASE: dict[str, Any] = {"format": "memplan/1", "lifetimes": "half_open"}
ALTERNATIVE = {"name": "tiled", "costs": {"cycles": 1}, "buffers": [{"id": 3, "size": 8, "live": [[0, 1]]}]}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "all constraints": RICH,
    "symbols": BASE | {"symbols": {"n": [1, 8]}, "buffers": BUFFERS},
    "variants": BASE
    | {
        "buffers": BUFFERS[1:],
        "variants": {"costs": [{"name": "cycles"}], "groups": [{"name": "conv", "alternatives": [ALTERNATIVE]}]},
    },
}


def lengthened(part: Any) -> Iterator[Any]:
    """Yield the document with each of its names and values in turn replaced by a long text."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield {(LONG if other == name else other): kept for other, kept in part.items()}
            yield from ({**part, name: longer} for longer in lengthened(value))
    elif isinstance(part, list):
        for at, value in enumerate(part):
            yield from ([*part[:at], longer, *part[at + 1 :]] for longer in lengthened(value))
    else:
        yield LONG


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_refusal_of_a_long_text_is_short(name: str) -> None:
    refusals = []
    for document in lengthened(DOCUMENTS[name]):
        try:
            read_problem(json.dumps(document).encode())
        except BadInput as error:
            refusals.append(str(error))
    assert len(refusals) > 5
    assert max(map(len, refusals)) < MOST
