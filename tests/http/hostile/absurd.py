"""Documents with one absurd value at any place, which the service must answer or refuse with a message."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import httpx

from tests.http.hostile.attacks import Attack
from tests.http.served import JSON, PLAIN, SECONDS, THREE, Served

Way = tuple[str | int, ...]

VALUES: tuple[Any, ...] = (
    -1, 0, 1 << 62, (1 << 62) + 1, 1 << 63, 1 << 64, 10**19, 10**20, -(1 << 62), 1e308, 1.5, -0.0, True, None, "", "x" * 5000, [], {}, [[]], [0] * 3,
)  # fmt: skip
RICH: dict[str, Any] = {
    "format": "memplan/1",
    "lifetimes": "half_open",
    "pools": [
        {"name": "a", "size": 4096, "alignment": 16, "cost": 2, "reserved": [[64, 128]]},
        {"name": "b", "size": 65536, "base": 64},
        {"name": "rom", "read_only": True},
    ],
    "buffers": [
        {"id": 0, "size": 64, "live": [[0, 3], [5, 7]], "alignment": 32, "pools": ["a", "b"], "accesses": 3},
        {"id": 1, "size": 40, "live": [[1, 4]], "fixed": {"pool": "b", "offset": 256}},
        {"id": 2, "size": 16, "live": [[2, 6]], "max_offset": 1024},
        {"id": 3, "size": 8, "live": [[0, 9]], "kind": "constant"},
        {"id": 4, "size": 8, "live": [[0, 9]], "device": "cpu", "dtype": "f32"},
    ],
    "constraints": {
        "conflicts": [[0, 2]],
        "exclusions": [[1, 2]],
        "colocations": [{"buffer": 4, "base": 2, "offset": 4}],
        "same_pool": [[2, 4]],
        "different_pool": [[1, 0]],
        "reuse_penalties": [{"first": 0, "second": 4, "cost": 3}],
    },
    "objective": {"terms": ["sum_of_peaks", "access_cost", "reuse_cost"]},
}
SOLVE = {"time_limit": 1, "work_limit": 100_000, "seed": 1, "workers": 1, "memory_limit": 100_000_000}


def ways(part: Any, way: Way = ()) -> Iterator[Way]:
    """Yield the paths to all values in the document."""
    yield way
    for step, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield from ways(value, (*way, step))


def with_value(document: Any, way: Way, value: Any) -> Any:
    """Return the document with another value at the path."""
    if not way:
        return value
    document = here = copy.deepcopy(document)
    for step in way[:-1]:
        here = here[step]
    here[way[-1]] = value
    return document


def absurd_attacks(share: float) -> Iterator[Attack]:
    """Attacks that send this share of all such documents to every path that takes them."""
    document = {**RICH, "solve": SOLVE}
    right = (200, 202, 400, 409, 413, 422)
    for path in ("/v1/plans", "/v1/validate", "/v1/explain", "/v1/jobs"):
        yield Attack(f"absurd values: {path}", _each(path, lambda _: document, lambda made: made, share), right)
    for path in ("/v1/verify", "/v1/draw", "/v1/draw?as=map", "/v1/write?as=c"):
        yield Attack(
            f"absurd values in plans: {path}",
            _each(path, _plan, lambda plan: {"problem": THREE, "plan": plan}, share),
            right,
        )


def _plan(client: httpx.Client) -> Any:
    return client.post("/v1/plans", content=json.dumps(THREE)).json()


def _each(
    path: str, of: Callable[[httpx.Client], Any], whole: Callable[[Any], Any], share: float
) -> Callable[[Served], list[int]]:
    def send(service: Served) -> list[int]:
        with httpx.Client(
            base_url=service.address, headers=JSON, timeout=SECONDS, trust_env=False, verify=PLAIN
        ) as client:
            document = of(client)
            cases = [(way, value) for way in ways(document) for value in VALUES]
            some = Random(path).sample(cases, int(share * len(cases)))
            return [
                client.post(path, content=json.dumps(whole(with_value(document, *case)))).status_code for case in some
            ]

    return send
