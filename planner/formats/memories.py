"""What files say of memories besides their sizes, and of constants: speeds in USMP's words, data in base64."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..checks.report import Place, Report, quoted
from ..model.errors import Code
from ..model.problem import Speed

SPEED_FIELDS = tuple(Speed.__dataclass_fields__)
_NEEDED = SPEED_FIELDS[:3]
_DEFAULTS = {"read_latency_cycles": 0, "write_latency_cycles": 0, "target_burst_bytes": 1}


def read_speed(pool: Mapping[str, Any], place: Place, report: Report) -> Speed | None:
    """The speed that a pool's fields describe; clock and bandwidths are there together, or none of the fields is."""
    given = {name: pool[name] for name in SPEED_FIELDS if name in pool}
    if not given:
        return None
    missing = [name for name in _NEEDED if name not in given]
    if missing:
        text = f"is needed to know the pool's speed, of which {next(iter(given))} is there"
        report.add(Code.MISSING_FIELD, (*place, missing[0]), text)
        return None
    return Speed(**given)


def write_speed(speed: Speed | None) -> dict[str, int]:
    """Its fields, but for those that say what holds anyway."""
    fields = {} if speed is None else asdict(speed)
    return {name: value for name, value in fields.items() if value != _DEFAULTS.get(name)}


def read_data(text: str | None, place: Place, report: Report) -> bytes | None:
    """Bytes from base64, with nothing else in it."""
    if text is None:
        return None
    try:
        return b64decode(text, validate=True)
    except (Error, ValueError):  # the latter for what is not ASCII
        report.add(Code.INVALID_VALUE, place, f"must be base64, not {quoted(text)}")
        return None


def write_data(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode("ascii")
