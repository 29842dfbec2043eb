"""Functions that make records like those of a measurement."""

from __future__ import annotations

from typing import Any

from planner.bench import CellStatus, Record


def made(solver: str = "auto", instance: str = "nets/a.json", seed: int = 0, **fields: Any) -> Record:
    """Return the record of a run proven optimal at 100 in 2 s, changed by the arguments."""
    given: dict[str, Any] = {
        "key": f"{instance} {solver} {seed}",
        "instance": instance,
        "sha256": instance,
        "solver": solver,
        "seed": seed,
        "options": {"time_limit": 10.0},
        "status": CellStatus.OPTIMAL,
        "digest": instance,
        "buffers": 10,
        "peak": 100,
        "value": 100,
        "values": [100],
        "bound": 100,
        "gap": 0.0,
        "reproducible": True,
        "seconds": 2.0,
        "seconds_to_best": 1.0,
        "seconds_to_proof": 2.0,
        "peak_memory_bytes": 50_000_000,
        "trace": [(1.0, 100, 90), (2.0, 100, 100)],
        "versions": {"memplan": "1"},
        "machine": {"cores": 2},
    }
    return Record(**{**given, **fields})


def failed(status: CellStatus, **where: Any) -> Record:
    """Return the record of a run without an answer."""
    nothing: dict[str, Any] = {
        "value": None,
        "values": [],
        "bound": None,
        "gap": None,
        "peak": None,
        "reproducible": None,
    }
    times: dict[str, Any] = {
        "seconds": None,
        "seconds_to_best": None,
        "seconds_to_proof": None,
        "trace": [],
        "digest": None,
    }
    return made(status=status, error="it is gone", **nothing, **times, **where)
