"""Messages between the service and its worker processes: a line of JSON, then bytes. Nothing in them can be executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def pack(header: Mapping[str, Any], payload: bytes | bytearray | memoryview = b"") -> bytes:
    """One message."""
    line = json.dumps(header, allow_nan=False).encode("ascii")
    return b"".join((line, b"\n", payload))


def unpack(message: bytes) -> tuple[dict[str, Any], bytes]:
    """Its header and its payload."""
    line, _, payload = message.partition(b"\n")
    header: dict[str, Any] = json.loads(line)
    return header, payload
